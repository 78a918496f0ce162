//! Handles that are used when they cannot be. Every call says so, and nothing else comes of it.
//!
//! Some misuse cannot be written down in Rust: there is no call without a closure, and no connection can be accepted
//! into a handle that has one already, or that is another loop's, since `accept` makes the handle.

mod common;

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::thread;

use common::{HOUR, Trace, connect, fill, local_pair, new_loop, outcome, pair, run, run_until, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Keepalive, Kind, Loop, Poll, Prepare, Readiness, Result, Tcp, Timer};

const KEEPALIVE: Keepalive = Keepalive { idle: 60, interval: 1, count: 10 };

/// One handle of each kind, open and not started.
struct All {
    timer: Timer,
    idle: Idle,
    prepare: Prepare,
    check: Check,
    wake_up: Async,
    poll: Poll,
    tcp: Tcp,
    /// What the poll handle polls.
    polled: UnixStream,
}

impl All {
    fn new(lp: &Loop) -> All {
        let polled = UnixStream::pair().unwrap().0;
        All {
            timer: Timer::new(lp).unwrap(),
            idle: Idle::new(lp).unwrap(),
            prepare: Prepare::new(lp).unwrap(),
            check: Check::new(lp).unwrap(),
            wake_up: Async::new(lp, |_| panic!("nobody has sent")).unwrap(),
            poll: Poll::new(lp, &polled).unwrap(),
            tcp: Tcp::new(lp).unwrap(),
            polled,
        }
    }

    fn handles(&self) -> [&Handle; 7] {
        [&self.timer, &self.idle, &self.prepare, &self.check, &self.wake_up, &self.poll, &self.tcp]
    }

    /// All calls that start something or change it, and what came of them. None of the closures is to be kept.
    fn use_in_vain(&self, kept: &Rc<()>) -> Vec<(&'static str, Result<()>)> {
        let held = || Rc::clone(kept);
        macro_rules! never {
            ($($argument:ident),*) => {{
                let own = held();
                move |$($argument),*| {
                    $(let _ = $argument;)*
                    let _ = &own;
                    panic!("it was refused")
                }
            }};
        }
        let address = ([127, 0, 0, 1], 9).into();
        vec![
            ("timer start", self.timer.start(HOUR, never!(timer))),
            ("timer repeating", self.timer.start_repeating(HOUR, HOUR, never!(timer))),
            ("timer again", self.timer.again()),
            ("idle", self.idle.start(never!(idle))),
            ("prepare", self.prepare.start(never!(prepare))),
            ("check", self.check.start(never!(check))),
            ("async send", self.wake_up.send()),
            ("async sender", self.wake_up.sender().map(drop)),
            ("poll start", self.poll.start(Readiness::READ, never!(poll, ready))),
            ("poll interest", self.poll.set_interest(Readiness::READ)),
            ("tcp open", self.tcp.open(UnixStream::pair().unwrap().0)),
            ("tcp bind", self.tcp.bind(([127, 0, 0, 1], 0).into())),
            ("tcp listen", self.tcp.listen(1, never!(server, connection))),
            ("tcp accept", self.tcp.accept().map(drop)),
            ("tcp connect", self.tcp.connect(address, never!(tcp, connected))),
            ("tcp read", self.tcp.read_start(never!(tcp, read))),
            ("tcp nodelay", self.tcp.set_nodelay(true)),
            ("tcp keepalive", self.tcp.set_keepalive(Some(KEEPALIVE))),
            ("tcp close reset", self.tcp.close_reset()),
            ("close", self.timer.close()),
            ("close then", self.timer.close_then(never!(handle))),
        ]
    }
}

#[test]
fn a_closing_or_closed_handle_of_any_kind_says_einval() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (all, kept) = (All::new(&lp), Rc::new(()));
    for handle in all.handles() {
        let line = trace.clone();
        handle.close_then(move |_| line.add("closed")).unwrap();
    }
    for is_over in [false, true] {
        let before = lp.handles();
        for (call, result) in all.use_in_vain(&kept) {
            assert_eq!(result, Err(Errno::EINVAL), "{call}, {is_over}");
        }
        assert_eq!((Rc::strong_count(&kept), lp.handles()), (1, before));
        assert!(all.handles().iter().all(|handle| handle.is_closing() && !handle.is_active()));
        run(&lp);
    }
    assert_eq!(trace.take(), ["closed"; 7]);
}

#[test]
fn a_closing_connection_sends_nothing() {
    let lp = new_loop();
    let (tcp, _peer) = pair(&lp);
    tcp.close().unwrap();
    assert_eq!(tcp.write("x", |_, _| {}), Err(Errno::EBADF));
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EBADF));
    assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
    run(&lp);
    assert_eq!(tcp.write("x", |_, _| {}), Err(Errno::EINVAL));
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EINVAL));
    assert_eq!(tcp.shutdown(|_, _| {}), Err(Errno::EINVAL));
}

#[test]
fn handles_of_a_loop_that_is_gone_say_einval_whatever_they_were_doing() {
    let lp = Loop::new().unwrap();
    let (all, kept) = (All::new(&lp), Rc::new(()));
    let owner = (*lp).clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connecting = Tcp::new(&lp).unwrap();
    let own = Rc::clone(&kept);
    connecting.connect(listener.local_addr().unwrap(), move |_, _| drop(own)).unwrap();
    let own = Rc::clone(&kept);
    all.poll.start(Readiness::READ, move |_, _| drop(own.clone())).unwrap();
    drop(lp);
    for (call, result) in all.use_in_vain(&kept) {
        assert_eq!(result, Err(Errno::EINVAL), "{call}");
    }
    assert_eq!(connecting.close_reset(), Err(Errno::EINVAL));
    assert_eq!(connecting.peer_addr(), Err(Errno::EINVAL));
    assert_eq!(all.poll.stop(), Err(Errno::EINVAL));
    assert_eq!(Poll::new(&owner, &all.polled).unwrap_err(), Errno::EINVAL);
    assert!(all.handles().iter().all(|handle| handle.kind() == Kind::None));
    assert_eq!(Rc::strong_count(&kept), 1);
}

#[test]
fn a_listener_can_be_neither_read_nor_written_nor_opened_anew() {
    let (lp, trace) = (new_loop(), Trace::new());
    let server = Tcp::new(&lp).unwrap();
    let line = trace.clone();
    server.listen(8, move |_, connection| line.add(outcome("connection", connection))).unwrap();
    assert_eq!(server.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    assert_eq!(server.write("x", |_, _| {}), Err(Errno::EPIPE));
    assert_eq!(server.try_write(b"x"), Err(Errno::EPIPE));
    assert_eq!(server.shutdown(|_, _| {}), Err(Errno::ENOTCONN));
    assert_eq!(server.open(UnixStream::pair().unwrap().0), Err(Errno::EBUSY));
    let _peer = connect(([127, 0, 0, 1], server.local_addr().unwrap().port()).into());
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["connection ok"]);
}

#[test]
fn a_write_of_nothing_is_told_once_wherever_it_stands() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    assert_eq!((tcp.try_write(b""), tcp.try_write_vectored(&[b"", b""])), (Ok(0), Ok(0)));
    let size = fill(&tcp);
    tcp.write_vectored(vec!["", "x", "", "y", ""], trace.tells("among others")).unwrap();
    tcp.write_vectored(vec![Vec::new(), Vec::new()], trace.tells("nothing")).unwrap();
    tcp.write(String::new(), trace.tells("nothing again")).unwrap();
    turn(&lp);
    assert_eq!((trace.take(), tcp.write_queue_size()), (vec![], 2));
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; size + 2];
        peer.read_exact(&mut bytes).unwrap();
        (bytes[size..].to_vec(), peer)
    });
    run(&lp);
    assert_eq!(trace.take(), ["among others ok", "nothing ok", "nothing again ok"]);
    assert_eq!(reader.join().unwrap().0, b"xy");
}
