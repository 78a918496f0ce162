//! Waiting for the readiness of streams, on the simulated kernel.

use oxuv_os::Errno;

use crate::kernel::{Readiness, Room};
use crate::sim::{Faults, Peer, Sim};
use crate::testing::Random;
use crate::{Config, Core, Event, Key, Mode, One};

type Streams = Core<Sim, u32, One<Vec<u8>>>;

fn connected(seed: u64, faults: Faults) -> (Streams, Sim, Key, Peer) {
    let sim = Sim::new(seed, faults);
    let mut core = Streams::new(sim.clone(), Config::default()).unwrap();
    let (fd, peer) = sim.pair().unwrap();
    let key = core.tcp_init(7).unwrap();
    core.tcp_open(key, fd).unwrap();
    (core, sim, key, peer)
}

/// The events of one turn that does not wait.
fn turn(core: &mut Streams) -> Vec<Event<u32>> {
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
    while core.try_write(key, &One(b"x")).is_ok() {}
    assert_eq!(core.try_write(key, &One(b"x")), Err(Errno::EAGAIN));
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

/// What a front does with a stream at random, and what it may expect. Bytes are the numbers of their places.
struct Front {
    core: Streams,
    sim: Sim,
    key: Key,
    peer: Peer,
    awaited: Readiness,
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
        Front { core, sim, key, peer, awaited, sent: 0, came: 0, written: 0, arrived: 0 }
    }

    fn wait(&mut self, interest: Readiness) {
        self.core.wait_ready(self.key, interest).unwrap();
        self.awaited |= interest;
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

    fn read(&mut self) {
        match read(&mut self.core, self.key) {
            Ok(bytes) => {
                for byte in bytes {
                    assert_eq!(byte, self.came as u8);
                    self.came += 1;
                }
            }
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                self.wait(Readiness::READ);
            }
        }
    }

    fn write(&mut self, count: usize) {
        let bytes: Vec<u8> = (self.written..self.written + count).map(|place| place as u8).collect();
        match self.core.try_write(self.key, &One(&bytes[..])) {
            Ok(count) => self.written += count,
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                self.wait(Readiness::WRITE);
            }
        }
    }

    /// What is told was awaited, and is not any more.
    fn turn(&mut self) {
        for event in turn(&mut self.core) {
            let Event::Ready { key, user: 7, readiness } = event else { panic!("{event:?}") };
            assert!(key == self.key && !readiness.is_empty() && self.awaited.contains(readiness), "{event:?}");
            self.awaited -= readiness;
        }
        assert_eq!(self.core.is_active(self.key), !self.awaited.is_empty());
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
                2 | 3 => front.read(),
                4 => front.write(count),
                5 => front.wait(*random.pick(&[Readiness::READ, Readiness::WRITE]).unwrap()),
                _ => front.turn(),
            }
        }
        // Whoever waits for what there is hears of it.
        front.sim.set_faults(Faults::none());
        front.peer_receives(16);
        front.peer_sends(1);
        (0..3).for_each(|_| front.turn());
        assert_eq!(front.awaited, Readiness::empty(), "seed {seed}");
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
