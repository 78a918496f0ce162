//! Sleeps among each other, and among timers: they have one hidden timer together.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::join_all;
use oxuv::task::{spawn_local, yield_now};
use oxuv::time::{Instant, Sleep, sleep, sleep_until, timeout};
use oxuv::{Check, Loop, Mode, Timer};
use send_wrapper::SendWrapper;

const HOUR: Duration = Duration::from_secs(3600);

fn new_loop() -> Loop {
    Loop::builder().test_clock().build().unwrap()
}

/// A waker that calls something, on this thread.
struct Calls<F>(SendWrapper<F>);

impl<F: Fn()> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn calls(what: impl Fn() + 'static) -> Waker {
    Waker::from(Arc::new(Calls(SendWrapper::new(what))))
}

fn poll(sleep: &mut Sleep, waker: &Waker) -> Poll<()> {
    Pin::new(sleep).poll(&mut Context::from_waker(waker))
}

/// What has been seen, and something to see more with.
fn seen<T: Clone + 'static>() -> (Rc<RefCell<Vec<T>>>, impl Fn(T) + Clone) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    (seen.clone(), move |what| seen.borrow_mut().push(what))
}

#[test]
fn sleeps_of_one_deadline_end_as_they_were_started_and_after_a_timer_between_them() {
    let lp = new_loop();
    let (seen, see) = seen();
    lp.block_on(async {
        let deadline = Instant::now() + HOUR;
        let start = |name| {
            let see = see.clone();
            spawn_local(async move {
                sleep_until(deadline).await;
                see(name);
            })
        };
        let first = start("first");
        yield_now().await;
        let timer = Timer::new(&lp).unwrap();
        let (see, is_timer) = (see.clone(), "timer");
        timer.start(HOUR, move |timer| (see(is_timer), timer.close().unwrap()).0).unwrap();
        let (second, third) = (start("second"), start("third"));
        for task in [third, second, first] {
            task.await.unwrap();
        }
    });
    assert_eq!(*seen.borrow(), ["timer", "first", "second", "third"]);
}

#[test]
fn one_that_is_put_off_to_the_time_of_another_ends_after_it() {
    let lp = new_loop();
    let (seen, see) = seen();
    let deadline = Instant::of(&lp) + HOUR;
    let [mut one, mut other] = [lp.sleep(HOUR / 2), lp.sleep(HOUR)];
    for (name, sleep) in [("one", &mut one), ("other", &mut other)] {
        let see = see.clone();
        assert!(poll(sleep, &calls(move || see(name))).is_pending());
    }
    one.reset(deadline);
    lp.run(Mode::Default).unwrap();
    assert_eq!(*seen.borrow(), ["other", "one"]);
}

#[test]
fn a_hundred_thousand_sleeps_end_in_the_order_of_their_times() {
    const COUNT: u64 = 100_000;
    let lp = new_loop();
    let (seen, see) = seen();
    lp.block_on(async {
        let begin = Instant::now();
        let tasks: Vec<_> = (0..COUNT)
            .map(|nth| {
                let (see, after) = (see.clone(), Duration::from_nanos(1 + nth * 7919 % (COUNT / 4)));
                spawn_local(async move {
                    sleep_until(begin + after).await;
                    see((Instant::now() - begin, after, nth));
                })
            })
            .collect();
        join_all(tasks).await;
    });
    let seen = seen.take();
    assert!(seen.iter().all(|(at, after, _)| at == after) && seen.is_sorted() && seen.len() == COUNT as usize);
    assert!(!lp.is_alive());
}

#[test]
fn a_sleep_that_is_dropped_when_it_is_due_does_not_end() {
    let lp = new_loop();
    lp.block_on(async {
        let deadline = Instant::now() + HOUR;
        let other = Rc::new(RefCell::new(None));
        let (others, ended) = (other.clone(), Rc::new(Cell::new(false)));
        let first = spawn_local(async move {
            sleep_until(deadline).await;
            drop(others.take());
        });
        yield_now().await;
        *other.borrow_mut() = Some(sleep_until(deadline));
        let ends = ended.clone();
        let second = spawn_local(async move {
            poll_fn(|context| match &mut *other.borrow_mut() {
                Some(sleep) => Pin::new(sleep).poll(context).map(|()| ends.set(true)),
                None => Poll::Ready(()),
            })
            .await;
        });
        first.await.unwrap();
        second.await.unwrap();
        assert!(!ended.get() && Instant::now() == deadline);
    });
    assert!(!lp.is_alive());
}

#[test]
fn the_loop_waits_for_the_first_of_its_sleeps() {
    let lp = new_loop();
    let begin = Instant::of(&lp);
    let mut sleeps = [3, 1, 2].map(|hours| Some(lp.sleep(hours * HOUR)));
    for sleep in sleeps.iter_mut().flatten() {
        assert!(poll(sleep, Waker::noop()).is_pending());
    }
    let waits = || lp.backend_timeout().unwrap();
    assert_eq!(waits(), HOUR);
    sleeps[1] = None;
    assert_eq!(waits(), 2 * HOUR);
    sleeps[2].as_mut().unwrap().reset(begin + 5 * HOUR);
    assert_eq!(waits(), 3 * HOUR);
    sleeps[2].as_mut().unwrap().reset(begin + HOUR / 2);
    assert_eq!(waits(), HOUR / 2);
    sleeps[2] = None;
    assert!(lp.is_alive());
    sleeps[0] = None;
    assert!(!lp.is_alive() && lp.run(Mode::Default) == Ok(false));
}

#[test]
fn a_sleep_that_a_task_puts_off_has_nobody_woken_at_its_first_time() {
    let lp = new_loop();
    let (turns, see) = seen();
    let check = Check::new(&lp).unwrap();
    check.start(move |check| see(check.owner().now())).unwrap();
    check.unref().unwrap();
    let begin = lp.now();
    lp.block_on(async {
        let mut late = pin!(sleep(HOUR));
        assert!(timeout(Duration::from_nanos(1), late.as_mut()).await.is_err());
        late.reset(Instant::now() + 2 * HOUR);
        let mut dropped = Box::pin(sleep(HOUR / 2));
        assert!(poll_fn(|context| Poll::Ready(dropped.as_mut().poll(context))).await.is_pending());
        drop(dropped);
        late.await;
    });
    let times: Vec<_> = turns.borrow().iter().map(|&time| time - begin).collect();
    let tiny = Duration::from_nanos(1);
    assert!(times.iter().all(|&time| time <= tiny || time >= 2 * HOUR), "{times:?}");
}

#[test]
fn a_time_that_never_comes_keeps_no_other_from_coming() {
    let lp = new_loop();
    lp.block_on(async {
        let begin = Instant::now();
        assert!(timeout(1000 * HOUR, sleep(Duration::MAX)).await.is_err());
        let mut never = pin!(sleep(Duration::from_nanos(u64::MAX)));
        assert!(timeout(HOUR, never.as_mut()).await.is_err());
        never.reset(Instant::default() + Duration::MAX);
        assert!(timeout(HOUR, never.as_mut()).await.is_err());
        never.reset(Instant::now() + HOUR);
        never.await;
        assert_eq!(begin.elapsed(), 1003 * HOUR);
    });
}

#[test]
fn a_waker_that_panics_keeps_no_other_sleep_from_ending() {
    let lp = new_loop();
    let (seen, see) = seen();
    let mut sleeps = [1, 1, 1, 2].map(|hours| lp.sleep(hours * HOUR));
    for (nth, sleep) in sleeps.iter_mut().enumerate() {
        let see = see.clone();
        let wakes = move || {
            see(nth);
            if nth == 1 {
                resume_unwind(Box::new("on purpose"));
            }
        };
        assert!(poll(sleep, &calls(wakes)).is_pending());
    }
    catch_unwind(AssertUnwindSafe(|| lp.run(Mode::Default))).unwrap_err();
    assert_eq!(*seen.borrow(), [0, 1]);
    lp.run(Mode::Default).unwrap();
    assert_eq!(*seen.borrow(), [0, 1, 2, 3]);
    assert!(sleeps.iter_mut().all(|sleep| poll(sleep, Waker::noop()).is_ready()));
}

#[test]
fn what_a_waker_has_start_anew_is_due_in_a_later_turn() {
    let lp = new_loop();
    let (turns, see) = seen();
    let kept = Rc::new(RefCell::new(lp.sleep(HOUR)));
    let (keeps, owner) = (kept.clone(), (*lp).clone());
    let waker = Rc::new(RefCell::new(Waker::noop().clone()));
    let wakers = waker.clone();
    *waker.borrow_mut() = calls(move || {
        see(owner.turns());
        let mut sleep = keeps.borrow_mut();
        if owner.turns() < 4 {
            sleep.reset(Instant::default());
            assert!(poll(&mut sleep, &wakers.borrow()).is_pending());
        }
    });
    assert!(poll(&mut kept.borrow_mut(), &waker.borrow()).is_pending());
    lp.run(Mode::Default).unwrap();
    let turns = turns.take();
    assert!(turns.len() > 1 && turns.is_sorted_by(|one, next| one < next), "{turns:?}");
    // They own each other.
    let waker = waker.replace(Waker::noop().clone());
    drop(waker);
}

#[test]
fn a_sleep_between_two_grains_of_a_coarse_loop_is_waited_for_asleep() {
    let lp = Loop::with_grain(Duration::from_millis(20)).unwrap();
    lp.block_on(async {
        let before = lp.turns();
        let begin = std::time::Instant::now();
        sleep(Duration::from_millis(30)).await;
        assert!(begin.elapsed() >= Duration::from_millis(10));
        assert!(lp.turns() - before < 10, "{} turns", lp.turns() - before);
    });
}

#[test]
fn a_sleep_that_waits_is_over_when_its_loop_is_gone() {
    let lp = Loop::new().unwrap();
    let [mut one, mut other] = [lp.sleep(HOUR), lp.sleep(HOUR)];
    assert!(poll(&mut one, Waker::noop()).is_pending() && poll(&mut other, Waker::noop()).is_pending());
    drop(lp);
    other.reset(Instant::default() + HOUR);
    assert!(poll(&mut other, Waker::noop()).is_ready() && poll(&mut one, Waker::noop()).is_ready());
}

#[test]
fn a_loop_that_is_dropped_drops_the_wakers_of_sleeps_which_drop_sleeps() {
    let lp = Loop::new().unwrap();
    let mut first = lp.sleep(HOUR);
    let owned = [lp.sleep(HOUR), lp.sleep(2 * HOUR)].map(|mut sleep| {
        assert!(poll(&mut sleep, Waker::noop()).is_pending());
        sleep
    });
    let is_dropped = Rc::new(Cell::new(false));
    let drops = DropGuard(is_dropped.clone());
    assert!(poll(&mut first, &calls(move || assert!(owned.len() == 2 && !drops.0.get()))).is_pending());
    drop(lp);
    assert!(is_dropped.get());
    drop(first);
}

struct DropGuard(Rc<Cell<bool>>);

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.set(true);
    }
}
