//! A clock that jumps to the next timer.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use oxuv::task::{spawn_blocking, spawn_local};
use oxuv::time::{self, Instant, MissedTickBehavior, interval, sleep, timeout};
use oxuv::{Errno, Loop, Mode, Timer};

const HOUR: Duration = Duration::from_secs(3600);

fn new_loop() -> Loop {
    Loop::builder().test_clock().build().unwrap()
}

#[test]
fn a_day_of_timers_takes_a_moment() {
    let lp = new_loop();
    let begin = std::time::Instant::now();
    let ticks = lp.block_on(async {
        let begin = Instant::now();
        let mut interval = interval(Duration::from_secs(60));
        let mut ticks = 0;
        while interval.tick().await - begin < 24 * HOUR {
            ticks += 1;
        }
        ticks
    });
    assert_eq!(ticks, 24 * 60);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn time_stands_still_while_something_runs() {
    let lp = new_loop();
    lp.block_on(async {
        let begin = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(begin.elapsed(), Duration::ZERO);
        sleep(Duration::from_nanos(1)).await;
        assert_eq!(begin.elapsed(), Duration::from_nanos(1));
    });
}

#[test]
fn callbacks_and_tasks_come_in_the_order_of_their_times() {
    let lp = new_loop();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let sees = seen.clone();
    let timer = Timer::new(&lp).unwrap();
    timer
        .start(2 * HOUR, move |timer| {
            sees.borrow_mut().push(("timer", timer.owner().now()));
            timer.close().unwrap();
        })
        .unwrap();
    let begin = lp.now();
    lp.block_on(async {
        for hours in [3, 1] {
            let seen = seen.clone();
            spawn_local(async move {
                sleep(hours * HOUR).await;
                seen.borrow_mut().push(("task", Instant::now().since_start()));
            });
        }
        sleep(4 * HOUR).await;
    });
    let expected = [("task", begin + HOUR), ("timer", begin + 2 * HOUR), ("task", begin + 3 * HOUR)];
    assert_eq!(*seen.borrow(), expected);
}

#[test]
fn the_clock_goes_forward_by_hand() {
    let lp = new_loop();
    let begin = lp.now();
    let task = lp.spawn_local(lp.sleep(HOUR));
    lp.run(Mode::NoWait).unwrap();
    lp.advance(HOUR - Duration::from_nanos(1)).unwrap();
    lp.run(Mode::NoWait).unwrap();
    lp.run(Mode::NoWait).unwrap();
    assert!(!task.is_finished());
    lp.advance(Duration::from_nanos(1)).unwrap();
    lp.run(Mode::NoWait).unwrap();
    lp.run(Mode::NoWait).unwrap();
    assert!(task.is_finished());
    assert_eq!(lp.now() - begin, HOUR);
    assert_eq!(Loop::new().unwrap().advance(HOUR), Err(Errno::EINVAL));
}

#[test]
fn missed_ticks_to_the_nanosecond() {
    let lp = new_loop();
    lp.block_on(async {
        for (behavior, expected) in [
            (MissedTickBehavior::Burst, [10, 20, 30, 40, 50]),
            (MissedTickBehavior::Delay, [10, 45, 55, 65, 75]),
            (MissedTickBehavior::Skip, [10, 40, 50, 60, 70]),
        ] {
            let mut interval = interval(Duration::from_nanos(10));
            interval.set_missed_tick_behavior(behavior);
            let first = interval.tick().await;
            oxuv::LoopRef::current().unwrap().advance(Duration::from_nanos(35)).unwrap();
            let mut ticks = [0; 5];
            for tick in &mut ticks {
                *tick = (interval.tick().await - first).as_nanos();
            }
            // The first was due at 10; Delay then counts from 35, when that was taken.
            assert_eq!(ticks, expected, "{behavior:?}");
        }
    });
}

#[test]
fn work_on_threads_takes_no_time_and_is_waited_for() {
    let lp = new_loop();
    lp.block_on(async {
        let begin = Instant::now();
        for _ in 0..20 {
            let work = spawn_blocking(|| std::thread::sleep(Duration::from_millis(1)));
            timeout(Duration::from_micros(1), work).await.expect("the clock has stood still").unwrap();
        }
        oxuv::fs::task::read("/proc/self/comm").await.unwrap();
        assert_eq!(begin.elapsed(), Duration::ZERO);
    });
}

#[test]
fn sockets_of_this_machine_are_quicker_than_any_timeout() {
    let lp = new_loop();
    lp.block_on(async {
        let (one, other) = oxuv::net::UnixStream::pair().unwrap();
        let mut buf = [0; 4];
        let echo = spawn_local(async move {
            let mut buf = [0; 4];
            while other.read_exact(&mut buf).await.is_ok() {
                other.write_all(&buf).await.unwrap();
            }
        });
        for _ in 0..100 {
            one.write_all(b"ping").await.unwrap();
            timeout(Duration::from_nanos(1), one.read_exact(&mut buf)).await.unwrap().unwrap();
        }
        assert!(time::timeout(HOUR, one.read(&mut buf)).await.is_err());
        drop(one);
        echo.await.unwrap();
    });
}
