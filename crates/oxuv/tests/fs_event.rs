//! Handles that tell of changes of files.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, create_dir, create_dir_all, remove_dir, remove_file, rename, write};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use common::{Place, Trace, assert_idle, ms, new_loop, run, run_until, turn};
use oxuv::{Errno, FsEvent, FsEvents, FsHappened, Loop, Result};

fn line(happened: Result<FsHappened<'_>>) -> String {
    match happened {
        Ok(FsHappened { name, events }) => {
            let words: Vec<_> = events.iter_names().map(|(word, _)| word.to_lowercase()).collect();
            format!("{} {}", words.join("+"), name.map_or("-".into(), OsStr::to_string_lossy))
        }
        Err(error) => error.to_string(),
    }
}

/// A handle that adds a line to the trace for all that happens.
fn watch(lp: &Loop, path: &Path, trace: &Trace, is_recursive: bool) -> FsEvent {
    let watch = FsEvent::new(lp).unwrap();
    watch.recursive(is_recursive).unwrap();
    let trace = trace.clone();
    watch.start(path, move |_, happened| trace.add(line(happened))).unwrap();
    watch
}

/// Changes a file once: several changes at once may be told as one.
fn append(path: &Path) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(b"x").unwrap();
}

/// What is told by the next turns.
fn told(lp: &Loop, trace: &Trace) -> Vec<String> {
    let mut before = usize::MAX;
    while before != trace.len() {
        before = trace.len();
        turn(lp);
    }
    trace.take()
}

#[test]
fn a_directory_tells_of_what_is_directly_in_it() {
    let (lp, place, trace) = (new_loop(), Place::new("event-directory"), Trace::new());
    create_dir(place.path("sub")).unwrap();
    watch(&lp, &place.path(""), &trace, false);
    write(place.path("sub/unseen"), "x").unwrap();
    write(place.path("file"), "x").unwrap();
    assert_eq!(told(&lp, &trace), ["rename file", "change file"]);
    rename(place.path("file"), place.path("new")).unwrap();
    assert_eq!(told(&lp, &trace), ["rename file", "rename new"]);
    std::fs::set_permissions(place.path("new"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(told(&lp, &trace), ["change new"]);
    remove_file(place.path("new")).unwrap();
    assert_eq!(told(&lp, &trace), ["rename new"]);
    // Of a directory's attributes libuv tells so.
    std::fs::set_permissions(place.path("sub"), PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(told(&lp, &trace), ["rename+change sub"]);
    assert_idle(&lp, ms(50));
}

#[test]
fn a_file_tells_by_its_own_name_and_ends_with_it() {
    let (lp, place, trace) = (new_loop(), Place::new("event-file"), Trace::new());
    write(place.path("file"), "x").unwrap();
    let handle = watch(&lp, &place.path("file"), &trace, false);
    assert_eq!(handle.path().unwrap(), place.path("file"));
    write(place.path("other"), "x").unwrap();
    append(&place.path("file"));
    assert_eq!(told(&lp, &trace), ["change file"]);
    rename(place.path("file"), place.path("moved")).unwrap();
    assert_eq!(told(&lp, &trace), ["rename file"]);
    remove_file(place.path("moved")).unwrap();
    assert_eq!(told(&lp, &trace), ["change file", "rename file", "rename file"]);
    // Another one of the same name is none of its business.
    write(place.path("file"), "x").unwrap();
    assert_eq!(told(&lp, &trace), [""; 0]);
    assert!(handle.is_active());
    handle.stop().unwrap();
    assert_eq!(handle.path(), Err(Errno::EINVAL));
    watch(&lp, &place.path("file"), &trace, false);
    append(&place.path("file"));
    assert_eq!(told(&lp, &trace), ["change file"]);
}

#[test]
fn two_names_of_one_file_are_each_told_as_they_are_watched() {
    let (lp, place, trace) = (new_loop(), Place::new("event-names"), Trace::new());
    write(place.path("one"), "x").unwrap();
    std::fs::hard_link(place.path("one"), place.path("two")).unwrap();
    symlink("two", place.path("three")).unwrap();
    let handles = ["one", "two", "three"].map(|name| watch(&lp, &place.path(name), &trace, false));
    append(&place.path("one"));
    assert_eq!(told(&lp, &trace), ["change one", "change two", "change three"]);
    assert_eq!(handles[1].path().unwrap(), place.path("two"));
    handles[0].close().unwrap();
    handles[1].stop().unwrap();
    append(&place.path("one"));
    assert_eq!(told(&lp, &trace), ["change three"]);
}

#[test]
fn names_are_bytes() {
    let (lp, place) = (new_loop(), Place::new("event-bytes"));
    let name = OsStr::from_bytes(b"\xff\xfe not UTF-8");
    let handle = FsEvent::new(&lp).unwrap();
    handle.recursive(true).unwrap();
    let found = Rc::new(RefCell::new(BTreeSet::new()));
    let names = Rc::clone(&found);
    handle
        .start(place.path(""), move |_, happened| {
            names.borrow_mut().insert(happened.unwrap().name.unwrap().to_os_string());
        })
        .unwrap();
    create_dir(place.path("").join(name)).unwrap();
    write(place.path("").join(name).join(name), "x").unwrap();
    run_until(&lp, || found.borrow().len() == 2);
    assert!(found.borrow().contains(name));
    assert!(found.borrow().contains(Path::new(name).join(name).as_os_str()));
}

#[test]
fn what_cannot_be_watched_is_an_error() {
    let (lp, place) = (new_loop(), Place::new("event-errors"));
    let handle = FsEvent::new(&lp).unwrap();
    let nothing = |_: &FsEvent, _: Result<FsHappened<'_>>| unreachable!();
    assert_eq!(handle.start(place.path("none"), nothing), Err(Errno::ENOENT));
    assert_eq!(handle.start("zero\0inside", nothing), Err(Errno::EINVAL));
    assert!(!handle.is_active());
    handle.start(place.path(""), nothing).unwrap();
    assert_eq!(handle.start(place.path(""), nothing), Err(Errno::EINVAL));
    handle.unref().unwrap();
    run(&lp);
    handle.close().unwrap();
    assert_eq!(handle.start(place.path(""), nothing), Err(Errno::EINVAL));
    assert_eq!(handle.recursive(true), Err(Errno::EINVAL));
    run(&lp);
    assert_eq!((handle.stop(), handle.path()), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
}

#[test]
fn a_handle_may_do_anything_in_its_closure() {
    let (lp, place, trace) = (new_loop(), Place::new("event-inside"), Trace::new());
    let (second, log, root) = (FsEvent::new(&lp).unwrap(), trace.clone(), place.path(""));
    let other = second.clone();
    let first = FsEvent::new(&lp).unwrap();
    first
        .start(place.path(""), move |first, happened| {
            let line = line(happened);
            if line == "rename a" {
                // Another closure in the place of this one; the second handle does not hear of this any more.
                other.stop().unwrap();
                first.stop().unwrap();
                let log = log.clone();
                first.start(&root, move |_, happened| log.add(format!("anew: {}", self::line(happened)))).unwrap();
            }
            log.add(line);
        })
        .unwrap();
    let log = trace.clone();
    second.start(place.path(""), move |_, happened| log.add(format!("second: {}", line(happened)))).unwrap();
    create_dir(place.path("a")).unwrap();
    create_dir(place.path("b")).unwrap();
    assert_eq!(told(&lp, &trace), ["rename a", "anew: rename b"]);
    first.close().unwrap();
    second.close().unwrap();
    run(&lp);
}

#[test]
fn all_beneath_is_watched_and_no_neighbour() {
    let (lp, place, trace) = (new_loop(), Place::new("event-tree"), Trace::new());
    create_dir_all(place.path("root/a/b")).unwrap();
    create_dir_all(place.path("root_/a")).unwrap();
    symlink("../root_", place.path("root/link")).unwrap();
    symlink(".", place.path("root/itself")).unwrap();
    let handle = watch(&lp, &place.path("root"), &trace, true);
    for neighbour in ["root_/x", "root_/a/x", "x"] {
        write(place.path(neighbour), "x").unwrap();
    }
    assert_eq!(told(&lp, &trace), [""; 0]);
    write(place.path("root/a/b/file"), "x").unwrap();
    assert_eq!(told(&lp, &trace), ["rename a/b/file", "change a/b/file"]);
    // What is in it by the time that it is told of.
    create_dir_all(place.path("root/new/deep/deeper")).unwrap();
    write(place.path("root/new/deep/deeper/file"), "x").unwrap();
    write(place.path("root/new/file"), "x").unwrap();
    let expected =
        ["rename new", "rename new/deep", "rename new/deep/deeper", "rename new/deep/deeper/file", "rename new/file"];
    let found: BTreeSet<_> = told(&lp, &trace).into_iter().collect();
    assert_eq!(found, expected.map(String::from).into());
    std::fs::set_permissions(place.path("root/new/deep"), PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(told(&lp, &trace), ["change new/deep"]);
    rename(place.path("root/new"), place.path("gone")).unwrap();
    write(place.path("gone/deep/unseen"), "x").unwrap();
    assert_eq!(told(&lp, &trace), ["rename new"]);
    rename(place.path("gone"), place.path("root/a/back")).unwrap();
    assert!(told(&lp, &trace).contains(&"rename a/back/deep/deeper/file".into()));
    append(&place.path("root/a/back/deep/unseen"));
    assert_eq!(told(&lp, &trace), ["change a/back/deep/unseen"]);
    handle.close().unwrap();
    run(&lp);
}

/// nodejs/node#58868: names that begin alike.
#[test]
fn a_removed_directory_is_told_once() {
    let (lp, place, trace) = (new_loop(), Place::new("event-removed"), Trace::new());
    create_dir(place.path("foo")).unwrap();
    create_dir(place.path("foo_")).unwrap();
    create_dir_all(place.path("foo_bar")).unwrap();
    write(place.path("foo_bar/file"), "x").unwrap();
    watch(&lp, &place.path(""), &trace, true);
    remove_dir(place.path("foo")).unwrap();
    assert_eq!(told(&lp, &trace), ["rename foo"]);
}

/// nodejs/node#48437: at once after the start.
#[test]
fn what_is_made_right_after_the_start_is_told() {
    let (lp, place, trace) = (new_loop(), Place::new("event-at-once"), Trace::new());
    watch(&lp, &place.path(""), &trace, true);
    create_dir(place.path("new")).unwrap();
    write(place.path("new/file"), "x").unwrap();
    let found = told(&lp, &trace);
    assert!(found.contains(&"rename new".into()) && found.contains(&"rename new/file".into()), "{found:?}");
}

#[test]
fn thousands_of_directories_are_watched_and_found() {
    let (lp, place) = (new_loop(), Place::new("event-thousands"));
    let make = |top: &str| {
        for nth in 0..1000 {
            create_dir_all(place.path(&format!("{top}/{}/{}", nth / 50, nth % 50))).unwrap();
        }
    };
    create_dir(place.path("root")).unwrap();
    make("root/old");
    let handle = FsEvent::new(&lp).unwrap();
    handle.recursive(true).unwrap();
    let found = Rc::new(RefCell::new(BTreeSet::new()));
    let names = Rc::clone(&found);
    let started = handle.start(place.path("root"), move |_, happened| {
        names.borrow_mut().insert(happened.unwrap().name.unwrap().to_owned());
    });
    if started == Err(Errno::ENOSPC) {
        return; // This user may not have as many watches.
    }
    started.unwrap();
    write(place.path("root/old/7/7/file"), "x").unwrap();
    make("elsewhere");
    rename(place.path("elsewhere"), place.path("root/new")).unwrap();
    run_until(&lp, || found.borrow().len() >= 1000 + 20 + 2);
    assert!(found.borrow().contains(OsStr::new("old/7/7/file")));
    // They are looked through meanwhile, and a turn does a part of that.
    let mut turns = 0;
    while lp.backend_timeout() == Some(Duration::ZERO) {
        turn(&lp);
        turns += 1;
    }
    assert!(turns > 2, "{turns} turns");
    write(place.path("root/new/19/49/file"), "x").unwrap();
    run_until(&lp, || found.borrow().contains(OsStr::new("new/19/49/file")));
    handle.close().unwrap();
    run(&lp);
}

#[test]
fn so_many_changes_that_some_are_lost_are_no_failure() {
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > 200_000 {
        return; // It would take too long.
    }
    let (lp, place, trace) = (new_loop(), Place::new("event-lost"), Trace::new());
    let files = ["a", "b"].map(|name| File::create(place.path(name)).unwrap());
    let handle = watch(&lp, &place.path(""), &trace, false);
    for nth in 0..limit + 100 {
        (&files[nth % 2]).write_all(b"x").unwrap();
    }
    let lost = Rc::new(Cell::new(0));
    let (count, second) = (Rc::clone(&lost), FsEvent::new(&lp).unwrap());
    second
        .start(place.path(""), move |second, happened| {
            let FsHappened { name, events } = happened.unwrap();
            if events == FsEvents::LOST {
                assert_eq!(name, None);
                count.set(count.get() + 1);
                second.stop().unwrap();
            }
        })
        .unwrap();
    run_until(&lp, || lost.get() == 1);
    turn(&lp);
    let lines = trace.take();
    assert_eq!(lines.iter().filter(|line| *line == "lost -").count(), 1);
    assert!(lines.len() >= limit);
    write(place.path("after"), "x").unwrap();
    assert_eq!(told(&lp, &trace), ["rename after", "change after"]);
    handle.close().unwrap();
    second.close().unwrap();
    run(&lp);
}

#[test]
fn the_descriptor_goes_with_the_loop() {
    let count = || {
        let links =
            std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.unwrap().path().read_link().ok());
        links.filter(|target| target.to_string_lossy().contains("inotify")).count()
    };
    // Other tests of this process have descriptors, too: those of a child are its own.
    if std::env::var_os("OXUV_ALONE").is_none() {
        let name = "the_descriptor_goes_with_the_loop";
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name]).env("OXUV_ALONE", "1").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let lp = Loop::new().unwrap();
    let handles = [(); 3].map(|()| FsEvent::new(&lp).unwrap());
    assert_eq!(count(), 0);
    handles.iter().for_each(|handle| handle.start("/proc/self", |_, _| {}).unwrap());
    assert_eq!(count(), 1);
    drop(lp);
    assert_eq!(count(), 0);
}
