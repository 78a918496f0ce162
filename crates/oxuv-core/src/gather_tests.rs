//! Writes that are sent together, on the simulated kernel.

use oxuv_os::Errno;

use crate::sim::{Faults, Peer, Sim};
use crate::{Config, Core, Event, Key, Mode, One};

type Streams = Core<Sim, u32, One<Vec<u8>>>;

struct Fixture {
    sim: Sim,
    core: Streams,
    /// Each calls back in a check phase.
    check: Key,
}

/// What a turn tells of writes and ends, by the users' numbers.
type Told = Vec<(u32, Result<(), Errno>)>;

impl Fixture {
    fn new(capacity: usize) -> Fixture {
        let sim = Sim::new(1, Faults::none());
        sim.set_capacity(capacity);
        let mut core = Streams::new(sim.clone(), Config::default()).unwrap();
        core.gather_writes(|bytes| One(bytes.to_vec()));
        let check = core.check_init(0).unwrap();
        core.watcher_start(check).unwrap();
        Fixture { sim, core, check }
    }

    fn stream(&mut self) -> (Key, Peer) {
        let (fd, peer) = self.sim.pair().unwrap();
        let key = self.core.tcp_init(0).unwrap();
        self.core.tcp_open(key, fd).unwrap();
        (key, peer)
    }

    fn write(&mut self, key: Key, user: u32, bytes: &[u8]) {
        self.core.write(key, user, One(bytes.to_vec()), |bytes| bytes).map_err(|refused| refused.error).unwrap();
    }

    /// A turn in whose check phase this is done.
    fn turn_with(&mut self, act: impl FnOnce(&mut Fixture)) -> Told {
        let (mut act, mut told) = (Some(act), Told::new());
        self.core.begin(Mode::NoWait);
        while let Some(event) = self.core.next() {
            match event {
                Event::Written { user, result, .. } | Event::ShutDown { user, result, .. } => told.push((user, result)),
                Event::Check { key, .. } if key == self.check => act.take().into_iter().for_each(|act| act(self)),
                _ => {}
            }
        }
        self.core.end().unwrap();
        told
    }

    fn turn(&mut self) -> Told {
        self.turn_with(|_| {})
    }

    fn received(&self, peer: Peer) -> Vec<u8> {
        peer.receive(&self.sim, 1000).unwrap_or_default()
    }
}

#[test]
fn those_of_a_phase_leave_before_they_are_told_of_in_the_order_of_the_calls() {
    let mut all = Fixture::new(100);
    let streams: Vec<_> = (0..8).map(|_| all.stream()).collect();
    let told = all.turn_with(|all| {
        for (user, &(key, _)) in (1..).zip(&streams) {
            all.write(key, user, &[user as u8]);
            assert_eq!(all.core.write_queue_size(key), Ok(0));
        }
        // The simulated kernel has room for three.
        assert_eq!(streams.iter().map(|&(_, peer)| all.received(peer).len()).sum::<usize>(), 6);
    });
    assert_eq!(told, []);
    assert_eq!(streams[7].1.receive(&all.sim, 10), Ok(vec![8]), "the end of the run sends the rest");
    assert_eq!(all.turn(), (1..=8).map(|user| (user, Ok(()))).collect::<Told>());
}

#[test]
fn what_the_kernel_does_not_take_waits_as_ever() {
    let mut all = Fixture::new(4);
    let [(slow, its), (other, others)] = [(); 2].map(|()| all.stream());
    all.turn_with(|all| {
        all.write(slow, 1, b"abcdef");
        all.write(other, 2, b"gh");
    });
    assert_eq!(all.core.write_queue_size(slow), Ok(2));
    assert_eq!(all.turn(), [(2, Ok(()))]);
    assert_eq!((all.received(its), all.received(others)), (b"abcd".to_vec(), b"gh".to_vec()));
    assert_eq!(all.turn(), [(1, Ok(()))]);
    assert_eq!(all.received(its), b"ef");
    assert_eq!(all.core.write_queue_size(slow), Ok(0));
    // Nothing at all.
    all.turn_with(|all| all.write(slow, 3, b"1234"));
    all.turn_with(|all| all.write(slow, 4, b"56"));
    assert_eq!((all.core.write_queue_size(slow), all.core.active_requests()), (Ok(2), 1));
    assert_eq!(all.received(its), b"1234");
    assert_eq!((all.turn(), all.core.active_requests()), (vec![(4, Ok(()))], 0));
    assert_eq!(all.received(its), b"56");
}

#[test]
fn a_failure_is_told_by_the_event() {
    let mut all = Fixture::new(100);
    let (key, peer) = all.stream();
    all.turn_with(|all| {
        all.write(key, 1, b"abc");
        peer.reset(&all.sim);
    });
    let told = all.turn();
    assert!(matches!(told[..], [(1, Err(Errno::EPIPE | Errno::ECONNRESET))]), "{told:?}");
    assert_eq!((all.core.write_queue_size(key), all.core.active_requests()), (Ok(0), 0));
}

#[test]
fn what_else_is_done_to_a_stream_comes_after_what_was_written() {
    let mut all = Fixture::new(100);
    let [(twice, its), (tried, of_tried), (shut, of_shut), (closed, of_closed)] = [(); 4].map(|()| all.stream());
    all.turn_with(|all| {
        all.write(twice, 1, b"a");
        all.write(twice, 2, b"b");
        assert_eq!(all.received(its), b"ab");
        all.write(tried, 3, b"c");
        assert_eq!(all.core.try_write(tried, One(b"d")), Ok(1));
        assert_eq!(all.received(of_tried), b"cd");
        all.write(shut, 4, b"e");
        all.core.shutdown(shut, 5).unwrap();
        assert_eq!(all.received(of_shut), b"e");
        all.write(closed, 6, b"f");
        all.core.close(closed).unwrap();
        assert_eq!(all.received(of_closed), b"f");
    });
    let mut told = all.turn();
    told.sort_by_key(|&(user, _)| user);
    assert_eq!(told[..5], [1, 2, 3, 4, 5].map(|user| (user, Ok(()))));
    assert_eq!(of_shut.receive(&all.sim, 10), Ok(vec![]), "the end comes behind it");
}

#[test]
fn options_come_after_what_was_written() {
    let mut all = Fixture::new(100);
    let [(prompt, of_prompt), (kept, of_kept)] = [(); 2].map(|()| all.stream());
    all.turn_with(|all| {
        all.write(prompt, 1, b"a");
        all.core.tcp_nodelay(prompt, false).unwrap();
        assert_eq!(all.received(of_prompt), b"a");
        all.write(kept, 2, b"b");
        all.core.tcp_keepalive(kept, None).unwrap();
        assert_eq!(all.received(of_kept), b"b");
    });
    assert_eq!(all.turn(), [(1, Ok(())), (2, Ok(()))]);
}

#[test]
fn a_write_of_which_a_part_is_sent_is_cancelled_by_close() {
    let mut all = Fixture::new(2);
    let (key, peer) = all.stream();
    let told = all.turn_with(|all| {
        all.write(key, 1, b"abc");
        all.core.close(key).unwrap();
    });
    assert_eq!(told, [(1, Err(Errno::ECANCELED))]);
    assert_eq!(all.received(peer), b"ab");
    assert_eq!(all.core.active_requests(), 0);
}

#[test]
fn outside_of_a_run_and_when_it_is_large_it_is_sent_at_once() {
    let mut all = Fixture::new(10_000);
    let (key, peer) = all.stream();
    all.write(key, 1, b"abc");
    assert_eq!(all.received(peer), b"abc");
    all.turn_with(|all| {
        all.write(key, 2, &[7; 4097]);
        assert_eq!(peer.receive(&all.sim, 10_000).unwrap().len(), 4097);
    });
    assert_eq!(all.turn(), [(2, Ok(()))]);
}

#[test]
fn a_run_that_is_left_or_suspended_has_sent() {
    for is_left in [true, false] {
        let mut all = Fixture::new(100);
        let (key, peer) = all.stream();
        all.core.begin(Mode::NoWait);
        while !matches!(all.core.next(), Some(Event::Check { .. })) {}
        all.write(key, 1, b"abc");
        assert_eq!(all.received(peer), b"");
        if is_left {
            all.core.abandon();
        } else {
            let _ = all.core.suspend();
        }
        assert_eq!(all.received(peer), b"abc");
        assert_eq!(all.turn(), [(1, Ok(()))]);
    }
}

#[test]
fn what_the_callback_of_a_failed_connect_writes_is_sent_before_it_is_told_of() {
    let mut all = Fixture::new(100);
    let key = all.core.tcp_init(0).unwrap();
    all.core.tcp_connect(key, 1, &([127, 0, 0, 1], 80).into()).unwrap();
    all.core.watcher_stop(all.check).unwrap();
    all.core.begin(Mode::Default);
    let connected = Event::Connected { key, user: 1, result: Err(Errno::ECONNREFUSED) };
    assert_eq!(all.core.next(), Some(connected));
    all.write(key, 2, b"in vain");
    assert_eq!(all.core.next(), Some(Event::Written { key, user: 2, result: Err(Errno::EPIPE) }));
    assert_eq!((all.core.next(), all.core.end()), (None, Ok(false)));
}

#[test]
fn a_write_that_the_kernel_takes_later_is_told_of_when_it_has() {
    let mut all = Fixture::new(4);
    let (key, peer) = all.stream();
    all.write(key, 1, b"1234");
    assert_eq!(all.turn(), [(1, Ok(()))]);
    all.turn_with(|all| all.write(key, 2, b"56"));
    // Nothing of it is tried anew before the kernel has room.
    assert_eq!(all.received(peer), b"1234");
    let prepare = all.core.prepare_init(0).unwrap();
    all.core.watcher_start(prepare).unwrap();
    all.core.begin(Mode::NoWait);
    assert_eq!(all.core.next(), Some(Event::Prepare { key: prepare, user: 0 }));
    assert_eq!(all.core.next(), Some(Event::Written { key, user: 2, result: Ok(()) }));
}
