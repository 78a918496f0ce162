use super::*;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The first terminal put in a mode is one for the whole process: tests that change modes go one by one.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A new pseudo-terminal: its master and its slave.
pub(crate) fn pseudo_terminal() -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Permissions::empty()).unwrap();
    (master, slave)
}

fn open_slave() -> (OwnedFd, Descriptor) {
    let (master, slave) = pseudo_terminal();
    (master, slave.into())
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

/// All that a mode may change: of input, output, control and local modes, and of VMIN and VTIME.
fn all(fd: impl AsFd) -> (u32, u32, u32, u32, [u8; 2]) {
    let now = settings_of(fd.as_fd().as_raw_fd()).unwrap();
    (now.c_iflag, now.c_oflag, now.c_cflag, now.c_lflag, [now.c_cc[libc::VMIN], now.c_cc[libc::VTIME]])
}

#[test]
fn raw_reads_keys_as_they_are_and_prints_as_usual() {
    let _alone = alone();
    let (_master, slave) = open_slave();
    let (input, output, control, local, _) = all(&slave);
    let mut modes = Modes::new(slave.as_raw_fd());
    modes.set(&slave, TtyMode::Raw).unwrap();
    let expected = (
        input & !(libc::BRKINT | libc::ICRNL | libc::INPCK | libc::ISTRIP | libc::IXON),
        output | libc::ONLCR,
        control | libc::CS8,
        local & !(libc::ECHO | libc::ICANON | libc::IEXTEN | libc::ISIG),
        [1, 0],
    );
    assert_eq!(all(&slave), expected);
    assert_ne!(expected.1 & libc::OPOST, 0, "printing is as before");
}

#[test]
fn io_is_what_cfmakeraw_makes_of_it() {
    let _alone = alone();
    let (_master, slave) = open_slave();
    let mut modes = Modes::new(slave.as_raw_fd());
    modes.set(&slave, TtyMode::Io).unwrap();
    let (input, output, control, local, codes) = all(&slave);
    assert_eq!(input & (libc::ICRNL | libc::IXON | libc::PARMRK | libc::INLCR), 0);
    assert_eq!((output & libc::OPOST, local & (libc::ECHO | libc::ICANON | libc::ISIG)), (0, 0));
    assert_eq!((control & libc::CSIZE, codes), (libc::CS8, [1, 0]));
}

#[test]
fn every_mode_is_made_from_how_the_terminal_was_found() {
    let _alone = alone();
    let (_master, slave) = open_slave();
    let found = all(&slave);
    let mut modes = Modes::new(slave.as_raw_fd());
    modes.set(&slave, TtyMode::Normal).unwrap();
    assert_eq!(all(&slave), found);
    modes.set(&slave, TtyMode::Raw).unwrap();
    let raw = all(&slave);
    modes.set(&slave, TtyMode::Io).unwrap();
    modes.set(&slave, TtyMode::Raw).unwrap();
    assert_eq!(all(&slave), raw);
    modes.set(&slave, TtyMode::Normal).unwrap();
    assert_eq!(all(&slave), found);
}

#[test]
fn the_first_terminal_in_a_mode_is_reset_and_given_back_when_closed() {
    let _alone = alone();
    reset_mode().unwrap(); // nothing
    let ((_master, first), (_other_master, second)) = (open_slave(), open_slave());
    let found = all(&first);
    let (mut modes, mut later) = (Modes::new(first.as_raw_fd()), Modes::new(second.as_raw_fd()));
    modes.set(&first, TtyMode::Raw).unwrap();
    later.set(&second, TtyMode::Raw).unwrap();
    let raw = all(&second);
    errno::set_errno(errno::Errno(4321));
    reset_mode().unwrap();
    assert_eq!(errno::errno().0, 4321);
    assert_eq!((all(&first), all(&second)), (found, raw));
    modes.set(&first, TtyMode::Io).unwrap();
    drop(modes);
    assert_eq!(all(&first), found);
    drop(later);
    assert_eq!(all(&second), raw, "only the first one's settings are kept for that");
    reset_mode().unwrap();
    assert_eq!(all(&second), raw);
}

#[test]
fn a_reset_in_the_middle_of_a_change_is_busy() {
    let _alone = alone();
    FIRST.with(|_| assert_eq!(reset_mode(), Err(Errno::EBUSY)));
    assert_eq!(reset_mode(), Ok(()));
}

#[test]
fn what_is_no_terminal_has_no_mode_and_no_size() {
    let _alone = alone();
    let reader: Descriptor = OwnedFd::from(std::io::pipe().unwrap().0).into();
    let mut modes = Modes::new(reader.as_raw_fd());
    assert_eq!(modes.set(&reader, TtyMode::Raw), Err(Errno::ENOTTY));
    assert_eq!(modes.set(&reader, TtyMode::Normal), Ok(()));
    assert_eq!(window_size(&reader), Err(Errno::ENOTTY));
}

#[test]
fn the_window_has_the_size_that_it_was_given() {
    let (master, slave) = open_slave();
    assert_eq!(window_size(&slave), Ok(WindowSize { columns: 0, rows: 0 }));
    tcsetwinsize(&master, Winsize { ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    assert_eq!(window_size(&slave), Ok(WindowSize { columns: 80, rows: 25 }));
}

#[test]
fn a_terminal_is_opened_anew_and_others_stay_blocking() {
    let (_master, slave) = open_slave();
    let opened = open_terminal(&slave, false).unwrap();
    let new = opened.reopened.expect("a new one");
    assert!(opened.readable && opened.writable && !opened.blocking);
    assert!(is_nonblocking(&new) && !is_nonblocking(&slave));
    assert!(rustix::io::fcntl_getfd(&new).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    assert_ne!(new.as_raw_fd(), slave.as_raw_fd());
}

#[test]
fn the_number_stands_for_the_new_one_if_that_is_asked_for() {
    let (_master, slave) = open_slave();
    let shared = rustix::io::fcntl_dupfd_cloexec(&slave, 0).unwrap();
    let opened = open_terminal(&slave, true).unwrap();
    assert!(opened.reopened.is_some_and(is_nonblocking));
    assert!(is_nonblocking(&slave) && !is_nonblocking(&shared));
}

#[test]
fn a_master_stays_what_it_is_and_blocking() {
    let (master, _slave) = pseudo_terminal();
    let master = Descriptor::from(master);
    let opened = open_terminal(&master, true).unwrap();
    assert!(opened.reopened.is_none() && opened.blocking && opened.readable && opened.writable);
    assert!(!is_nonblocking(&master));
}

#[test]
fn a_terminal_opened_one_way_is_opened_anew_that_way() {
    let (_master, slave) = pseudo_terminal();
    for (access, expected) in [(OFlags::RDONLY, (true, false)), (OFlags::WRONLY, (false, true))] {
        let one_way: Descriptor = reopen(&slave.try_clone().unwrap().into(), access).unwrap();
        let opened = open_terminal(&one_way, false).unwrap();
        assert_eq!((opened.readable, opened.writable), expected);
        assert_eq!(fcntl_getfl(opened.reopened.unwrap()).unwrap() & OFlags::ACCMODE, access);
    }
}

#[test]
fn pipes_are_taken_as_they_are_and_files_are_not() {
    let reader: Descriptor = OwnedFd::from(std::io::pipe().unwrap().0).into();
    let opened = open_terminal(&reader, true).unwrap();
    assert!(opened.reopened.is_none() && opened.readable && !opened.writable && !opened.blocking);
    assert!(is_nonblocking(&reader));
    let file: Descriptor = OwnedFd::from(std::fs::File::open("/dev/null").unwrap()).into();
    assert_eq!(open_terminal(&file, true).err(), Some(Errno::EINVAL));
}
