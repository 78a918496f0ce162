//! Poll handles and the descriptors beneath them: whose they are, which can be polled, and what is left of them.

mod common;

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use common::{Trace, assert_idle, bound, connect, guard, in_child, ms, new_loop, outcome, run, run_until, turn};
use oxuv::{Errno, Loop, Poll, Readiness, Result, Tcp};
use rustix::fs::OFlags;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

const READ: Readiness = Readiness::READ;
const WRITE: Readiness = Readiness::WRITE;

fn tells(trace: &Trace, name: &str) -> impl FnMut(&Poll, Result<Readiness>) + use<> {
    let (trace, name) = (trace.clone(), name.to_string());
    move |_, ready| trace.add(outcome(&name, ready.map(drop)))
}

fn pipe() -> (File, File) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    (reader.into(), writer.into())
}

#[test]
fn the_descriptor_stays_its_owner_s_and_non_blocking() {
    let lp = new_loop();
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    let poll = Poll::new(&lp, &ours).unwrap();
    assert!(rustix::fs::fcntl_getfl(&ours).unwrap().contains(OFlags::NONBLOCK));
    poll.start(READ, |_, _| {}).unwrap();
    turn(&lp);
    poll.close().unwrap();
    run(&lp);
    assert_eq!(ours.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    theirs.write_all(b"x").unwrap();
    assert_eq!(ours.read(&mut [0; 2]).unwrap(), 1);
    let started = Poll::new(&lp, &ours).unwrap();
    started.start(READ, |_, _| {}).unwrap();
    drop(lp);
    ours.write_all(b"still open").unwrap();
}

#[test]
fn what_the_kernel_cannot_poll_is_eperm() {
    let lp = new_loop();
    let before = lp.handles();
    let file = File::open(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(Poll::new(&lp, &file).unwrap_err(), Errno::EPERM);
    assert_eq!(Poll::new(&lp, File::open("/").unwrap()).unwrap_err(), Errno::EPERM);
    assert_eq!(lp.handles(), before);
    assert!(!rustix::fs::fcntl_getfl(&file).unwrap().contains(OFlags::NONBLOCK));
}

#[test]
fn a_second_handle_for_a_descriptor_is_eexist_while_the_first_is_started() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (first, second) = (Poll::new(&lp, &ours).unwrap(), Poll::new(&lp, &ours).unwrap());
    first.start(READ, tells(&trace, "first")).unwrap();
    let owned = Rc::new(());
    let own = Rc::clone(&owned);
    assert_eq!(second.start(WRITE, move |_, _| drop(own.clone())), Err(Errno::EEXIST));
    assert_eq!(second.set_interest(WRITE), Err(Errno::EEXIST));
    assert_eq!(Poll::new(&lp, &ours).unwrap_err(), Errno::EEXIST);
    assert_eq!((Rc::strong_count(&owned), second.is_active()), (1, false));
    // To stop or to close the one that waits for nothing leaves the other alone.
    second.stop().unwrap();
    theirs.write_all(b"x").unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["first ok"]);

    first.stop().unwrap();
    second.start(READ, tells(&trace, "second")).unwrap();
    assert_eq!(first.set_interest(READ), Err(Errno::EEXIST));
    first.close().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["second ok"]);
    // Another descriptor of the same socket is another one.
    let copy = ours.try_clone().unwrap();
    Poll::new(&lp, &copy).unwrap().start(READ, tells(&trace, "copy")).unwrap();
    turn(&lp);
    let mut lines = trace.take();
    lines.sort();
    assert_eq!(lines, ["copy ok", "second ok"]);
}

#[test]
fn a_connection_and_a_poll_handle_cannot_both_wait_for_a_descriptor() {
    let (lp, trace) = (new_loop(), Trace::new());
    let line = trace.clone();
    let reads = move |tcp: &Tcp| {
        let line = line.clone();
        tcp.read_start(move |_, read| line.add(format!("{read:?}")))
    };
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (tcp, poll) = (Tcp::new(&lp).unwrap(), Poll::new(&lp, &ours).unwrap());
    tcp.open(ours).unwrap();
    reads(&tcp).unwrap();
    assert_eq!(poll.start(READ, tells(&trace, "poll")), Err(Errno::EEXIST));
    theirs.write_all(b"!").unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["Ok([33])"]);
    tcp.read_stop().unwrap();

    // The other way round.
    poll.start(READ, tells(&trace, "poll")).unwrap();
    assert_eq!(reads(&tcp), Err(Errno::EEXIST));
    assert!(!tcp.is_active());
    theirs.write_all(b"!").unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["poll ok"]);
    poll.close().unwrap();
    reads(&tcp).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["Ok([33])"]);
}

#[test]
fn a_socket_that_a_poll_handle_waits_for_cannot_be_opened() {
    let lp = new_loop();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let poll = Poll::new(&lp, &ours).unwrap();
    poll.start(READ, |_, _| {}).unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    assert_eq!(tcp.open(ours), Err(Errno::EEXIST));
    // The descriptor was given away, and is closed.
    assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
    assert_eq!(tcp.local_addr(), Err(Errno::EBADF));
    poll.close().unwrap();
}

#[test]
fn an_interest_in_what_comes_by_itself_is_einval_and_so_is_any_when_closing() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let poll = Poll::new(&lp, &ours).unwrap();
    poll.start(WRITE, tells(&trace, "poll")).unwrap();
    for interest in [Readiness::ERROR, Readiness::HANG_UP, READ | Readiness::ERROR, Readiness::all()] {
        assert_eq!(poll.start(interest, |_, _| panic!("it was refused")), Err(Errno::EINVAL));
        assert_eq!(poll.set_interest(interest), Err(Errno::EINVAL));
    }
    turn(&lp);
    assert_eq!(trace.take(), ["poll ok"]);
    poll.close().unwrap();
    for _ in 0..2 {
        assert_eq!(poll.start(READ, |_, _| {}), Err(Errno::EINVAL));
        assert_eq!(poll.set_interest(Readiness::empty()), Err(Errno::EINVAL));
        run(&lp);
    }
}

#[test]
fn an_error_of_the_descriptor_is_told_once_as_ebadf_and_the_handle_is_stopped() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (reader, writer) = pipe();
    let (poll, line) = (Poll::new(&lp, &writer).unwrap(), trace.clone());
    poll.start(WRITE, move |poll, ready| line.add(format!("{ready:?} {}", poll.is_active()))).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["Ok(Readiness(WRITE)) true"]);
    drop(reader);
    run(&lp);
    assert_eq!(trace.take(), ["Err(EBADF) false"]);
    // Started again, it is told again.
    poll.set_interest(WRITE).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["Err(EBADF) false"]);
}

#[test]
fn the_end_of_a_pipe_wakes_its_reader() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (mut reader, writer) = pipe();
    let poll = Poll::new(&lp, &reader).unwrap();
    let line = trace.clone();
    poll.start(READ, move |poll, ready| {
        line.add(format!("{ready:?} {:?}", reader.read(&mut [0]).unwrap()));
        poll.close().unwrap();
    })
    .unwrap();
    drop(writer);
    run(&lp);
    assert_eq!(trace.take(), ["Ok(Readiness(READ)) 0"]);
}

#[test]
fn a_refused_connection_made_by_hand_is_told() {
    let (lp, trace) = (new_loop(), Trace::new());
    // Bound, but nobody listens.
    let (_holder, address) = bound(&lp);
    let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
    assert!(net::connect(&socket, &address).is_err());
    let poll = Poll::new(&lp, &socket).unwrap();
    poll.start(WRITE, tells(&trace, "connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect EBADF"]);
}

#[test]
fn stopped_or_closed_the_descriptor_may_be_closed_and_its_number_be_used_anew() {
    in_child("stopped_or_closed_the_descriptor_may_be_closed_and_its_number_be_used_anew", 64, || {
        let (lp, trace) = (Loop::new().unwrap(), Trace::new());
        guard(&lp);
        for closes in [false, true] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let (old, old_number) = (Poll::new(&lp, &ours).unwrap(), ours.as_raw_fd());
            old.start(READ, tells(&trace, "old")).unwrap();
            theirs.write_all(b"x").unwrap();
            turn(&lp);
            if closes {
                old.close().unwrap()
            } else {
                old.stop().unwrap()
            }
            drop(ours);

            let (ours, mut theirs) = UnixStream::pair().unwrap();
            assert_eq!(ours.as_raw_fd(), old_number);
            let new = Poll::new(&lp, &ours).unwrap();
            new.start(READ, tells(&trace, "new")).unwrap();
            theirs.write_all(b"x").unwrap();
            turn(&lp);
            // Now the old one is closed in either case; the new one hears as before.
            assert_eq!(old.close(), if closes { Err(Errno::EINVAL) } else { Ok(()) });
            turn(&lp);
            turn(&lp);
            assert_eq!(trace.take(), ["old ok", "new ok", "new ok", "new ok"]);
            new.close().unwrap();
            run_until(&lp, || lp.handles().len() == 1);
        }
    });
}

#[test]
fn a_copy_of_a_closed_descriptor_that_is_open_elsewhere_wakes_nobody() {
    for closes in [false, true] {
        let (lp, trace) = (new_loop(), Trace::new());
        let (reader, mut writer) = pipe();
        let copy = reader.try_clone().unwrap();
        let (poll, line) = (Poll::new(&lp, &reader).unwrap(), trace.clone());
        let mut owned = Some(reader);
        poll.start(READ, move |poll, ready| {
            line.add(outcome("ready", ready.map(drop)));
            if closes {
                poll.close().unwrap()
            } else {
                poll.stop().unwrap()
            }
            drop(owned.take());
        })
        .unwrap();
        writer.write_all(b"x").unwrap();
        run_until(&lp, || trace.len() == 1);
        writer.write_all(b"y").unwrap();
        assert_idle(&lp, ms(200));
        assert_eq!(trace.take(), ["ready ok"]);
        drop(copy);
    }
}

#[test]
fn a_connection_s_descriptor_that_a_copy_keeps_open_wakes_nobody_when_it_is_closed() {
    let lp = new_loop();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = connect(listener.local_addr().unwrap());
    let ours = listener.accept().unwrap().0;
    let _copy = ours.try_clone().unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.open(ours).unwrap();
    tcp.read_start(|tcp, _| tcp.close().unwrap()).unwrap();
    peer.write_all(b"x").unwrap();
    run(&lp);
    peer.write_all(b"y").unwrap();
    assert_idle(&lp, ms(200));
}

#[test]
fn listeners_and_datagram_sockets_can_be_polled() {
    let (lp, trace) = (new_loop(), Trace::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    Poll::new(&lp, &listener).unwrap().start(READ, tells(&trace, "listener")).unwrap();
    Poll::new(&lp, &socket).unwrap().start(READ, tells(&trace, "socket")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
    let _waiting = connect(listener.local_addr().unwrap());
    socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["listener ok", "socket ok"]);
}
