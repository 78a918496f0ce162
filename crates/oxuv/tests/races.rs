//! Wakers that other threads use while their tasks are polled, end, or lose their loop: loom tries the orders in which these can go on.
//! A wake that is lost leaves the loop waiting, which loom does not let it for ever.

#![cfg(loom)]

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread::{self, JoinHandle};
use oxuv::{Loop, Mode};

/// Tries the orders with so few threads that stop where they need not; `LOOM_MAX_PREEMPTIONS` says otherwise.
fn try_orders(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.max_branches = 5000;
    model.check(test);
}

/// What threads write before they wake a task. It makes no order of its own: without one, loom shows what was there before.
#[derive(Clone)]
struct Letters(Arc<AtomicU32>);

impl Letters {
    fn new() -> Letters {
        Letters(Arc::new(AtomicU32::new(0)))
    }

    fn read(&self) -> u32 {
        self.0.load(Relaxed)
    }

    /// A thread that writes one and wakes the task.
    fn write_and_wake(&self, waker: &Waker) -> JoinHandle<()> {
        let (letters, waker) = (self.clone(), waker.clone());
        thread::spawn(move || {
            letters.0.fetch_add(1, Relaxed);
            waker.wake();
        })
    }
}

/// Blocks on a task that so many threads wake when it is polled first, until it has seen all their letters. Returns how often it was
/// polled.
fn wait_for_letters(lp: &Loop, count: u32) -> u32 {
    let letters = Letters::new();
    let (mut polls, mut threads) = (0, Vec::new());
    lp.block_on(poll_fn(|context| {
        polls += 1;
        if polls == 1 {
            threads.extend((0..count).map(|_| letters.write_and_wake(context.waker())));
        }
        if letters.read() == count { Poll::Ready(()) } else { Poll::Pending }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    polls
}

/// Spawns a task that waits for ever, and lets `at_first` see its waker. Counts its polls.
fn spawn_waiting(lp: &Loop, at_first: impl FnOnce(&Waker) + 'static) -> Rc<Cell<u32>> {
    let polls = Rc::new(Cell::new(0));
    let count = Rc::clone(&polls);
    let mut at_first = Some(at_first);
    lp.spawn_local(poll_fn(move |context| {
        count.set(count.get() + 1);
        if let Some(at_first) = at_first.take() {
            at_first(context.waker());
        }
        Poll::<()>::Pending
    }));
    polls
}

#[test]
fn a_wake_beside_a_poll_is_heard_and_what_was_written_before_it_is_seen() {
    try_orders(|| {
        let polls = wait_for_letters(&Loop::new().unwrap(), 1);
        assert!(polls <= 2, "{polls} polls");
    });
}

#[test]
fn two_threads_that_wake_a_task_are_both_heard() {
    try_orders(|| {
        let polls = wait_for_letters(&Loop::new().unwrap(), 2);
        assert!(polls <= 3, "{polls} polls");
    });
}

#[test]
fn wakes_between_two_polls_are_one() {
    try_orders(|| {
        let lp = Loop::new().unwrap();
        let letters = Letters::new();
        let threads = Rc::new(Cell::new(None));
        let (told, wakes) = (Rc::clone(&threads), letters.clone());
        let polls = spawn_waiting(&lp, move |waker| {
            told.set(Some([wakes.write_and_wake(waker), wakes.write_and_wake(waker)]));
        });
        while threads.take().map(|threads| threads.map(|thread| thread.join().unwrap())).is_none() {
            lp.run(Mode::NoWait).unwrap();
        }
        let before = polls.get();
        lp.run(Mode::NoWait).unwrap();
        lp.run(Mode::NoWait).unwrap();
        assert!(polls.get() <= before + 1, "{before} polls, and then {}", polls.get());
        assert_eq!(letters.read(), 2);
    });
}

#[test]
fn a_wake_beside_the_end_of_a_task_wakes_no_other_in_its_place() {
    try_orders(|| {
        let lp = Loop::new().unwrap();
        let letters = Letters::new();
        let thread = Rc::new(Cell::new(None));
        let (told, wakes) = (Rc::clone(&thread), letters.clone());
        lp.spawn_local(poll_fn(move |context| {
            told.set(Some(wakes.write_and_wake(context.waker())));
            Poll::Ready(())
        }));
        lp.run(Mode::NoWait).unwrap();
        let waker = Rc::new(Cell::new(None));
        let kept = Rc::clone(&waker);
        let polls = spawn_waiting(&lp, move |waker| kept.set(Some(waker.clone())));
        lp.run(Mode::NoWait).unwrap();
        thread.take().unwrap().join().unwrap();
        lp.run(Mode::NoWait).unwrap();
        assert_eq!(polls.get(), 1);
        // Nor does it keep it from being woken.
        waker.take().unwrap().wake();
        lp.run(Mode::NoWait).unwrap();
        assert_eq!(polls.get(), 2);
    });
}

#[test]
fn a_wake_beside_the_drop_of_the_loop_leaves_no_task() {
    struct Owned(Rc<Cell<u32>>);
    impl Drop for Owned {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    try_orders(|| {
        let lp = Loop::new().unwrap();
        let letters = Letters::new();
        let (dropped, thread) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
        let (owned, told) = (Owned(Rc::clone(&dropped)), Rc::clone(&thread));
        spawn_waiting(&lp, move |waker| {
            told.set(Some(letters.write_and_wake(waker)));
        });
        lp.spawn_local(async move {
            let _owned = owned;
            std::future::pending::<()>().await;
        });
        lp.run(Mode::NoWait).unwrap();
        drop(lp);
        assert_eq!(dropped.get(), 1);
        thread.take().unwrap().join().unwrap();
    });
}
