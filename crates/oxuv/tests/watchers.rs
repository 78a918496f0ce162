//! Idle, prepare and check handles.

mod common;

use common::{HOUR, Trace, new_loop, run, turn};
use oxuv::{Check, Errno, Idle, LoopRef, Mode, Prepare, Timer};

/// The tests that hold for each of the three kinds.
macro_rules! each_kind {
    ($name:ident, $kind:ident) => {
        mod $name {
            use super::*;

            fn handles<const N: usize>(lp: &LoopRef) -> [$kind; N] {
                std::array::from_fn(|_| $kind::new(lp).unwrap())
            }

            #[test]
            fn it_runs_in_each_turn_until_stopped() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [handle] = handles(&lp);
                handle.start(trace.adds("x")).unwrap();
                turn(&lp);
                turn(&lp);
                assert_eq!(trace.take(), ["x", "x"]);
                handle.stop().unwrap();
                handle.stop().unwrap();
                turn(&lp);
                assert_eq!(trace.take(), [""; 0]);
            }

            #[test]
            fn the_one_started_last_comes_first() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                b.start(trace.adds("b")).unwrap();
                a.start(trace.adds("a")).unwrap();
                c.start(trace.adds("c")).unwrap();
                turn(&lp);
                turn(&lp);
                assert_eq!(trace.take(), ["c", "a", "b", "c", "a", "b"]);
            }

            #[test]
            fn started_while_active_it_keeps_its_place_and_its_closure() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                b.start(trace.adds("b")).unwrap();
                assert_eq!(a.start(trace.adds("new")), Ok(()));
                turn(&lp);
                assert_eq!(trace.take(), ["b", "a"]);
            }

            #[test]
            fn stopped_and_started_it_comes_first_with_its_new_closure() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                b.start(trace.adds("b")).unwrap();
                a.stop().unwrap();
                a.start(trace.adds("new")).unwrap();
                turn(&lp);
                assert_eq!(trace.take(), ["new", "b"]);
            }

            #[test]
            fn stopped_and_started_in_its_own_callback_it_comes_first_in_the_next_turn() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                let line = trace.clone();
                b.start(move |b| {
                    line.add("b");
                    b.stop().unwrap();
                    b.start(line.adds("new b")).unwrap();
                })
                .unwrap();
                c.start(trace.adds("c")).unwrap();
                turn(&lp);
                assert_eq!(trace.take(), ["c", "b", "a"]);
                turn(&lp);
                assert_eq!(trace.take(), ["new b", "c", "a"]);
            }

            #[test]
            fn started_by_another_of_its_kind_it_waits_for_the_next_turn() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b] = handles(&lp);
                let (line, other) = (trace.clone(), b.clone());
                a.start(move |_| {
                    line.add("a");
                    other.start(line.adds("b")).unwrap();
                })
                .unwrap();
                turn(&lp);
                assert_eq!(trace.take(), ["a"]);
                turn(&lp);
                assert_eq!(trace.take(), ["b", "a"]);
            }

            #[test]
            fn the_next_one_can_be_stopped() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                b.start(trace.adds("b")).unwrap();
                let line = trace.clone();
                c.start(move |_| {
                    line.add("c");
                    b.stop().unwrap();
                })
                .unwrap();
                turn(&lp);
                assert_eq!(trace.take(), ["c", "a"]);
            }

            #[test]
            fn the_next_one_stopped_and_started_waits_for_the_next_turn() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                b.start(trace.adds("b")).unwrap();
                let line = trace.clone();
                c.start(move |_| {
                    line.add("c");
                    b.stop().unwrap();
                    b.start(line.adds("new b")).unwrap();
                })
                .unwrap();
                turn(&lp);
                assert_eq!(trace.take(), ["c", "a"]);
                turn(&lp);
                assert_eq!(trace.take(), ["new b", "c", "a"]);
            }

            #[test]
            fn the_one_before_can_be_stopped() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                let other = c.clone();
                b.start(move |_| other.stop().unwrap()).unwrap();
                c.start(trace.adds("c")).unwrap();
                turn(&lp);
                turn(&lp);
                assert_eq!(trace.take(), ["c", "a", "a"]);
            }

            #[test]
            fn all_can_be_closed_by_the_first_one() {
                let (lp, trace) = (new_loop(), Trace::new());
                let [a, b, c] = handles(&lp);
                a.start(trace.adds("a")).unwrap();
                b.start(trace.adds("b")).unwrap();
                let line = trace.clone();
                c.start(move |c| {
                    line.add("c");
                    for handle in [&a, &b, c] {
                        handle.close().unwrap();
                    }
                })
                .unwrap();
                turn(&lp);
                turn(&lp);
                assert_eq!(trace.take(), ["c"]);
                assert_eq!(lp.turns(), 1);
            }

            #[test]
            fn closed_it_cannot_be_started_or_stopped() {
                let lp = new_loop();
                let [handle] = handles(&lp);
                handle.close().unwrap();
                assert_eq!(handle.start(|_| {}), Err(Errno::EINVAL));
                assert_eq!(handle.stop(), Ok(()));
                run(&lp);
                assert_eq!(handle.start(|_| {}), Err(Errno::EINVAL));
                assert_eq!(handle.stop(), Err(Errno::EINVAL));
            }

            #[test]
            fn a_thousand_of_them_may_come_and_go_in_one_turn() {
                let (lp, trace) = (new_loop(), Trace::new());
                let all: [$kind; 1000] = handles(&lp);
                for nth in 0..all.len() {
                    let next = nth.checked_sub(1).map(|next| all[next].clone());
                    let line = trace.clone();
                    all[nth]
                        .start(move |handle| {
                            line.add(nth.to_string());
                            handle.close().unwrap();
                            // Every second one is closed before its turn.
                            if nth % 2 == 1 {
                                next.as_ref().unwrap().close().unwrap();
                            }
                        })
                        .unwrap();
                }
                turn(&lp);
                let odd = (0..all.len()).rev().filter(|nth| nth % 2 == 1).map(|nth| nth.to_string());
                assert_eq!(trace.take(), odd.collect::<Vec<_>>());
            }
        }
    };
}

each_kind!(idle, Idle);
each_kind!(prepare, Prepare);
each_kind!(check, Check);

#[test]
fn idle_comes_before_prepare_and_prepare_before_check() {
    let (lp, trace) = (new_loop(), Trace::new());
    Check::new(&lp).unwrap().start(trace.adds("check")).unwrap();
    Idle::new(&lp).unwrap().start(trace.adds("idle")).unwrap();
    Prepare::new(&lp).unwrap().start(trace.adds("prepare")).unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["idle", "prepare", "check"]);
}

#[test]
fn started_in_an_earlier_phase_a_handle_runs_in_the_same_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (idle, prepare, check) = (Idle::new(&lp).unwrap(), Prepare::new(&lp).unwrap(), Check::new(&lp).unwrap());
    let line = trace.clone();
    idle.start(move |_| {
        line.add("idle");
        let (check, next) = (check.clone(), line.clone());
        prepare
            .start(move |_| {
                next.add("prepare");
                check.start(next.adds("check")).unwrap();
            })
            .unwrap();
    })
    .unwrap();
    turn(&lp);
    assert_eq!(trace.take(), ["idle", "prepare", "check"]);
}

#[test]
fn an_idle_started_in_check_runs_in_the_next_turn() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (idle, check) = (Idle::new(&lp).unwrap(), Check::new(&lp).unwrap());
    let line = trace.clone();
    check
        .start(move |_| {
            line.add("check");
            idle.start(line.adds("idle")).unwrap();
        })
        .unwrap();
    turn(&lp);
    turn(&lp);
    assert_eq!(trace.take(), ["check", "idle", "check"]);
}

#[test]
fn while_an_idle_is_active_the_loop_does_not_wait() {
    let (lp, trace) = (new_loop(), Trace::new());
    let idle = Idle::new(&lp).unwrap();
    idle.start(|_| {}).unwrap();
    Timer::new(&lp).unwrap().start(HOUR, trace.adds("timer")).unwrap();
    for _ in 0..100 {
        assert_eq!(lp.run(Mode::Once), Ok(true));
    }
    assert_eq!((trace.len(), lp.turns()), (0, 100));
}
