//! Many datagrams sent as one, on the simulated kernel.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;

use oxuv_os::{Errno, InternetAddress, Result};

use crate::kernel::{SendOptions, UdpBindFlags, UdpOption};
use crate::sim::{Faults, Note, Offload, Sim};
use crate::{Config, Core, Event, Key, Many, Mode, One, Target};

type Bytes = One<Vec<u8>>;

struct Bed {
    sim: Sim,
    core: Core<Sim, u32, Bytes>,
    udp: Key,
}

fn bed(offload: Offload) -> Bed {
    let sim = Sim::new(3, Faults::default());
    sim.set_wait_limit(1000);
    sim.set_offload(offload);
    let mut core = Core::new(sim.clone(), Config::default()).unwrap();
    let udp = core.udp_init(0, false).unwrap();
    core.udp_bind(udp, &(Ipv4Addr::LOCALHOST, 4000).into(), UdpBindFlags::default()).unwrap();
    Bed { sim, core, udp }
}

fn options(size: u16) -> SendOptions {
    SendOptions { segment_size: NonZeroU16::new(size), ..SendOptions::PLAIN }
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|nth| (nth % 251) as u8).collect()
}

impl Bed {
    fn send(&mut self, count: usize, size: u16) -> bool {
        let address = InternetAddress::from(&SocketAddr::from((Ipv4Addr::LOCALHOST, 9)));
        let to = Target { address: Some(address.as_ref()), options: options(size) };
        self.core.udp_send(self.udp, 1, to, One(bytes(count)), |bytes| bytes).unwrap().is_some()
    }

    /// The results that are told by one turn.
    fn run(&mut self) -> Vec<Result<()>> {
        let mut told = Vec::new();
        self.core.begin(Mode::NoWait);
        while let Some(event) = self.core.next() {
            if let Event::Sent { result, .. } = event {
                drop(self.core.take_buffers());
                told.push(result);
            }
        }
        told
    }

    fn calls(&self) -> usize {
        self.sim.trace().iter().filter(|note| matches!(note, Note::Sent { .. })).count()
    }

    /// What has arrived, whole and in order, cut to this size.
    fn check(&self, count: usize, size: usize) {
        let letters: Vec<Vec<u8>> = self.sim.take_letters().into_iter().map(|letter| letter.bytes).collect();
        assert_eq!(letters, bytes(count).chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>());
    }
}

#[test]
fn one_call_sends_sixty_four() {
    let mut bed = bed(Offload::Full);
    assert!(bed.send(6410, 100));
    assert_eq!((bed.run(), bed.calls()), (vec![Ok(())], 2));
    bed.check(6410, 100);
}

#[test]
fn no_call_sends_more_than_fits_into_a_datagram() {
    let mut bed = bed(Offload::Full);
    assert!(bed.send(140_000, 1400));
    assert_eq!((bed.run(), bed.calls()), (vec![Ok(())], 3));
    bed.check(140_000, 1400);
}

#[test]
fn what_the_kernel_does_not_cut_apart_is_sent_singly() {
    let refusals = [Errno::EIO, Errno::EINVAL, Errno::EMSGSIZE].map(Offload::Refused);
    for offload in refusals.into_iter().chain([Offload::Unknown]) {
        let mut bed = bed(offload);
        for _ in 0..2 {
            assert!(bed.send(5005, 100));
            assert_eq!(bed.run(), [Ok(())], "{offload:?}");
            bed.check(5005, 100);
        }
        // Three each, and what it took to find out.
        let asked = match offload {
            Offload::Unknown => 0,
            Offload::Refused(Errno::EIO) => 1,
            _ => 2,
        };
        assert_eq!(bed.calls(), 6 + asked, "{offload:?}");
    }
}

#[test]
fn what_the_kernel_has_no_room_for_follows_later() {
    for offload in [Offload::Full, Offload::Unknown] {
        let mut bed = bed(offload);
        bed.sim.set_network_room(30);
        assert!(!bed.send(20_000, 100), "{offload:?}");
        let (mut arrived, mut told) = (Vec::new(), Vec::new());
        while told.is_empty() {
            arrived.extend(bed.sim.take_letters().into_iter().map(|letter| letter.bytes));
            assert_eq!(bed.core.udp_send_queue(bed.udp), Ok((1, 20_000)));
            told = bed.run();
        }
        assert_eq!(told, [Ok(())]);
        arrived.extend(bed.sim.take_letters().into_iter().map(|letter| letter.bytes));
        assert!(arrived.iter().all(|datagram| datagram.len() == 100));
        assert!(arrived.concat() == bytes(20_000), "{offload:?}");
    }
}

#[test]
fn no_bytes_are_one_empty_datagram() {
    let mut bed = bed(Offload::Full);
    assert!(bed.send(0, 100));
    assert_eq!(bed.run(), [Ok(())]);
    assert_eq!(bed.sim.take_letters().len(), 1);
}

#[test]
fn an_error_ends_it_and_is_told() {
    let mut bed = bed(Offload::Full);
    // A single one does not fit into a datagram, in the end.
    assert!(bed.send(65530, 65520));
    assert_eq!(bed.run(), [Err(Errno::EMSGSIZE)]);
    assert_eq!(bed.sim.take_letters(), []);
}

#[test]
fn closed_meanwhile_it_is_cancelled() {
    let mut bed = bed(Offload::Full);
    bed.sim.set_network_room(0);
    assert!(!bed.send(1000, 100));
    bed.core.close(bed.udp).unwrap();
    assert_eq!(bed.run(), [Err(Errno::ECANCELED)]);
}

#[test]
fn several_buffers_cannot_be_cut_apart() {
    let mut bed = bed(Offload::Full);
    let address = InternetAddress::from(&SocketAddr::from((Ipv4Addr::LOCALHOST, 9)));
    let to = Target { address: Some(address.as_ref()), options: options(100) };
    let parts = Many(vec![vec![1], vec![2]]);
    let refused = bed.core.udp_send(bed.udp, 1, to, parts, |_| unreachable!()).unwrap_err();
    assert_eq!(refused.error, Errno::EINVAL);
}

#[test]
fn to_coalesce_is_a_wish_only() {
    for offload in [Offload::Full, Offload::Unknown] {
        let mut bed = bed(offload);
        assert_eq!(bed.core.udp_set(bed.udp, UdpOption::Coalesce(true)), Ok(()));
        let fresh = bed.core.udp_init(0, false).unwrap();
        assert_eq!(bed.core.udp_set(fresh, UdpOption::Coalesce(true)), Err(Errno::EBADF));
    }
}
