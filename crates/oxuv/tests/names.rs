//! Looking up addresses and names, without a network.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::mpsc::channel;

use oxuv::{Address, Errno, Found, Hints, Lane, LookupFlags, Loop, Mode, NameFlags, Pool, Result, SocketKind};

fn look_up(host: &str, service: &str, hints: Hints) -> Result<Found> {
    let lp = Loop::new().unwrap();
    let found = Rc::new(RefCell::new(None));
    let seen = found.clone();
    lp.lookup(host, service, hints, move |_, found| *seen.borrow_mut() = Some(found))?;
    assert!(found.borrow().is_none() && lp.is_alive());
    assert_eq!(lp.run(Mode::Default), Ok(false));
    found.take().expect("the callback was called")
}

const NUMERIC: Hints = Hints {
    v6: None,
    kind: Some(SocketKind::Stream),
    flags: LookupFlags::NUMERIC_HOST.union(LookupFlags::NUMERIC_SERVICE),
};

#[test]
fn addresses_are_typed() {
    for (host, expected) in
        [("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("\u{ff11}27.0.0\u{3002}1", "127.0.0.1:80")]
    {
        let address = Address { address: expected.parse().unwrap(), kind: Some(SocketKind::Stream) };
        assert_eq!(look_up(host, "80", NUMERIC).unwrap().addresses, [address]);
    }
}

#[test]
fn hosts_of_the_machine_are_found() {
    let found = look_up("localhost", "0", Hints::default()).unwrap();
    assert!(found.addresses.iter().all(|found| found.address.ip().is_loopback()), "{found:?}");
    assert!(!found.addresses.is_empty());
}

#[test]
fn what_is_not_there_has_the_resolvers_error() {
    assert_eq!(look_up("no-address", "80", NUMERIC).unwrap_err().name(), Some("EAI_NONAME"));
    assert_eq!(look_up("127.0.0.1", "no-port", NUMERIC).unwrap_err().name(), Some("EAI_NONAME"));
}

#[test]
fn names_that_are_none_are_refused_at_once() {
    let longest = "0".repeat(255);
    assert!(look_up(&longest, "1", NUMERIC).is_ok());
    // CVE-2024-24806: cut to 255 bytes this was an address.
    let padded = format!("0x{}7f000001", "0".repeat(300));
    assert_eq!(look_up(&padded, "1", NUMERIC).unwrap_err(), Errno::EINVAL);
    for host in [&format!("{longest}0"), "", "\u{ad}", "127.0.0.1\0", "a\0\u{fc}"] {
        assert_eq!(look_up(host, "1", NUMERIC).unwrap_err(), Errno::EINVAL, "{host:?}");
    }
    assert_eq!(look_up("127.0.0.1", "1\0", NUMERIC).unwrap_err(), Errno::EINVAL);
    let lp = Loop::new().unwrap();
    assert_eq!(lp.lookup(None, None, NUMERIC, |_, _| ()).unwrap_err(), Errno::EINVAL);
    assert!(!lp.is_alive());
}

#[test]
fn names_of_addresses_are_found() {
    let lp = Loop::new().unwrap();
    let flags = NameFlags::NUMERIC_HOST | NameFlags::NUMERIC_SERVICE;
    lp.lookup_name("[::1]:53".parse().unwrap(), flags, |_, name| {
        let name = name.unwrap();
        assert_eq!((name.host.as_str(), name.service.as_str()), ("::1", "53"));
    })
    .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
}

#[test]
fn a_look_up_that_has_not_begun_is_cancelled() {
    let lp = Loop::with_pool(&Pool::new(NonZeroUsize::MIN).unwrap()).unwrap();
    let (go_on, waits) = channel::<()>();
    lp.work(move || waits.recv().is_ok(), |_, _| ()).unwrap();
    let results = Rc::new(RefCell::new(Vec::new()));
    let (found, named) = (results.clone(), results.clone());
    let requests = [
        lp.lookup("127.0.0.1", None, NUMERIC, move |_, result| found.borrow_mut().push(result.map(drop))).unwrap(),
        lp.lookup_name(([127, 0, 0, 1], 1).into(), NameFlags::empty(), move |_, result| {
            named.borrow_mut().push(result.map(drop));
        })
        .unwrap(),
    ];
    for request in &requests {
        assert_eq!((request.cancel(), request.cancel()), (Ok(()), Err(Errno::EBUSY)));
    }
    assert_eq!(lp.pool_metrics().lanes[Lane::SlowIo as usize].queued, 0);
    lp.run(Mode::NoWait).unwrap();
    let names: Vec<_> = results.borrow().iter().map(|result| result.unwrap_err().name()).collect();
    assert_eq!(names, [Some("EAI_CANCELED"); 2]);
    drop(go_on);
    lp.run(Mode::Default).unwrap();
}
