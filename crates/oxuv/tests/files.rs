//! Files and directories on threads.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use oxuv::fs::{self, CopyFlags, EntryKind, File, NewTime, OpenOptions};
use oxuv::{Errno, Loop, LoopRef, Mode, Request, Result, Timer};

/// A directory that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("oxuv-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Place(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// What comes of one request, on a loop that does nothing else.
fn result_of<T: 'static>(begin: impl FnOnce(&LoopRef, Box<dyn FnOnce(Result<T>)>) -> Result<Request>) -> Result<T> {
    let lp = Loop::new().unwrap();
    let found = Rc::new(RefCell::new(None));
    let place = Rc::clone(&found);
    begin(&lp, Box::new(move |result| *place.borrow_mut() = Some(result)))?;
    assert!(found.borrow().is_none() && lp.is_alive());
    assert_eq!(lp.run(Mode::Default), Ok(false));
    lp.check_closable().unwrap();
    found.take().expect("the closure is called")
}

macro_rules! of {
    ($function:path, $($argument:expr),*) => {
        result_of(|lp, done| $function(lp, $($argument,)* move |_, result| done(result)))
    };
}

#[test]
fn a_file_is_written_and_read_whole() {
    let place = Place::new("whole");
    let path = place.path("file");
    assert_eq!(of!(fs::write, &path, "hello"), Ok(()));
    assert_eq!(of!(fs::read, &path), Ok(b"hello".to_vec()));
    assert_eq!(of!(fs::write, &path, vec![7; 1_000_000]), Ok(()));
    assert_eq!(of!(fs::read, &path), Ok(vec![7; 1_000_000]));
    // Its size is said to be 0.
    assert_eq!(of!(fs::read, "/proc/self/comm").unwrap().last(), Some(&b'\n'));
    assert_eq!(of!(fs::read, place.path("none")), Err(Errno::ENOENT));
    assert_eq!(of!(fs::read, &place.0).map_err(|error| error.name()), Err(Some("EISDIR")));
}

#[test]
fn a_path_with_a_zero_inside_is_refused() {
    let lp = Loop::new().unwrap();
    let refused = fs::read(&lp, "a\0b", |_, _| panic!("called"));
    assert_eq!(refused.unwrap_err(), Errno::EINVAL);
    assert!(!lp.is_alive());
}

#[test]
fn names_are_made_changed_and_removed() {
    let place = Place::new("names");
    let (directory, file, other) = (place.path("directory"), place.path("file"), place.path("directory/other"));
    assert_eq!(of!(fs::create_dir, &directory), Ok(()));
    assert_eq!(of!(fs::create_dir, &directory), Err(Errno::EEXIST));
    std::fs::write(&file, "x").unwrap();
    assert_eq!(of!(fs::rename, &file, &other), Ok(()));
    assert!(!file.exists() && other.exists());
    assert_eq!(of!(fs::hard_link, &other, &file), Ok(()));
    assert_eq!(of!(fs::symlink, "directory/other", place.path("link")), Ok(()));
    assert_eq!(of!(fs::read_link, place.path("link")).unwrap(), Path::new("directory/other"));
    assert_eq!(of!(fs::canonicalize, place.path("link")).unwrap(), std::fs::canonicalize(&other).unwrap());
    assert_eq!(of!(fs::set_permissions, &file, 0o600), Ok(()));

    let about = of!(fs::metadata, place.path("link")).unwrap();
    assert!(about.is_file() && about.nlink == 2 && about.size == 1 && about.mode & 0o777 == 0o600);
    assert!(of!(fs::symlink_metadata, place.path("link")).unwrap().is_symlink());
    assert_eq!(of!(fs::remove_dir, &directory).map_err(|error| error.name()), Err(Some("ENOTEMPTY")));
    assert_eq!(of!(fs::remove_file, &other), Ok(()));
    assert_eq!(of!(fs::remove_dir, &directory), Ok(()));
    assert!(!directory.exists());
}

#[test]
fn a_directory_is_read_in_order() {
    let place = Place::new("directory");
    for name in ["b", "a", "C"] {
        std::fs::write(place.path(name), "").unwrap();
    }
    std::fs::create_dir(place.path("d")).unwrap();
    let entries = of!(fs::read_dir, &place.0).unwrap();
    let found: Vec<_> = entries.iter().map(|entry| (entry.file_name().to_str().unwrap(), entry.kind())).collect();
    let file = EntryKind::File;
    assert_eq!(found, [("C", file), ("a", file), ("b", file), ("d", EntryKind::Directory)]);
}

#[test]
fn a_copy_and_times() {
    let place = Place::new("copy");
    let (from, to) = (place.path("from"), place.path("to"));
    std::fs::write(&from, "hello").unwrap();
    assert_eq!(of!(fs::copy, &from, &to, CopyFlags::default()), Ok(()));
    assert_eq!(std::fs::read(&to).unwrap(), b"hello");
    let exclusive = CopyFlags { exclusive: true, ..CopyFlags::default() };
    assert_eq!(of!(fs::copy, &from, &to, exclusive), Err(Errno::EEXIST));
    assert_eq!(of!(fs::set_times, &to, NewTime::Unchanged, NewTime::At(-2, 500_000_000)), Ok(()));
    let modified = std::fs::metadata(&to).unwrap().modified().unwrap();
    assert_eq!(modified, SystemTime::UNIX_EPOCH - Duration::from_millis(1500));
}

/// One step after the other, each begun in the closure of the one before.
#[test]
fn an_open_file_is_read_and_written_where_one_likes() {
    let place = Place::new("open");
    let path = place.path("file");
    let lp = Loop::new().unwrap();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o640);
    let opened = options.open(&lp, &path, |_, file| {
        let written = file.unwrap().write("hello world", |file, written| {
            assert_eq!(written, Ok(()));
            let again = file.write_at(b"W".to_vec(), 6, |file, written| {
                assert_eq!(written, Ok(()));
                let read = file.read_at(Vec::with_capacity(5), 6, |file, bytes| {
                    assert_eq!(bytes.as_deref(), Ok(b"World".as_slice()));
                    shorten(file);
                });
                read.unwrap();
            });
            again.unwrap();
        });
        written.unwrap();
    });
    opened.unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(std::fs::read(&path).unwrap(), b"hello");
    let again = result_of(|lp, done| options.open(lp, &path, move |_, result| done(result)));
    assert_eq!(again.unwrap_err(), Errno::EEXIST);
}

fn shorten(file: &File) {
    let cut = file.set_len(5, |file, cut| {
        assert_eq!(cut, Ok(()));
        let asked = file.metadata(|file, about| {
            assert_eq!(about.unwrap().size, 5);
            let last = file.clone();
            file.sync_data(move |file, synced| {
                assert_eq!(synced, Ok(()));
                // The end is where the position is.
                let read = file.read(vec![1, 2, 3], |_, bytes| assert_eq!(bytes.as_deref(), Ok(b"".as_slice())));
                read.unwrap();
                // It would look like the end.
                assert_eq!(file.read(Vec::new(), |_, _| ()).unwrap_err(), Errno::EINVAL);
                last.close(|_, closed| assert_eq!(closed, Ok(()))).unwrap();
            })
            .unwrap();
        });
        asked.unwrap();
    });
    cut.unwrap();
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let lp = Loop::new().unwrap();
    let refused = |options: &OpenOptions| {
        let opened = options.open(&lp, "/", |_, _| panic!("called"));
        assert_eq!(opened.unwrap_err(), Errno::EINVAL);
    };
    refused(&OpenOptions::new());
    refused(OpenOptions::new().read(true).create(true));
    refused(OpenOptions::new().read(true).truncate(true));
    refused(OpenOptions::new().append(true).truncate(true));
}

#[test]
fn a_file_is_closed_with_its_last_reference() {
    let place = Place::new("closed");
    let path = place.path("file");
    let open_times = |path: &Path| {
        let links = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.ok());
        links.filter(|link| std::fs::read_link(link.path()).is_ok_and(|target| target == path)).count()
    };
    let kept = Rc::new(Cell::new(None));
    let lp = Loop::new().unwrap();
    let keep = Rc::clone(&kept);
    File::create(&lp, &path, move |_, file| keep.set(Some(file.unwrap()))).unwrap();
    lp.run(Mode::Default).unwrap();
    let file = kept.take().unwrap();
    let copy = file.clone();
    file.close(|_, closed| assert_eq!(closed, Ok(()))).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(open_times(&path), 1);
    drop(copy);
    assert_eq!(open_times(&path), 0);
}

#[test]
fn many_requests_come_back_each_to_its_own_closure() {
    let place = Place::new("many");
    let lp = Loop::new().unwrap();
    let heard = Rc::new(Cell::new(0));
    for nth in 0..200 {
        let (path, heard) = (place.path(&nth.to_string()), Rc::clone(&heard));
        let again = path.clone();
        fs::write(&lp, &path, nth.to_string(), move |lp, written| {
            assert_eq!(written, Ok(()));
            let read = fs::read(lp, &again, move |_, bytes| {
                assert_eq!(bytes, Ok(nth.to_string().into_bytes()));
                heard.set(heard.get() + 1);
            });
            read.unwrap();
        })
        .unwrap();
    }
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(heard.get(), 200);
}

#[test]
fn a_timer_goes_on_while_a_file_is_waited_for() {
    let place = Place::new("timer");
    let path = place.path("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let lp = Loop::new().unwrap();
    let ticks = Rc::new(Cell::new(0));
    // Opening it waits for the other side, which the timer opens at its third tick.
    let counted = Rc::clone(&ticks);
    fs::read(&lp, &path, move |_, bytes| {
        assert_eq!(bytes, Ok(b"late".to_vec()));
        assert_eq!(counted.get(), 3);
    })
    .unwrap();
    let (counted, every) = (Rc::clone(&ticks), Duration::from_millis(5));
    let timer = Timer::new(&lp).unwrap();
    timer
        .start_repeating(every, every, move |timer| {
            counted.set(counted.get() + 1);
            if counted.get() == 3 {
                std::fs::write(&path, "late").unwrap();
                timer.close().unwrap();
            }
        })
        .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(ticks.get(), 3);
}

#[test]
fn a_request_is_done_or_taken_back() {
    let lp = Loop::new().unwrap();
    let results = Rc::new(RefCell::new(Vec::new()));
    let requests: Vec<Request> = (0..200)
        .map(|_| {
            let results = Rc::clone(&results);
            fs::metadata(&lp, "/", move |_, about| results.borrow_mut().push(about.map(|about| about.is_dir())))
                .unwrap()
        })
        .collect();
    let mut cancelled = 0;
    for request in requests.iter().rev() {
        match request.cancel() {
            Ok(()) => cancelled += 1,
            Err(error) => assert_eq!(error, Errno::EBUSY),
        }
        assert_eq!(request.cancel(), Err(Errno::EBUSY));
    }
    assert_eq!(lp.run(Mode::Default), Ok(false));
    let results = results.borrow();
    assert_eq!(results.len(), 200);
    assert_eq!(results.iter().filter(|&&result| result == Err(Errno::ECANCELED)).count(), cancelled);
    assert_eq!(results.iter().filter(|&&result| result == Ok(true)).count(), 200 - cancelled);
}

/// Closures that own references to the loop, and one that is never called.
#[test]
fn a_loop_may_be_dropped_before_its_requests_are_done() {
    let called = Rc::new(Cell::new(false));
    let lp = Loop::new().unwrap();
    for _ in 0..20 {
        let (owner, seen) = (lp.clone(), Rc::clone(&called));
        fs::read(&lp, "/proc/self/status", move |_, _| {
            seen.set(true);
            drop(owner);
        })
        .unwrap();
    }
    let (owner, request) = (lp.clone(), fs::metadata(&lp, "/", |_, _| {}).unwrap());
    drop(lp);
    assert_eq!(fs::read(&owner, "/", |_, _| {}).unwrap_err(), Errno::EINVAL);
    assert_eq!(request.cancel(), Err(Errno::EINVAL));
    assert!(!called.get());
    assert_eq!(Rc::strong_count(&called), 1);
}
