//! Waiting for the readiness of streams, on the simulated kernel.

use oxuv_os::Errno;

use crate::kernel::{Readiness, Room};
use crate::sim::{Faults, Peer, Sim};
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
