//! UDP handles on the simulated kernel.

use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr};

use oxuv_os::{Errno, InternetAddress};

use crate::kernel::{Batch, Received, UdpBindFlags};
use crate::sim::{Faults, Sim};
use crate::{Config, Core, DATAGRAM_SIZE, Event, Key, Mode, One};

type Bytes = One<Vec<u8>>;

struct Bed {
    sim: Sim,
    core: Core<Sim, u32, Bytes>,
    udp: Key,
}

const PORT: u16 = 4000;

fn peer() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 9).into()
}

fn address() -> InternetAddress {
    InternetAddress::from(&peer())
}

/// What a handle has heard.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Sent(u32, Result<(), Errno>),
    /// Bytes, sender, whether they were cut off, and what they tell of.
    Got(Vec<u8>, SocketAddr, bool, Option<Errno>),
    Nothing,
    Failed(Errno),
    Closed,
}

fn got(received: &Received<'_>) -> Heard {
    let from = SocketAddr::try_from(&received.from).unwrap();
    Heard::Got(received.bytes.to_vec(), from, received.is_truncated, received.error)
}

impl Bed {
    fn new(faults: Faults, several: bool) -> Bed {
        let sim = Sim::new(7, faults);
        sim.set_wait_limit(10_000);
        let mut core = Core::new(sim.clone(), Config::default()).unwrap();
        let udp = core.udp_init(0, several).unwrap();
        core.udp_bind(udp, &(Ipv4Addr::LOCALHOST, PORT).into(), UdpBindFlags::default()).unwrap();
        Bed { sim, core, udp }
    }

    fn send(&mut self, nth: u32, bytes: &[u8]) -> bool {
        let to = address();
        let sent = self.core.udp_send(self.udp, nth, Some(to.as_ref()), One(bytes.to_vec()), |bytes| bytes);
        sent.unwrap().is_some()
    }

    /// Runs the loop; received is into buffers of this size.
    fn run(&mut self, mode: Mode, size: usize) -> Vec<Heard> {
        self.run_with(mode, size, |_, _| {})
    }

    fn run_with(&mut self, mode: Mode, size: usize, mut then: impl FnMut(&mut Bed, &Heard)) -> Vec<Heard> {
        let mut all = Vec::new();
        self.core.begin(mode);
        while let Some(event) = self.core.next() {
            let mut hear = |bed: &mut Bed, heard| {
                then(bed, &heard);
                all.push(heard);
            };
            match event {
                Event::Sent { user, result, .. } => {
                    let _ = self.core.take_buffers();
                    hear(self, Heard::Sent(user, result));
                }
                Event::NeedDatagramBuffer { key, .. } if self.core.udp_receives_several(key) => {
                    let mut buf = vec![MaybeUninit::uninit(); size];
                    let mut batch = Batch::default();
                    match self.core.udp_receive_several_into(key, &mut buf, &mut batch) {
                        Ok(()) if batch.is_empty() => hear(self, Heard::Nothing),
                        Ok(()) => (0..batch.len()).for_each(|nth| {
                            if self.core.udp_is_receiving(key) {
                                hear(self, got(batch.get(nth)));
                            }
                        }),
                        Err(error) => hear(self, Heard::Failed(error)),
                    }
                }
                Event::NeedDatagramBuffer { key, .. } => {
                    let mut buf = vec![MaybeUninit::uninit(); size];
                    let mut received = Received::none();
                    let heard = match self.core.udp_receive_into(key, &mut buf, &mut received) {
                        Ok(true) => got(&received),
                        Ok(false) => Heard::Nothing,
                        Err(error) => Heard::Failed(error),
                    };
                    hear(self, heard);
                }
                Event::Closed { .. } => hear(self, Heard::Closed),
                event => panic!("{event:?}"),
            }
        }
        self.core.end().unwrap();
        all
    }
}

fn numbers(heard: &[Heard]) -> Vec<u32> {
    heard.iter().map(|heard| if let Heard::Sent(nth, Ok(())) = heard { *nth } else { panic!("{heard:?}") }).collect()
}

#[test]
fn a_datagram_that_goes_at_once_is_reported_later() {
    let mut bed = Bed::new(Faults::none(), false);
    assert!(bed.send(1, b"hello"));
    assert_eq!(bed.core.udp_send_queue(bed.udp), Ok((1, 5)));
    assert!(bed.core.is_active(bed.udp));
    assert_eq!(bed.sim.take_letters().len(), 1);
    // The next waits for the report of the first.
    assert!(!bed.send(2, b""));
    assert_eq!(bed.core.udp_try_send(bed.udp, Some(address().as_ref()), &One(b"x")), Err(Errno::EAGAIN));
    assert_eq!(numbers(&bed.run(Mode::Default, 0)), [1, 2]);
    assert!(!bed.core.is_active(bed.udp));
    assert_eq!(bed.core.udp_send_queue(bed.udp), Ok((0, 0)));
    assert_eq!(bed.core.udp_try_send(bed.udp, Some(address().as_ref()), &One(b"x")), Ok(1));
    let letters = bed.sim.take_letters();
    assert_eq!(letters.iter().map(|letter| letter.bytes.len()).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_the_network_does_not_take_follows_in_order() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.sim.set_network_room(7);
    for nth in 0..100 {
        bed.send(nth, &[nth as u8]);
    }
    assert_eq!(bed.core.udp_send_queue(bed.udp), Ok((100, 100)));
    let (mut letters, mut heard) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        heard.extend(bed.run(Mode::NoWait, 0));
        letters.extend(bed.sim.take_letters());
    }
    assert_eq!(numbers(&heard), (0..100).collect::<Vec<_>>());
    let bytes: Vec<u8> = letters.iter().flat_map(|letter| letter.bytes.clone()).collect();
    assert_eq!(bytes, (0..100).collect::<Vec<u8>>());
    assert_eq!(bed.core.udp_send_queue(bed.udp), Ok((0, 0)));
    assert_eq!(bed.core.active_requests(), 0);
}

#[test]
fn with_faults_every_datagram_is_sent_once_in_its_order() {
    for seed in 0..200 {
        let faults = Faults { lost: 0, refuse: 0, no_descriptor: 0, ..Faults::all() };
        let sim = Sim::new(seed, faults);
        let core = Core::new(sim.clone(), Config::default()).unwrap();
        let mut bed = Bed { sim, core, udp: Key::default() };
        bed.udp = bed.core.udp_init(0, false).unwrap();
        for nth in 0..50 {
            bed.send(nth, &[nth as u8]);
        }
        assert_eq!(numbers(&bed.run(Mode::Default, 0)), (0..50).collect::<Vec<_>>(), "{seed}");
        let bytes: Vec<u8> = bed.sim.take_letters().iter().flat_map(|letter| letter.bytes.clone()).collect();
        assert_eq!(bytes, (0..50).collect::<Vec<u8>>(), "{seed}");
    }
}

#[test]
fn one_that_fails_does_not_keep_the_others() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.send(0, b"a");
    bed.send(1, &[0; 65508]);
    bed.send(2, b"b");
    let expected = [Heard::Sent(0, Ok(())), Heard::Sent(1, Err(Errno::EMSGSIZE)), Heard::Sent(2, Ok(()))];
    assert_eq!(bed.run(Mode::Default, 0), expected);
}

#[test]
fn close_cancels_what_has_not_gone() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.sim.set_network_room(1);
    for nth in 0..3 {
        bed.send(nth, b"abc");
    }
    bed.core.close(bed.udp).unwrap();
    assert!(bed.sim.open_descriptors().is_empty());
    let canceled = |nth| Heard::Sent(nth, Err(Errno::ECANCELED));
    assert_eq!(bed.run(Mode::Default, 0), [Heard::Sent(0, Ok(())), canceled(1), canceled(2), Heard::Closed]);
    assert!(bed.core.check_closable().is_ok());
}

#[test]
fn what_a_report_sends_waits_for_the_next_readiness() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.send(0, b"a");
    bed.send(1, b"b");
    let mut left_at = Vec::new();
    let heard = bed.run_with(Mode::Default, 0, |bed, heard| {
        if let Heard::Sent(nth @ 0..2, _) = heard {
            assert!(!bed.send(nth + 2, b"c"));
            left_at.push(bed.sim.take_letters().len());
        }
    });
    assert_eq!(numbers(&heard), [0, 1, 2, 3]);
    // Both had gone when the first report came, and nothing more until the last.
    assert_eq!(left_at, [2, 0]);
}

#[test]
fn up_to_32_datagrams_are_received_at_a_readiness() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.core.udp_receive_start(bed.udp).unwrap();
    assert_eq!(bed.core.udp_receive_start(bed.udp), Err(Errno::EALREADY));
    for nth in 0..40 {
        assert!(bed.sim.send_letter(peer(), PORT, &[nth]));
    }
    let heard = bed.run(Mode::NoWait, 100);
    assert_eq!(heard.len(), 32);
    assert_eq!(heard[31], Heard::Got(vec![31], peer(), false, None));
    let heard = bed.run(Mode::NoWait, 100);
    // The last one finds nothing, and gives its buffer back.
    assert_eq!((heard.len(), &heard[8]), (9, &Heard::Nothing));
    bed.core.udp_receive_stop(bed.udp).unwrap();
    assert!(!bed.core.alive());
}

#[test]
fn a_datagram_too_large_for_the_buffer_is_cut_off_and_an_empty_one_arrives() {
    let mut bed = Bed::new(Faults::none(), false);
    bed.core.udp_receive_start(bed.udp).unwrap();
    bed.sim.send_letter(peer(), PORT, b"hello");
    bed.sim.send_letter(peer(), PORT, b"");
    let expected =
        [Heard::Got(b"hel".to_vec(), peer(), true, None), Heard::Got(Vec::new(), peer(), false, None), Heard::Nothing];
    assert_eq!(bed.run(Mode::NoWait, 3), expected);
    bed.sim.send_letter(peer(), PORT, b"hello");
    assert_eq!(bed.run(Mode::NoWait, 0), [Heard::Failed(Errno::ENOBUFS)]);
}

#[test]
fn several_are_received_at_a_time() {
    let mut bed = Bed::new(Faults::none(), true);
    bed.core.udp_receive_start(bed.udp).unwrap();
    for nth in 0..25 {
        bed.sim.send_letter(peer(), PORT, &[nth]);
    }
    let heard = bed.run(Mode::NoWait, 20 * DATAGRAM_SIZE);
    assert_eq!((heard.len(), &heard[25]), (26, &Heard::Nothing));
    bed.sim.send_letter(peer(), PORT, b"more");
    assert_eq!(bed.run(Mode::NoWait, DATAGRAM_SIZE - 1), [Heard::Failed(Errno::EINVAL)]);
    bed.sim.send_letter(peer(), PORT, b"more");
    let heard = bed.run_with(Mode::NoWait, 2 * DATAGRAM_SIZE, |bed, _| {
        let _ = bed.core.udp_receive_stop(bed.udp);
    });
    assert_eq!(heard.len(), 1);
}

#[test]
fn a_connected_handle_is_told_of_a_refusal() {
    let mut bed = Bed::new(Faults::none(), false);
    assert_eq!(bed.core.udp_connect(bed.udp, None), Err(Errno::ENOTCONN));
    bed.core.udp_connect(bed.udp, Some(&peer())).unwrap();
    assert_eq!(bed.core.udp_connect(bed.udp, Some(&peer())), Err(Errno::EISCONN));
    assert_eq!(bed.core.udp_try_send(bed.udp, Some(address().as_ref()), &One(b"x")), Err(Errno::EISCONN));
    assert_eq!(bed.core.udp_try_send(bed.udp, None, &One(b"x")), Ok(1));
    let letter = bed.sim.take_letters().remove(0);
    let number = bed.core.descriptor_number(bed.udp).unwrap();
    let fd = std::mem::ManuallyDrop::new(bed.sim.own(number));
    bed.core.udp_receive_start(bed.udp).unwrap();
    bed.sim.refuse_letter(&fd, &letter);
    let heard = bed.run(Mode::NoWait, 10);
    // The second is what the queue of errors has: nothing.
    assert_eq!(heard, [Heard::Failed(Errno::ECONNREFUSED), Heard::Nothing]);
    bed.core.udp_connect(bed.udp, None).unwrap();
    assert_eq!(bed.core.udp_try_send(bed.udp, None, &One(b"x")), Err(Errno::EDESTADDRREQ));
}

#[test]
fn refusals_are_received_from_the_queue_of_errors() {
    let mut bed = Bed::new(Faults::none(), false);
    let (udp, flags) =
        (bed.core.udp_init(1, false).unwrap(), UdpBindFlags { receive_errors: true, ..Default::default() });
    bed.core.udp_bind(udp, &(Ipv4Addr::LOCALHOST, 0).into(), flags).unwrap();
    bed.core.udp_receive_start(udp).unwrap();
    assert_eq!(bed.core.udp_try_send(udp, Some(address().as_ref()), &One(b"ping")), Ok(4));
    let letter = bed.sim.take_letters().remove(0);
    let fd = std::mem::ManuallyDrop::new(bed.sim.own(bed.core.descriptor_number(udp).unwrap()));
    bed.sim.refuse_letter(&fd, &letter);
    let expected = [
        Heard::Failed(Errno::ECONNREFUSED),
        Heard::Got(b"ping".to_vec(), peer(), false, Some(Errno::ECONNREFUSED)),
        Heard::Nothing,
    ];
    assert_eq!(bed.run(Mode::NoWait, 10), expected);
}

#[test]
fn a_port_in_use_is_told_by_bind() {
    let mut bed = Bed::new(Faults::none(), false);
    let other = bed.core.udp_init(1, false).unwrap();
    let address = (Ipv4Addr::LOCALHOST, PORT).into();
    assert_eq!(bed.core.udp_bind(other, &address, UdpBindFlags::default()), Err(Errno::EADDRINUSE));
    assert_eq!(bed.core.udp_local_address(bed.udp), Ok(address));
}

#[test]
fn a_run_that_is_left_loses_no_report() {
    let mut bed = Bed::new(Faults::none(), false);
    for nth in 0..3 {
        bed.send(nth, b"a");
    }
    bed.core.begin(Mode::Default);
    assert!(matches!(bed.core.next(), Some(Event::Sent { user: 0, .. })));
    assert_eq!(numbers(&bed.run(Mode::Default, 0)), [1, 2]);
    // Left in the callback of the last one, the handle has nothing more to do.
    bed.send(3, b"a");
    bed.core.begin(Mode::Default);
    assert!(matches!(bed.core.next(), Some(Event::Sent { user: 3, .. })));
    bed.core.abandon();
    assert!(!bed.core.is_active(bed.udp) && !bed.core.alive());
}
