//! What keeps a loop alive, and what is known of its handles.

mod common;

use std::time::Duration;

use common::{HOUR, Trace, bound, local_pair, new_loop, run, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Kind, Loop, Mode, Prepare, Tcp, Timer};

fn kinds(lp: &Loop) -> Vec<Kind> {
    lp.handles().iter().map(Handle::kind).collect()
}

#[test]
fn a_new_loop_is_not_alive() {
    let lp = Loop::new().unwrap();
    assert!(!lp.is_alive());
    assert_eq!(lp.check_closable(), Ok(()));
    assert!(lp.handles().is_empty());
}

#[test]
fn only_active_referenced_handles_keep_a_loop_alive() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    assert!((timer.has_ref(), timer.is_active(), lp.is_alive()) == (true, false, false));
    timer.start(HOUR, |_| {}).unwrap();
    assert!((timer.has_ref(), timer.is_active(), lp.is_alive()) == (true, true, true));
    timer.unref().unwrap();
    assert!((timer.has_ref(), timer.is_active(), lp.is_alive()) == (false, true, false));
    timer.r#ref().unwrap();
    assert!((timer.has_ref(), timer.is_active(), lp.is_alive()) == (true, true, true));
    timer.stop().unwrap();
    assert!((timer.has_ref(), timer.is_active(), lp.is_alive()) == (true, false, false));
}

#[test]
fn to_reference_twice_is_to_reference_once() {
    let lp = Loop::new().unwrap();
    let idle = Idle::new(&lp).unwrap();
    idle.start(|_| {}).unwrap();
    idle.r#ref().unwrap();
    idle.unref().unwrap();
    idle.unref().unwrap();
    assert!(!lp.is_alive());
    idle.r#ref().unwrap();
    idle.r#ref().unwrap();
    assert!(lp.is_alive());
    idle.unref().unwrap();
    assert!(!lp.is_alive());
}

#[test]
fn a_handle_unreferenced_before_it_is_started_stays_so() {
    let lp = Loop::new().unwrap();
    let check = Check::new(&lp).unwrap();
    check.unref().unwrap();
    check.start(|_| {}).unwrap();
    assert!(!lp.is_alive());
    check.stop().unwrap();
    check.r#ref().unwrap();
    assert!(!lp.is_alive());
    check.start(|_| {}).unwrap();
    assert!(lp.is_alive());
}

#[test]
fn a_run_ends_when_its_last_handle_is_unreferenced() {
    let (lp, trace) = (new_loop(), Trace::new());
    let prepare = Prepare::new(&lp).unwrap();
    let line = trace.clone();
    prepare
        .start(move |prepare| {
            line.add("prepare");
            prepare.unref().unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["prepare"]);
    assert!(prepare.is_active());
}

#[test]
fn unreferenced_handles_run_beside_others() {
    let (lp, trace) = (new_loop(), Trace::new());
    let idle = Idle::new(&lp).unwrap();
    idle.start(trace.adds("idle")).unwrap();
    idle.unref().unwrap();
    let check = Check::new(&lp).unwrap();
    check.start(|check| check.stop().unwrap()).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["idle"]);
}

#[test]
fn a_handle_being_closed_keeps_a_loop_alive_even_unreferenced() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.unref().unwrap();
    timer.close().unwrap();
    assert!(lp.is_alive());
    run(&lp);
    assert!(!lp.is_alive());
}

#[test]
fn requests_keep_a_loop_alive() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    tcp.unref().unwrap();
    assert!(!lp.is_alive());
    tcp.write("x", trace.tells("write")).unwrap();
    assert!(lp.is_alive());
    run(&lp);
    tcp.shutdown(trace.tells("shutdown")).unwrap();
    assert!(lp.is_alive());
    run(&lp);
    assert_eq!(trace.take(), ["write ok", "shutdown ok"]);
    assert!(!lp.is_alive());
}

#[test]
fn each_kind_is_active_from_its_start_to_its_stop() {
    let lp = Loop::new().unwrap();
    let (idle, prepare, check) = (Idle::new(&lp).unwrap(), Prepare::new(&lp).unwrap(), Check::new(&lp).unwrap());
    assert!(!idle.is_active() && !prepare.is_active() && !check.is_active());
    idle.start(|_| {}).unwrap();
    prepare.start(|_| {}).unwrap();
    check.start(|_| {}).unwrap();
    assert!(idle.is_active() && prepare.is_active() && check.is_active());
    idle.stop().unwrap();
    prepare.stop().unwrap();
    check.stop().unwrap();
    assert!(!idle.is_active() && !prepare.is_active() && !check.is_active());

    let wake_up = Async::new(&lp, |_| {}).unwrap();
    assert!(wake_up.is_active());

    let (server, _) = bound(&lp);
    assert!(!server.is_active());
    server.listen(1, |_, _| {}).unwrap();
    assert!(server.is_active());

    let (tcp, _peer) = local_pair(&lp);
    assert!(!tcp.is_active());
    tcp.read_start(|_, _| {}).unwrap();
    assert!(tcp.is_active());
    tcp.read_stop().unwrap();
    assert!(!tcp.is_active());
}

#[test]
fn a_handle_is_inactive_from_its_close_on() {
    let lp = new_loop();
    let wake_up = Async::new(&lp, |_| {}).unwrap();
    assert!((wake_up.is_active(), wake_up.is_closing(), wake_up.kind()) == (true, false, Kind::Async));
    wake_up.close().unwrap();
    assert!((wake_up.is_active(), wake_up.is_closing(), wake_up.kind()) == (false, true, Kind::Async));
    assert!(wake_up.has_ref());
    run(&lp);
    assert!((wake_up.is_active(), wake_up.is_closing(), wake_up.kind()) == (false, true, Kind::None));
    assert!(!wake_up.has_ref());
    assert_eq!(wake_up.r#ref(), Err(Errno::EINVAL));
    assert_eq!(wake_up.unref(), Err(Errno::EINVAL));
}

#[test]
fn a_timer_that_waits_for_its_turn_in_a_pass_is_inactive_and_not_counted() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (first, second) = (Timer::new(&lp).unwrap(), Timer::new(&lp).unwrap());
    let (line, other) = (trace.clone(), second.clone());
    first
        .start(Duration::ZERO, move |timer| {
            let alive = timer.owner().is_alive();
            line.add(format!("itself {} other {} alive {alive}", timer.is_active(), other.is_active()));
        })
        .unwrap();
    second.start(Duration::ZERO, trace.adds("second")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["itself false other false alive false", "second"]);
}

#[test]
fn a_repeating_timer_is_active_in_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    timer
        .start_repeating(Duration::ZERO, HOUR, move |timer| {
            line.add(format!("active {}", timer.is_active()));
            timer.close().unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["active true"]);
}

#[test]
fn all_handles_are_listed_in_the_order_in_which_they_were_made() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    let check = Check::new(&lp).unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    let idle = Idle::new(&lp).unwrap();
    idle.start(|_| {}).unwrap();
    assert_eq!(kinds(&lp), [Kind::Timer, Kind::Check, Kind::Tcp, Kind::Idle]);
    assert!(lp.handles()[2] == *tcp);

    // Handles being closed are still there.
    check.close().unwrap();
    timer.close().unwrap();
    assert_eq!(kinds(&lp), [Kind::Timer, Kind::Check, Kind::Tcp, Kind::Idle]);
    turn(&lp);
    assert_eq!(kinds(&lp), [Kind::Tcp, Kind::Idle]);
    Prepare::new(&lp).unwrap();
    assert_eq!(kinds(&lp), [Kind::Tcp, Kind::Idle, Kind::Prepare]);
}

#[test]
fn all_handles_can_be_closed_from_the_list() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    tcp.read_start(|_, _| {}).unwrap();
    Async::new(&lp, |_| {}).unwrap();
    let timer = Timer::new(&lp).unwrap();
    let line = trace.clone();
    timer
        .start(Duration::ZERO, move |timer| {
            for handle in timer.owner().handles() {
                let line = line.clone();
                let kind = handle.kind();
                handle.close_then(move |_| line.add(format!("{kind:?}"))).unwrap();
            }
        })
        .unwrap();
    run(&lp);
    // The first is the guard.
    assert_eq!(trace.take(), ["Timer", "Async", "Tcp", "Timer"]);
    assert_eq!(lp.check_closable(), Ok(()));
}

#[test]
fn a_loop_is_closable_only_without_handles_and_requests() {
    let lp = Loop::new().unwrap();
    let (tcp, _peer) = local_pair(&lp);
    tcp.unref().unwrap();
    assert_eq!(lp.check_closable(), Err(Errno::EBUSY));
    tcp.close().unwrap();
    assert_eq!(lp.check_closable(), Err(Errno::EBUSY));
    run(&lp);
    assert_eq!(lp.check_closable(), Ok(()));
}

#[test]
fn clones_are_the_same_handle_and_others_are_not() {
    let lp = Loop::new().unwrap();
    let (one, two) = (Timer::new(&lp).unwrap(), Timer::new(&lp).unwrap());
    assert!(one == one.clone() && one != two);
    let other = Loop::new().unwrap();
    let same_place = Timer::new(&other).unwrap();
    assert!(one != same_place);
}

#[test]
fn a_stale_handle_is_not_the_one_that_has_its_place() {
    let lp = Loop::new().unwrap();
    let old = Timer::new(&lp).unwrap();
    old.close().unwrap();
    run(&lp);
    let new = Timer::new(&lp).unwrap();
    assert!(old != new);
    assert_eq!(old.start(Duration::ZERO, |_| {}), Err(Errno::EINVAL));
    assert_eq!(old.stop(), Err(Errno::EINVAL));
    assert_eq!(old.close(), Err(Errno::EINVAL));
    assert!(!new.is_closing() && !new.is_active());
}

#[test]
fn a_handle_can_be_printed() {
    let lp = Loop::new().unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer.start(HOUR, |_| {}).unwrap();
    timer.unref().unwrap();
    let text = format!("{timer:?}");
    assert!(text.starts_with("Timer(") && text.ends_with(", active, unref)"), "{text}");
    timer.close().unwrap();
    assert!(format!("{timer:?}").contains("closing"));
    assert_eq!(lp.run(Mode::NoWait), Ok(false));
    assert!(format!("{timer:?}").starts_with("None("));
    assert_eq!(format!("{lp:?}"), "Loop { turns: 1, alive: false, .. }");
}
