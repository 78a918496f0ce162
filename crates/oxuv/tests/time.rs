//! Time for tasks.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::StreamExt;
use oxuv::task::{spawn_local, yield_now};
use oxuv::time::{
    self, Clock, Instant, MissedTickBehavior, interval, interval_at, interval_on, sleep, sleep_on, sleep_until,
    timeout, timeout_on,
};
use oxuv::{Loop, Mode};

const TINY: Duration = Duration::from_micros(200);

#[test]
fn a_sleep_is_never_short_and_exact_to_the_nanosecond() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        for time in [Duration::ZERO, Duration::from_nanos(1), TINY, Duration::from_millis(1)] {
            let begin = Instant::now();
            sleep(time).await;
            assert!(begin.elapsed() >= time);
        }
    });
}

#[test]
fn a_sleep_counts_from_its_call() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        std::thread::sleep(Duration::from_millis(3));
        let begin = std::time::Instant::now();
        sleep(Duration::from_millis(2)).await;
        assert!(begin.elapsed() >= Duration::from_millis(2));
    });
}

#[test]
fn sleeps_end_in_the_order_of_their_times() {
    let lp = Loop::new().unwrap();
    let seen = Rc::new(RefCell::new(Vec::new()));
    lp.block_on(async {
        let begin = Instant::now();
        let tasks: Vec<_> = [3, 1, 2, 0]
            .map(|nth: u32| {
                let seen = seen.clone();
                spawn_local(async move {
                    sleep_until(begin + nth * TINY).await;
                    seen.borrow_mut().push(nth);
                })
            })
            .into();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(*seen.borrow(), [0, 1, 2, 3]);
}

#[test]
fn a_sleep_that_is_dropped_leaves_nothing() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        for _ in 0..10_000 {
            let mut long = pin!(sleep(Duration::from_secs(3600)));
            poll_fn(|context| {
                assert!(long.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
    });
    assert!(!lp.is_alive());
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO));
}

#[test]
fn a_sleep_can_be_put_off_and_started_again() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let begin = Instant::now();
        let mut one = pin!(sleep(Duration::from_secs(3600)));
        assert!(timeout(TINY, one.as_mut()).await.is_err());
        one.reset(begin + Duration::from_millis(1));
        one.as_mut().await;
        assert!(one.is_elapsed() && begin.elapsed() >= Duration::from_millis(1));
        one.reset(begin + Duration::from_millis(2));
        one.as_mut().await;
        assert!(begin.elapsed() >= Duration::from_millis(2));
    });
}

#[test]
fn a_sleep_moved_to_another_task_wakes_that() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let mut one = sleep(Duration::from_millis(2));
        poll_fn(|context| {
            assert!(Pin::new(&mut one).poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        spawn_local(one).await.unwrap();
    });
}

#[test]
fn a_sleep_of_a_loop_that_is_gone_is_over() {
    let lp = Loop::new().unwrap();
    let sleep = lp.sleep(Duration::from_secs(3600));
    drop(lp);
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(sleep).poll(&mut context).is_ready());
}

#[test]
fn an_interval_ticks_now_and_then_once_a_period() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let begin = Instant::now();
        let mut interval = interval(TINY);
        let first = interval.tick().await;
        assert!(first >= begin);
        for nth in 1..20 {
            assert_eq!(interval.tick().await, first + nth * TINY);
        }
        assert!(begin.elapsed() >= 19 * TINY);
        let start = Instant::now() + TINY;
        assert_eq!(interval_at(start, TINY).tick().await, start);
    });
}

#[test]
fn an_interval_is_a_stream() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let ticks: Vec<Instant> = interval(TINY).take(3).collect().await;
        assert_eq!([ticks[1] - ticks[0], ticks[2] - ticks[1]], [TINY, TINY]);
    });
}

#[test]
fn the_clock_that_counts_suspended_time_is_waited_by() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let begin = Instant::now();
        sleep_on(Clock::Boot, TINY).await;
        assert!(begin.elapsed() >= TINY);
        sleep_on(Clock::Boot, Duration::ZERO).await;
        sleep_on(Clock::Monotonic, Duration::ZERO).await;

        let mut interval = interval_on(Clock::Boot, TINY);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let first = interval.tick().await;
        std::thread::sleep(3 * TINY);
        assert_eq!(interval.tick().await - first, TINY);
        // Of those that were missed one came.
        let third = interval.tick().await - first;
        assert!(third >= 3 * TINY && third.as_nanos() % TINY.as_nanos() == 0, "{third:?}");

        assert!(timeout_on(Clock::Boot, TINY, pending::<()>()).await.is_err());
        assert_eq!(timeout_on(Clock::Boot, Duration::from_secs(3600), async { 7 }).await, Ok(7));
        let mut long = sleep_on(Clock::Boot, Duration::from_secs(3600));
        assert!(poll_fn(|context| Poll::Ready(Pin::new(&mut long).poll(context))).await.is_pending());
        assert!(!long.is_elapsed());
        let early = long.deadline();
        long.reset(Instant::default());
        long.await;
        assert!(early > Instant::default());
    });
    // Nothing of it is seen by anybody, and nothing is left.
    assert_eq!(lp.handles(), []);
    assert_eq!(lp.run(Mode::Default), Ok(false));
}

#[test]
#[should_panic(expected = "an interval of no length")]
fn an_interval_of_no_length_is_refused() {
    Loop::new().unwrap().block_on(async { interval(Duration::ZERO) });
}

#[test]
fn a_timeout_drops_what_takes_too_long() {
    struct Drops(Rc<Cell<bool>>);
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let is_dropped = Rc::new(Cell::new(false));
        let owned = Drops(is_dropped.clone());
        let elapsed = timeout(TINY, async move {
            let _owned = owned;
            pending::<()>().await;
        })
        .await
        .unwrap_err();
        assert!(is_dropped.get());
        assert_eq!(elapsed.to_string(), "the time is over");
        assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
    });
}

#[test]
fn a_timeout_lets_through_what_is_in_time() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let slow = async {
            yield_now().await;
            5
        };
        assert_eq!(timeout(Duration::from_secs(60), slow).await, Ok(5));
        // Also one that is ready when the time is over already.
        assert_eq!(time::timeout_at(Instant::now(), async { 6 }).await, Ok(6));
    });
}

#[test]
fn a_timeout_that_is_over_holds_on_to_nothing() {
    let lp = Loop::new().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let is_ready = Rc::new(Cell::new(false));
    let asked = is_ready.clone();
    let future = poll_fn(move |_| if asked.get() { Poll::Ready(()) } else { Poll::Pending });
    let mut waits = None;
    lp.block_on(async { waits = Some(Box::pin(timeout(Duration::from_secs(3600), future))) });
    let mut waits = waits.unwrap();
    assert!(waits.as_mut().poll(&mut context).is_pending() && lp.is_alive());
    is_ready.set(true);
    assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert!(!lp.is_alive() && Rc::strong_count(&is_ready) == 1);
}

#[test]
fn a_timeout_has_room_for_its_future_once() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let large = [0_u8; 4096];
        let future = async move {
            yield_now().await;
            large.len()
        };
        let waits = timeout(Duration::from_secs(3600), future);
        assert!(size_of_val(&waits) < 2 * 4096);
        assert_eq!(waits.await, Ok(4096));
    });
}

#[test]
fn the_timers_of_tasks_are_seen_by_nobody() {
    let lp = Loop::new().unwrap();
    let task = lp.spawn_local(lp.sleep(Duration::from_secs(3600)));
    lp.run(Mode::NoWait).unwrap();
    assert!(lp.handles().is_empty());
    task.abort();
    lp.check_closable().unwrap();
}
