//! Datagrams that go as one, on the simulated kernel.

use std::net::{Ipv4Addr, SocketAddr};

use oxuv_os::{Errno, InternetAddress, Result};

use crate::kernel::UdpBindFlags;
use crate::sim::{Faults, Note, Offload, Sim};
use crate::{Config, Core, Event, Key, Mode, One};

struct Bed {
    sim: Sim,
    core: Core<Sim, usize, One<Vec<u8>>>,
    udp: Key,
    /// What was given to be sent.
    given: Vec<(SocketAddr, Vec<u8>)>,
}

fn at(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn bed(offload: Offload, flags: UdpBindFlags) -> Bed {
    let sim = Sim::new(3, Faults::default());
    sim.set_wait_limit(1000);
    sim.set_offload(offload);
    let mut core = Core::new(sim.clone(), Config::default()).unwrap();
    let udp = core.udp_init(0, false).unwrap();
    core.udp_bind(udp, &at(4000), flags).unwrap();
    Bed { sim, core, udp, given: Vec::new() }
}

impl Bed {
    fn send(&mut self, size: usize, port: u16) {
        let nth = self.given.len();
        let bytes = vec![nth as u8; size];
        self.given.push((at(port), bytes.clone()));
        let to = InternetAddress::from(&at(port));
        self.core.udp_send(self.udp, nth, Some(to.as_ref()), One(bytes), |bytes| bytes).unwrap();
    }

    /// Runs until all is sent. All has arrived then, in its order, and was told so; returns the calls that it took.
    fn calls(&mut self) -> usize {
        let mut told = Vec::new();
        self.core.begin(Mode::Default);
        while let Some(event) = self.core.next() {
            let Event::Sent { user, result, .. } = event else { panic!("{event:?}") };
            told.push((user, result));
            while let Some(next) = self.core.next_sent() {
                told.push(next);
            }
        }
        let expected: Vec<(usize, Result<()>)> = (0..self.given.len()).map(|nth| (nth, Ok(()))).collect();
        assert_eq!(told, expected);
        let arrived: Vec<_> = self.sim.take_letters().into_iter().map(|letter| (letter.to, letter.bytes)).collect();
        assert!(arrived == self.given, "{arrived:?}");
        self.sim.trace().iter().filter(|note| matches!(note, Note::Sent { .. })).count()
    }
}

#[test]
fn many_of_one_size_go_as_one() {
    let mut bed = bed(Offload::Full, UdpBindFlags::default());
    (0..100).for_each(|_| bed.send(64, 9));
    // The first goes at once; 64, and the rest.
    assert_eq!(bed.calls(), 3);
}

#[test]
fn only_the_last_may_be_smaller() {
    let mut bed = bed(Offload::Full, UdpBindFlags::default());
    for size in [1, 100, 100, 100, 100, 99, 100, 100, 100, 100, 101] {
        bed.send(size, 9);
    }
    assert_eq!(bed.calls(), 1 + 1 + 1 + 1);
}

#[test]
fn all_go_to_one_address() {
    let mut bed = bed(Offload::Full, UdpBindFlags::default());
    for port in [9, 9, 9, 9, 9, 10, 10, 10, 10] {
        bed.send(64, port);
    }
    assert_eq!(bed.calls(), 1 + 1 + 1);
}

#[test]
fn a_few_large_or_empty_ones_go_one_by_one() {
    for (size, count) in [(64, 3), (1453, 5), (0, 5)] {
        let mut bed = bed(Offload::Refused(Errno::EINVAL), UdpBindFlags::default());
        bed.send(1, 9);
        (0..count).for_each(|_| bed.send(size, 9));
        assert_eq!(bed.calls(), 2, "{count} of {size}");
    }
}

#[test]
fn whoever_is_told_of_each_failure_sends_each_on_its_own() {
    let flags = UdpBindFlags { receive_errors: true, ..UdpBindFlags::default() };
    let mut bed = bed(Offload::Full, flags);
    (0..41).for_each(|_| bed.send(64, 9));
    assert_eq!(bed.calls(), 1 + 2);
}

#[test]
fn a_kernel_that_refuses_is_asked_once() {
    for refusal in [Errno::EINVAL, Errno::EIO, Errno::EMSGSIZE] {
        let mut bed = bed(Offload::Refused(refusal), UdpBindFlags::default());
        (0..61).for_each(|_| bed.send(64, 9));
        assert_eq!(bed.calls(), 1 + 1 + 3, "{refusal:?}");
    }
    let mut bed = bed(Offload::Unknown, UdpBindFlags::default());
    (0..61).for_each(|_| bed.send(64, 9));
    assert_eq!(bed.calls(), 1 + 3);
}

#[test]
fn sent_at_once_they_go_as_one_too() {
    let mut bed = bed(Offload::Full, UdpBindFlags::default());
    bed.given = (0..100).map(|nth| (at(9), vec![nth; 64])).collect();
    let get = |nth: usize| Ok((One(vec![nth as u8; 64]), Some(InternetAddress::from(&at(9)))));
    assert_eq!(bed.core.udp_try_send_several(bed.udp, 100, get), Ok(100));
    // One refused beyond the first call is found before anything is sent.
    let get = |nth: usize| if nth == 99 { Err(Errno::EINVAL) } else { get(nth) };
    assert_eq!(bed.core.udp_try_send_several(bed.udp, 100, get), Err(Errno::EINVAL));
    let arrived = bed.sim.take_letters().into_iter().map(|letter| (letter.to, letter.bytes));
    assert!(arrived.collect::<Vec<_>>() == bed.given);
    assert_eq!(bed.sim.trace().iter().filter(|note| matches!(note, Note::Sent { .. })).count(), 2);
}
