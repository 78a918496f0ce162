//! Pipes and the handles sent by them, on the simulated kernel.

use std::mem::MaybeUninit;

use oxuv_os::Errno;

use crate::sim::{Faults, Fd, Peer, Random, Sim};
use crate::{Config, Core, Event, Key, Mode, One};

type Pipes = Core<Sim, u32, One<Vec<u8>>>;

fn new_core(seed: u64, faults: Faults) -> (Pipes, Sim) {
    let sim = Sim::new(seed, faults);
    (Core::new(sim.clone(), Config::default()).unwrap(), sim)
}

fn open(core: &mut Pipes, fd: Fd, ipc: bool) -> Key {
    let key = core.pipe_init(0, ipc).unwrap();
    core.pipe_open(key, fd).unwrap();
    key
}

fn pair(core: &mut Pipes, sim: &Sim) -> (Key, Key) {
    let (one, other) = sim.unix_pair().unwrap();
    (open(core, one, true), open(core, other, true))
}

/// Sends connections of which the outside has the other ends, and takes them at the receiver's, in its own time. Each
/// message is a run of one value, its number, so that it shows with which byte a handle has come.
struct Passing {
    core: Pipes,
    sim: Sim,
    random: Random,
    from: Key,
    to: Key,
    sent: Vec<(Key, Peer)>,
    written: usize,
    /// The bytes of each message that have come.
    come: Vec<usize>,
    taken: Vec<Key>,
}

impl Passing {
    fn new(seed: u64) -> Passing {
        let faults =
            Faults { short_read: 400, short_write: 400, again: 200, late: 200, spurious: 100, ..Faults::none() };
        let (mut core, sim) = new_core(seed, faults);
        let mut random = Random::new(seed);
        sim.set_capacity(1 + random.below(40));
        let (from, to) = pair(&mut core, &sim);
        sim.set_capacity(1024);
        core.read_start(to).unwrap();
        Passing { core, sim, random, from, to, sent: vec![], written: 0, come: vec![], taken: vec![] }
    }

    fn send(&mut self) {
        let number = self.sent.len();
        let (fd, peer) = self.sim.pair().unwrap();
        let handle = open(&mut self.core, fd, false);
        let bytes = vec![number as u8; 1 + self.random.below(60)];
        self.core.write_with_handle(self.from, number as u32, One(bytes), handle, |kept| kept).unwrap();
        self.sent.push((handle, peer));
    }

    /// Takes the next event; false when the run is over.
    fn step(&mut self) -> bool {
        let mut buf = [MaybeUninit::uninit(); 32];
        let size = 1 + self.random.below(buf.len());
        match self.core.next() {
            None => return false,
            Some(Event::NeedBuffer { key, .. }) => {
                let bytes = self.core.read_into(key, &mut buf[..size]).unwrap().to_vec();
                for byte in bytes {
                    let number = usize::from(byte);
                    self.come.resize(self.come.len().max(number + 1), 0);
                    self.come[number] += 1;
                }
                let begun = self.come.len();
                assert_eq!(self.taken.len() + self.core.pending_handles(self.to), begun, "each with its first byte");
            }
            Some(Event::Written { user, result, .. }) => {
                assert_eq!((user as usize, result), (self.written, Ok(())));
                self.written += 1;
                // From here on the sent handle may be closed.
                self.core.close(self.sent[user as usize].0).unwrap();
            }
            Some(Event::Closed { .. }) => {}
            Some(event) => panic!("{event:?}"),
        }
        if self.random.below(3) == 0 && self.core.pending_handles(self.to) > 0 {
            let taker = self.core.pipe_init(0, false).unwrap();
            self.core.accept(self.to, taker).unwrap();
            self.taken.push(taker);
        }
        true
    }
}

#[test]
fn handles_come_with_the_first_byte_of_their_message_in_whatever_parts_it_goes() {
    for seed in 0..300 {
        let mut passing = Passing::new(seed);
        let count = 1 + passing.random.below(12);
        for _ in 0..count {
            passing.send();
        }
        while passing.written < count || passing.come.len() < count {
            passing.core.begin(Mode::Once);
            while passing.step() {}
            passing.core.end().unwrap();
        }
        // Those that were taken are the ones that were sent, in that order.
        passing.sim.set_faults(Faults::none());
        for (nth, &taken) in passing.taken.iter().enumerate() {
            let byte = [nth as u8];
            assert_eq!(passing.core.try_write(taken, One(&byte)), Ok(1), "seed {seed}");
            assert_eq!(passing.sent[nth].1.receive(&passing.sim, 2), Ok(byte.to_vec()), "seed {seed}");
        }
        let Passing { mut core, sim, from, to, taken, .. } = passing;
        for key in [from, to].into_iter().chain(taken) {
            core.close(key).unwrap();
        }
        assert_eq!(sim.open_descriptors(), [], "seed {seed}: nothing is left, taken or not");
    }
}

#[test]
fn what_is_in_flight_goes_with_the_receiver() {
    let (mut core, sim) = new_core(1, Faults::none());
    let (from, to) = pair(&mut core, &sim);
    let (fd, peer) = sim.pair().unwrap();
    let handle = open(&mut core, fd, false);
    core.try_write_with_handle(from, &One(b"x"), handle).unwrap();
    core.close(handle).unwrap();
    assert_eq!(peer.receive(&sim, 1), Err(Errno::EAGAIN), "the copy in flight keeps it open");
    core.close(to).unwrap();
    assert_eq!(peer.receive(&sim, 1), Ok(vec![]));
}

#[test]
fn a_write_that_takes_nothing_sends_no_handle() {
    let (mut core, sim) = new_core(1, Faults::none());
    sim.set_capacity(4);
    let (from, to) = pair(&mut core, &sim);
    let (fd, _peer) = sim.pair().unwrap();
    let handle = open(&mut core, fd, false);
    // The buffers of both ends.
    while core.try_write(from, One(b"fill")).is_ok() {}
    assert_eq!(core.try_write_with_handle(from, &One(b"x"), handle), Err(Errno::EAGAIN));
    core.read_start(to).unwrap();
    core.begin(Mode::NoWait);
    let mut buf = [MaybeUninit::uninit(); 64];
    while let Some(event) = core.next() {
        assert!(matches!(event, Event::NeedBuffer { .. }));
        core.read_into(to, &mut buf).unwrap();
    }
    assert_eq!(core.pending_handles(to), 0);
    assert_eq!(core.try_write_with_handle(from, &One(b"x"), handle), Ok(1));
}

#[test]
fn what_a_taker_cannot_take_is_closed_and_the_next_can_come() {
    let (mut core, sim) = new_core(1, Faults::none());
    let (from, to) = pair(&mut core, &sim);
    let (fd, peer) = sim.pair().unwrap();
    let handle = open(&mut core, fd, false);
    core.read_start(to).unwrap();
    core.try_write_with_handle(from, &One(b"x"), handle).unwrap();
    core.close(handle).unwrap();
    core.begin(Mode::NoWait);
    while let Some(event) = core.next() {
        if let Event::NeedBuffer { key, .. } = event {
            core.read_into(key, &mut [MaybeUninit::uninit(); 8]).unwrap();
        }
    }
    let timer = core.timer_init(0).unwrap();
    assert_eq!(core.accept(to, timer), Err(Errno::EINVAL));
    assert_eq!(core.pending_handles(to), 1, "a mistake costs no handle");
    assert_eq!(core.accept(to, from), Err(Errno::EBUSY));
    assert_eq!(core.pending_handles(to), 0);
    assert_eq!(peer.receive(&sim, 1), Ok(vec![]));
    assert_eq!(core.accept(to, from), Err(Errno::EAGAIN));
}

#[test]
fn names_are_connected_to_and_refusals_are_told_later() {
    let (mut core, sim) = new_core(1, Faults::none());
    let [server, client, late] = [(); 3].map(|()| core.pipe_init(7, false).unwrap());
    core.pipe_bind(server, b"/run/socket").unwrap();
    core.pipe_connect(late, 8, b"/run/socket").unwrap();
    core.listen(server, 4).unwrap();
    core.pipe_connect(client, 9, b"/run/socket").unwrap();
    core.begin(Mode::Once);
    let mut told = Vec::new();
    while let Some(event) = core.next() {
        match event {
            Event::Connected { user, result, .. } => told.push((user, result)),
            Event::Connection { key, result: Ok(()), .. } => {
                let taker = core.pipe_init(0, false).unwrap();
                core.accept(key, taker).unwrap();
                assert_eq!(core.pipe_local_name(taker).unwrap().as_bytes(), b"/run/socket");
            }
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(told[0], (8, Err(Errno::ECONNREFUSED)));
    assert_eq!(core.pipe_peer_name(client).unwrap().as_bytes(), b"/run/socket");
    assert!(told.len() == 1 || told[1] == (9, Ok(())));
    core.close(server).unwrap();
    core.pipe_connect(late, 8, b"/run/socket").unwrap();
    core.begin(Mode::Once);
    let told: Vec<_> = std::iter::from_fn(|| core.next()).collect();
    assert!(told.contains(&Event::Connected { key: late, user: 8, result: Err(Errno::ENOENT) }), "{told:?}");
    drop(sim);
}

#[test]
fn a_pipe_for_handles_that_is_closed_when_it_is_asked_for_memory_reads_nothing() {
    let (mut core, sim) = new_core(1, Faults::none());
    let (from, to) = pair(&mut core, &sim);
    core.read_start(to).unwrap();
    core.write(from, 0, One(vec![1]), |kept| kept).unwrap();
    core.begin(Mode::Default);
    let mut closed = false;
    while let Some(event) = core.next() {
        match event {
            Event::NeedBuffer { key, .. } => {
                core.close(key).unwrap();
                let mut buf = [MaybeUninit::uninit(); 8];
                assert_eq!(core.read_into(key, &mut buf).map(|bytes| bytes.len()), Ok(0));
                assert_eq!(core.pending_handles(key), 0);
                core.close(from).unwrap();
            }
            Event::Closed { key, .. } => closed |= key == to,
            _ => {}
        }
    }
    assert!(closed);
}
