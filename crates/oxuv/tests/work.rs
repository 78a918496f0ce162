//! Closures on other threads, and their results on the loop's.

mod common;

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use oxuv::{Errno, Lane, Loop, Mode, NotDone, Pool, Timer};

use common::ms;

fn one_thread() -> Loop {
    Loop::with_pool(&Pool::new(NonZeroUsize::MIN).unwrap()).unwrap()
}

/// Keeps a thread busy until the sender sends or is gone; returns when the thread has begun.
fn keep_busy(lp: &Loop) -> Sender<()> {
    let ((begun, has_begun), (go_on, waits)) = (channel(), channel());
    let wait = move || {
        begun.send(()).unwrap();
        let _ = waits.recv();
    };
    lp.work(wait, |_, result| result.unwrap()).unwrap();
    has_begun.recv().unwrap();
    go_on
}

#[test]
fn a_result_comes_to_the_loops_thread() {
    let lp = Loop::new().unwrap();
    let here = thread::current().id();
    let seen = Rc::new(Cell::new(None));
    let result = seen.clone();
    let work = || (thread::current().id(), thread::current().name().map(str::to_string), String::from("made there"));
    lp.work(work, move |_, made| {
        let (there, _, text) = made.unwrap();
        assert!(there != here && thread::current().id() == here);
        result.set(Some(text));
    })
    .unwrap();
    assert!(lp.is_alive() && lp.check_closable() == Err(Errno::EBUSY));
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(seen.take().as_deref(), Some("made there"));
    assert_eq!(lp.check_closable(), Ok(()));
}

#[test]
fn a_panic_comes_out_as_the_result_and_the_thread_lives_on() {
    let lp = one_thread();
    let texts = Rc::new(RefCell::new(Vec::new()));
    for round in 0..3 {
        let seen = texts.clone();
        lp.work(
            move || -> u8 { panic!("round {round}") },
            move |_, result| {
                seen.borrow_mut().push(result.unwrap_err().to_string());
            },
        )
        .unwrap();
    }
    let seen = texts.clone();
    lp.work(|| 7, move |_, result| seen.borrow_mut().push(result.unwrap().to_string())).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(*texts.borrow(), ["panicked: round 0", "panicked: round 1", "panicked: round 2", "7"]);
}

#[test]
fn work_that_has_not_begun_is_cancelled() {
    let lp = one_thread();
    let go_on = keep_busy(&lp);
    let canceled = Rc::new(Cell::new(false));
    let (seen, witness) = (canceled.clone(), std::sync::Arc::new(()));
    let owned = witness.clone();
    let request =
        lp.work(move || drop(owned), move |_, result| seen.set(matches!(result, Err(NotDone::Canceled)))).unwrap();
    assert_eq!(request.cancel(), Ok(()));
    assert_eq!(request.cancel(), Err(Errno::EBUSY));
    assert!(!canceled.get(), "its callback is called by the loop");
    lp.run(Mode::NoWait).unwrap();
    assert!(canceled.get());
    assert_eq!(std::sync::Arc::strong_count(&witness), 1, "what the closure owned is dropped");
    drop(go_on);
    lp.run(Mode::Default).unwrap();
    assert_eq!(request.cancel(), Err(Errno::EBUSY));
    drop(lp);
    assert_eq!(request.cancel(), Err(Errno::EINVAL));
}

#[test]
fn callbacks_come_one_by_one_and_may_do_anything() {
    let lp = one_thread();
    let order = Rc::new(RefCell::new(Vec::new()));
    for nth in 0..3 {
        let order = order.clone();
        lp.work(
            move || nth,
            move |lp, result| {
                let nth = result.unwrap();
                order.borrow_mut().push(nth);
                let again = order.clone();
                lp.work(move || nth + 10, move |_, result| again.borrow_mut().push(result.unwrap())).unwrap();
            },
        )
        .unwrap();
    }
    lp.run(Mode::Default).unwrap();
    let mut seen = order.borrow().clone();
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 10, 11, 12]);
}

#[test]
fn a_callback_that_panics_loses_no_other() {
    let lp = one_thread();
    let go_on = keep_busy(&lp);
    let seen = Rc::new(Cell::new(0));
    for nth in 0..3 {
        let seen = seen.clone();
        let request = lp.work(
            || (),
            move |_, _| {
                seen.set(seen.get() + 1);
                assert!(nth != 1, "the second one");
            },
        );
        request.unwrap().cancel().unwrap();
    }
    assert!(catch_unwind(AssertUnwindSafe(|| lp.run(Mode::NoWait))).is_err());
    assert_eq!(seen.get(), 2);
    lp.run(Mode::NoWait).unwrap();
    assert_eq!(seen.get(), 3);
    drop(go_on);
    lp.run(Mode::Default).unwrap();
}

#[test]
fn a_loop_that_is_dropped_calls_nobody_and_drops_what_has_not_begun() {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let lp = Loop::with_pool(&pool).unwrap();
    let go_on = keep_busy(&lp);
    let (has_run, runs) = channel();
    for _ in 0..10 {
        let has_run = has_run.clone();
        lp.work(move || has_run.send(()).unwrap(), |_, _| panic!("it is gone")).unwrap();
    }
    let lp_ref = (*lp).clone();
    drop((lp, has_run));
    assert_eq!(lp_ref.work(|| (), |_, _| ()).unwrap_err(), Errno::EINVAL);
    drop(go_on);
    // The closures are dropped without a call.
    assert!(runs.recv().is_err());
}

#[test]
fn a_timer_goes_on_while_threads_work() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    let ticks = Rc::new(Cell::new(0));
    let counted = ticks.clone();
    timer.start_repeating(ms(1), ms(1), move |_| counted.set(counted.get() + 1)).unwrap();
    lp.work(|| thread::sleep(ms(100)), move |_, _| timer.close().unwrap()).unwrap();
    lp.run(Mode::Default).unwrap();
    assert!(ticks.get() >= 10, "{}", ticks.get());
}

#[test]
fn loops_on_many_threads_share_the_pool_of_the_process() {
    let threads: Vec<_> = (0..8_u64)
        .map(|first| {
            thread::spawn(move || {
                let lp = Loop::new().unwrap();
                let sum = Rc::new(Cell::new(0));
                for nth in 0..1000 {
                    let sum = sum.clone();
                    lp.work(move || first + nth, move |_, term| sum.set(sum.get() + term.unwrap())).unwrap();
                }
                lp.run(Mode::Default).unwrap();
                assert_eq!(sum.get(), 1000 * first + 999 * 500);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_pool_of_ones_own_counts_for_itself() {
    let pool = Pool::new(NonZeroUsize::new(3).unwrap()).unwrap();
    assert_eq!(pool.metrics().threads, 0);
    let lp = Loop::with_pool(&pool).unwrap();
    lp.work(|| (), |_, _| ()).unwrap();
    lp.run(Mode::Default).unwrap();
    let metrics = lp.pool_metrics();
    assert_eq!((metrics.threads, metrics.lanes[Lane::FastIo as usize].done), (3, 0));
    assert_eq!(pool.metrics().lanes[Lane::Work as usize].queued, 0);
}

#[test]
fn random_bytes_come() {
    let lp = Loop::new().unwrap();
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let seen = bytes.clone();
    lp.random(64, move |_, random| *seen.borrow_mut() = random.unwrap()).unwrap();
    lp.random(usize::MAX / 2, |_, random| assert_eq!(random, Err(Errno::ENOMEM))).unwrap();
    lp.run(Mode::Default).unwrap();
    // That 64 bytes are zero happens once in 2^512 runs.
    assert!(bytes.borrow().len() == 64 && bytes.borrow().iter().any(|&byte| byte != 0));
}
