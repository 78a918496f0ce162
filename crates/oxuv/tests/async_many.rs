//! Very many wake-ups, from several threads at once.

mod common;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use common::{new_loop, run, run_until, turn};
use oxuv::{Async, Errno, Loop, Sender};

/// What a test does is bounded: by its rounds, or on a slow machine by this.
const LONG_ENOUGH: Duration = Duration::from_secs(4);

#[test]
fn no_wake_up_is_lost_when_others_are_closed_amid_a_hail_of_them() {
    const THREADS: u64 = 4;
    const SENDS: u64 = 50;
    const ROUNDS: u64 = 2000;
    let lp = new_loop();
    let sent = Arc::new(AtomicU64::new(0));
    let seen = Rc::new(Cell::new(0));
    let (counter, last) = (Arc::clone(&sent), Rc::clone(&seen));
    let steady = Async::new(&lp, move |_| last.set(counter.load(Relaxed))).unwrap();
    // Each thread sends, many times in turn, to the one that stays and to one that is closed at some moment.
    let threads = [(); THREADS as usize].map(|()| {
        let (senders, passing) = channel::<Sender>();
        let (steady, sent) = (steady.sender().unwrap(), Arc::clone(&sent));
        let thread = thread::spawn(move || {
            let mut refused = 0;
            for passing in passing {
                for _ in 0..SENDS {
                    sent.fetch_add(1, Relaxed);
                    steady.send().unwrap();
                    refused += u64::from(passing.send() == Err(Errno::EINVAL));
                }
            }
            refused
        });
        (senders, thread)
    });

    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS && start.elapsed() < LONG_ENOUGH {
        rounds += 1;
        let mut calls_left = rounds % 7;
        let passing = Async::new(&lp, move |passing| {
            assert!(!passing.is_closing(), "it is closed");
            if calls_left == 0 {
                passing.close().unwrap();
            }
            calls_left = calls_left.saturating_sub(1);
        })
        .unwrap();
        for (senders, _) in &threads {
            senders.send(passing.sender().unwrap()).unwrap();
        }
        // The last send of all must be seen, or this never ends.
        run_until(&lp, || seen.get() == rounds * THREADS * SENDS);
        if !passing.is_closing() {
            passing.close().unwrap();
        }
    }
    let refused: u64 = threads.map(|(senders, thread)| (drop(senders), thread.join().unwrap()).1).iter().sum();
    turn(&lp);
    let all = rounds * THREADS * SENDS;
    println!("{} sends, {refused} to a closed one, {:?}", 2 * all, start.elapsed());
    assert_eq!(seen.get(), all);
    assert_eq!(lp.handles().len(), 2);
}

#[test]
fn a_send_that_is_not_refused_is_followed_by_a_call_unless_the_handle_is_closed() {
    const ROUNDS: u64 = 20_000;
    let lp = new_loop();
    let (senders, handles) = channel::<Sender>();
    let (results, answers) = channel();
    let thread = thread::spawn(move || {
        for sender in handles {
            // The first is for the start; the second races with the close.
            results.send((sender.send(), sender.send())).unwrap();
        }
    });
    let (start, mut rounds, mut accepted) = (Instant::now(), 0, 0);
    while rounds < ROUNDS && start.elapsed() < LONG_ENOUGH {
        rounds += 1;
        let called = Rc::new(Cell::new(false));
        let is_called = Rc::clone(&called);
        let wake_up = Async::new(&lp, move |_| is_called.set(true)).unwrap();
        senders.send(wake_up.sender().unwrap()).unwrap();
        run_until(&lp, || called.get());
        called.set(false);
        wake_up.close().unwrap();
        // Nothing is heard after the close, whatever the sender was told.
        run_until(&lp, || lp.handles().len() == 1);
        assert!(!called.get());
        let (first, second) = answers.recv().unwrap();
        assert_eq!(first, Ok(()));
        assert!(matches!(second, Ok(()) | Err(Errno::EINVAL)));
        accepted += u64::from(second.is_ok());
    }
    drop(senders);
    thread.join().unwrap();
    println!("{rounds} rounds, {accepted} sends before the close, {:?}", start.elapsed());
}

#[test]
fn many_handles_of_two_loops_wake_each_other_without_losing_a_turn() {
    const HANDLES: usize = 50;
    const ROUNDS: u32 = 2000;

    /// Handles that answer each call to their partner, so many times.
    fn players(lp: &Loop, partners: &Rc<RefCell<Vec<Sender>>>, answers: u32) -> Vec<Sender> {
        (0..HANDLES)
            .map(|nth| {
                let (partners, mut calls) = (Rc::clone(partners), 0);
                let wake_up = Async::new(lp, move |wake_up| {
                    calls += 1;
                    if calls <= answers {
                        partners.borrow()[nth].send().unwrap();
                    }
                    if calls == ROUNDS {
                        wake_up.close().unwrap();
                    }
                })
                .unwrap();
                wake_up.sender().unwrap()
            })
            .collect()
    }

    let (to_there, from_here) = channel();
    let (to_here, from_there): (_, Receiver<Vec<Sender>>) = channel();
    let start = Instant::now();
    let thread = thread::spawn(move || {
        let (lp, partners) = (new_loop(), Rc::default());
        to_here.send(players(&lp, &partners, ROUNDS)).unwrap();
        partners.replace(from_here.recv().unwrap());
        run(&lp);
    });
    let (lp, partners) = (new_loop(), Rc::default());
    // The last answer is left out: its receiver has had all its turns.
    to_there.send(players(&lp, &partners, ROUNDS - 1)).unwrap();
    partners.replace(from_there.recv().unwrap());
    for partner in partners.borrow().iter() {
        partner.send().unwrap();
    }
    run(&lp);
    thread.join().unwrap();
    println!("{} wake-ups in {:?}", 2 * HANDLES as u32 * ROUNDS, start.elapsed());
}
