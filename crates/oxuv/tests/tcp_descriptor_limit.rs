//! Listeners at the descriptor limit, and what is left when connections come and go.

mod common;

use std::io::Read;

use common::{DEADLINE, Trace, bound, connect, guard, in_child, ms, open_descriptors, outcome, run_until};
use oxuv::{Loop, Mode, Timer};

#[test]
fn at_the_descriptor_limit_connections_are_shed_without_spinning() {
    in_child("at_the_descriptor_limit_connections_are_shed_without_spinning", 64, || {
        let (lp, trace) = (Loop::new().unwrap(), Trace::new());
        guard(&lp);
        let (server, address) = bound(&lp);
        let line = trace.clone();
        server
            .listen(128, move |server, connection| {
                line.add(outcome("connection", connection));
                if connection.is_ok() {
                    server.accept().unwrap();
                }
            })
            .unwrap();
        // The peer has its descriptor from before the limit is reached.
        let mut peer = connect(address);
        let mut eaten = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            eaten.push(file);
        }
        assert_eq!(open_descriptors_at_the_limit(), 64);

        run_until(&lp, || trace.len() == 1);
        assert_eq!(trace.take(), ["connection EMFILE"]);
        peer.set_read_timeout(Some(DEADLINE)).unwrap();
        assert!(matches!(peer.read(&mut [0]), Ok(0) | Err(_)));

        // Nothing waits any more, so the loop sleeps.
        let turns = lp.turns();
        let timer = Timer::new(&lp).unwrap();
        timer.start(ms(50), |timer| timer.owner().stop()).unwrap();
        assert_eq!(lp.run(Mode::Default), Ok(true));
        assert!(lp.turns() - turns <= 3, "{} turns", lp.turns() - turns);
        assert_eq!(trace.take(), [""; 0]);

        // With descriptors to be had again, connections are taken again, and the reserve is there again.
        drop(eaten);
        drop(peer);
        for _ in 0..2 {
            let _peer = connect(address);
            run_until(&lp, || trace.len() == 1);
            assert_eq!(trace.take(), ["connection ok"]);
        }
    });
}

/// To count them takes one more than there is room for: the highest number tells, since the lowest free one is given.
fn open_descriptors_at_the_limit() -> usize {
    (0..64).filter(|number| std::fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok()).count()
}

#[test]
fn connections_that_come_and_go_leave_no_descriptor_behind() {
    in_child("connections_that_come_and_go_leave_no_descriptor_behind", 64, || {
        let before = open_descriptors("self");
        let lp = Loop::new().unwrap();
        guard(&lp);
        let (server, address) = bound(&lp);
        let trace = Trace::new();
        let line = trace.clone();
        server
            .listen(16, move |server, _| {
                line.add("connection");
                let client = server.accept().unwrap();
                client.read_start(|client, read| assert!(read.is_err() && client.close().is_ok())).unwrap();
            })
            .unwrap();
        let during = open_descriptors("self");
        for _ in 0..200 {
            drop(connect(address));
            run_until(&lp, || trace.take().len() == 1);
        }
        server.close().unwrap();
        run_until(&lp, || lp.handles().len() == 1);
        assert!(open_descriptors("self") < during);
        drop(lp);
        assert_eq!(open_descriptors("self"), before);
    });
}
