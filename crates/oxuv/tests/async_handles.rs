//! Waking a loop: from its own thread, and from others.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use common::{Trace, ms, new_loop, run, run_until, turn};
use oxuv::{Async, Check, Errno, Loop, LoopRef, Mode, Sender, Timer};

fn mark_turns(lp: &LoopRef, trace: &Trace) {
    let check = Check::new(lp).unwrap();
    check.start(trace.adds("check")).unwrap();
    check.unref().unwrap();
}

#[test]
fn sends_before_the_callback_are_one() {
    let (lp, trace) = (new_loop(), Trace::new());
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    let sender = wake_up.sender().unwrap();
    for _ in 0..5 {
        sender.send().unwrap();
        wake_up.send().unwrap();
    }
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["async"]);
    sender.clone().send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["async"]);
}

#[test]
fn nobody_sends_nobody_is_called() {
    let (lp, trace) = (new_loop(), Trace::new());
    let _quiet = Async::new(&lp, trace.adds("quiet")).unwrap();
    let loud = Async::new(&lp, trace.adds("loud")).unwrap();
    loud.send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["loud"]);
}

#[test]
fn asyncs_come_in_the_order_in_which_they_were_made() {
    let (lp, trace) = (new_loop(), Trace::new());
    let [a, b, c] = ["a", "b", "c"].map(|name| Async::new(&lp, trace.adds(name)).unwrap());
    for wake_up in [&c, &a, &b, &c] {
        wake_up.send().unwrap();
    }
    turn(&lp);
    assert_eq!(trace.take(), ["a", "b", "c"]);
}

#[test]
fn one_made_in_a_callback_comes_right_behind_the_running_one() {
    let (lp, trace) = (new_loop(), Trace::new());
    let made = Rc::new(Cell::new(None));
    let (line, slot) = (trace.clone(), Rc::clone(&made));
    let a = Async::new(&lp, move |a| {
        line.add("a");
        if slot.take().is_none() {
            slot.set(Some(Async::new(a.owner(), line.adds("new")).unwrap()));
        }
    })
    .unwrap();
    let b = Async::new(&lp, trace.adds("b")).unwrap();
    a.send().unwrap();
    b.send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["a", "b"]);

    let new = made.take().unwrap();
    made.set(Some(new.clone()));
    for wake_up in [&new, &b, &a] {
        wake_up.send().unwrap();
    }
    turn(&lp);
    assert_eq!(trace.take(), ["a", "new", "b"]);
}

#[test]
fn one_made_and_sent_to_in_a_callback_is_called_in_the_next_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let line = trace.clone();
    let wake_up = Async::new(&lp, move |wake_up| {
        line.add("async");
        Async::new(wake_up.owner(), line.adds("new")).unwrap().send().unwrap();
    })
    .unwrap();
    wake_up.send().unwrap();
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["async", "check", "new", "check"]);
}

#[test]
fn sent_in_its_own_callback_it_runs_at_the_next_poll() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let line = trace.clone();
    let mut left = 3;
    let wake_up = Async::new(&lp, move |wake_up| {
        line.add("async");
        left -= 1;
        if left == 0 {
            wake_up.close().unwrap();
        } else {
            wake_up.send().unwrap();
        }
    })
    .unwrap();
    wake_up.send().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["async", "check", "async", "check", "async", "check"]);
}

#[test]
fn sent_by_an_earlier_one_it_runs_in_the_same_pass_by_a_later_one_in_the_next() {
    let (lp, trace) = (new_loop(), Trace::new());
    mark_turns(&lp, &trace);
    let others = Rc::new(Cell::new(None::<(Async, Async)>));
    let early = Async::new(&lp, trace.adds("early")).unwrap();
    let (line, both) = (trace.clone(), Rc::clone(&others));
    let middle = Async::new(&lp, move |_| {
        line.add("middle");
        let (early, late) = both.take().unwrap();
        early.send().unwrap();
        late.send().unwrap();
    })
    .unwrap();
    let late = Async::new(&lp, trace.adds("late")).unwrap();
    others.set(Some((early, late)));
    middle.send().unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["middle", "late", "check"]);
    turn(&lp);
    assert_eq!(trace.take(), ["early", "check"]);
}

#[test]
fn closed_after_a_send_it_is_not_called() {
    let (lp, trace) = (new_loop(), Trace::new());
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    wake_up.send().unwrap();
    let line = trace.clone();
    wake_up.close_then(move |_| line.add("closed")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
}

#[test]
fn closed_by_an_earlier_one_of_the_pass_it_is_not_called() {
    let (lp, trace) = (new_loop(), Trace::new());
    let second = Rc::new(Cell::new(None::<Async>));
    let (line, other) = (trace.clone(), Rc::clone(&second));
    let a = Async::new(&lp, move |a| {
        line.add("a");
        other.take().unwrap().close().unwrap();
        a.close().unwrap();
    })
    .unwrap();
    let b = Async::new(&lp, trace.adds("b")).unwrap();
    let c = Async::new(&lp, trace.adds("c")).unwrap();
    for wake_up in [&a, &b, &c] {
        wake_up.send().unwrap();
    }
    second.set(Some(b));
    turn(&lp);
    assert_eq!(trace.take(), ["a", "c"]);
}

#[test]
fn to_send_to_a_closed_one_is_einval() {
    let lp = new_loop();
    let wake_up = Async::new(&lp, |_| {}).unwrap();
    let sender = wake_up.sender().unwrap();
    wake_up.close().unwrap();
    assert_eq!(sender.send(), Err(Errno::EINVAL));
    assert_eq!(wake_up.send(), Err(Errno::EINVAL));
    assert!(wake_up.sender().is_err());
    run(&lp);
    assert_eq!(sender.send(), Err(Errno::EINVAL));
    assert_eq!(wake_up.send(), Err(Errno::EINVAL));
}

#[test]
fn to_send_to_one_whose_loop_is_gone_is_einval() {
    let lp = Loop::new().unwrap();
    let sender = Async::new(&lp, |_| {}).unwrap().sender().unwrap();
    drop(lp);
    assert_eq!(sender.send(), Err(Errno::EINVAL));
}

#[test]
fn a_stale_sender_does_not_wake_the_one_that_has_its_place() {
    let (lp, trace) = (new_loop(), Trace::new());
    let old = Async::new(&lp, trace.adds("old")).unwrap();
    let sender = old.sender().unwrap();
    old.close().unwrap();
    run(&lp);
    let _new = Async::new(&lp, trace.adds("new")).unwrap();
    assert_eq!(sender.send(), Err(Errno::EINVAL));
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
}

#[test]
fn an_unreferenced_one_is_called_beside_others_but_does_not_keep_the_loop() {
    let (lp, trace) = (new_loop(), Trace::new());
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    wake_up.unref().unwrap();
    wake_up.send().unwrap();
    run(&lp);
    assert_eq!(trace.take(), [""; 0]);
    Timer::new(&lp).unwrap().start(ms(1), |_| {}).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["async"]);
}

#[test]
fn a_send_from_another_thread_ends_the_wait() {
    fn is_sendable<T: Send + Sync + Clone + 'static>(_: &T) {}
    let lp = new_loop();
    let wake_up = Async::new(&lp, |wake_up| wake_up.close().unwrap()).unwrap();
    let sender = wake_up.sender().unwrap();
    is_sendable(&sender);
    let thread = thread::spawn(move || {
        thread::sleep(ms(10));
        sender.send()
    });
    run(&lp);
    assert_eq!(thread.join().unwrap(), Ok(()));
}

#[test]
fn what_was_written_before_a_send_is_seen_by_a_callback_after_it() {
    const THREADS: u32 = 4;
    const SENDS: u32 = 5000;
    let lp = new_loop();
    let written = Arc::new(AtomicU32::new(0));
    let seen = Rc::new(Cell::new(0));
    let (counter, last) = (Arc::clone(&written), Rc::clone(&seen));
    let wake_up = Async::new(&lp, move |_| last.set(counter.load(Relaxed))).unwrap();
    let threads = [(); THREADS as usize].map(|()| {
        let (sender, counter) = (wake_up.sender().unwrap(), Arc::clone(&written));
        thread::spawn(move || {
            for _ in 0..SENDS {
                counter.fetch_add(1, Relaxed);
                sender.send().unwrap();
            }
        })
    });
    // The last send must lead to a callback that sees everything, or this never ends.
    run_until(&lp, || seen.get() == THREADS * SENDS);
    for thread in threads {
        thread.join().unwrap();
    }
    turn(&lp);
    assert_eq!(seen.get(), THREADS * SENDS);
}

#[test]
fn two_loops_in_two_threads_wake_each_other_without_losing_a_turn() {
    const ROUNDS: u32 = 20_000;
    /// Counts what it gets, and answers; the loop ends after the last round.
    fn player(lp: &Loop, mut answer: impl FnMut() + 'static) -> Sender {
        let mut rounds = 0;
        let wake_up = Async::new(lp, move |wake_up| {
            rounds += 1;
            answer();
            if rounds == ROUNDS {
                wake_up.close().unwrap();
            }
        })
        .unwrap();
        // Many others, to be looked through.
        for _ in 0..10 {
            Async::new(lp, |_| panic!("nobody has sent to this one")).unwrap().unref().unwrap();
        }
        wake_up.sender().unwrap()
    }
    let (here, there) = (std::sync::mpsc::channel::<Sender>(), std::sync::mpsc::channel::<Sender>());
    let thread = thread::spawn(move || {
        let lp = new_loop();
        let partner: Sender = here.1.recv().unwrap();
        let sender = player(&lp, move || partner.send().unwrap());
        there.0.send(sender).unwrap();
        run(&lp);
    });
    let lp = new_loop();
    let partner = Rc::new(std::cell::OnceCell::<Sender>::new());
    let other = Rc::clone(&partner);
    let mut left = ROUNDS;
    let sender = player(&lp, move || {
        left -= 1;
        if left > 0 {
            other.get().unwrap().send().unwrap();
        }
    });
    here.0.send(sender).unwrap();
    partner.set(there.1.recv().unwrap()).unwrap();
    partner.get().unwrap().send().unwrap();
    run(&lp);
    thread.join().unwrap();
}

#[test]
fn a_close_that_races_with_senders_silences_the_handle() {
    for _ in 0..50 {
        let lp = new_loop();
        let (started, closed) = (Arc::new(AtomicUsize::new(0)), Rc::new(Cell::new(false)));
        let is_closed = Rc::clone(&closed);
        let wake_up = Async::new(&lp, move |_| assert!(!is_closed.get())).unwrap();
        let threads = [(); 2].map(|()| {
            let (sender, started) = (wake_up.sender().unwrap(), Arc::clone(&started));
            thread::spawn(move || {
                let mut sent = 0_u64;
                while sender.send().is_ok() {
                    sent += 1;
                    if sent == 1 {
                        started.fetch_add(1, SeqCst);
                    }
                }
                sent
            })
        });
        run_until(&lp, || started.load(SeqCst) == 2);
        wake_up.close().unwrap();
        closed.set(true);
        run(&lp);
        for thread in threads {
            assert!(thread.join().unwrap() > 0);
        }
    }
}

#[test]
fn a_loop_that_nobody_wakes_sleeps() {
    let (lp, trace) = (new_loop(), Trace::new());
    let wake_up = Async::new(&lp, trace.adds("async")).unwrap();
    wake_up.send().unwrap();
    turn(&lp);
    let timer = Timer::new(&lp).unwrap();
    timer.start(ms(50), |timer| timer.owner().stop()).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(true));
    assert_eq!((trace.take(), lp.turns()), (vec!["async".to_string()], 2));
}

#[test]
fn many_asyncs_sent_to_in_any_order_come_once_each() {
    let (lp, trace) = (new_loop(), Trace::new());
    let all: Vec<Async> = (0..500).map(|nth| Async::new(&lp, trace.adds(&nth.to_string())).unwrap()).collect();
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::ZERO, |_| {}).unwrap();
    for nth in 0..500 {
        all[nth * 7 % 500].send().unwrap();
    }
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), (0..500).map(|nth| nth.to_string()).collect::<Vec<_>>());
}
