//! The contract of a kernel, line by line, and what the tests of programs rely on.

use std::any::Any;
use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::*;
use crate::Lane;
use crate::kernel::{BindFlags, Call, Finished, Job, Kernel, Operation, Ready, Room, WAKE};
use oxuv_os::tty::WindowSize;
use oxuv_os::{Errno, Result};

const EDEADLK: Errno = Errno::from_raw(35);
const EISCONN: Errno = Errno::from_raw(106);
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn address(port: u16) -> SocketAddr {
    SocketAddr::new(LOCAL, port)
}

fn listener(sim: &mut Sim, port: u16) -> Fd {
    let fd = sim.tcp_socket(LOCAL).unwrap();
    sim.bind(&fd, &address(port), BindFlags::default()).unwrap();
    sim.listen(&fd, 8).unwrap();
    fd
}

fn recv(sim: &mut Sim, fd: &Fd) -> Result<Vec<u8>> {
    let mut buf = [0; 100];
    sim.recv(fd, Room::from(&mut buf[..])).map(|bytes| bytes.to_vec())
}

/// The batch of a wait.
fn wait(sim: &mut Sim, timeout: Option<u64>) -> Vec<(u64, Readiness)> {
    let count = sim.wait(timeout).unwrap();
    (0..count).map(|nth| sim.ready(nth)).map(|ready| (ready.token, ready.readiness)).collect()
}

fn faultless() -> Sim {
    Sim::new(1, Faults::none())
}

#[test]
fn the_lowest_free_number_is_the_next_descriptor() {
    let sim = faultless();
    let [first, second, third] = [(); 3].map(|()| sim.pair().unwrap().0);
    assert_eq!([first.number(), second.number(), third.number()], [3, 4, 5]);
    drop(second);
    drop(first);
    assert_eq!(sim.open_descriptors(), [5]);
    assert_eq!(sim.pair().unwrap().0.number(), 3);
}

#[test]
fn readiness_is_told_as_long_as_it_lasts() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::READ, false).unwrap();
    assert_eq!(wait(&mut sim, Some(0)), []);
    peer.send(&sim, b"ab").unwrap();
    assert_eq!(wait(&mut sim, Some(0)), [(7, Readiness::READ)]);
    assert_eq!(wait(&mut sim, None), [(7, Readiness::READ)]);
    assert_eq!(recv(&mut sim, &fd), Ok(b"ab".to_vec()));
    assert_eq!(recv(&mut sim, &fd), Err(Errno::EAGAIN));
    assert_eq!(wait(&mut sim, Some(0)), []);
}

#[test]
fn errors_and_hang_ups_are_told_whatever_the_interest() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::PRIORITY, false).unwrap();
    peer.reset(&sim);
    assert_eq!(wait(&mut sim, None), [(7, Readiness::ERROR | Readiness::HANG_UP)]);
    let (fd, peer) = sim.pair().unwrap();
    sim.shutdown_write(&fd).unwrap();
    peer.close(&sim);
    let both = Readiness::READ | Readiness::READ_HANG_UP | Readiness::HANG_UP | Readiness::WRITE;
    assert_eq!(sim.readiness(&fd), both);
}

#[test]
fn a_batch_lives_until_the_next_wait() {
    let mut sim = faultless();
    let (fd, _) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::WRITE, false).unwrap();
    assert_eq!(sim.wait(None), Ok(1));
    sim.unwatch(fd.number());
    drop(fd);
    assert_eq!(sim.ready(0), Ready { token: 7, readiness: Readiness::WRITE });
    assert_eq!(sim.wait(Some(0)), Ok(0));
}

#[test]
fn only_waiting_moves_the_clock_and_never_beyond_the_time_out() {
    let mut sim = faultless();
    let start = sim.now();
    assert_eq!(sim.now(), start);
    assert_eq!(sim.wait(Some(500)), Ok(0));
    assert_eq!(sim.now(), start + 500);
    sim.later(300, |sim| sim.waker().wake());
    assert_eq!(wait(&mut sim, Some(1000)), [(WAKE, Readiness::READ)]);
    assert_eq!(sim.now(), start + 800);
}

#[test]
fn plans_are_carried_out_in_their_order() {
    let mut sim = faultless();
    let done = Rc::new(RefCell::new(Vec::new()));
    for (delay, name) in [(20, 'c'), (10, 'a'), (10, 'b')] {
        let done = Rc::clone(&done);
        sim.later(delay, move |_| done.borrow_mut().push(name));
    }
    assert_eq!(sim.wait(Some(15)), Ok(0));
    assert_eq!(*done.borrow(), ['a', 'b']);
    assert_eq!(sim.wait(Some(15)), Ok(0));
    assert_eq!(*done.borrow(), ['a', 'b', 'c']);
}

#[test]
fn several_wake_ups_are_told_as_one() {
    let mut sim = faultless();
    let waker = sim.waker();
    std::thread::spawn(move || [(); 3].map(|()| waker.wake())).join().unwrap();
    assert_eq!(wait(&mut sim, None), [(WAKE, Readiness::READ)]);
    assert_eq!(wait(&mut sim, Some(0)), []);
}

#[test]
fn a_wait_that_would_never_end_is_an_error() {
    let mut sim = faultless();
    let (fd, _) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::READ, false).unwrap();
    assert_eq!(sim.wait(None), Err(EDEADLK));
    sim.set_wait_limit(1);
    assert_eq!(sim.wait(Some(0)), Ok(0));
    assert_eq!(sim.wait(Some(0)), Err(Errno::from_raw(40)));
}

#[test]
fn watches_are_told_from_unknown_ones() {
    let mut sim = faultless();
    let (fd, _) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::READ, true).unwrap();
    sim.watch(fd.number(), 7, Readiness::READ, false).unwrap();
    drop(fd);
    let trace = sim.take_trace().into_iter();
    let errors: Vec<_> =
        trace.filter_map(|note| if let Note::Misused { error, .. } = note { Some(error) } else { None }).collect();
    assert_eq!(errors, [Errno::ENOENT, Errno::EEXIST, Errno::EBUSY]);
}

#[test]
fn the_end_and_a_reset_come_after_the_bytes() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    peer.send(&sim, b"a").unwrap();
    peer.close(&sim);
    assert_eq!(recv(&mut sim, &fd), Ok(b"a".to_vec()));
    assert_eq!(recv(&mut sim, &fd), Ok(vec![]));

    let (fd, peer) = sim.pair().unwrap();
    peer.send(&sim, b"b").unwrap();
    peer.reset(&sim);
    assert_eq!(recv(&mut sim, &fd), Ok(b"b".to_vec()));
    assert_eq!(recv(&mut sim, &fd), Err(Errno::ECONNRESET));
    assert_eq!(recv(&mut sim, &fd), Ok(vec![]));
    assert_eq!(sim.send(&fd, b"c"), Err(Errno::EPIPE));
}

#[test]
fn what_is_sent_to_a_closed_peer_is_answered_by_a_reset() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    peer.close(&sim);
    assert_eq!(sim.send(&fd, b"lost"), Ok(4));
    assert_eq!(sim.send(&fd, b"known"), Err(Errno::EPIPE));
    let (fd, peer) = sim.pair().unwrap();
    sim.send(&fd, b"unread").unwrap();
    peer.close(&sim);
    assert_eq!(sim.send(&fd, b"known"), Err(Errno::ECONNRESET));
}

#[test]
fn a_connection_holds_so_much_and_no_more() {
    let mut sim = faultless();
    sim.set_capacity(4);
    let (fd, peer) = sim.pair().unwrap();
    let parts = [IoSlice::new(b"abc"), IoSlice::new(b"def")];
    assert_eq!(sim.send_vectored(&fd, &parts), Ok(4));
    assert_eq!(sim.send(&fd, b"x"), Err(Errno::EAGAIN));
    assert_eq!(sim.send(&fd, b""), Ok(0));
    assert_eq!(sim.readiness(&fd), Readiness::empty());
    assert_eq!(peer.receive(&sim, 3), Ok(b"abc".to_vec()));
    assert_eq!(sim.readiness(&fd), Readiness::WRITE);
    assert_eq!(peer.send(&sim, b"123456"), Ok(4));
    assert_eq!(peer.send(&sim, b"5"), Err(Errno::EAGAIN));
}

#[test]
fn peers_see_our_end_and_our_reset() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    sim.send(&fd, b"bye").unwrap();
    sim.shutdown_write(&fd).unwrap();
    assert_eq!(peer.receive(&sim, 100), Ok(b"bye".to_vec()));
    assert_eq!(peer.receive(&sim, 100), Ok(vec![]));
    peer.send(&sim, b"unread").unwrap();
    drop(fd);
    assert_eq!(peer.receive(&sim, 100), Err(Errno::ECONNRESET));
    assert_eq!(peer.send(&sim, b"x"), Err(Errno::ECONNRESET));
}

#[test]
fn connections_wait_for_being_accepted() {
    let mut sim = faultless();
    assert_eq!(sim.connect(address(80)), Err(Errno::ECONNREFUSED));
    let fd = listener(&mut sim, 80);
    assert_eq!(sim.accept(&fd).unwrap_err(), Errno::EAGAIN);
    let peer = sim.connect(address(80)).unwrap();
    assert_eq!(sim.readiness(&fd), Readiness::READ);
    let ours = sim.accept(&fd).unwrap();
    assert_eq!(sim.peer_of(&ours), Ok(peer));
    assert_eq!(sim.peer_address(&ours), Ok(peer.address(&sim)));
    assert_eq!(sim.local_address(&ours), Ok(address(80)));
    let unheard = sim.connect(address(80)).unwrap();
    drop(fd);
    assert_eq!(unheard.receive(&sim, 1), Err(Errno::ECONNRESET));
}

#[test]
fn at_the_limit_connections_stay_and_can_be_shed() {
    let mut sim = faultless();
    let fd = listener(&mut sim, 80);
    let peer = sim.connect(address(80)).unwrap();
    sim.set_descriptor_limit(1);
    assert_eq!(sim.accept(&fd).unwrap_err(), Errno::EMFILE);
    assert_eq!(sim.tcp_socket(LOCAL).unwrap_err(), Errno::EMFILE);
    assert_eq!(sim.readiness(&fd), Readiness::READ);
    assert!(sim.shed(&fd));
    assert_eq!(sim.readiness(&fd), Readiness::empty());
    assert_eq!(peer.receive(&sim, 1), Err(Errno::ECONNRESET));
}

#[test]
fn an_address_has_one_listener() {
    let mut sim = faultless();
    let [first, second] = [(); 2].map(|()| sim.tcp_socket(LOCAL).unwrap());
    sim.bind(&first, &address(80), BindFlags::default()).unwrap();
    sim.bind(&second, &address(80), BindFlags::default()).unwrap();
    assert_eq!(sim.bind(&second, &address(81), BindFlags::default()), Err(Errno::EINVAL));
    sim.listen(&first, 1).unwrap();
    assert_eq!(sim.listen(&second, 1), Err(Errno::EADDRINUSE));
    let third = sim.tcp_socket(LOCAL).unwrap();
    assert_eq!(sim.bind(&third, &address(80), BindFlags::default()), Err(Errno::EADDRINUSE));
    assert_eq!(sim.bind(&third, &address(0), BindFlags::default()), Ok(()));
    assert!(sim.local_address(&third).unwrap().port() >= 49152);
}

#[test]
fn a_connect_is_known_when_the_kernel_is_next_waited_for() {
    let mut sim = faultless();
    sim.serve(address(80));
    let [heard, refused] = [(); 2].map(|()| sim.tcp_socket(LOCAL).unwrap());
    assert_eq!(Kernel::connect(&mut sim, &heard, &address(80)), Err(Errno::EINPROGRESS));
    assert_eq!(Kernel::connect(&mut sim, &refused, &address(81)), Err(Errno::EINPROGRESS));
    assert_eq!(Kernel::connect(&mut sim, &heard, &address(80)), Err(Errno::EALREADY));
    assert_eq!(sim.send(&heard, b"early"), Err(Errno::EAGAIN));
    assert_eq!(sim.readiness(&heard), Readiness::empty());
    assert_eq!(sim.wait(Some(0)), Ok(0));
    assert_eq!(sim.readiness(&heard), Readiness::WRITE);
    assert_eq!((sim.take_error(&heard), sim.peer_address(&heard)), (Ok(()), Ok(address(80))));
    assert_eq!(Kernel::connect(&mut sim, &heard, &address(80)), Err(EISCONN));
    assert!(sim.readiness(&refused).contains(Readiness::WRITE | Readiness::ERROR | Readiness::HANG_UP));
    assert_eq!((sim.take_error(&refused), sim.take_error(&refused)), (Err(Errno::ECONNREFUSED), Ok(())));
    assert_eq!(sim.peer_address(&refused), Err(Errno::ENOTCONN));
}

#[test]
fn two_sockets_of_ours_can_be_connected() {
    let mut sim = faultless();
    sim.set_capacity(4);
    let fd = listener(&mut sim, 80);
    let client = sim.tcp_socket(LOCAL).unwrap();
    Kernel::connect(&mut sim, &client, &address(80)).unwrap_err();
    sim.wait(Some(0)).unwrap();
    let server = sim.accept(&fd).unwrap();
    assert_eq!(sim.peer_address(&server), sim.local_address(&client));
    // Four on their way, and four that have come.
    assert_eq!(sim.send(&client, b"abcdef"), Ok(4));
    assert_eq!(sim.send(&client, b"efghij"), Ok(4));
    assert_eq!(sim.send(&client, b"i"), Err(Errno::EAGAIN));
    sim.shutdown_write(&client).unwrap();
    assert_eq!(recv(&mut sim, &server), Ok(b"abcd".to_vec()));
    assert_eq!(recv(&mut sim, &server), Ok(b"efgh".to_vec()));
    assert_eq!(recv(&mut sim, &server), Ok(vec![]));
    sim.send(&server, b"xy").unwrap();
    drop(server);
    assert_eq!(recv(&mut sim, &client), Ok(b"xy".to_vec()));
    assert_eq!(recv(&mut sim, &client), Ok(vec![]));
}

#[test]
fn an_end_of_ours_that_is_closed_is_known_to_the_other_before_it_has_read_all() {
    let mut sim = faultless();
    sim.set_capacity(10);
    let (one, other) = sim.unix_pair().unwrap();
    assert_eq!(sim.send(&one, &[b'x'; 10]), Ok(10));
    assert_eq!(sim.send(&one, &[b'y'; 10]), Ok(10));
    drop(one);
    assert_eq!(sim.send(&other, &[b'z'; 5]), Ok(5), "to nobody, and that is answered by a reset");
    assert_eq!(recv(&mut sim, &other), Ok([[b'x'; 10], [b'y'; 10]].concat()));
    assert!(sim.readiness(&other).contains(Readiness::WRITE | Readiness::HANG_UP));
    assert_eq!(sim.send(&other, b"z"), Err(Errno::EPIPE));
}

#[test]
fn a_close_can_be_a_reset() {
    let mut sim = faultless();
    let (fd, peer) = sim.pair().unwrap();
    sim.set_reset_on_close(&fd).unwrap();
    drop(fd);
    assert_eq!(peer.receive(&sim, 1), Err(Errno::ECONNRESET));
}

/// What is done to a kernel with all its faults, for the tests below.
fn exercise(seed: u64) -> Sim {
    let mut sim = Sim::new(seed, Faults { reset: 100, ..Faults::all() });
    let fd = listener(&mut Sim { ..sim.clone() }, 80);
    let _ = sim.watch(fd.number(), 1, Readiness::READ, false);
    let mut ours = Vec::new();
    for round in 0..200_u64 {
        let _ = sim.connect(address(80)).map(|peer| peer.send(&sim, b"some bytes"));
        ours.extend(sim.accept(&fd).ok());
        for fd in &ours {
            let _ = sim.watch(fd.number(), fd.number() as u64, Readiness::READ | Readiness::WRITE, round > 0);
            let _ = (recv(&mut sim, fd), sim.send(fd, b"some more"));
        }
        sim.shed(&fd);
        sim.now();
        let _ = sim.wait(Some(1000));
        if round % 3 == 0 {
            ours.truncate(2);
        }
    }
    drop(ours);
    sim
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_another() {
    assert_eq!(exercise(5).trace(), exercise(5).trace());
    assert_ne!(exercise(5).trace(), exercise(6).trace());
}

#[test]
fn every_fault_is_committed() {
    let trace = exercise(7).take_trace();
    let has = |wanted: &dyn Fn(&Note) -> bool| trace.iter().any(wanted);
    assert!(has(&|note| matches!(note, Note::Received { result: Ok(1..10), .. })), "short read");
    assert!(has(&|note| matches!(note, Note::Sent { result: Ok(1..9), .. })), "short write");
    assert!(has(&|note| matches!(note, Note::Waited { result: Err(Errno::EINTR), .. })), "interrupt");
    assert!(has(&|note| matches!(note, Note::Sent { result: Err(Errno::EAGAIN), .. })), "again");
    assert!(has(&|note| matches!(note, Note::Accepted { result: Err(Errno::EMFILE), .. })), "no descriptor");
    assert!(has(&|note| matches!(note, Note::Shed { done: false, .. })), "no spare descriptor");
    assert!(has(&|note| matches!(note, Note::Watched { result: Err(Errno::ENOMEM), .. })), "no memory");
    assert!(has(&|note| matches!(note, Note::Received { result: Err(Errno::ECONNRESET), .. })), "reset");
    assert!(has(&|note| matches!(note, Note::Accepted { result: Err(Errno::ECONNABORTED), .. })), "abort");
    assert!(has(&|note| matches!(note, Note::ClockJumped { .. })), "clock jump");
}

#[test]
fn a_late_event_is_in_the_next_batch() {
    let mut sim = Sim::new(1, Faults { late: 1000, ..Faults::none() });
    let (fd, _) = sim.pair().unwrap();
    sim.watch(fd.number(), 7, Readiness::WRITE, false).unwrap();
    assert_eq!(wait(&mut sim, Some(0)), []);
    assert_eq!(wait(&mut sim, Some(0)), [(7, Readiness::WRITE)]);
    // With time to wait it is late within the wait.
    let start = sim.now();
    assert_eq!(wait(&mut sim, None), [(7, Readiness::WRITE)]);
    assert!(sim.now() > start);
}

#[test]
fn events_in_vain_never_tell_of_a_false_hang_up() {
    let mut sim = Sim::new(1, Faults { spurious: 1000, ..Faults::none() });
    let (open, _) = sim.pair().unwrap();
    let (closed, _) = sim.pair().unwrap();
    for (fd, token) in [(&open, 1), (&closed, 2)] {
        sim.watch(fd.number(), token, Readiness::PRIORITY, false).unwrap();
        sim.unwatch(fd.number());
    }
    drop(closed);
    let mut tokens = [false; 3];
    for _ in 0..100 {
        for (token, readiness) in wait(&mut sim, Some(0)) {
            tokens[token as usize] = true;
            assert!(token == 2 || !readiness.intersects(Readiness::ERROR | Readiness::HANG_UP));
        }
    }
    assert_eq!(tokens, [false, true, true]);
}

#[test]
fn a_pipe_like_hang_up_stands_alone_when_the_bytes_are_read() {
    let mut sim = Sim::new(1, Faults { hang_up: 1000, ..Faults::none() });
    let (fd, peer) = sim.pair().unwrap();
    peer.send(&sim, b"last").unwrap();
    peer.close(&sim);
    assert!(sim.readiness(&fd).contains(Readiness::HANG_UP | Readiness::READ));
    recv(&mut sim, &fd).unwrap();
    assert!(sim.readiness(&fd).contains(Readiness::HANG_UP) && !sim.readiness(&fd).contains(Readiness::READ));
}

/// An operation on files that remembers what has become of it.
#[derive(Debug, Default)]
struct Asked {
    answers: usize,
    runs: usize,
}

impl Job for Asked {
    fn run(&mut self) {
        self.runs += 1;
    }

    fn put_operation(&mut self, place: &mut Operation) {
        Call::Metadata(c"/".to_owned()).put(place).unwrap();
    }

    fn answered(&mut self, result: Result<usize>, _: &mut Operation) {
        assert_eq!(result, Ok(0));
        self.answers += 1;
    }
}

/// Waits until so many jobs have come back: how often each was answered, was run, and its result.
fn returned(sim: &mut Sim, count: usize) -> Vec<(usize, usize, Result<()>)> {
    let mut returned = Vec::new();
    while returned.len() < count {
        sim.wait(None).unwrap();
        sim.collect_finished();
        while let Some(Finished { job, result, .. }) = sim.next_finished() {
            let job: Box<dyn Any> = job;
            let Asked { answers, runs } = *job.downcast::<Asked>().unwrap();
            returned.push((answers, runs, result));
        }
    }
    returned
}

#[test]
fn a_ring_begins_what_it_was_given_with_the_next_wait() {
    let mut sim = faultless();
    sim.set_ring(true);
    let tickets = [0, 1].map(|request| sim.submit(Lane::FastIo, request, Box::new(Asked::default())).unwrap());
    assert!(sim.must_begin());
    sim.cancel(tickets[1]).unwrap();
    assert_eq!(sim.cancel(tickets[1]), Err(Errno::EBUSY));
    assert_eq!(returned(&mut sim, 2), [(0, 0, Err(Errno::ECANCELED)), (1, 0, Ok(()))]);
    assert!(!sim.must_begin());
}

#[test]
fn what_a_ring_declines_and_what_is_no_file_is_for_threads() {
    let mut sim = Sim::new(1, Faults { ring_declines: 1000, ..Faults::none() });
    sim.set_ring(true);
    for lane in [Lane::FastIo, Lane::Work] {
        sim.submit(lane, 0, Box::new(Asked::default())).unwrap();
        assert_eq!(returned(&mut sim, 1), [(0, 1, Ok(()))]);
    }
    assert_eq!(sim.committed(Fault::RingDeclines), 1);
}

#[test]
fn a_terminal_is_opened_anew_or_not_and_goes_by_either_number() {
    let mut reopened = 0;
    for seed in 0..20 {
        let mut sim = Sim::new(seed, Faults::none());
        let (fd, peer) = sim.terminal().unwrap();
        let opened = sim.open_terminal(&fd, false).unwrap();
        assert_eq!(sim.window_size(&fd), Ok(WindowSize { columns: 80, rows: 25 }));
        peer.send(&sim, b"typed").unwrap();
        if let Some(new) = opened.reopened {
            reopened += 1;
            drop(fd);
            assert_eq!(recv(&mut sim, &new), Ok(b"typed".to_vec()));
        } else {
            assert_eq!(recv(&mut sim, &fd), Ok(b"typed".to_vec()));
        }
    }
    assert!((1..20).contains(&reopened), "{reopened} of 20");
}

#[test]
fn the_clock_leaps_and_never_comes_to_its_end() {
    let mut sim = Sim::new(1, Faults { clock_leap: 1000, ..Faults::none() });
    let before = sim.time();
    assert!(sim.now() - before > 60_000_000_000, "a leap of less than a minute");
    sim.set_time(u64::MAX - 10);
    sim.later(100, |sim| sim.waker().wake());
    assert_eq!(wait(&mut sim, None), [(WAKE, Readiness::READ)]);
    assert_eq!(sim.now(), u64::MAX - 1);
    assert_eq!(sim.wait(Some(1)), Err(EDEADLK), "what is due at the end");
}
