//! Tasks: when they run, and how they end.

#[path = "common/task_loop.rs"]
mod task_loop;

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use oxuv::task::{self, spawn_local, yield_now};
use oxuv::{Check, Idle, LoopRef, Mode, Prepare, Timer, time};
use task_loop::{gives_its_waker, new_loop};

/// Something that says that it was dropped.
struct Dropped(Rc<Cell<bool>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

fn quietly<T>(act: impl FnOnce() -> T) -> std::thread::Result<T> {
    catch_unwind(AssertUnwindSafe(act))
}

fn text_of(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no text")
}

#[test]
fn block_on_gives_what_its_future_gives() {
    let lp = new_loop();
    assert_eq!(lp.block_on(ready(1)), 1);
    // It need not be 'static.
    let text = String::from("borrowed");
    assert_eq!(lp.block_on(async { text.as_str() }), "borrowed");
    assert_eq!(lp.turns(), 2);
}

#[test]
fn a_task_runs_beside_what_is_blocked_on() {
    let lp = new_loop();
    let sum = lp.block_on(async {
        let one = spawn_local(async {
            time::sleep(Duration::from_millis(2)).await;
            1
        });
        let two = spawn_local(async { 2 });
        one.await.unwrap() + two.await.unwrap()
    });
    assert_eq!(sum, 3);
}

#[test]
fn a_task_is_not_polled_inside_of_spawn() {
    let lp = new_loop();
    lp.block_on(async {
        let has_run = Rc::new(Cell::new(false));
        let ran = has_run.clone();
        let task = spawn_local(async move { ran.set(true) });
        assert!(!has_run.get() && !task.is_finished());
        task.await.unwrap();
        assert!(has_run.get());
    });
}

#[test]
fn tasks_run_in_the_order_in_which_they_were_woken() {
    let lp = new_loop();
    let seen = Rc::new(RefCell::new(Vec::new()));
    lp.block_on(async {
        let tasks: Vec<_> = (0..4)
            .map(|nth| {
                let seen = seen.clone();
                spawn_local(async move {
                    for round in 0..3 {
                        seen.borrow_mut().push((round, nth));
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let expected: Vec<_> = (0..3).flat_map(|round| (0..4).map(move |nth| (round, nth))).collect();
    assert_eq!(*seen.borrow(), expected);
}

#[test]
fn a_task_keeps_a_run_from_returning_until_it_has_ended() {
    let lp = new_loop();
    let has_run = Rc::new(Cell::new(false));
    let ran = has_run.clone();
    lp.spawn_local(async move {
        time::sleep(Duration::from_millis(1)).await;
        ran.set(true);
    });
    assert!(lp.is_alive());
    assert!(!lp.run(Mode::Default).unwrap());
    assert!(has_run.get());
    assert!(!lp.is_alive());
}

#[test]
fn a_loop_without_tasks_has_no_handles_that_anybody_sees() {
    let lp = new_loop();
    lp.block_on(async { time::sleep(Duration::from_micros(1)).await });
    assert!(lp.handles().is_empty());
    lp.check_closable().unwrap();
    assert!(!lp.is_alive());
}

#[test]
fn a_task_that_is_woken_by_an_event_runs_in_the_check_phase_of_its_turn() {
    let lp = new_loop();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (waker, is_ready) = Default::default();
    let future = gives_its_waker(&waker, &is_ready);
    let sees = seen.clone();
    lp.spawn_local(async move {
        future.await;
        sees.borrow_mut().push(("task", LoopRef::current().unwrap().turns()));
    });
    lp.run(Mode::NoWait).unwrap();
    let sees = seen.clone();
    let wake_up = oxuv::Async::new(&lp, move |wake_up| {
        sees.borrow_mut().push(("event", wake_up.owner().turns()));
        is_ready.store(true, SeqCst);
        waker.lock().unwrap().take().unwrap().wake();
        wake_up.close().unwrap();
    })
    .unwrap();
    wake_up.send().unwrap();
    lp.run(Mode::Default).unwrap();
    let seen = seen.borrow();
    assert_eq!((seen[0].0, seen[1].0), ("event", "task"));
    assert_eq!(seen[0].1, seen[1].1);
}

#[test]
fn tasks_come_first_in_their_phase_whoever_was_started_since() {
    let lp = new_loop();
    let order: Rc<RefCell<Vec<&str>>> = Rc::default();
    let (tell, mut told) = futures::channel::mpsc::unbounded();
    let notes = order.clone();
    lp.spawn_local(async move {
        while futures::StreamExt::next(&mut told).await.is_some() {
            notes.borrow_mut().push("task");
        }
    });
    let wake_up = oxuv::Async::new(&lp, move |_| tell.unbounded_send(()).unwrap()).unwrap();
    let turn = || {
        wake_up.sender().unwrap().send().unwrap();
        lp.run(Mode::NoWait).unwrap();
    };
    turn();
    order.take();
    for name in ["first", "second"] {
        turn();
        assert_eq!(order.borrow().first(), Some(&"task"));
        let notes = order.clone();
        Check::new(&lp).unwrap().start(move |_| notes.borrow_mut().push(name)).unwrap();
        order.take();
    }
    turn();
    assert_eq!(order.take(), ["task", "second", "first"]);
    // Nobody was woken: the phase comes in vain, and then not at all.
    lp.run(Mode::NoWait).unwrap();
    lp.run(Mode::NoWait).unwrap();
    order.take();
    turn();
    assert_eq!(order.take(), ["task", "second", "first"]);
}

#[test]
fn a_task_that_is_woken_by_a_timer_runs_before_the_next_wait() {
    let lp = new_loop();
    let turns = lp.block_on(async {
        let begin = LoopRef::current().unwrap().turns();
        time::sleep(Duration::from_millis(1)).await;
        LoopRef::current().unwrap().turns() - begin
    });
    // One turn has waited for it, and the next one has not waited yet.
    assert_eq!(turns, 1);
}

#[test]
fn a_task_that_is_woken_right_before_the_wait_keeps_the_loop_from_waiting() {
    let lp = new_loop();
    // Older than the loop's own handle for tasks, and so after it.
    let prepare = Prepare::new(&lp).unwrap();
    let (waker, is_ready): (Arc<Mutex<Option<Waker>>>, Arc<AtomicBool>) = Default::default();
    let (wakes, makes_ready) = (waker.clone(), is_ready.clone());
    prepare
        .start(move |prepare| {
            if let Some(waker) = wakes.lock().unwrap().take() {
                makes_ready.store(true, SeqCst);
                waker.wake();
                prepare.close().unwrap();
            }
        })
        .unwrap();
    let late = Timer::new(&lp).unwrap();
    late.start(Duration::from_secs(60), |_| panic!("the loop has waited")).unwrap();
    lp.block_on(gives_its_waker(&waker, &is_ready));
}

#[test]
#[cfg_attr(miri, ignore)] // A clock for tests stands still as long as something runs.
fn tasks_that_always_run_starve_neither_timers_nor_events_nor_other_phases() {
    let lp = new_loop();
    let is_over = Rc::new(Cell::new(false));
    for _ in 0..if cfg!(miri) { 150 } else { 1000 } {
        let is_over = is_over.clone();
        lp.spawn_local(async move {
            while !is_over.get() {
                yield_now().await;
            }
        });
    }
    let seen = Rc::new(Cell::new(0));
    let see = |bit: u32| {
        let seen = seen.clone();
        move || seen.set(seen.get() | bit)
    };
    let timer_sees = see(1);
    Timer::new(&lp)
        .unwrap()
        .start(Duration::from_millis(1), move |timer| {
            timer_sees();
            timer.close().unwrap();
        })
        .unwrap();
    let async_sees = see(2);
    let wake_up = oxuv::Async::new(&lp, move |wake_up| {
        async_sees();
        wake_up.close().unwrap();
    })
    .unwrap();
    let sender = wake_up.sender().unwrap();
    let thread = std::thread::spawn(move || sender.send().unwrap());
    let check_sees = see(4);
    Check::new(&lp)
        .unwrap()
        .start(move |check| {
            check_sees();
            check.close().unwrap();
        })
        .unwrap();
    let idle_seen = seen.clone();
    Idle::new(&lp)
        .unwrap()
        .start(move |idle| {
            if idle_seen.get() == 7 {
                is_over.set(true);
                idle.close().unwrap();
            }
        })
        .unwrap();
    lp.run(Mode::Default).unwrap();
    thread.join().unwrap();
    assert_eq!(seen.get(), 7);
}

#[test]
fn an_idle_handle_that_always_runs_does_not_starve_tasks() {
    let lp = new_loop();
    let idle = Idle::new(&lp).unwrap();
    idle.start(|_| ()).unwrap();
    lp.block_on(async {
        for _ in 0..1000 {
            yield_now().await;
        }
    });
}

#[test]
fn a_task_that_wakes_itself_runs_again_behind_the_others() {
    let lp = new_loop();
    let polls = Rc::new(Cell::new(0));
    let counts = polls.clone();
    lp.block_on(poll_fn(move |context| {
        counts.set(counts.get() + 1);
        // Many times are once.
        context.waker().wake_by_ref();
        context.waker().wake_by_ref();
        let again = context.waker().clone();
        again.wake_by_ref();
        if counts.get() == 5 { Poll::Ready(()) } else { Poll::Pending }
    }));
    assert_eq!(polls.get(), 5);
}

#[test]
fn a_panic_ends_its_task_and_nothing_else() {
    let lp = new_loop();
    let (error, other) = lp.block_on(async {
        let bad = spawn_local(async { panic!("of the task") });
        let good = spawn_local(async {
            yield_now().await;
            7
        });
        (bad.await.unwrap_err(), good.await.unwrap())
    });
    assert_eq!(other, 7);
    assert!(error.is_panic() && !error.is_cancelled());
    assert_eq!(error.to_string(), "the task has panicked: of the task");
    assert_eq!(text_of(&*error.try_into_panic().unwrap()), "of the task");
}

#[test]
fn a_panic_when_a_task_is_dropped_is_its_result() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("when it is dropped");
        }
    }
    let lp = new_loop();
    lp.block_on(async {
        let task = spawn_local(async {
            let _panics = Panics;
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        // And a result that panics when nobody takes it.
        drop(spawn_local(async { Panics }));
        yield_now().await;
        yield_now().await;
    });
    let _ = quietly(|| drop(lp));
}

#[test]
fn a_panic_of_what_is_blocked_on_leaves_a_loop_that_goes_on() {
    let lp = new_loop();
    let task = lp.spawn_local(async {
        time::sleep(Duration::from_millis(1)).await;
        3
    });
    let payload = quietly(|| lp.block_on(async { panic!("of the main future") })).unwrap_err();
    assert_eq!(text_of(&*payload), "of the main future");
    assert!(LoopRef::current().is_none());
    assert_eq!(lp.block_on(task).unwrap(), 3);
}

#[test]
fn block_on_inside_of_a_task_is_refused_with_words() {
    let lp = Rc::new(new_loop());
    let (inner, other) = (lp.clone(), new_loop());
    lp.block_on(async move {
        let payload = quietly(|| inner.block_on(ready(()))).unwrap_err();
        assert!(text_of(&*payload).starts_with("block_on inside of a callback or a task"));
        // Of another loop as well: this one would stand still.
        assert!(quietly(|| other.block_on(ready(()))).is_err());
        // And nothing is broken by it.
        yield_now().await;
    });
    let inner = lp.clone();
    let timer = Timer::new(&lp).unwrap();
    timer
        .start(Duration::ZERO, move |timer| {
            assert!(quietly(|| inner.block_on(ready(()))).is_err());
            timer.close().unwrap();
        })
        .unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(lp.block_on(ready(1)), 1);
}

#[test]
fn what_needs_a_running_loop_says_so_where_there_is_none() {
    let payload = quietly(|| spawn_local(ready(()))).map(drop).unwrap_err();
    assert!(text_of(&*payload).starts_with("no loop runs on this thread"));
}

#[test]
fn an_abort_drops_the_task_at_once() {
    let lp = new_loop();
    lp.block_on(async {
        let is_dropped = Rc::new(Cell::new(false));
        let owned = Dropped(is_dropped.clone());
        let task = spawn_local(async move {
            let _owned = owned;
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        assert!(is_dropped.get() && task.is_finished());
        task.abort();
        let error = task.await.unwrap_err();
        assert!(error.is_cancelled());
        assert_eq!(error.to_string(), "the task was cancelled");
    });
}

#[test]
fn a_task_that_aborts_itself_ends_when_it_waits() {
    let lp = new_loop();
    lp.block_on(async {
        let own: Rc<RefCell<Option<task::AbortHandle>>> = Rc::default();
        let (takes, seen) = (own.clone(), Rc::new(Cell::new(0)));
        let sees = seen.clone();
        let task = spawn_local(async move {
            takes.borrow().as_ref().unwrap().abort();
            sees.set(1);
            yield_now().await;
            sees.set(2);
        });
        *own.borrow_mut() = Some(task.abort_handle());
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(seen.get(), 1);
    });
}

#[test]
fn an_abort_after_the_end_changes_nothing() {
    let lp = new_loop();
    lp.block_on(async {
        let task = spawn_local(ready(5));
        yield_now().await;
        task.abort();
        assert_eq!(task.await.unwrap(), 5);
    });
}

#[test]
fn a_dropped_join_handle_lets_its_task_go_on() {
    let lp = new_loop();
    let has_run = Rc::new(Cell::new(false));
    let ran = has_run.clone();
    drop(lp.spawn_local(async move {
        yield_now().await;
        ran.set(true);
    }));
    lp.run(Mode::Default).unwrap();
    assert!(has_run.get());
}

#[test]
fn what_a_task_owns_is_gone_when_its_end_is_known() {
    let lp = new_loop();
    lp.block_on(async {
        let is_dropped = Rc::new(Cell::new(false));
        let owned = Dropped(is_dropped.clone());
        spawn_local(async move {
            let _owned = owned;
            yield_now().await;
        })
        .await
        .unwrap();
        assert!(is_dropped.get());
    });
}

#[test]
fn a_loop_that_is_dropped_drops_its_tasks() {
    /// A task that does what it should not when it is dropped.
    struct Busy(LoopRef, Rc<Cell<bool>>);
    impl Future for Busy {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }
    impl Drop for Busy {
        fn drop(&mut self) {
            let late = self.0.spawn_local(async { unreachable!("the loop is gone") });
            assert!(late.is_finished());
            assert!(Timer::new(&self.0).is_err());
            self.1.set(true);
        }
    }
    let lp = new_loop();
    let is_dropped = Rc::new(Cell::new(false));
    let task = lp.spawn_local(Busy(lp.clone(), is_dropped.clone()));
    let never_polled = lp.spawn_local(ready(1));
    let sleeps = lp.spawn_local(lp.sleep(Duration::from_secs(60)));
    lp.run(Mode::NoWait).unwrap();
    let late = lp.spawn_local(ready(2));
    drop(lp);
    assert!(is_dropped.get());
    assert!(task.is_finished() && sleeps.is_finished() && late.is_finished());
    let other = new_loop();
    assert!(other.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(other.block_on(never_polled).unwrap(), 1);
    assert!(other.block_on(late).unwrap_err().is_cancelled());
}

#[test]
fn a_hundred_thousand_tasks() {
    const COUNT: usize = if cfg!(miri) { 300 } else { 100_000 };
    let lp = new_loop();
    let sum = lp.block_on(async {
        let tasks: Vec<_> = (0..COUNT)
            .map(|nth| {
                spawn_local(async move {
                    yield_now().await;
                    nth
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, COUNT * (COUNT - 1) / 2);
}

#[test]
fn stop_ends_a_turn_but_not_block_on() {
    let lp = new_loop();
    let timer = Timer::new(&lp).unwrap();
    timer.start(Duration::from_millis(1), |timer| timer.owner().stop()).unwrap();
    lp.block_on(lp.sleep(Duration::from_millis(3)));
}

#[test]
fn two_loops_on_a_thread_do_not_mix_their_tasks_up() {
    let outer = new_loop();
    let inner = Rc::new(new_loop());
    let (waker, is_ready): (Arc<Mutex<Option<Waker>>>, Arc<AtomicBool>) = Default::default();
    let task = outer.spawn_local(gives_its_waker(&waker, &is_ready));
    let inside = inner.clone();
    outer.block_on(async {
        yield_now().await;
        let here = LoopRef::current().unwrap();
        inside.spawn_local(async move {
            // The outer loop's task, woken while the inner one runs.
            is_ready.store(true, SeqCst);
            waker.lock().unwrap().take().unwrap().wake();
        });
        inside.run(Mode::Default).unwrap();
        assert!(here.turns() == LoopRef::current().unwrap().turns());
        task.await.unwrap();
    });
}

#[test]
fn a_task_that_was_woken_runs_though_a_callback_panics_after_that() {
    let lp = new_loop();
    let (waker, is_ready): (Arc<Mutex<Option<Waker>>>, Arc<AtomicBool>) = Default::default();
    let task = lp.spawn_local(gives_its_waker(&waker, &is_ready));
    lp.run(Mode::NoWait).unwrap();
    let wake_up = oxuv::Async::new(&lp, move |wake_up| {
        wake_up.close().unwrap();
        is_ready.store(true, SeqCst);
        waker.lock().unwrap().take().unwrap().wake();
        panic!("behind the wake-up");
    })
    .unwrap();
    wake_up.send().unwrap();
    assert!(quietly(|| lp.run(Mode::Default)).is_err());
    assert!(!task.is_finished());
    // Else this would wait for ever.
    lp.run(Mode::Default).unwrap();
    assert!(task.is_finished());
}
