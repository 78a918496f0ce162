//! Tasks: who wakes them.

#[path = "common/task_loop.rs"]
mod task_loop;

use oxuv::task::{spawn_local, yield_now};
use oxuv::{Mode, time};
use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;
use task_loop::{gives_its_waker, new_loop};

#[test]
fn a_waker_that_is_used_after_the_end_does_nothing() {
    let (waker, is_ready): (Arc<Mutex<Option<Waker>>>, _) = Default::default();
    let lp = new_loop();
    lp.block_on(async {
        let task = spawn_local(gives_its_waker(&waker, &is_ready));
        yield_now().await;
        is_ready.store(true, SeqCst);
        let kept = waker.lock().unwrap().clone().unwrap();
        kept.wake_by_ref();
        task.await.unwrap();
        // Its place is another task's now, which is not to be polled for it.
        let polls = Rc::new(Cell::new(0));
        let counts = polls.clone();
        let other = spawn_local(poll_fn(move |_| {
            counts.set(counts.get() + 1);
            Poll::<()>::Pending
        }));
        yield_now().await;
        kept.wake_by_ref();
        yield_now().await;
        let thread = std::thread::spawn(move || kept.wake());
        thread.join().unwrap();
        time::sleep(Duration::from_millis(1)).await;
        assert_eq!(polls.get(), 1);
        other.abort();
    });
    let waker = waker.lock().unwrap().take().unwrap();
    drop(lp);
    waker.wake_by_ref();
    std::thread::spawn(move || waker.wake()).join().unwrap();
}

#[test]
fn a_waker_outlives_its_loop() {
    let (waker, is_ready): (Arc<Mutex<Option<Waker>>>, _) = Default::default();
    let lp = new_loop();
    lp.spawn_local(gives_its_waker(&waker, &is_ready));
    lp.run(Mode::NoWait).unwrap();
    drop(lp);
    let waker = waker.lock().unwrap().take().unwrap();
    let same = waker.clone();
    std::thread::spawn(move || waker.wake()).join().unwrap();
    same.wake();
}

#[test]
fn wakers_of_other_threads_wake_a_loop_that_waits() {
    let lp = new_loop();
    let left = Arc::new(AtomicUsize::new(4));
    let wakers: Arc<Mutex<Vec<Waker>>> = Default::default();
    let (counted, kept) = (left.clone(), wakers.clone());
    let mut threads = Vec::new();
    let polls = lp.block_on(async {
        let mut polls = 0;
        poll_fn(|context| {
            polls += 1;
            kept.lock().unwrap().push(context.waker().clone());
            if threads.is_empty() {
                for _ in 0..4 {
                    let (waker, left) = (context.waker().clone(), counted.clone());
                    threads.push(std::thread::spawn(move || {
                        left.fetch_sub(1, SeqCst);
                        waker.wake();
                    }));
                }
            }
            // The threads may all have come and gone in the first poll; their wake-ups are for one more.
            if polls > 1 && counted.load(SeqCst) == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        polls
    });
    assert!((2..=5).contains(&polls), "{polls}");
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(left.load(SeqCst), 0);
}

#[test]
fn wakes_from_threads_are_not_lost() {
    // Two threads hand a number to and fro; a wake-up that is lost would end it.
    const END: usize = if cfg!(miri) { 60 } else { 20_000 };
    let lp = new_loop();
    let (number, waker): (Arc<AtomicUsize>, Arc<Mutex<Option<Waker>>>) = Default::default();
    let (theirs, wakes) = (number.clone(), waker.clone());
    let thread = std::thread::spawn(move || {
        while theirs.load(SeqCst) < END {
            if theirs.load(SeqCst) % 2 == 1 {
                theirs.fetch_add(1, SeqCst);
                if let Some(waker) = wakes.lock().unwrap().take() {
                    waker.wake();
                }
            } else {
                std::thread::yield_now();
            }
        }
    });
    lp.block_on(poll_fn(|context| {
        *waker.lock().unwrap() = Some(context.waker().clone());
        let now = number.load(SeqCst);
        if now >= END {
            return Poll::Ready(());
        }
        if now % 2 == 0 {
            number.fetch_add(1, SeqCst);
        }
        Poll::Pending
    }));
    thread.join().unwrap();
}

#[test]
fn many_wakes_of_other_threads_are_one_wake_up_of_the_loop() {
    const TASKS: usize = if cfg!(miri) { 20 } else { 1000 };
    let lp = new_loop();
    let (is_ready, wakers): (Arc<AtomicBool>, Arc<Mutex<Vec<Waker>>>) = Default::default();
    for _ in 0..TASKS {
        let (is_ready, wakers) = (is_ready.clone(), wakers.clone());
        lp.spawn_local(poll_fn(move |context| {
            wakers.lock().unwrap().push(context.waker().clone());
            if is_ready.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        }));
    }
    while wakers.lock().unwrap().len() < TASKS {
        lp.run(Mode::NoWait).unwrap();
    }
    let before = lp.metrics().events;
    is_ready.store(true, SeqCst);
    std::thread::spawn(move || wakers.lock().unwrap().drain(..).for_each(Waker::wake)).join().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(lp.metrics().events - before, 1);
}
