//! Handles that look at a file again and again.

mod common;

use std::cell::RefCell;
use std::fs::{remove_file, write};
use std::rc::Rc;
use std::time::Duration;

use common::{Place, Trace, ms, new_loop, run, run_until};
use oxuv::{Errno, FsChange, FsPoll, Loop, Result};

fn line(change: Result<FsChange>) -> String {
    match change {
        Ok(FsChange { previous, current }) => {
            format!("{} -> {}", previous.map_or("?".into(), |was| was.size.to_string()), current.size)
        }
        Err(error) => error.name().unwrap().into(),
    }
}

fn start(lp: &Loop, place: &Place, every: Duration, trace: &Trace) -> FsPoll {
    let watch = FsPoll::new(lp).unwrap();
    let trace = trace.clone();
    watch.start(place.path("file"), every, move |_, change| trace.add(line(change))).unwrap();
    watch
}

#[test]
fn changes_and_errors_are_told_once_each() {
    let (lp, place, trace) = (new_loop(), Place::new("poll-changes"), Trace::new());
    let watch = start(&lp, &place, ms(5), &trace);
    assert_eq!(watch.path().unwrap(), place.path("file"));
    // A change may be seen in two parts, so there may be more.
    let told = |expected: &str| {
        let mut lines = Vec::new();
        run_until(&lp, || {
            lines.extend(trace.take());
            lines.iter().any(|line| line.ends_with(expected))
        });
        lines
    };
    assert_eq!(told("ENOENT"), ["ENOENT"]);
    assert_eq!(watch.previous(), None);
    write(place.path("file"), "12345").unwrap();
    assert!(told("-> 5")[0].starts_with("? -> "));
    remove_file(place.path("file")).unwrap();
    assert_eq!(told("ENOENT").iter().filter(|line| *line == "ENOENT").count(), 1);
    assert_eq!(watch.previous().map(|was| was.size), Some(5));
    write(place.path("file"), "").unwrap();
    assert_eq!(told("-> 0"), ["5 -> 0"]);
    watch.close().unwrap();
    run(&lp);
}

#[test]
fn started_is_started() {
    let (lp, place, trace) = (new_loop(), Place::new("poll-started"), Trace::new());
    let watch = start(&lp, &place, ms(5), &trace);
    watch.start("/", ms(1), |_, _| unreachable!()).unwrap();
    assert_eq!(watch.path().unwrap(), place.path("file"));
    assert_eq!(watch.start("zero\0inside", ms(1), |_, _| {}), Err(Errno::EINVAL));
    run_until(&lp, || trace.len() == 1);
    watch.stop().unwrap();
    watch.stop().unwrap();
    assert_eq!(watch.path(), Err(Errno::EINVAL));
    watch.close().unwrap();
    assert_eq!(watch.start("/", ms(1), |_, _| {}), Err(Errno::EINVAL));
    run(&lp);
    assert_eq!(lp.check_closable(), Err(Errno::EBUSY)); // The guard.
}

/// libuv#2287.
#[test]
fn stopped_and_started_while_a_look_is_under_way() {
    let (lp, place, trace) = (new_loop(), Place::new("poll-anew"), Trace::new());
    let watch = start(&lp, &place, ms(1), &trace);
    for _ in 0..5 {
        watch.stop().unwrap();
        let trace = trace.clone();
        watch.start(place.path("file"), Duration::ZERO, move |_, change| trace.add(line(change))).unwrap();
    }
    run_until(&lp, || trace.len() > 0);
    write(place.path("file"), "").unwrap();
    run_until(&lp, || trace.len() > 1);
    assert_eq!(trace.take()[..2], ["ENOENT", "? -> 0"]);
    let closed = trace.adds("closed");
    let mut closed = Some(closed);
    watch.close_then(move |handle| closed.take().unwrap()(handle)).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["closed"]);
}

/// libuv#1869.
#[test]
fn closed_while_a_look_is_under_way() {
    let (lp, place, trace) = (Loop::new().unwrap(), Place::new("poll-closed"), Trace::new());
    for _ in 0..10 {
        start(&lp, &place, ms(1), &trace).close().unwrap();
    }
    run(&lp);
    assert_eq!((lp.check_closable(), trace.take()), (Ok(()), Vec::new()));
}

#[test]
fn the_closure_may_do_anything() {
    let (lp, place) = (new_loop(), Place::new("poll-inside"));
    let lines = Rc::new(RefCell::new(Vec::new()));
    let (log, path) = (Rc::clone(&lines), place.path("file"));
    let watch = FsPoll::new(&lp).unwrap();
    watch
        .start(place.path("none"), ms(1), move |watch, change| {
            log.borrow_mut().push(line(change));
            watch.stop().unwrap();
            let (log, path) = (log.clone(), path.clone());
            watch
                .start(&path, ms(1), move |watch, change| {
                    log.borrow_mut().push(line(change));
                    watch.close().unwrap();
                })
                .unwrap();
        })
        .unwrap();
    run(&lp);
    assert_eq!(*lines.borrow(), ["ENOENT", "ENOENT"]);
}

#[test]
fn an_unreferenced_handle_keeps_the_loop_for_its_look_only() {
    let (lp, place, trace) = (new_loop(), Place::new("poll-unref"), Trace::new());
    let watch = start(&lp, &place, Duration::from_secs(1000), &trace);
    watch.unref().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["ENOENT"]);
}
