//! Options of UDP handles, and groups.

mod common;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use common::{new_loop, run};
use oxuv::{Errno, Interface, Loop, Udp, UdpBindFlags, UdpOption};
use rustix::net::sockopt;

const LOCAL: Option<Interface> = Some(Interface::Address(Ipv4Addr::LOCALHOST));

/// A handle on a socket of which the test has a second descriptor, to look at it.
fn open(lp: &Loop) -> (Udp, std::net::UdpSocket) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp = Udp::new(lp).unwrap();
    udp.open(socket.try_clone().unwrap()).unwrap();
    (udp, socket)
}

#[test]
fn options_reach_the_socket() {
    let lp = new_loop();
    let (udp, socket) = open(&lp);
    for on in [true, false] {
        udp.set(UdpOption::Broadcast(on)).unwrap();
        assert_eq!(socket.broadcast().unwrap(), on);
        udp.set(UdpOption::MulticastLoop(on)).unwrap();
        assert_eq!(socket.multicast_loop_v4().unwrap(), on);
    }
    udp.set(UdpOption::Ttl(17)).unwrap();
    udp.set(UdpOption::MulticastTtl(0)).unwrap();
    assert_eq!((socket.ttl().unwrap(), socket.multicast_ttl_v4().unwrap()), (17, 0));
    udp.set(UdpOption::MulticastInterface(LOCAL)).unwrap();
    assert_eq!(sockopt::ip_multicast_if(&socket).unwrap(), Ipv4Addr::LOCALHOST);
    udp.set(UdpOption::MulticastInterface(None)).unwrap();
    assert_eq!(sockopt::ip_multicast_if(&socket).unwrap(), Ipv4Addr::UNSPECIFIED);
}

#[test]
fn options_of_a_handle_without_a_socket_are_refused() {
    let lp = new_loop();
    let udp = Udp::new(&lp).unwrap();
    let options = [UdpOption::Broadcast(true), UdpOption::Ttl(1), UdpOption::MulticastInterface(None)];
    for option in options {
        assert_eq!(udp.set(option), Err(Errno::EBADF));
    }
    assert_eq!(udp.set(UdpOption::Ttl(0)), Err(Errno::EINVAL));
    udp.close().unwrap();
    assert_eq!(udp.set(UdpOption::Broadcast(true)), Err(Errno::EINVAL));
    run(&lp);
}

#[test]
fn what_is_no_group_or_of_another_family_is_refused() {
    let lp = new_loop();
    let udp = Udp::new(&lp).unwrap();
    udp.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let group = IpAddr::from([239, 1, 2, 3]);
    assert_eq!(udp.join(Ipv4Addr::LOCALHOST.into(), LOCAL), Err(Errno::EINVAL));
    assert_eq!(udp.join(group, Some(Interface::Index(1))), Err(Errno::EINVAL));
    assert_eq!(udp.join_source(group, LOCAL, Ipv6Addr::LOCALHOST.into()), Err(Errno::EINVAL));
    assert_eq!(udp.leave(group, LOCAL), Err(Errno::EADDRNOTAVAIL));
    let nowhere = Some(Interface::Address([192, 0, 2, 1].into()));
    assert_eq!(udp.join(group, nowhere).unwrap_err().name(), Some("ENODEV"));
}

/// A member of a group, and a sender to it, both on the loopback.
fn member_and_sender(lp: &Loop) -> (Udp, Udp, u16) {
    let member = Udp::new(lp).unwrap();
    let flags = UdpBindFlags { reuse_address: true, ..UdpBindFlags::default() };
    member.bind_with((Ipv4Addr::UNSPECIFIED, 0).into(), flags).unwrap();
    let sender = Udp::new(lp).unwrap();
    sender.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    sender.set(UdpOption::MulticastInterface(LOCAL)).unwrap();
    let port = member.local_addr().unwrap().port();
    (member, sender, port)
}

#[test]
fn a_member_gets_what_is_sent_to_the_group() {
    let lp = new_loop();
    let (member, sender, port) = member_and_sender(&lp);
    let group = IpAddr::from([239, 1, 2, 4]);
    member.join(group, LOCAL).unwrap();
    assert_eq!(member.join(group, LOCAL), Err(Errno::EADDRINUSE));
    let from = sender.local_addr().unwrap();
    member
        .receive_start(move |member, datagram| {
            let datagram = datagram.unwrap();
            assert_eq!((datagram.bytes, datagram.from), (&b"all"[..], Some(from)));
            member.leave(group, LOCAL).unwrap();
            member.close().unwrap();
        })
        .unwrap();
    sender
        .send("all", SocketAddr::from((group, port)), |sender, sent| {
            sent.unwrap();
            sender.close().unwrap();
        })
        .unwrap();
    run(&lp);
}

#[test]
fn a_member_for_one_source_hears_of_no_other() {
    let lp = new_loop();
    let (member, sender, port) = member_and_sender(&lp);
    let (group, other) = (IpAddr::from([239, 1, 2, 5]), IpAddr::from([239, 1, 2, 6]));
    member.join_source(group, LOCAL, Ipv4Addr::LOCALHOST.into()).unwrap();
    member.join_source(other, LOCAL, [127, 9, 9, 9].into()).unwrap();
    member
        .receive_start(move |member, datagram| {
            assert_eq!(datagram.unwrap().bytes, b"heard");
            member.leave_source(group, LOCAL, Ipv4Addr::LOCALHOST.into()).unwrap();
            member.close().unwrap();
        })
        .unwrap();
    assert_eq!(sender.try_send(b"not heard", SocketAddr::from((other, port))), Ok(9));
    assert_eq!(sender.try_send(b"heard", SocketAddr::from((group, port))), Ok(5));
    sender.close().unwrap();
    run(&lp);
}

#[test]
fn groups_of_ipv6_are_joined_by_the_number_of_the_interface() {
    let lp = new_loop();
    let Ok(socket) = std::net::UdpSocket::bind("[::1]:0") else {
        println!("left out: there is no IPv6 here");
        return;
    };
    let udp = Udp::new(&lp).unwrap();
    udp.open(socket.try_clone().unwrap()).unwrap();
    let loopback = Some(Interface::Index(rustix::net::netdevice::name_to_index(&socket, "lo").unwrap()));
    let group = "ff01::1:2".parse().unwrap();
    udp.set(UdpOption::MulticastInterface(loopback)).unwrap();
    udp.set(UdpOption::MulticastTtl(3)).unwrap();
    udp.set(UdpOption::Ttl(9)).unwrap();
    udp.set(UdpOption::MulticastLoop(false)).unwrap();
    assert_eq!(sockopt::ipv6_unicast_hops(&socket).unwrap(), 9);
    assert_eq!(udp.leave(group, loopback), Err(Errno::EADDRNOTAVAIL));
    udp.join(group, loopback).unwrap();
    udp.leave(group, loopback).unwrap();
    udp.join_source(group, loopback, Ipv6Addr::LOCALHOST.into()).unwrap();
    udp.leave_source(group, loopback, Ipv6Addr::LOCALHOST.into()).unwrap();
}
