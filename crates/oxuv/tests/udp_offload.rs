//! Many datagrams sent or received as one, congestion marks, and local addresses.

mod common;

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::rc::Rc;

use common::{DEADLINE, Trace, new_loop, pattern, run, run_until};
use oxuv::{Ecn, Errno, LoopRef, Mode, Route, Udp, UdpBindFlags, UdpOption};

const ALL: [Ecn; 4] = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Congested];

/// What a datagram came with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    bytes: Vec<u8>,
    ecn: Option<Ecn>,
    local: Option<IpAddr>,
}

type Heap = Rc<RefCell<Vec<Told>>>;

fn keep(udp: &Udp) -> Heap {
    let heap = Heap::default();
    let ours = Rc::clone(&heap);
    udp.receive_start(move |_, datagram| {
        let datagram = datagram.unwrap();
        assert!(!datagram.is_truncated && datagram.error.is_none());
        ours.borrow_mut().push(Told { bytes: datagram.bytes.to_vec(), ecn: datagram.ecn, local: datagram.local });
    })
    .unwrap();
    heap
}

fn bytes_of(heap: &Heap) -> Vec<Vec<u8>> {
    heap.take().into_iter().map(|told| told.bytes).collect()
}

fn chunks(bytes: &[u8], size: usize) -> Vec<Vec<u8>> {
    bytes.chunks(size).map(<[u8]>::to_vec).collect()
}

fn bound(lp: &LoopRef, ip: impl Into<IpAddr>) -> (Udp, SocketAddr) {
    let udp = Udp::new(lp).unwrap();
    udp.bind((ip.into(), 0).into()).unwrap();
    let address = udp.local_addr().unwrap();
    (udp, address)
}

#[test]
fn segments_arrive_as_datagrams_of_their_own() {
    let (lp, trace) = (new_loop(), Trace::new());
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(DEADLINE)).unwrap();
    let udp = Udp::new(&lp).unwrap();
    let bytes = pattern(40_123);
    udp.send_segments(bytes.clone(), 1000, peer.local_addr().unwrap(), trace.tells("sent")).unwrap();
    udp.send("last", peer.local_addr().unwrap(), trace.tells("last")).unwrap();
    assert_eq!((udp.send_queue_count(), udp.send_queue_size(), trace.len()), (2, 40_127, 0));
    run(&lp);
    assert_eq!(trace.take(), ["sent ok", "last ok"]);
    assert_eq!((udp.send_queue_count(), udp.send_queue_size()), (0, 0));
    for expected in chunks(&bytes, 1000).into_iter().chain([b"last".to_vec()]) {
        let mut buffer = vec![0; 65536];
        let size = peer.recv(&mut buffer).unwrap();
        assert!(buffer[..size] == expected);
    }
}

#[test]
fn coalesced_datagrams_are_given_one_by_one() {
    for several in [false, true] {
        let lp = new_loop();
        let server = if several { Udp::receiving_several(&lp) } else { Udp::new(&lp) }.unwrap();
        server.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        server.set(UdpOption::Coalesce(true)).unwrap();
        let heap = keep(&server);
        let client = Udp::new(&lp).unwrap();
        let to = server.local_addr().unwrap();
        let bytes = pattern(60_001);
        client.send_segments(bytes.clone(), 1200, to, |_, sent| sent.unwrap()).unwrap();
        client.send("", to, |_, sent| sent.unwrap()).unwrap();
        client.send("single", to, |_, sent| sent.unwrap()).unwrap();
        run_until(&lp, || heap.borrow().len() == 53);
        let expected: Vec<_> = chunks(&bytes, 1200).into_iter().chain([Vec::new(), b"single".to_vec()]).collect();
        assert!(bytes_of(&heap) == expected);
    }
}

#[test]
fn coalesced_datagrams_come_by_one_system_call() {
    let lp = new_loop();
    let (server, to) = bound(&lp, Ipv4Addr::LOCALHOST);
    server.set(UdpOption::Coalesce(true)).unwrap();
    let heap = keep(&server);
    let client = Udp::new(&lp).unwrap();
    // 32 datagrams are received in a turn; each of these is two, so all of them come in one turn only if they came
    // together.
    for _ in 0..20 {
        client.send_segments(vec![1; 2000], 1000, to, |_, sent| sent.unwrap()).unwrap();
    }
    lp.run(Mode::Once).unwrap();
    assert_eq!(heap.borrow().len(), 40);
}

#[test]
fn whoever_stops_or_closes_among_coalesced_datagrams_hears_no_more() {
    for closes in [false, true] {
        let (lp, trace) = (new_loop(), Trace::new());
        let (server, to) = bound(&lp, Ipv4Addr::LOCALHOST);
        server.set(UdpOption::Coalesce(true)).unwrap();
        let tells = trace.clone();
        server
            .receive_start(move |server, datagram| {
                assert_eq!(datagram.unwrap().bytes, [7; 100]);
                tells.add("datagram");
                if closes { server.close() } else { server.receive_stop() }.unwrap();
            })
            .unwrap();
        let client = Udp::new(&lp).unwrap();
        client.send_segments(vec![7; 1000], 100, to, |client, sent| sent.and(client.close()).unwrap()).unwrap();
        run(&lp);
        assert_eq!(trace.take(), ["datagram"]);
    }
}

#[test]
fn a_megabyte_of_segments_loses_none_where_the_receiver_keeps_up() {
    let lp = new_loop();
    let (ours, peer) = UnixDatagram::pair().unwrap();
    let (sender, receiver) = (Udp::new(&lp).unwrap(), Udp::new(&lp).unwrap());
    sender.open(ours).unwrap();
    receiver.open(peer).unwrap();
    let heap = keep(&receiver);
    // No internet socket: it does not coalesce, and nothing is cut apart by the system. It takes a few at a time.
    receiver.set(UdpOption::Coalesce(true)).unwrap();
    assert_eq!(receiver.set(UdpOption::TellEcn(true)), Err(Errno::EOPNOTSUPP));
    let bytes = pattern(1_000_100);
    sender.send_segments(bytes.clone(), 1000, None, |_, sent| sent.unwrap()).unwrap();
    assert_eq!(sender.send_queue_size(), bytes.len());
    run_until(&lp, || heap.borrow().len() == 1001);
    assert!(bytes_of(&heap) == chunks(&bytes, 1000));
    assert_eq!(sender.send_queue_size(), 0);
}

#[test]
fn segments_that_cannot_be_sent_are_told_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let udp = Udp::new(&lp).unwrap();
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    assert_eq!(udp.send_segments("x", 0, to, |_, _| unreachable!()), Err(Errno::EINVAL));
    assert_eq!(udp.send_segments("x", 1, None, |_, _| unreachable!()), Err(Errno::EDESTADDRREQ));
    udp.send_segments(vec![0; 131_072], 65_535, to, trace.tells("too large")).unwrap();
    udp.send_segments(vec![0; 5000], 1000, to, trace.tells("closed")).unwrap();
    let bytes = Rc::new([0; 3000]);
    struct Shared(Rc<[u8; 3000]>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &*self.0
        }
    }
    udp.send_segments(Shared(Rc::clone(&bytes)), 1000, to, trace.tells("shared")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["too large EMSGSIZE", "closed ok", "shared ok"]);
    assert_eq!(Rc::strong_count(&bytes), 1);
}

/// Sends one datagram of each mark and hears of them: by itself, as segments, among others.
fn marks_arrive(server_ip: IpAddr, to_ip: IpAddr) {
    let lp = new_loop();
    let (server, address) = bound(&lp, server_ip);
    server.set(UdpOption::TellEcn(true)).unwrap();
    let heap = keep(&server);
    let (client, _) =
        bound(&lp, if to_ip.is_ipv4() { IpAddr::from([0, 0, 0, 0]) } else { Ipv6Addr::UNSPECIFIED.into() });
    let to = Route::to((to_ip, address.port()).into());
    for ecn in ALL {
        client.send([ecn as u8], Route { ecn: Some(ecn), ..to }, |_, sent| sent.unwrap()).unwrap();
        client.send_segments([ecn as u8; 2], 1, Route { ecn: Some(ecn), ..to }, |_, sent| sent.unwrap()).unwrap();
    }
    client.send([0], to, |_, sent| sent.unwrap()).unwrap();
    run_until(&lp, || heap.borrow().len() == 13);
    assert_eq!(client.try_send(&[2], Route { ecn: Some(Ecn::Ect0), ..to }), Ok(1));
    run_until(&lp, || heap.borrow().len() == 14);
    for told in heap.take() {
        assert_eq!(told.ecn, Some(ALL[usize::from(told.bytes[0])]), "{server_ip} {to_ip}");
        assert_eq!((told.bytes.len(), told.local), (1, None));
    }
}

fn has_ipv6() -> bool {
    UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

#[test]
fn marks_of_congestion_arrive() {
    let (localhost, any) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::UNSPECIFIED));
    marks_arrive(localhost, localhost);
    if has_ipv6() {
        marks_arrive(Ipv6Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        // IPv4 at, and by, a socket of IPv6.
        marks_arrive(any, localhost);
        marks_arrive(localhost, Ipv4Addr::LOCALHOST.to_ipv6_mapped().into());
    }
}

/// A server at all addresses hears at which one it was asked, and answers from there.
fn answers_come_from(server_ip: IpAddr, to_ip: IpAddr, local: IpAddr) {
    let lp = new_loop();
    let (server, address) = bound(&lp, server_ip);
    server.set(UdpOption::TellLocal(true)).unwrap();
    server
        .receive_start(move |server, datagram| {
            let datagram = datagram.unwrap();
            assert_eq!(datagram.local, Some(local));
            let back = Route { source: datagram.local, ..Route::to(datagram.from.unwrap()) };
            server.send_segments("answer", 3, back, |server, sent| sent.and(server.close()).unwrap()).unwrap();
        })
        .unwrap();
    let client = Udp::new(&lp).unwrap();
    let to = SocketAddr::from((to_ip, address.port()));
    client.send("question", to, |_, sent| sent.unwrap()).unwrap();
    let heap = Rc::new(RefCell::new(Vec::new()));
    let ours = Rc::clone(&heap);
    client
        .receive_start(move |client, datagram| {
            let datagram = datagram.unwrap();
            assert_eq!((datagram.from, datagram.local), (Some(to), None));
            ours.borrow_mut().extend_from_slice(datagram.bytes);
            if ours.borrow().len() == 6 {
                client.close().unwrap();
            }
        })
        .unwrap();
    run(&lp);
    assert_eq!(heap.take(), b"answer");
}

#[test]
fn answers_come_from_the_address_that_was_asked() {
    let other = Ipv4Addr::new(127, 0, 0, 77);
    answers_come_from(Ipv4Addr::UNSPECIFIED.into(), other.into(), other.into());
    if has_ipv6() {
        let localhost = IpAddr::from(Ipv6Addr::LOCALHOST);
        answers_come_from(Ipv6Addr::UNSPECIFIED.into(), localhost, localhost);
        answers_come_from(Ipv6Addr::UNSPECIFIED.into(), other.into(), other.to_ipv6_mapped().into());
    }
}

#[test]
fn an_address_of_somebody_else_is_no_source() {
    let (lp, trace) = (new_loop(), Trace::new());
    let udp = Udp::new(&lp).unwrap();
    let to = Route::to((Ipv4Addr::LOCALHOST, 9).into());
    // One for documentation, which nobody has.
    let wrong = Route { source: Some(Ipv4Addr::new(192, 0, 2, 1).into()), ..to };
    udp.send("x", wrong, trace.tells("single")).unwrap();
    udp.send_segments("xyz", 1, wrong, trace.tells("segments")).unwrap();
    udp.send("x", to, trace.tells("plain")).unwrap();
    run(&lp);
    let told = trace.take();
    assert!(told[0].starts_with("single E") && told[1].starts_with("segments E"), "{told:?}");
    assert_eq!(told[2], "plain ok");
}

#[test]
fn options_go_with_a_connected_handle_and_with_flags() {
    let lp = new_loop();
    let server = Udp::new(&lp).unwrap();
    let flags = UdpBindFlags { reuse_address: true, receive_errors: true, ..UdpBindFlags::default() };
    server.bind_with((Ipv4Addr::LOCALHOST, 0).into(), flags).unwrap();
    for option in [UdpOption::Coalesce(true), UdpOption::TellEcn(true), UdpOption::TellLocal(true)] {
        server.set(option).unwrap();
    }
    let heap = keep(&server);
    let client = Udp::new(&lp).unwrap();
    client.connect(server.local_addr().unwrap()).unwrap();
    let by = Route { ecn: Some(Ecn::Ect1), source: Some(Ipv4Addr::new(127, 0, 0, 5).into()), to: None };
    client.send_segments("aabbc", 2, Route { source: None, ..by }, |_, sent| sent.unwrap()).unwrap();
    run_until(&lp, || heap.borrow().len() == 3);
    let local = Some(Ipv4Addr::LOCALHOST.into());
    let told = |bytes: &str| Told { bytes: bytes.into(), ecn: Some(Ecn::Ect1), local };
    assert_eq!(heap.take(), ["aa", "bb", "c"].map(told));
    // Told no more.
    server.set(UdpOption::TellEcn(false)).unwrap();
    client.send("d", by, |_, sent| sent.unwrap()).unwrap();
    run_until(&lp, || heap.borrow().len() == 1);
    assert_eq!(heap.take(), [Told { bytes: b"d".to_vec(), ecn: None, local }]);
}

#[test]
fn what_is_queued_arrives_one_by_one_and_in_its_order() {
    let (lp, trace) = (new_loop(), Trace::new());
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(DEADLINE)).unwrap();
    let to = peer.local_addr().unwrap();
    let udp = Udp::new(&lp).unwrap();
    // Many of one size, fewer of another, and two of them alone.
    let sizes = [[64; 100].as_slice(), &[7; 5], &[0, 1200]].concat();
    for (nth, &size) in sizes.iter().enumerate() {
        udp.send(vec![nth as u8; size], to, |_, sent| sent.unwrap()).unwrap();
    }
    udp.send("last", to, trace.tells("last")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["last ok"]);
    let mut bytes = [0; 2000];
    for (nth, &size) in sizes.iter().enumerate() {
        let (received, from) = peer.recv_from(&mut bytes).unwrap();
        assert_eq!((&bytes[..received], from.port()), (&*vec![nth as u8; size], udp.local_addr().unwrap().port()));
    }
    assert_eq!(peer.recv(&mut bytes).unwrap(), 4);
    udp.close().unwrap();
    run(&lp);
}

#[test]
fn a_source_address_is_of_the_handles_family() {
    let lp = new_loop();
    let (v4, to) = bound(&lp, Ipv4Addr::LOCALHOST);
    let fresh = Udp::new(&lp).unwrap();
    let route = Route { source: Some(Ipv6Addr::LOCALHOST.into()), ..Route::to(to) };
    for udp in [&v4, &fresh] {
        assert_eq!(udp.try_send(b"x", route), Err(Errno::EINVAL));
        assert_eq!(udp.send("x", route, |_, _| unreachable!()), Err(Errno::EINVAL));
    }
    // Without effect: there is no socket yet.
    assert_eq!(fresh.local_addr(), Err(Errno::EBADF));
    let v6 = Udp::new(&lp).unwrap();
    let flags = UdpBindFlags { ipv6_only: true, ..UdpBindFlags::default() };
    if v6.bind_with((Ipv6Addr::LOCALHOST, 0).into(), flags).is_ok() {
        let to = v6.local_addr().unwrap();
        let route = |source: IpAddr| Route { source: Some(source), ..Route::to(to) };
        assert_eq!(v6.try_send(b"x", route(Ipv4Addr::LOCALHOST.into())), Err(Errno::EINVAL));
        assert_eq!(v6.try_send(b"x", route(Ipv6Addr::LOCALHOST.into())), Ok(1));
    }
}
