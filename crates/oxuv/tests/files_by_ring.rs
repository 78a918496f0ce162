//! Files by io_uring and by threads: the same comes of both.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxuv::fs::{self, File, Metadata, OpenOptions};
use oxuv::{Errno, Loop, LoopRef, Mode, Pool, Request, Result};

/// A directory that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("oxuv-ring-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A loop with a ring; `None`, and a word about it, where there can be none.
fn with_ring(test: &str) -> Option<Loop> {
    let lp = Loop::new().unwrap();
    lp.use_io_uring(true);
    fs::metadata(&lp, "/", |_, _| {}).unwrap();
    lp.run(Mode::Default).unwrap();
    if lp.has_io_uring() {
        return Some(lp);
    }
    // The macros that print are silent in a test that passes.
    let _ = writeln!(std::io::stderr(), "not run: {test}: there is no ring here, or UV_USE_IO_URING is 0");
    None
}

fn without_ring() -> Loop {
    let lp = Loop::new().unwrap();
    lp.use_io_uring(false);
    lp
}

/// What one request says.
fn answer<T: 'static, A: 'static>(
    lp: &Loop,
    begin: impl FnOnce(Box<dyn FnOnce(&A, Result<T>)>) -> Result<Request>,
) -> Result<T> {
    let place = Rc::new(RefCell::new(None));
    let there = Rc::clone(&place);
    begin(Box::new(move |_, answer| *there.borrow_mut() = Some(answer)))?;
    assert!(!lp.run(Mode::Default).unwrap());
    place.take().expect("each request is answered")
}

fn of_path<T: 'static>(
    lp: &Loop,
    begin: impl FnOnce(&LoopRef, Box<dyn FnOnce(&LoopRef, Result<T>)>) -> Result<Request>,
) -> Result<T> {
    answer(lp, |done| begin(lp, done))
}

/// All that a ring can do, in an empty directory, with what comes of it.
fn story(lp: &Loop, at: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |what: &str, result: &dyn Debug| told.push(format!("{what}: {result:?}"));
    let path = |name: &str| at.join(name);
    tell("make", &of_path(lp, |lp, done| fs::create_dir(lp, path("a"), done)));
    tell("make again", &of_path(lp, |lp, done| fs::create_dir(lp, path("a"), done)));
    tell("make deeper", &of_path(lp, |lp, done| fs::create_dir(lp, path("x/y"), done)));
    tell("not there", &of_path(lp, |lp, done| File::open(lp, path("none"), done)).err());
    tell("no directory", &of_path(lp, |lp, done| fs::metadata(lp, path("a/../b/c"), done)));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o640);
    let file = of_path(lp, |lp, done| options.open(lp, path("a/file"), done)).unwrap();
    tell("once only", &of_path(lp, |lp, done| options.open(lp, path("a/file"), done)).err());
    tell("write", &answer(lp, |done| file.write(b"hello, ", done)));
    tell("write on", &answer(lp, |done| file.write(String::from("world"), done)));
    tell("write inside", &answer(lp, |done| file.write_at([b'J'], 0, done)));
    tell("write nothing", &answer(lp, |done| file.write(Vec::new(), done)));
    tell("too far", &answer(lp, |done| file.write_at("x", u64::MAX, done)));
    tell("read all", &answer(lp, |done| file.read_at(Vec::with_capacity(50), 0, done)));
    tell("read a part", &answer(lp, |done| file.read_at(Vec::with_capacity(3), 7, done)));
    tell("at the end", &answer(lp, |done| file.read(Vec::with_capacity(3), done)));
    tell("sync", &answer(lp, |done| file.sync_all(done)));
    tell("sync data", &answer(lp, |done| file.sync_data(done)));
    tell("cut", &answer(lp, |done| file.set_len(9, done)));
    let open: Metadata = answer(lp, |done| file.metadata(done)).unwrap();
    tell("link", &of_path(lp, |lp, done| fs::hard_link(lp, path("a/file"), path("a/second"), done)));
    tell("name", &of_path(lp, |lp, done| fs::symlink(lp, "file", path("a/name"), done)));
    tell("rename", &of_path(lp, |lp, done| fs::rename(lp, path("a/second"), path("third"), done)));
    let followed: Metadata = of_path(lp, |lp, done| fs::metadata(lp, path("a/name"), done)).unwrap();
    let link: Metadata = of_path(lp, |lp, done| fs::symlink_metadata(lp, path("a/name"), done)).unwrap();
    tell("kinds", &(open.is_file(), followed.is_file(), link.is_symlink(), followed.nlink, open.size, open.mode));
    tell("the same", &(open.ino == followed.ino, open.created == followed.created, open.dev == link.dev));
    tell("read for writing", &{
        let unreadable = of_path(lp, |lp, done| OpenOptions::new().write(true).open(lp, path("third"), done)).unwrap();
        answer(lp, |done| unreadable.read(Vec::with_capacity(1), done))
    });
    tell("read a directory", &{
        let directory = of_path(lp, |lp, done| File::open(lp, path("a"), done)).unwrap();
        answer(lp, |done| directory.read(Vec::with_capacity(1), done))
    });
    tell("close", &answer(lp, |done| file.close(done)));
    tell("full", &of_path(lp, |lp, done| fs::remove_dir(lp, path("a"), done)));
    for name in ["a/file", "a/name", "third", "third"] {
        tell(name, &of_path(lp, |lp, done| fs::remove_file(lp, path(name), done)));
    }
    tell("a directory", &of_path(lp, |lp, done| fs::remove_file(lp, path("a"), done)));
    tell("gone", &of_path(lp, |lp, done| fs::remove_dir(lp, path("a"), done)));
    told
}

#[test]
fn a_file_that_others_have_is_closed_without_a_thread() {
    if with_ring("a_file_that_others_have_is_closed_without_a_thread").is_none() {
        return;
    }
    for by_ring in [false, true] {
        let pool = Pool::new(std::num::NonZeroUsize::MIN).unwrap();
        let lp = Loop::with_pool(&pool).unwrap();
        if by_ring {
            lp.use_io_uring(true);
        }
        let file: File = of_path(&lp, |lp, done| File::open(lp, "/", done)).unwrap();
        let before = pool.metrics();
        assert_eq!(answer(&lp, |done| file.clone().close(done)), Ok(()));
        assert_eq!(pool.metrics(), before);
        assert!(file.as_fd().try_clone_to_owned().is_ok(), "it is open still");
    }
}

#[test]
fn the_same_comes_of_both() {
    let Some(ringed) = with_ring("the_same_comes_of_both") else { return };
    let [one, other, third] = ["ring", "threads", "fastest"].map(Folder::new);
    let by_threads = story(&without_ring(), &other.0);
    for (by, told) in [("ring", story(&ringed, &one.0)), ("whoever is fastest", story(&Loop::new().unwrap(), &third.0))]
    {
        assert_eq!(told.len(), by_threads.len(), "by {by}");
        for (told, by_thread) in told.iter().zip(&by_threads) {
            assert_eq!(told, by_thread, "by {by}");
        }
    }
    assert!(ringed.has_io_uring());
}

#[test]
fn all_fields_of_metadata_are_the_same() {
    let Some(ringed) = with_ring("all_fields_of_metadata_are_the_same") else { return };
    let (threaded, usual) = (without_ring(), Loop::new().unwrap());
    let folder = Folder::new("fields");
    std::fs::write(folder.file("file"), "12345").unwrap();
    std::os::unix::fs::symlink("file", folder.file("link")).unwrap();
    // That a link is followed counts as an access, until one is later than the last change.
    for _ in 0..100 {
        std::fs::metadata(folder.file("link")).unwrap();
        let link = std::fs::symlink_metadata(folder.file("link")).unwrap();
        if link.accessed().unwrap() > link.modified().unwrap() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for path in ["file", "link", ".", "/dev/null", "/proc/self/stat", "none", "none/more", "file/more"] {
        let path = folder.file(path);
        // Of some, the times are those of the question.
        let is_steady = !path.starts_with("/proc");
        let by = |lp: &Loop| {
            let followed = of_path(lp, |lp, done| fs::metadata(lp, &path, done));
            [followed, of_path(lp, |lp, done| fs::symlink_metadata(lp, &path, done))]
        };
        let (by_ring, by_thread) = (by(&ringed), by(&threaded));
        if is_steady {
            assert_eq!(by_ring, by_thread, "{}", path.display());
            assert_eq!(by(&usual), by_thread, "{}", path.display());
        } else {
            assert_eq!(by_ring.map(|found| found.unwrap().mode), by_thread.map(|found| found.unwrap().mode));
        }
    }
}

/// Whether a look at what is in a folder waits for nothing, once its name is known.
fn is_quick(folder: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2, statfs};
    // ext4, tmpfs, overlay, xfs, btrfs
    let is_local = [0xef53, 0x0102_1994, 0x794c_7630, 0x5846_5342, 0x9123_683e];
    std::fs::metadata(folder).unwrap();
    std::env::var_os("UV_USE_IO_URING").is_none()
        && statfs(folder).is_ok_and(|found| is_local.contains(&(found.f_type as u64 & 0xffff_ffff)))
        && openat2(CWD, folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED).is_ok()
}

#[test]
fn a_look_at_what_is_cached_takes_no_thread_if_it_is_alone() {
    let folder = Folder::new("cached");
    if !is_quick(&folder.0) {
        let _ = writeln!(std::io::stderr(), "not run: a look at a file may take long here, or UV_USE_IO_URING is set");
        return;
    }
    let pool = Pool::new(std::num::NonZeroUsize::MIN).unwrap();
    let lp = Loop::with_pool(&pool).unwrap();
    std::fs::write(folder.file("file"), "12345").unwrap();
    let is_told = Rc::new(Cell::new(false));
    for (name, expected) in [("file", Ok(5)), ("none", Err(Errno::ENOENT))] {
        let path = folder.file(name);
        // The kernel knows the name from now on, or knows that there is none.
        assert_eq!(std::fs::metadata(&path).is_ok(), expected.is_ok());
        for _ in 0..10 {
            let there = is_told.clone();
            let done = move |_: &LoopRef, found: Result<fs::Metadata>| {
                assert_eq!(found.map(|found| found.size), expected);
                there.set(true);
            };
            fs::metadata(&lp, &path, done).unwrap();
            assert!(!is_told.get(), "a callback comes from the loop only");
            assert!(!lp.run(Mode::Once).unwrap());
            assert!(is_told.replace(false));
        }
    }
    assert_eq!(pool.metrics().threads, 0);
    // What is not alone does not hold up the loop.
    let count = Rc::new(Cell::new(0));
    for _ in 0..20 {
        let there = count.clone();
        fs::metadata(&lp, folder.file("file"), move |_, found| {
            assert_eq!(found.unwrap().size, 5);
            there.set(there.get() + 1);
        })
        .unwrap();
    }
    lp.run(Mode::Default).unwrap();
    assert_eq!((count.get(), pool.metrics().threads), (20, 1));
}

#[test]
fn ten_thousand_requests_come_back_each_once() {
    let Some(lp) = with_ring("ten_thousand_requests_come_back_each_once") else { return };
    let folder = Folder::new("many");
    let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(folder.file("file"), &text).unwrap();
    let file = of_path(&lp, |lp, done| File::open(lp, folder.file("file"), done)).unwrap();
    let seen = Rc::new(RefCell::new(vec![0; 10_000]));
    for nth in 0..10_000_u32 {
        let there = Rc::clone(&seen);
        let check = move |_: &File, bytes: Result<Vec<u8>>| {
            assert_eq!(bytes.unwrap(), (nth * 10).to_le_bytes());
            there.borrow_mut()[nth as usize] += 1;
        };
        file.read_at(Vec::with_capacity(4), u64::from(nth) * 40, check).unwrap();
    }
    lp.run(Mode::Default).unwrap();
    assert!(seen.borrow().iter().all(|&count| count == 1));
}

#[test]
fn what_is_submitted_by_a_closure_is_begun_by_the_same_loop_again_and_again() {
    fn again(file: &File, left: u32) {
        if left > 0 {
            file.read_at(Vec::with_capacity(8), 0, move |file, bytes| {
                assert_eq!(bytes.unwrap(), b"12345");
                again(file, left - 1);
            })
            .unwrap();
        }
    }
    let folder = Folder::new("again");
    std::fs::write(folder.file("file"), "12345").unwrap();
    let lp = Loop::new().unwrap();
    let file = of_path(&lp, |lp, done| File::open(lp, folder.file("file"), done)).unwrap();
    for _ in 0..70 {
        again(&file, 50);
    }
    assert!(!lp.run(Mode::Default).unwrap());
}

#[test]
fn a_request_is_taken_back_before_it_is_begun() {
    let Some(lp) = with_ring("a_request_is_taken_back_before_it_is_begun") else { return };
    let folder = Folder::new("back");
    let told = Rc::new(RefCell::new(Vec::new()));
    let there = Rc::clone(&told);
    let path = folder.file("never");
    let request = fs::create_dir(&lp, &path, move |_, made| there.borrow_mut().push(made)).unwrap();
    assert_eq!(lp.backend_timeout(), Some(Duration::ZERO), "a loop that is embedded has something to do");
    request.cancel().unwrap();
    assert_eq!(request.cancel(), Err(Errno::EBUSY));
    lp.run(Mode::Default).unwrap();
    assert_eq!(*told.borrow(), [Err(Errno::ECANCELED)]);
    assert!(!path.exists());
}

#[test]
fn what_is_submitted_at_the_end_of_a_run_begins_although_the_loop_does_not_run() {
    let folder = Folder::new("embedded");
    let lp = Loop::new().unwrap();
    let (path, called) = (folder.file("made"), Rc::new(RefCell::new(false)));
    let (inner, there) = (path.clone(), Rc::clone(&called));
    fs::metadata(&lp, "/", move |lp, _| {
        *there.borrow_mut() = true;
        fs::create_dir(lp, inner, |_, made| made.unwrap()).unwrap();
    })
    .unwrap();
    while !*called.borrow() {
        lp.run(Mode::NoWait).unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(1));
    }
    lp.run(Mode::Default).unwrap();
}

/// How many descriptors there are on files in this directory.
fn open_in(folder: &Path) -> usize {
    let numbers = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = numbers.filter_map(|number| std::fs::read_link(number.unwrap().path()).ok());
    targets.filter(|target| target.starts_with(folder)).count()
}

#[test]
fn a_loop_that_goes_leaves_nothing_open_and_does_not_wait_for_ever() {
    let folder = Folder::new("going");
    std::fs::write(folder.file("file"), "x").unwrap();
    for has_begun in [false, true] {
        let Some(lp) = with_ring("a_loop_that_goes_leaves_nothing_open_and_does_not_wait_for_ever") else { return };
        let (reader, writer) = std::io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader.as_fd()));
        let pipe = of_path(&lp, |lp, done| File::open(lp, name, done)).unwrap();
        // One that nobody ever answers, and some whose results nobody hears of.
        pipe.read(vec![0; 1000], |_, _| panic!("the loop is gone")).unwrap();
        let owned = File::create(&lp, folder.file("new"), |_, _| {}).unwrap();
        for _ in 0..100 {
            File::open(&lp, folder.file("file"), |_, _| {}).unwrap();
        }
        if has_begun {
            lp.run(Mode::NoWait).unwrap();
        }
        for _ in 0..100 {
            File::open(&lp, folder.file("file"), |_, _| panic!("the loop is gone")).unwrap();
        }
        let since = Instant::now();
        drop((owned, lp));
        assert!(since.elapsed() < Duration::from_secs(10));
        drop(pipe);
        assert_eq!(open_in(&folder.0), 0);
        drop((reader, writer));
    }
}

#[test]
fn a_loop_may_change_its_mind() {
    let Some(lp) = with_ring("a_loop_may_change_its_mind") else { return };
    let folder = Folder::new("mind");
    for on in [false, true, false] {
        lp.use_io_uring(on);
        assert_eq!(of_path(&lp, |lp, done| fs::create_dir(lp, folder.file("a"), done)), Ok(()));
        assert_eq!(of_path(&lp, |lp, done| fs::remove_dir(lp, folder.file("a"), done)), Ok(()));
    }
}
