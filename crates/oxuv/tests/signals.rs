//! Signal handles: who hears of what, and what becomes of the process's actions.
//!
//! The tests of a file share a process, and that has one action for each signal: each test has signals of its own.

mod common;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Barrier};
use std::thread;

use oxuv::{Async, Errno, Loop, LoopRef, Mode, Signal, Timer};

use common::{ms, new_loop, run, run_until, turn};

type Heard = Rc<RefCell<Vec<(u32, i32)>>>;

fn number(nth: u8) -> i32 {
    Signal::real_time(nth).unwrap()
}

fn started(lp: &LoopRef, heard: &Heard, name: u32, number: i32) -> Signal {
    let signal = Signal::new(lp).unwrap();
    let heard = Rc::clone(heard);
    signal.start(number, move |_, number| heard.borrow_mut().push((name, number))).unwrap();
    signal
}

#[test]
fn each_signal_is_told_in_its_order_to_all_who_wait_for_it() {
    let (lp, heard) = (new_loop(), Heard::default());
    let [one, two] = [number(1), number(2)];
    let first = started(&lp, &heard, 1, one);
    let second = started(&lp, &heard, 2, two);
    let third = started(&lp, &heard, 3, one);
    assert_eq!((first.number(), second.number()), (Some(one), Some(two)));
    for number in [one, two, one] {
        Signal::raise(number).unwrap();
    }
    assert!(heard.borrow().is_empty());
    turn(&lp);
    assert_eq!(heard.take(), [(1, one), (3, one), (2, two), (1, one), (3, one)]);
    turn(&lp);
    assert!(heard.take().is_empty());
    [first, second, third].iter().for_each(|signal| signal.close().unwrap());
    run(&lp);
    lp.check_closable().unwrap_err();
}

#[test]
fn once_is_once() {
    let lp = new_loop();
    let signal = Signal::new(&lp).unwrap();
    let calls = Rc::new(Cell::new(0));
    let count = Rc::clone(&calls);
    let other = started(&lp, &Heard::default(), 1, number(3));
    signal
        .start_once(number(3), move |signal, _| {
            assert!(signal.is_active());
            count.set(count.get() + 1);
        })
        .unwrap();
    Signal::raise(number(3)).unwrap();
    Signal::raise(number(3)).unwrap();
    turn(&lp);
    assert_eq!((calls.get(), signal.is_active(), signal.number()), (1, false, None));
    assert!(other.is_active());
}

#[test]
fn a_closure_may_replace_stop_and_close_its_handle() {
    let (lp, heard) = (new_loop(), Heard::default());
    let signal = Signal::new(&lp).unwrap();
    let inner = Rc::clone(&heard);
    signal
        .start(number(4), move |signal, _| {
            let heard = Rc::clone(&inner);
            signal
                .start(number(5), move |signal, number| {
                    heard.borrow_mut().push((1, number));
                    signal.stop().unwrap();
                    signal.close().unwrap();
                })
                .unwrap();
        })
        .unwrap();
    Signal::raise(number(4)).unwrap();
    // Nobody waits for this one before the closure has run; it is not in vain.
    turn(&lp);
    Signal::raise(number(5)).unwrap();
    run(&lp);
    assert_eq!(heard.take(), [(1, number(5))]);
}

#[test]
fn a_signal_ends_the_wait_and_comes_after_all_else() {
    let (lp, heard) = (new_loop(), Heard::default());
    let signal = started(&lp, &heard, 1, number(6));
    let told = Rc::clone(&heard);
    let wake_up = Async::new(&lp, move |_| told.borrow_mut().push((2, 0))).unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.start(common::HOUR, |_| unreachable!()).unwrap();
    Signal::raise(number(6)).unwrap();
    wake_up.send().unwrap();
    lp.run(Mode::Once).unwrap();
    assert_eq!(heard.take(), [(2, 0), (1, number(6))]);
    signal.stop().unwrap();
    signal.stop().unwrap();
}

#[test]
fn what_is_no_signal_is_refused() {
    let (lp, heard) = (new_loop(), Heard::default());
    let signal = started(&lp, &heard, 1, number(7));
    for number in [0, -1, 65, 9, 19, i32::MAX] {
        assert_eq!(signal.start(number, |_, _| unreachable!()), Err(Errno::EINVAL), "{number}");
        assert_eq!(signal.start_once(number, |_, _| unreachable!()), Err(Errno::EINVAL), "{number}");
    }
    assert_eq!(Signal::raise(-1), Err(Errno::EINVAL));
    assert_eq!(Signal::real_time(200), None);
    Signal::raise(number(7)).unwrap();
    turn(&lp);
    assert_eq!(heard.take(), [(1, number(7))], "it goes on as before");
    signal.close().unwrap();
    assert_eq!(signal.start(number(7), |_, _| unreachable!()), Err(Errno::EINVAL));
}

#[test]
fn loops_of_many_threads_hear_of_all() {
    const LOOPS: usize = 4;
    const SIGNALS: usize = 300;
    let barrier = Arc::new(Barrier::new(LOOPS));
    let one_loop = move |barrier: Arc<Barrier>| {
        let lp = new_loop();
        let signal = Signal::new(&lp).unwrap();
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        signal.start(number(8), move |_, _| counted.set(counted.get() + 1)).unwrap();
        barrier.wait();
        for _ in 0..SIGNALS {
            Signal::raise(number(8)).unwrap();
        }
        run_until(&lp, || count.get() == LOOPS * SIGNALS);
        barrier.wait();
        assert!(!lp.run(Mode::NoWait).unwrap() || count.get() == LOOPS * SIGNALS);
    };
    let threads = [(); LOOPS].map(|()| {
        let barrier = Arc::clone(&barrier);
        thread::spawn(move || one_loop(barrier))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn signals_of_a_loop_that_is_dropped_go_to_nobody() {
    let (lp, heard) = (new_loop(), Heard::default());
    let other = Loop::new().unwrap();
    started(&lp, &heard, 1, number(9));
    let signal = started(&other, &Heard::default(), 2, number(9));
    Signal::raise(number(9)).unwrap();
    drop(other);
    assert_eq!(signal.start(number(9), |_, _| ()), Err(Errno::EINVAL));
    Signal::raise(number(9)).unwrap();
    turn(&lp);
    assert_eq!(heard.take(), [(1, number(9)); 2]);
}

#[test]
fn a_panic_loses_no_signal() {
    let lp = new_loop();
    let signal = Signal::new(&lp).unwrap();
    let calls = Rc::new(Cell::new(0));
    let count = Rc::clone(&calls);
    signal
        .start(number(10), move |_, _| {
            count.set(count.get() + 1);
            assert!(count.get() != 1, "in a callback");
        })
        .unwrap();
    (0..3).for_each(|_| Signal::raise(number(10)).unwrap());
    common::failing_turn(&lp);
    turn(&lp);
    assert_eq!(calls.get(), 3);
}

#[test]
fn a_loop_that_was_never_forked_goes_on_after_it_is_told_so() {
    let (lp, heard) = (new_loop(), Heard::default());
    let signal = started(&lp, &heard, 1, number(11));
    let told = Rc::clone(&heard);
    let wake_up = Async::new(&lp, move |_| told.borrow_mut().push((2, 0))).unwrap();
    let done = Rc::new(Cell::new(false));
    let is_done = Rc::clone(&done);
    lp.work(|| thread::sleep(ms(20)), move |_, result| is_done.set(result.is_ok())).unwrap();
    wake_up.send().unwrap();
    Signal::raise(number(11)).unwrap();
    lp.after_fork().unwrap();
    run_until(&lp, || heard.borrow().len() == 2);
    assert_eq!(heard.take(), [(2, 0), (1, number(11))]);
    run_until(&lp, || done.get());
    signal.close().unwrap();
    wake_up.close().unwrap();
    run(&lp);
}
