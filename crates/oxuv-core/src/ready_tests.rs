//! Waiting for the readiness of streams, on the simulated kernel.

use oxuv_os::Errno;

use crate::kernel::{BATCH, Readiness, Room};
use crate::sim::{Faults, Note, Peer, Sim};
use crate::testing::Random;
use crate::{Config, Core, Event, Key, Mode, One};

pub(crate) type Streams = Core<Sim, u32, One<Vec<u8>>>;

pub(crate) fn connected(seed: u64, faults: Faults) -> (Streams, Sim, Key, Peer) {
    let sim = Sim::new(seed, faults);
    let mut core = Streams::new(sim.clone(), Config::default()).unwrap();
    let (fd, peer) = sim.pair().unwrap();
    let key = core.tcp_init(7).unwrap();
    core.tcp_open(key, fd).unwrap();
    (core, sim, key, peer)
}

/// The events of one turn that does not wait.
pub(crate) fn turn(core: &mut Streams) -> Vec<Event<u32>> {
    core.begin(Mode::NoWait);
    let events = std::iter::from_fn(|| core.next()).collect();
    core.end().unwrap();
    events
}

fn read(core: &mut Streams, key: Key) -> Result<Vec<u8>, Errno> {
    core.try_read(key, Room::from(&mut [0; 64][..])).map(|bytes| bytes.to_vec())
}

#[test]
fn readiness_is_told_once_for_each_wait() {
    let (mut core, sim, key, peer) = connected(1, Faults::none());
    assert_eq!(read(&mut core, key), Err(Errno::EAGAIN));
    core.wait_ready(key, Readiness::READ).unwrap();
    assert!(core.is_active(key) && core.alive());
    assert_eq!(turn(&mut core), []);
    peer.send(&sim, b"abc").unwrap();
    let ready = Event::Ready { key, user: 7, readiness: Readiness::READ };
    assert_eq!(turn(&mut core), [ready]);
    assert!(!core.is_active(key) && !core.alive());
    assert_eq!(turn(&mut core), []);
    core.wait_ready(key, Readiness::READ).unwrap();
    assert_eq!(turn(&mut core), [ready]);
    assert_eq!(read(&mut core, key).unwrap(), b"abc");
    assert_eq!(read(&mut core, key), Err(Errno::EAGAIN));
}

#[test]
fn a_stream_is_read_in_one_way_at_a_time() {
    let (mut core, _sim, key, _peer) = connected(2, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    assert_eq!(core.read_start(key), Err(Errno::EALREADY));
    core.close(key).unwrap();
    assert_eq!(core.wait_ready(key, Readiness::READ), Err(Errno::EINVAL));
    let key = core.tcp_init(8).unwrap();
    assert_eq!(core.wait_ready(key, Readiness::READ), Err(Errno::ENOTCONN));
    assert_eq!(core.wait_ready(key, Readiness::PRIORITY), Err(Errno::EINVAL));
}

#[test]
fn an_end_is_ready_and_read_as_one() {
    let (mut core, sim, key, peer) = connected(3, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    peer.send(&sim, b"last").unwrap();
    peer.shutdown(&sim);
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key).unwrap(), b"last");
    core.wait_ready(key, Readiness::READ).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key), Err(Errno::EOF));
}

#[test]
fn room_is_told_beside_what_is_queued() {
    let (mut core, sim, key, peer) = connected(4, Faults::none());
    sim.set_capacity(4);
    while core.try_write(key, One(b"x")).is_ok() {}
    assert_eq!(core.try_write(key, One(b"x")), Err(Errno::EAGAIN));
    core.wait_ready(key, Readiness::WRITE).unwrap();
    core.write(key, 9, One(b"queued for long".to_vec()), |buffers| buffers).unwrap();
    assert_eq!(turn(&mut core), []);
    let ready = Event::Ready { key, user: 7, readiness: Readiness::WRITE };
    peer.receive(&sim, 64).unwrap();
    let mut told = turn(&mut core);
    assert_eq!(told[0], ready);
    // The queue goes on to wait for room, and when it is done somebody else does.
    core.wait_ready(key, Readiness::WRITE).unwrap();
    for _ in 0..8 {
        peer.receive(&sim, 64).unwrap_or_default();
        told.extend(turn(&mut core));
    }
    assert!(told.contains(&Event::Written { key, user: 9, result: Ok(()) }), "{told:?}");
    assert_eq!(told.iter().filter(|&&event| event == ready).count(), 2, "{told:?}");
    assert!(!core.is_active(key));
}

/// What the kernel was told of the stream's descriptor, since the last time.
fn watches(sim: &Sim) -> Vec<Readiness> {
    let told = |note| if let Note::Watched { interest, .. } = note { Some(interest) } else { None };
    sim.take_trace().into_iter().filter_map(told).collect()
}

#[test]
fn who_takes_all_and_waits_again_costs_no_word_to_the_kernel() {
    let (mut core, sim, key, peer) = connected(8, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    for nth in 0..3 {
        peer.send(&sim, b"abc").unwrap();
        assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
        assert_eq!(read(&mut core, key).unwrap(), b"abc");
        core.wait_ready(key, Readiness::READ).unwrap();
        assert_eq!(turn(&mut core), []);
        assert_eq!(watches(&sim).len(), usize::from(nth == 0));
    }
}

#[test]
fn who_leaves_something_and_waits_again_is_told_again() {
    let (mut core, sim, key, peer) = connected(9, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    peer.send(&sim, &[7; 65]).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key).unwrap(), [7; 64]);
    core.wait_ready(key, Readiness::READ).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key).unwrap(), [7]);
}

#[test]
fn what_comes_while_nobody_waits_is_told_to_the_next_who_does() {
    let (mut core, sim, key, peer) = connected(10, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    peer.send(&sim, b"one").unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key).unwrap(), b"one");
    peer.send(&sim, b"two").unwrap();
    assert_eq!(turn(&mut core), []);
    peer.send(&sim, b"three").unwrap();
    assert_eq!(turn(&mut core), []);
    core.wait_ready(key, Readiness::READ).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key).unwrap(), b"twothree");
}

#[test]
fn an_event_of_a_batch_that_is_given_up_is_told_again() {
    let (mut core, sim, key, peer) = connected(11, Faults::none());
    let (fd, other) = sim.pair().unwrap();
    let second = core.tcp_init(8).unwrap();
    core.tcp_open(second, fd).unwrap();
    for key in [key, second] {
        core.wait_ready(key, Readiness::READ).unwrap();
    }
    peer.send(&sim, b"x").unwrap();
    other.send(&sim, b"x").unwrap();
    core.begin(Mode::NoWait);
    let Some(Event::Ready { user: first, .. }) = core.next() else { panic!("both are ready") };
    core.abandon();
    let told = turn(&mut core);
    assert!(matches!(told[..], [Event::Ready { user, .. }] if user + first == 15), "{told:?}");
}

#[test]
fn an_event_that_a_run_in_between_has_dropped_is_told_again() {
    let (mut core, sim, key, peer) = connected(12, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    let send = core.async_init(9).unwrap();
    let sender = core.async_sender(send).unwrap();
    turn(&mut core);
    sender.send().unwrap();
    peer.send(&sim, b"x").unwrap();
    core.begin(Mode::NoWait);
    let first = core.next();
    let outer = core.suspend();
    core.begin(Mode::NoWait);
    let inner: Vec<_> = std::iter::from_fn(|| core.next()).collect();
    core.end().unwrap();
    core.resume(outer);
    let all: Vec<_> = first.into_iter().chain(inner).chain(std::iter::from_fn(|| core.next())).collect();
    core.end().unwrap();
    assert_eq!(all.iter().filter(|event| matches!(event, Event::Ready { .. })).count(), 1, "{all:?}");
}

#[test]
fn a_stream_that_tasks_have_read_is_read_by_the_loop_as_any_other() {
    let (mut core, sim, key, peer) = connected(13, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    peer.send(&sim, b"abc").unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    core.read_start(key).unwrap();
    // It does not take the bytes, and is asked again in each turn.
    for _ in 0..2 {
        core.begin(Mode::NoWait);
        assert!(matches!(core.next(), Some(Event::NeedBuffer { .. })));
        assert_eq!(core.read_into(key, &mut []), Err(Errno::ENOBUFS));
        assert_eq!(core.next(), None);
        core.end().unwrap();
    }
    core.read_stop(key).unwrap();
    assert_eq!(read(&mut core, key).unwrap(), b"abc");
}

#[test]
fn who_has_waited_for_room_costs_no_word_to_the_kernel_later() {
    let (mut core, sim, key, peer) = connected(14, Faults::none());
    sim.set_capacity(1);
    core.wait_ready(key, Readiness::READ).unwrap();
    while core.try_write(key, One(b"x")).is_ok() {}
    core.wait_ready(key, Readiness::WRITE).unwrap();
    assert_eq!(turn(&mut core), []);
    peer.receive(&sim, 1).unwrap();
    assert_eq!(turn(&mut core), [Event::Ready { key, user: 7, readiness: Readiness::WRITE }]);
    assert_eq!(turn(&mut core), []);
    sim.take_trace();
    for _ in 0..3 {
        peer.send(&sim, b"abc").unwrap();
        assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
        assert_eq!(turn(&mut core), []);
        assert_eq!(read(&mut core, key).unwrap(), b"abc");
        core.wait_ready(key, Readiness::READ).unwrap();
    }
    assert_eq!(watches(&sim), []);
}

#[test]
fn an_end_is_told_to_each_who_waits() {
    let (mut core, sim, key, peer) = connected(15, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    turn(&mut core);
    peer.shutdown(&sim);
    for _ in 0..3 {
        assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]), "{:?}", sim.take_trace());
        assert_eq!(read(&mut core, key), Err(Errno::EOF));
        core.wait_ready(key, Readiness::READ).unwrap();
    }
}

#[test]
fn who_waits_twice_after_the_end_is_told() {
    let (mut core, sim, key, peer) = connected(16, Faults::none());
    core.wait_ready(key, Readiness::READ).unwrap();
    turn(&mut core);
    peer.shutdown(&sim);
    for _ in 0..3 {
        assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
        core.wait_ready(key, Readiness::READ).unwrap();
        core.wait_ready(key, Readiness::READ).unwrap();
    }
}

#[test]
fn an_end_that_comes_while_nobody_waits_is_told_to_who_has_read_the_rest() {
    let (mut core, sim, key, peer) = connected(17, Faults::none());
    // The loop waits for something all the while.
    core.async_init(9).unwrap();
    core.wait_ready(key, Readiness::READ).unwrap();
    peer.send(&sim, b"last").unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    peer.shutdown(&sim);
    assert_eq!(turn(&mut core), []);
    assert_eq!(read(&mut core, key).unwrap(), b"last");
    core.wait_ready(key, Readiness::READ).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { .. }]));
    assert_eq!(read(&mut core, key), Err(Errno::EOF));
}

#[test]
fn what_comes_when_a_wait_was_given_up_keeps_nobody_awake() {
    let (mut core, sim, key, peer) = connected(19, Faults::none());
    sim.set_capacity(1);
    while core.try_write(key, One(b"x")).is_ok() {}
    core.wait_ready(key, BOTH_WAYS).unwrap();
    assert_eq!(turn(&mut core), []);
    core.wait_no_more(key).unwrap();
    assert!(!core.is_active(key));
    peer.send(&sim, b"abc").unwrap();
    peer.receive(&sim, 1).unwrap();
    let timer = core.timer_init(1).unwrap();
    core.timer_start(timer, 1_000_000_000, 0).unwrap();
    sim.set_wait_limit(3);
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { .. })));
    assert_eq!(core.next(), None);
    core.end().unwrap();
    sim.set_wait_limit(u64::MAX);
    core.wait_ready(key, BOTH_WAYS).unwrap();
    assert!(matches!(turn(&mut core)[..], [Event::Ready { readiness: BOTH_WAYS, .. }]));
}

const BOTH_WAYS: Readiness = Readiness::READ.union(Readiness::WRITE);

/// What may happen between two waits. All orders of five of these are tried.
const STEPS: u32 = 9;

#[test]
fn in_whatever_order_things_have_happened_who_waits_is_told() {
    for order in 0..if cfg!(miri) { 8 } else { STEPS.pow(5) } {
        let (mut core, sim, key, peer) = connected(18, Faults::none());
        // The loop waits for something all the while.
        core.async_init(9).unwrap();
        core.wait_ready(key, Readiness::READ).unwrap();
        let (mut awaited, mut there, mut has_ended) = (Readiness::READ, 0, false);
        let told = |core: &mut Streams, awaited: &mut Readiness| {
            for event in turn(core) {
                let Event::Ready { readiness, .. } = event else { panic!("{order}: {event:?}") };
                assert!(awaited.contains(readiness), "{order}: {event:?}");
                *awaited -= readiness;
            }
        };
        for nth in 0..5 {
            match order / STEPS.pow(nth) % STEPS {
                0 => there += peer.send(&sim, b"ab").unwrap_or(0),
                1 => {
                    peer.shutdown(&sim);
                    has_ended = true;
                }
                2 => told(&mut core, &mut awaited),
                3 => there -= core.try_read(key, Room::from(&mut [0; 1][..])).map_or(0, |bytes| bytes.len()),
                4 => there -= core.try_read(key, Room::from(&mut [0; 64][..])).map_or(0, |bytes| bytes.len()),
                5 => {
                    core.wait_ready(key, Readiness::READ).unwrap();
                    awaited |= Readiness::READ;
                }
                6 => {
                    core.wait_ready(key, Readiness::WRITE).unwrap();
                    awaited |= Readiness::WRITE;
                }
                7 => {
                    core.wait_no_more(key).unwrap();
                    awaited = Readiness::empty();
                }
                _ => {
                    // The loop reads for a moment, unless somebody waits.
                    let is_free = core.read_start(key).is_ok();
                    assert_eq!(is_free, awaited.is_empty(), "{order}");
                    core.read_stop(key).unwrap();
                }
            }
        }
        core.wait_ready(key, Readiness::READ).unwrap();
        awaited |= Readiness::READ;
        if there == 0 && !has_ended {
            told(&mut core, &mut awaited);
            assert!(awaited.contains(Readiness::READ), "{order}: there is nothing");
            peer.send(&sim, b"c").unwrap();
        }
        told(&mut core, &mut awaited);
        assert_eq!(awaited, Readiness::empty(), "{order}");
    }
}

/// What a front does with a stream at random, and what it may expect. Bytes are the numbers of their places.
struct Front {
    core: Streams,
    sim: Sim,
    key: Key,
    peer: Peer,
    /// The loop reads, and nobody waits to.
    is_reading: bool,
    awaited: Readiness,
    /// The loop's writes that are not reported.
    queued: usize,
    sent: usize,
    came: usize,
    written: usize,
    arrived: usize,
}

impl Front {
    fn new(seed: u64) -> Front {
        // What makes the connection fail would end the program.
        let faults = Faults { reset: 0, hang_up: 0, ..Faults::all() };
        let (core, sim, key, peer) = connected(seed, faults);
        sim.set_capacity(16);
        let awaited = Readiness::empty();
        Front { core, sim, key, peer, is_reading: false, awaited, queued: 0, sent: 0, came: 0, written: 0, arrived: 0 }
    }

    fn wait(&mut self, interest: Readiness) {
        let result = self.core.wait_ready(self.key, interest);
        assert_eq!(result, if self.is_reading { Err(Errno::EALREADY) } else { Ok(()) });
        self.awaited |= if result.is_ok() { interest } else { Readiness::empty() };
    }

    /// The loop begins to read, or ends.
    fn read_otherwise(&mut self) {
        if self.is_reading {
            self.core.read_stop(self.key).unwrap();
            self.is_reading = false;
        } else {
            let result = self.core.read_start(self.key);
            assert_eq!(result, if self.awaited.is_empty() { Ok(()) } else { Err(Errno::EALREADY) });
            self.is_reading = result.is_ok();
        }
    }

    fn peer_sends(&mut self, count: usize) {
        let bytes: Vec<u8> = (self.sent..self.sent + count).map(|place| place as u8).collect();
        self.sent += self.peer.send(&self.sim, &bytes).unwrap_or(0);
    }

    fn peer_receives(&mut self, most: usize) {
        for byte in self.peer.receive(&self.sim, most).unwrap_or_default() {
            assert_eq!(byte, self.arrived as u8);
            self.arrived += 1;
        }
    }

    fn took(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            assert_eq!(byte, self.came as u8);
            self.came += 1;
        }
    }

    /// Reads at most so many, and waits if there is nothing.
    fn read(&mut self, most: usize) {
        if self.is_reading {
            return;
        }
        let mut room = [0; 64];
        match self.core.try_read(self.key, Room::from(&mut room[..most])) {
            Ok(bytes) => {
                let bytes = bytes.to_vec();
                self.took(&bytes);
            }
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                self.wait(Readiness::READ);
            }
        }
    }

    /// Has the loop write, as long as that takes.
    fn queue(&mut self, count: usize) {
        let bytes: Vec<u8> = (self.written..self.written + count).map(|place| place as u8).collect();
        self.core.write(self.key, 9, One(bytes), |buffers| buffers).unwrap();
        self.written += count;
        self.queued += 1;
    }

    fn write(&mut self, count: usize) {
        let bytes: Vec<u8> = (self.written..self.written + count).map(|place| place as u8).collect();
        match self.core.try_write(self.key, One(&bytes[..])) {
            Ok(count) => self.written += count,
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                self.wait(Readiness::WRITE);
            }
        }
    }

    /// What is told was awaited, and is not any more.
    fn turn(&mut self) {
        self.turn_until(usize::MAX);
    }

    /// A turn that is given up after so many events.
    fn turn_until(&mut self, most: usize) {
        self.core.begin(Mode::NoWait);
        for _ in 0..most {
            match self.core.next() {
                Some(Event::Ready { key, user: 7, readiness }) => {
                    assert!(key == self.key && !readiness.is_empty() && self.awaited.contains(readiness));
                    self.awaited -= readiness;
                }
                Some(Event::Written { key, user: 9, result: Ok(()) }) if key == self.key => self.queued -= 1,
                Some(Event::NeedBuffer { key, user: 7 }) => {
                    assert!(key == self.key && self.is_reading);
                    let mut room = [std::mem::MaybeUninit::uninit(); 4];
                    let bytes = self.core.read_into(key, &mut room).unwrap().to_vec();
                    self.took(&bytes);
                }
                Some(event) => panic!("{event:?}"),
                None => {
                    self.core.end().unwrap();
                    let waits = !self.awaited.is_empty() || self.is_reading;
                    assert_eq!(self.core.is_active(self.key), waits);
                    return;
                }
            }
        }
        self.core.abandon();
    }
}

#[test]
fn readiness_is_told_to_who_waits_and_to_nobody_else_whatever_happens() {
    for seed in 1..=if cfg!(miri) { 2 } else { 500 } {
        let (mut random, mut front) = (Random::new(seed), Front::new(seed));
        for _ in 0..200 {
            let count = 1 + random.below(8);
            match random.below(8) {
                0 => front.peer_sends(count),
                1 => front.peer_receives(count),
                2 | 3 => front.read(*random.pick(&[1, 4, 64]).unwrap()),
                4 if random.chance(300) => front.queue(count),
                4 => front.write(count),
                5 => front.wait(*random.pick(&[Readiness::READ, Readiness::WRITE]).unwrap()),
                6 if random.chance(100) => front.read_otherwise(),
                7 if random.chance(100) => front.turn_until(random.below(3)),
                _ => front.turn(),
            }
        }
        // Whoever waits for what there is hears of it.
        front.sim.set_faults(Faults::none());
        if front.is_reading {
            front.read_otherwise();
        }
        front.peer_receives(16);
        front.peer_sends(1);
        (0..3).for_each(|_| front.turn());
        assert_eq!(front.awaited, Readiness::empty(), "seed {seed}");
        while front.arrived < front.written {
            let before = front.arrived;
            front.peer_receives(16);
            front.turn();
            assert!(front.arrived > before, "seed {seed}: what is queued is sent when there is room");
        }
        front.turn();
        assert_eq!(front.queued, 0, "seed {seed}");
        // And what is there and not waited for keeps nobody awake.
        let timer = front.core.timer_init(1).unwrap();
        front.core.timer_start(timer, 1_000_000_000, 0).unwrap();
        let before = front.core.turns();
        front.core.begin(Mode::Default);
        assert!(matches!(front.core.next(), Some(Event::Timer { .. })));
        assert_eq!(front.core.next(), None);
        assert!(front.core.turns() - before <= 2, "seed {seed}: it turned {} times", front.core.turns() - before);
    }
}

/// What is told of in a turn is done after it, and is not told of again before: that would take two more system calls for each.
#[test]
fn a_turn_tells_of_as_many_as_one_wait_brings() {
    let sim = Sim::new(5, Faults::none());
    let mut core = Streams::new(sim.clone(), Config::default()).unwrap();
    let count = BATCH + 100;
    sim.set_descriptor_limit(2 * count);
    let mut waiting = Vec::new();
    for nth in 0..count {
        let (fd, peer) = sim.pair().unwrap();
        let key = core.tcp_init(nth as u32).unwrap();
        core.tcp_open(key, fd).unwrap();
        core.wait_ready(key, Readiness::READ).unwrap();
        peer.send(&sim, b"x").unwrap();
        waiting.push(key);
    }
    for told in [BATCH, 100, 0] {
        let events = turn(&mut core);
        assert_eq!(events.len(), told);
        for event in events {
            let Event::Ready { key, .. } = event else { panic!("{event:?}") };
            assert_eq!(read(&mut core, key).unwrap(), b"x");
            let at = waiting.iter().position(|&waits| waits == key).expect("it has been told of before");
            waiting.swap_remove(at);
        }
    }
}
