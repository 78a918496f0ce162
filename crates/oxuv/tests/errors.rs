//! Bad input gets a clear error, and has no effect.

mod common;

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::Duration;

use common::{Trace, bound, connect, guard, in_child, local_pair, new_loop, open_descriptors, pair, run_until, turn};
use oxuv::{Async, BindFlags, Errno, Loop, Tcp, Timer};

#[test]
fn a_grain_of_zero_is_einval() {
    assert_eq!(Loop::with_grain(Duration::ZERO).unwrap_err(), Errno::EINVAL);
}

#[test]
fn errors_have_a_name_and_a_message() {
    assert_eq!(Errno::EINVAL.to_string(), "EINVAL: invalid argument");
    assert_eq!(format!("{:?}", Errno::EOF), "EOF");
    assert_eq!(Errno::EOF.to_string(), "EOF: end of file");
}

#[test]
fn an_address_that_is_not_ours_is_eaddrnotavail_and_another_can_follow() {
    let lp = new_loop();
    let server = Tcp::new(&lp).unwrap();
    // An address that is reserved for documentation.
    let error = server.bind(([203, 0, 113, 1], 0).into()).unwrap_err();
    assert_eq!(error.name(), Some("EADDRNOTAVAIL"));
    assert_eq!(server.bind(([127, 0, 0, 1], 0).into()), Ok(()));
}

#[test]
fn ipv6_only_with_an_ipv4_address_is_einval_and_makes_no_socket() {
    let lp = new_loop();
    let server = Tcp::new(&lp).unwrap();
    let flags = BindFlags { ipv6_only: true, ..BindFlags::default() };
    assert_eq!(server.bind_with(([127, 0, 0, 1], 0).into(), flags), Err(Errno::EINVAL));
    assert_eq!(server.local_addr(), Err(Errno::EBADF));
}

#[test]
fn an_address_of_the_other_family_is_refused() {
    let lp = new_loop();
    let (server, address) = bound(&lp);
    let other: SocketAddr = "[::1]:0".parse().unwrap();
    assert_eq!(server.bind(other).unwrap_err().name(), Some("ENOPROTOOPT"));
    assert_eq!(server.local_addr(), Ok(address));
}

#[test]
fn addresses_of_a_handle_without_a_socket_are_ebadf_and_of_an_unconnected_one_enotconn() {
    let lp = new_loop();
    let fresh = Tcp::new(&lp).unwrap();
    assert_eq!((fresh.local_addr(), fresh.peer_addr()), (Err(Errno::EBADF), Err(Errno::EBADF)));
    let (server, _) = bound(&lp);
    assert_eq!(server.peer_addr(), Err(Errno::ENOTCONN));
}

#[test]
fn a_connection_cannot_listen_and_goes_on_reading() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |_, read| line.add(format!("{read:?}"))).unwrap();
    assert_eq!(tcp.listen(1, |_, _| panic!("it was refused")), Err(Errno::EINVAL));
    peer.write_all(b"!").unwrap();
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["Ok([33])"]);
}

#[test]
fn a_listener_made_elsewhere_cannot_be_read_and_goes_on_listening() {
    let (lp, trace) = (new_loop(), Trace::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = Tcp::new(&lp).unwrap();
    server.open(listener).unwrap();
    let line = trace.clone();
    server.listen(8, move |_, _| line.add("connection")).unwrap();
    assert_eq!(server.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    let _peer = connect(address);
    for _ in 0..3 {
        turn(&lp);
    }
    assert_eq!(trace.take(), ["connection"]);
}

#[test]
fn with_no_connection_waiting_accept_leaves_no_handle_behind() {
    let lp = new_loop();
    let (server, _) = bound(&lp);
    server.listen(8, |_, _| {}).unwrap();
    let before = lp.handles();
    assert_eq!(server.accept().unwrap_err(), Errno::EAGAIN);
    assert_eq!(lp.handles(), before);
}

#[test]
fn a_refused_closure_is_dropped_and_the_old_one_kept() {
    let (lp, trace) = (new_loop(), Trace::new());
    let owned = Rc::new(());
    macro_rules! refused {
        ($call:expr, $error:ident) => {
            assert_eq!($call, Err(Errno::$error));
            assert_eq!(Rc::strong_count(&owned), 1, stringify!($call));
        };
    }
    let held = || Rc::clone(&owned);
    let timer = Timer::new(&lp).unwrap();
    timer.close().unwrap();
    let own = held();
    refused!(timer.start(Duration::ZERO, move |_| drop(own.clone())), EINVAL);
    let own = held();
    refused!(timer.close_then(move |_| drop(own)), EINVAL);
    let fresh = Tcp::new(&lp).unwrap();
    let own = held();
    refused!(fresh.read_start(move |_, _| drop(own.clone())), ENOTCONN);
    let own = held();
    refused!(fresh.write("x", move |_, _| drop(own)), EBADF);
    let own = held();
    refused!(fresh.shutdown(move |_, _| drop(own)), ENOTCONN);

    let (tcp, mut peer) = local_pair(&lp);
    let line = trace.clone();
    tcp.read_start(move |_, _| line.add("first")).unwrap();
    let own = held();
    refused!(tcp.read_start(move |_, _| drop(own.clone())), EALREADY);
    peer.write_all(b"x").unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["first"]);
}

#[test]
fn at_the_descriptor_limit_everything_says_emfile_and_works_again_afterwards() {
    in_child("at_the_descriptor_limit_everything_says_emfile_and_works_again_afterwards", 40, || {
        let lp = Loop::new().unwrap();
        guard(&lp);
        let before = open_descriptors("self");
        let mut eaten: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        let server = Tcp::new(&lp).unwrap();
        assert_eq!(server.bind(([127, 0, 0, 1], 0).into()), Err(Errno::EMFILE));
        assert_eq!(Loop::new().unwrap_err(), Errno::EMFILE);
        // Room for the first of a loop's two descriptors.
        eaten.pop();
        assert_eq!(Loop::new().unwrap_err(), Errno::EMFILE);
        // Handles without a descriptor need none.
        Async::new(&lp, |_| {}).unwrap().send().unwrap();
        drop(eaten);
        assert_eq!(open_descriptors("self"), before);
        assert_eq!(server.bind(([127, 0, 0, 1], 0).into()), Ok(()));
        assert!(Loop::new().is_ok());
    });
}

#[test]
fn a_write_to_a_connection_that_the_peer_has_left_fails_by_callback_and_kills_nobody() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = local_pair(&lp);
    drop(peer);
    tcp.write("x", trace.tells("write")).unwrap();
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EAGAIN));
    turn(&lp);
    assert_eq!(trace.take(), ["write EPIPE"]);
    assert_eq!(tcp.try_write(b"x"), Err(Errno::EPIPE));
}
