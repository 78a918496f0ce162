//! Terminals.

mod common;

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use common::terminal::{is_nonblocking, local_modes, open_again, pair, plain_pair, resize};
use common::{in_child, new_loop, open_descriptors, pattern, run, run_until, turn};
use oxuv::{Errno, Kind, Tty, TtyMode, WindowSize};
use rustix::fs::OFlags;
use rustix::termios::LocalModes;

/// What a handle has read, and how that ended.
#[derive(Default)]
struct Got {
    bytes: Vec<u8>,
    end: Option<Errno>,
}

fn gather(tty: &Tty) -> Rc<RefCell<Got>> {
    let got = Rc::new(RefCell::new(Got::default()));
    let gathered = got.clone();
    tty.read_start(move |_, read| match read {
        Ok(bytes) => gathered.borrow_mut().bytes.extend_from_slice(bytes),
        Err(error) => gathered.borrow_mut().end = Some(error),
    })
    .unwrap();
    got
}

#[test]
fn what_is_typed_is_read_and_what_is_written_is_printed() {
    let lp = new_loop();
    let (mut master, slave) = pair();
    let tty = Tty::new(&lp, slave).unwrap();
    assert_eq!((tty.kind(), tty.is_readable(), tty.is_writable()), (Kind::Tty, true, true));
    let got = gather(&tty);
    master.write_all(b"a line\r").unwrap();
    run_until(&lp, || !got.borrow().bytes.is_empty());
    assert_eq!(got.borrow().bytes, b"a line\n");
    let mut printed = [0; 64];
    assert_eq!(master.read(&mut printed).unwrap(), 8, "the echo");
    tty.write("hello\n", |tty, written| {
        written.unwrap();
        tty.close().unwrap();
    })
    .unwrap();
    run(&lp);
    let count = master.read(&mut printed).unwrap();
    assert_eq!(&printed[..count], b"hello\r\n");
}

#[test]
fn whoever_shares_the_descriptor_goes_on_to_block() {
    let lp = new_loop();
    let (_master, slave) = pair();
    let shared = slave.try_clone().unwrap();
    let tty = Tty::new(&lp, slave).unwrap();
    assert!(!is_nonblocking(&shared));
    tty.close().unwrap();
    run(&lp);
    assert!(!is_nonblocking(&shared));
}

#[test]
fn it_can_what_its_descriptor_can() {
    let lp = new_loop();
    let (master, _slave) = pair();
    for (access, readable, writable) in [(OFlags::RDONLY, true, false), (OFlags::WRONLY, false, true)] {
        let tty = Tty::new(&lp, open_again(&master, access)).unwrap();
        assert_eq!((tty.is_readable(), tty.is_writable()), (readable, writable));
        assert_eq!(tty.try_write(b"x").err(), (!writable).then_some(Errno::EPIPE));
        assert_eq!(tty.read_start(|_, _| {}).err(), (!readable).then_some(Errno::ENOTCONN));
        tty.close().unwrap();
    }
    run(&lp);
}

#[test]
fn only_terminals_are_taken() {
    let lp = new_loop();
    assert_eq!(Tty::new(&lp, File::open("/dev/null").unwrap()).err(), Some(Errno::ENOTTY));
    assert_eq!(Tty::new(&lp, OwnedFd::from(std::io::pipe().unwrap().0)).err(), Some(Errno::ENOTTY));
    run(&lp);
}

#[test]
fn much_that_is_written_follows_as_the_terminal_takes_it() {
    let lp = new_loop();
    let (mut master, slave) = plain_pair();
    let tty = Tty::new(&lp, slave).unwrap();
    let bytes = pattern(200_000);
    tty.write(bytes.clone(), |tty, written| {
        written.unwrap();
        tty.close().unwrap();
    })
    .unwrap();
    assert!(tty.write_queue_size() > 0);
    let reader = std::thread::spawn(move || {
        let mut printed = vec![0; 200_000];
        master.read_exact(&mut printed).unwrap();
        printed
    });
    run(&lp);
    assert!(reader.join().unwrap() == bytes);
}

#[test]
fn a_master_reads_everything_and_then_eio() {
    let lp = new_loop();
    let (master, slave) = plain_pair();
    let tty = Tty::new(&lp, master).unwrap();
    let got = gather(&tty);
    let bytes = pattern(100_000);
    let printed = bytes.clone();
    let writer = std::thread::spawn(move || File::from(slave).write_all(&printed).unwrap());
    run(&lp);
    writer.join().unwrap();
    assert!(got.borrow().bytes == bytes);
    assert_eq!(got.borrow().end, Some(Errno::EIO));
    assert!(!tty.is_readable() && !tty.is_writable() && !tty.is_active());
}

#[test]
fn a_master_is_left_blocking_and_is_not_waited_on() {
    let lp = new_loop();
    let (master, slave) = plain_pair();
    let tty = Tty::new(&lp, master.try_clone().unwrap()).unwrap();
    assert!(!is_nonblocking(&master));
    let got = gather(&tty);
    // As much as the loop's buffer and more, so that reads may find nothing behind.
    let writer = std::thread::spawn(move || {
        let mut slave = File::from(slave);
        slave.write_all(&[b'x'; 64 * 1024]).unwrap();
        slave
    });
    run_until(&lp, || got.borrow().bytes.len() == 64 * 1024);
    let slave = writer.join().unwrap();
    turn(&lp);
    assert_eq!((tty.try_write(b"typed"), got.borrow().end), (Ok(5), None));
    drop(slave);
    run(&lp);
    assert_eq!(got.borrow().end, Some(Errno::EIO));
}

#[test]
fn a_terminal_reads_the_end_when_its_master_is_closed() {
    let lp = new_loop();
    let (master, slave) = plain_pair();
    let tty = Tty::new(&lp, slave).unwrap();
    let got = gather(&tty);
    turn(&lp);
    drop(master);
    run(&lp);
    assert_eq!((got.borrow().bytes.len(), got.borrow().end), (0, Some(Errno::EOF)));
}

#[test]
fn the_size_of_the_window() {
    let lp = new_loop();
    let (master, slave) = pair();
    let tty = Tty::new(&lp, slave).unwrap();
    assert_eq!(tty.window_size(), Ok(WindowSize { columns: 0, rows: 0 }));
    resize(&master, 80, 25);
    assert_eq!(tty.window_size(), Ok(WindowSize { columns: 80, rows: 25 }));
    tty.close().unwrap();
    assert_eq!(tty.window_size(), Err(Errno::EINVAL));
}

/// The first terminal in a mode is one for all of the process, so this is one test, in a process of its own.
#[test]
fn modes_are_set_reset_and_given_back() {
    in_child("modes_are_set_reset_and_given_back", 100, || {
        let lp = new_loop();
        let (_master, slave) = pair();
        let (_other_master, other_slave) = pair();
        let found = local_modes(&slave);
        let raw = found - LocalModes::ECHO - LocalModes::ICANON - LocalModes::IEXTEN - LocalModes::ISIG;
        Tty::reset_mode().unwrap(); // nothing

        let tty = Tty::new(&lp, slave.try_clone().unwrap()).unwrap();
        tty.set_mode(TtyMode::Normal).unwrap();
        assert_eq!(local_modes(&slave), found);
        for mode in [TtyMode::Raw, TtyMode::RawVt] {
            tty.set_mode(mode).unwrap();
            assert_eq!(local_modes(&slave), raw);
        }
        tty.set_mode(TtyMode::Io).unwrap();
        assert_eq!(local_modes(&slave), raw - LocalModes::ECHONL);
        tty.set_mode(TtyMode::Normal).unwrap();
        assert_eq!(local_modes(&slave), found);
        tty.set_mode(TtyMode::Raw).unwrap();
        Tty::reset_mode().unwrap();
        assert_eq!(local_modes(&slave), found);

        tty.set_mode(TtyMode::Io).unwrap();
        let second = Tty::new(&lp, other_slave.try_clone().unwrap()).unwrap();
        second.set_mode(TtyMode::Raw).unwrap();
        tty.close().unwrap();
        second.close().unwrap();
        assert_eq!(second.set_mode(TtyMode::Normal), Err(Errno::EINVAL));
        assert_eq!((local_modes(&slave), local_modes(&other_slave)), (found, raw));
        run(&lp);

        // Dropping the loop closes the handle, and so gives the terminal back.
        let tty = Tty::new(&lp, slave.try_clone().unwrap()).unwrap();
        tty.set_mode(TtyMode::Raw).unwrap();
        assert_eq!(local_modes(&slave), raw);
        drop(lp);
        assert_eq!(local_modes(&slave), found);
    });
}

#[test]
fn no_descriptor_is_left_open() {
    in_child("no_descriptor_is_left_open", 100, || {
        let lp = new_loop();
        let before = open_descriptors("self");
        for _ in 0..3 {
            let (master, slave) = pair();
            let (tty, other) = (Tty::new(&lp, slave).unwrap(), Tty::new(&lp, master).unwrap());
            assert_eq!(open_descriptors("self"), before + 2);
            tty.close().unwrap();
            other.close().unwrap();
            assert!(Tty::new(&lp, File::open("/dev/null").unwrap()).is_err());
            run(&lp);
        }
        assert_eq!(open_descriptors("self"), before);
    });
}

#[test]
fn standard_streams_are_refused_if_they_are_no_terminals_and_stay_open() {
    let lp = new_loop();
    for made in [Tty::stdin(&lp), Tty::stdout(&lp), Tty::stderr(&lp)] {
        match made {
            Ok(tty) => tty.close().unwrap(),
            Err(error) => assert_eq!(error, Errno::ENOTTY),
        }
    }
    run(&lp);
    for number in 0..3 {
        assert!(std::fs::exists(format!("/proc/self/fd/{number}")).unwrap());
    }
}
