//! Everything is allowed in every callback: to close, stop and restart any handle, to make new ones, to stop the loop.

mod common;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use common::{Trace, bound, connect, local_pair, new_loop, outcome, turn};
use oxuv::{Async, Check, Errno, Handle, Idle, Loop, Mode, Prepare, Tcp, Timer};

const PLACES: [&str; 11] =
    ["timer", "idle", "prepare", "check", "async", "connection", "read", "end", "write", "shutdown", "close"];

/// Makes a handle in whose callback, of this kind, the action is done, once. What is returned must be kept meanwhile.
fn in_callback(lp: &Loop, place: &str, action: impl FnOnce(&Handle) + 'static) -> Box<dyn Any> {
    let mut action = Some(action);
    let mut act = move |handle: &Handle| {
        if let Some(action) = action.take() {
            action(handle);
        }
    };
    match place {
        "timer" => {
            Timer::new(lp).unwrap().start_repeating(Duration::ZERO, Duration::from_nanos(1), move |h| act(h)).unwrap();
        }
        "idle" => Idle::new(lp).unwrap().start(move |h| act(h)).unwrap(),
        "prepare" => Prepare::new(lp).unwrap().start(move |h| act(h)).unwrap(),
        "check" => Check::new(lp).unwrap().start(move |h| act(h)).unwrap(),
        "async" => Async::new(lp, move |h| act(h)).unwrap().send().unwrap(),
        "connection" => {
            let (server, address) = bound(lp);
            server.listen(8, move |h, _| act(h)).unwrap();
            return Box::new([connect(address), connect(address)]);
        }
        "read" | "end" => {
            let (tcp, mut peer) = local_pair(lp);
            tcp.read_start(move |h, _| act(h)).unwrap();
            if place == "read" {
                peer.write_all(&[7; 100_000]).unwrap();
                return Box::new(peer);
            }
        }
        "write" => {
            let (tcp, peer) = local_pair(lp);
            tcp.write("x", move |h, _| act(h)).unwrap();
            tcp.write("y", |_, _| {}).unwrap();
            return Box::new(peer);
        }
        "shutdown" => {
            let (tcp, peer) = local_pair(lp);
            tcp.shutdown(move |h, _| act(h)).unwrap();
            return Box::new(peer);
        }
        "close" => Timer::new(lp).unwrap().close_then(move |h| act(h)).unwrap(),
        _ => unreachable!(),
    }
    Box::new(())
}

/// A handle that others do something to.
struct Victim {
    handle: Handle,
    start: Box<dyn Fn()>,
    /// None for those that cannot be stopped.
    stop: Option<Box<dyn Fn()>>,
    /// How often its callback was called.
    calls: Rc<Cell<u32>>,
}

const VICTIMS: [&str; 7] = ["timer", "idle", "prepare", "check", "async", "listener", "connection"];

/// A handle of this kind, started, and with something to call it for.
fn victim(lp: &Loop, kind: &str) -> Victim {
    let calls = Rc::new(Cell::new(0));
    let count = Rc::clone(&calls);
    let called = move || count.set(count.get() + 1);
    macro_rules! watcher {
        ($kind:ident) => {{
            let watcher = $kind::new(lp).unwrap();
            let (to_start, to_stop) = (watcher.clone(), watcher.clone());
            Victim {
                handle: (*watcher).clone(),
                start: Box::new(move || {
                    let called = called.clone();
                    to_start.start(move |_| called()).unwrap();
                }),
                stop: Some(Box::new(move || to_stop.stop().unwrap())),
                calls,
            }
        }};
    }
    let victim = match kind {
        "idle" => watcher!(Idle),
        "prepare" => watcher!(Prepare),
        "check" => watcher!(Check),
        "timer" => {
            let timer = Timer::new(lp).unwrap();
            let (to_start, to_stop) = (timer.clone(), timer.clone());
            let start = move || {
                let called = called.clone();
                to_start.start(Duration::ZERO, move |_| called()).unwrap();
            };
            let stop = move || to_stop.stop().unwrap();
            Victim { handle: (*timer).clone(), start: Box::new(start), stop: Some(Box::new(stop)), calls }
        }
        "async" => {
            let wake_up = Async::new(lp, move |_| called()).unwrap();
            let to_start = wake_up.clone();
            let start = move || to_start.send().unwrap();
            Victim { handle: (*wake_up).clone(), start: Box::new(start), stop: None, calls }
        }
        "listener" => {
            let (server, address) = bound(lp);
            let (to_start, peers) = (server.clone(), RefCell::new(Vec::new()));
            let start = move || {
                let called = called.clone();
                let on_connection = move |server: &Tcp, _: Result<(), Errno>| {
                    called();
                    server.accept().unwrap().close().unwrap();
                };
                to_start.listen(8, on_connection).unwrap();
                peers.borrow_mut().push(connect(address));
            };
            Victim { handle: (*server).clone(), start: Box::new(start), stop: None, calls }
        }
        "connection" => {
            let (tcp, peer) = local_pair(lp);
            let (to_start, to_stop, peer) = (tcp.clone(), tcp.clone(), RefCell::new(peer));
            let start = move || {
                let called = called.clone();
                peer.borrow_mut().write_all(b"x").unwrap();
                to_start.read_start(move |_, _| called()).unwrap();
            };
            let stop = move || to_stop.read_stop().unwrap();
            Victim { handle: (*tcp).clone(), start: Box::new(start), stop: Some(Box::new(stop)), calls }
        }
        _ => unreachable!(),
    };
    (victim.start)();
    victim
}

/// For each place, and each kind of handle made before or after it, runs an action on the handle at that place; the
/// loop then runs for some turns. The action gets the handle; `check` gets how often its callback came since, too.
fn everywhere(action: fn(&Victim), check: fn(&Victim, u32, &str)) {
    for place in PLACES {
        for kind in VICTIMS {
            for victim_is_older in [true, false] {
                let what = format!("{kind} in {place}, older: {victim_is_older}");
                let lp = new_loop();
                let calls_before = Rc::new(Cell::new(None));
                let target = Rc::new(RefCell::new(None));
                let (before, slot) = (Rc::clone(&calls_before), Rc::clone(&target));
                let act = move |_: &Handle| {
                    let victim = slot.borrow();
                    let victim: &Victim = victim.as_ref().unwrap();
                    before.set(Some(victim.calls.get()));
                    action(victim);
                };
                let _kept = if victim_is_older {
                    *target.borrow_mut() = Some(victim(&lp, kind));
                    in_callback(&lp, place, act)
                } else {
                    let kept = in_callback(&lp, place, act);
                    *target.borrow_mut() = Some(victim(&lp, kind));
                    kept
                };
                for _ in 0..4 {
                    turn(&lp);
                }
                let victim = target.borrow();
                let victim = victim.as_ref().unwrap();
                let before = calls_before.get().unwrap_or_else(|| panic!("{what}: nothing was done"));
                check(victim, victim.calls.get() - before, &what);
            }
        }
    }
}

#[test]
fn any_handle_can_be_closed_in_any_callback_and_is_silent_from_then_on() {
    everywhere(
        |victim| {
            let calls = Rc::clone(&victim.calls);
            // A thousand for the close callback.
            victim.handle.close_then(move |_| calls.set(calls.get() + 1000)).unwrap();
            assert!(!victim.handle.is_active());
        },
        |victim, calls, what| {
            assert_eq!(calls, 1000, "{what}");
            assert_eq!(victim.handle.close(), Err(Errno::EINVAL), "{what}");
        },
    );
}

#[test]
fn any_handle_can_be_stopped_in_any_callback_and_is_silent_from_then_on() {
    everywhere(
        |victim| {
            if let Some(stop) = &victim.stop {
                stop();
                assert!(!victim.handle.is_active());
            }
        },
        |victim, calls, what| assert!(calls == 0 || victim.stop.is_none(), "{what}: {calls}"),
    );
}

#[test]
fn any_handle_can_be_restarted_in_any_callback_and_is_called_again() {
    everywhere(
        |victim| {
            if let Some(stop) = &victim.stop {
                stop();
            }
            (victim.start)();
            assert!(victim.handle.is_active());
        },
        |_, calls, what| assert!(calls > 0, "{what}"),
    );
}

#[test]
fn any_handle_can_be_closed_in_its_own_callback_and_is_silent_from_then_on() {
    // In its close callback it is closed.
    for place in &PLACES[..PLACES.len() - 1] {
        let (lp, trace) = (new_loop(), Trace::new());
        let line = trace.clone();
        let _kept = in_callback(&lp, place, move |handle| {
            line.add("callback");
            let next = line.clone();
            handle.close_then(move |_| next.add("closed")).unwrap();
            assert!(handle.is_closing() && !handle.is_active());
            line.add("returned");
        });
        for _ in 0..4 {
            turn(&lp);
        }
        assert_eq!(trace.take(), ["callback", "returned", "closed"], "{place}");
        assert_eq!(lp.handles().len(), 1, "{place}");
    }
}

#[test]
fn all_handles_can_be_closed_in_any_callback() {
    for place in PLACES {
        let lp = new_loop();
        let victims = VICTIMS.map(|kind| victim(&lp, kind));
        let _kept = in_callback(&lp, place, |handle| {
            for other in handle.owner().handles() {
                // Some are closing already: what was accepted, for example.
                assert!(other.is_closing() || other.close().is_ok());
            }
        });
        for _ in 0..4 {
            turn(&lp);
        }
        assert!(victims.iter().all(|victim| victim.handle.is_closing()), "{place}");
        assert!(!lp.is_alive() && lp.handles().is_empty(), "{place}");
    }
}

#[test]
fn handles_of_any_kind_can_be_made_in_any_callback() {
    for place in PLACES {
        let lp = Rc::new(new_loop());
        let made = Rc::new(RefCell::new(Vec::new()));
        let (owner, slot) = (Rc::downgrade(&lp), Rc::clone(&made));
        let _kept = in_callback(&lp, place, move |_| {
            let lp = owner.upgrade().unwrap();
            // Enough to make every table grow.
            for _ in 0..10 {
                slot.borrow_mut().extend(VICTIMS.map(|kind| victim(&lp, kind)));
            }
        });
        for _ in 0..16 {
            turn(&lp);
        }
        assert_eq!(made.borrow().len(), 70);
        assert!(made.borrow().iter().all(|victim| victim.calls.get() > 0), "{place}");
    }
}

#[test]
fn the_loop_can_be_stopped_in_any_callback() {
    for place in PLACES {
        let lp = new_loop();
        let idle = Idle::new(&lp).unwrap();
        idle.start(|_| {}).unwrap();
        let turns = Rc::new(Cell::new(0));
        let seen = Rc::clone(&turns);
        let _kept = in_callback(&lp, place, move |handle| {
            seen.set(handle.owner().turns());
            handle.owner().stop();
        });
        assert_eq!(lp.run(Mode::Default), Ok(true), "{place}");
        // The turn is brought to its end, and no other begins.
        assert!(lp.turns() <= turns.get() + 1, "{place}");
    }
}

#[test]
fn the_loop_cannot_be_run_in_any_of_its_callbacks_and_goes_on_undisturbed() {
    for place in PLACES {
        let (lp, trace) = (Rc::new(new_loop()), Trace::new());
        let (line, inner) = (trace.clone(), Rc::downgrade(&lp));
        let _kept = in_callback(&lp, place, move |_| {
            for mode in [Mode::Default, Mode::Once, Mode::NoWait] {
                line.add(outcome("run", inner.upgrade().unwrap().run(mode).map(drop)));
            }
        });
        for _ in 0..3 {
            turn(&lp);
        }
        assert_eq!(trace.take(), ["run EBUSY"; 3], "{place}");
    }
}

#[test]
fn another_loop_can_be_made_run_and_dropped_in_any_callback() {
    for place in PLACES {
        let (lp, trace) = (new_loop(), Trace::new());
        let line = trace.clone();
        let _kept = in_callback(&lp, place, move |_| {
            let inner = new_loop();
            Timer::new(&inner).unwrap().start(Duration::ZERO, line.adds("inner")).unwrap();
            assert_eq!(inner.run(Mode::Default), Ok(false));
        });
        for _ in 0..3 {
            turn(&lp);
        }
        assert_eq!(trace.take(), ["inner"], "{place}");
    }
}
