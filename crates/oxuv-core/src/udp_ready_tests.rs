//! Waiting for the readiness of UDP handles, on the simulated kernel.

use std::net::{Ipv4Addr, SocketAddr};

use oxuv_os::{Errno, InternetAddress};

use crate::kernel::{Readiness, Received, Room, UdpBindFlags};
use crate::ready_tests::{Streams, turn};
use crate::sim::{Faults, Sim};
use crate::{Config, Event, Key, One};

const PORT: u16 = 4000;

fn outside() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 9).into()
}

fn bound(flags: UdpBindFlags) -> (Streams, Sim, Key) {
    let sim = Sim::new(6, Faults::none());
    let mut core = Streams::new(sim.clone(), Config::default()).unwrap();
    let key = core.udp_init(7, false).unwrap();
    core.udp_bind(key, &(Ipv4Addr::LOCALHOST, PORT).into(), flags).unwrap();
    (core, sim, key)
}

fn receive(core: &mut Streams, key: Key) -> Result<(Vec<u8>, SocketAddr), Errno> {
    let (mut room, mut received) = ([0; 64], Received::none());
    core.udp_try_receive(key, Room::from(&mut room[..]), &mut received)?;
    Ok((received.bytes.to_vec(), SocketAddr::try_from(&received.from).unwrap()))
}

#[test]
fn a_datagram_is_told_of_once_for_each_wait_and_stays_until_it_is_received() {
    let (mut core, sim, key) = bound(UdpBindFlags::default());
    assert_eq!(receive(&mut core, key), Err(Errno::EAGAIN));
    core.udp_wait_ready(key).unwrap();
    assert!(core.is_active(key) && core.alive());
    assert_eq!(turn(&mut core), []);
    sim.send_letter(outside(), PORT, b"one");
    sim.send_letter(outside(), PORT, b"");
    let ready = Event::Ready { key, user: 7, readiness: Readiness::READ };
    assert_eq!(turn(&mut core), [ready]);
    assert!(!core.is_active(key) && !core.alive());
    assert_eq!(turn(&mut core), []);
    core.udp_wait_ready(key).unwrap();
    assert_eq!(turn(&mut core), [ready]);
    assert_eq!(receive(&mut core, key).unwrap(), (b"one".to_vec(), outside()));
    assert_eq!(receive(&mut core, key).unwrap(), (Vec::new(), outside()));
    assert_eq!(receive(&mut core, key), Err(Errno::EAGAIN));
    // Nobody waits, and nothing is told; nor does it keep a loop awake.
    sim.send_letter(outside(), PORT, b"two");
    assert_eq!(turn(&mut core), []);
    assert_eq!(receive(&mut core, key).unwrap().0, b"two");
}

#[test]
fn a_datagram_is_told_of_beside_what_is_sent() {
    let (mut core, sim, key) = bound(UdpBindFlags::default());
    sim.set_network_room(0);
    let to = InternetAddress::from(&outside());
    core.udp_send(key, 9, Some(to.as_ref()), One(b"queued".to_vec()), |bytes| bytes).unwrap();
    core.udp_wait_ready(key).unwrap();
    sim.send_letter(outside(), PORT, b"come");
    assert_eq!(turn(&mut core), [Event::Ready { key, user: 7, readiness: Readiness::READ }]);
    assert!(core.is_active(key), "it still sends");
    core.udp_wait_ready(key).unwrap();
    sim.set_network_room(1);
    let told = turn(&mut core);
    assert!(told.contains(&Event::Sent { key, user: 9, result: Ok(()) }), "{told:?}");
    assert_eq!(receive(&mut core, key).unwrap().0, b"come");
}

#[test]
fn datagrams_are_received_in_one_way_at_a_time() {
    let (mut core, sim, key) = bound(UdpBindFlags::default());
    core.udp_wait_ready(key).unwrap();
    assert_eq!(core.udp_receive_start(key), Err(Errno::EALREADY));
    sim.send_letter(outside(), PORT, b"x");
    assert_eq!(turn(&mut core).len(), 1);
    core.udp_receive_start(key).unwrap();
    assert_eq!(core.udp_wait_ready(key), Err(Errno::EALREADY));
    assert_eq!(receive(&mut core, key), Err(Errno::EALREADY));
    core.close(key).unwrap();
    assert_eq!(core.udp_wait_ready(key), Err(Errno::EINVAL));
    assert_eq!(receive(&mut core, key), Err(Errno::EINVAL));
}

#[test]
fn a_handle_without_a_socket_is_bound_when_it_is_waited_for() {
    let (mut core, _sim, _) = bound(UdpBindFlags::default());
    let key = core.udp_init(8, false).unwrap();
    assert_eq!(receive(&mut core, key), Err(Errno::EAGAIN));
    core.udp_wait_ready(key).unwrap();
    assert_ne!(core.udp_local_address(key).unwrap().port(), 0);
}

#[test]
fn what_the_queue_of_errors_has_is_an_error_and_then_the_handle_rests() {
    let (mut core, sim, key) = bound(UdpBindFlags { receive_errors: true, ..UdpBindFlags::default() });
    let to = InternetAddress::from(&outside());
    assert_eq!(core.udp_try_send(key, Some(to.as_ref()), &One(b"ping")), Ok(4));
    let letter = sim.take_letters().remove(0);
    let fd = std::mem::ManuallyDrop::new(sim.own(core.descriptor_number(key).unwrap()));
    core.udp_wait_ready(key).unwrap();
    sim.refuse_letter(&fd, &letter);
    assert_eq!(turn(&mut core).len(), 1);
    // The socket's own error, and that of the queue.
    assert_eq!(receive(&mut core, key), Err(Errno::ECONNREFUSED));
    assert_eq!(receive(&mut core, key), Err(Errno::ECONNREFUSED));
    assert_eq!(receive(&mut core, key), Err(Errno::EAGAIN));
    core.udp_wait_ready(key).unwrap();
    assert_eq!(turn(&mut core), []);
}
