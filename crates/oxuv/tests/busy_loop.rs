//! A loop that an idle handle keeps busy, and that nothing else has reached before: it hears of whatever comes then.

mod common;

use std::cell::Cell;
use std::future::poll_fn;
use std::io::Write;
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{self, Waker};
use std::thread;

use common::{Place, new_loop};
use oxuv::{Async, Command, FsEvent, Idle, LoopRef, Mode, Poll, Readiness, Signal, Udp, fs};

/// Turns the loop for a while, begins something in the middle of a turn, and turns on until it has called what it is given.
fn hears(begin: impl FnOnce(&LoopRef, Rc<dyn Fn()>) + 'static) {
    const TURNS_BEFORE: u32 = 100;
    let lp = new_loop();
    let (mut begin, mut turns, heard) = (Some(begin), 0, Rc::new(Cell::new(false)));
    Idle::new(&lp)
        .unwrap()
        .start(move |idle| {
            turns += 1;
            if turns == TURNS_BEFORE {
                let heard = Rc::clone(&heard);
                begin.take().unwrap()(idle.owner(), Rc::new(move || heard.set(true)));
            }
            if heard.get() {
                idle.owner().stop();
            }
        })
        .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
}

#[test]
fn of_a_send_by_another_thread() {
    hears(|lp, heard| {
        let handle = Async::new(lp, move |_| heard()).unwrap();
        let sender = handle.sender().unwrap();
        thread::spawn(move || sender.send().unwrap());
    });
}

#[test]
fn of_a_descriptor_that_is_ready() {
    hears(|lp, heard| {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let poll = Poll::new(lp, &ours).unwrap();
        theirs.write_all(b"x").unwrap();
        poll.start(Readiness::READ, move |_, _| {
            let _is_open = &ours;
            heard();
        })
        .unwrap();
    });
}

#[test]
fn of_a_datagram() {
    hears(|lp, heard| {
        let udp = Udp::new(lp).unwrap();
        udp.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"x", udp.local_addr().unwrap()).unwrap();
        udp.receive_start(move |_, _| heard()).unwrap();
    });
}

#[test]
fn of_work_that_is_done() {
    hears(|lp, heard| drop(lp.work(|| (), move |_, _| heard()).unwrap()));
}

#[test]
fn of_an_operation_on_a_file() {
    hears(|lp, heard| drop(fs::metadata(lp, "/", move |_, _| heard()).unwrap()));
}

#[test]
fn of_a_signal() {
    hears(|lp, heard| {
        let number = Signal::real_time(1).unwrap();
        Signal::new(lp).unwrap().start(number, move |_, _| heard()).unwrap();
        Signal::raise(number).unwrap();
    });
}

#[test]
fn of_the_end_of_a_child() {
    hears(|lp, heard| drop(Command::new("true").spawn(lp, move |_, _| heard()).unwrap()));
}

#[test]
fn of_a_change_of_a_file() {
    let place = Place::new("busy");
    let folder = place.path("");
    hears(move |lp, heard| {
        let watch = FsEvent::new(lp).unwrap();
        watch.start(&folder, move |_, _| heard()).unwrap();
        std::fs::write(folder.join("new"), "").unwrap();
    });
}

#[test]
fn of_a_task_that_another_thread_wakes() {
    hears(|lp, heard| {
        let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
        let kept = Arc::clone(&waker);
        let task = poll_fn(move |context| match kept.lock().unwrap().replace(context.waker().clone()) {
            None => task::Poll::Pending,
            Some(_) => {
                heard();
                task::Poll::Ready(())
            }
        });
        lp.spawn_local(task);
        thread::spawn(move || {
            loop {
                match &*waker.lock().unwrap() {
                    Some(waker) => return waker.wake_by_ref(),
                    None => thread::yield_now(),
                }
            }
        });
    });
}
