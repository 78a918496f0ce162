//! The workloads of `c/pool.c`: what the pool's threads do. So many requests are under way all the time.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;

use oxuv::fs::{self, File};
use oxuv::{Loop, LoopRef, Mode, NotDone, Result};

use crate::program::{Random, Spent, timed_section};

const FOLDERS: usize = 16;
const FILES: usize = 64;
pub(crate) const LARGE: &str = "large";
const LARGE_SIZE: usize = 16 << 20;
pub(crate) const PIECE: usize = 4096;

static PATHS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..FOLDERS * FILES).map(|nth| format!("{}/{}", nth / FILES, nth % FILES)).collect());

/// Makes the files that the workloads look at, if they are not there.
pub(crate) fn make_tree(folder: &Path) -> std::io::Result<()> {
    let large = folder.join(LARGE);
    if std::fs::metadata(&large).is_ok_and(|large| large.len() == LARGE_SIZE as u64) {
        return Ok(());
    }
    for folder in (0..FOLDERS).map(|nth| folder.join(nth.to_string())) {
        std::fs::create_dir_all(folder)?;
    }
    PATHS.iter().try_for_each(|path| std::fs::write(folder.join(path), [b'x'; PIECE]))?;
    // The last, so that a tree with it is whole.
    std::fs::write(large, vec![b'x'; LARGE_SIZE])
}

/// The path that the request with this number is about, where none is chosen at random.
pub(crate) fn path(nth: usize) -> &'static str {
    &PATHS[nth * 7919 % PATHS.len()]
}

/// The same for a place of the large file.
pub(crate) fn large_offset(nth: usize) -> u64 {
    (nth * 7919 % (LARGE_SIZE / PIECE) * PIECE) as u64
}

/// Starts a request, which starts the next when it is done. The memory is for what is read.
type Start = fn(&LoopRef, &Rc<Shared>, Vec<u8>) -> Result<()>;

/// What all requests share.
struct Shared {
    left: Cell<usize>,
    random: Cell<Random>,
    start: Start,
    /// The large file, where one is read.
    file: Option<File>,
}

impl Shared {
    fn below(&self, bound: usize) -> usize {
        let mut random = self.random.get();
        let number = random.below(bound as u64);
        self.random.set(random);
        number as usize
    }

    fn path(&self) -> &'static str {
        &PATHS[self.below(PATHS.len())]
    }

    /// Starts another request, with the memory of the last one.
    fn next(self: &Rc<Self>, lp: &LoopRef, room: Vec<u8>) -> Result<()> {
        let Some(left) = self.left.get().checked_sub(1) else { return Ok(()) };
        self.left.set(left);
        (self.start)(lp, self, room)
    }
}

pub(crate) fn run(program: &str, depth: usize, operations: usize) -> Result<Spent> {
    let lp = Loop::new()?;
    let (start, file): (Start, _) = match program {
        "pool-work" => (work, None),
        "pool-stat" => (stat, None),
        "pool-read" => (read, Some(open(&lp, LARGE)?)),
        _ => (open_read_close, None),
    };
    // Has the threads started, and the paths made.
    let shared = Rc::new(Shared { left: Cell::new(1), random: Cell::default(), start, file });
    let start_all = || {
        (0..depth).try_for_each(|_| shared.next(&lp, Vec::with_capacity(PIECE)))?;
        lp.run(Mode::Default).map(drop)
    };
    start_all()?;
    shared.left.set(operations);
    timed_section(start_all)
}

fn open(lp: &Loop, path: &str) -> Result<File> {
    let opened = Rc::new(Cell::new(None));
    let to = Rc::clone(&opened);
    File::open(lp, path, move |_, file| to.set(Some(file)))?;
    lp.run(Mode::Default)?;
    opened.take().expect("the request is done")
}

const WELL: &str = "the tree is there, and a request can be made";

fn work(lp: &LoopRef, shared: &Rc<Shared>, _: Vec<u8>) -> Result<()> {
    let shared = Rc::clone(shared);
    let done = move |lp: &LoopRef, done: Result<(), NotDone>| {
        done.expect(WELL);
        shared.next(lp, Vec::new()).expect(WELL);
    };
    lp.work(|| {}, done).map(drop)
}

fn stat(lp: &LoopRef, shared: &Rc<Shared>, room: Vec<u8>) -> Result<()> {
    let path = shared.path();
    let shared = Rc::clone(shared);
    fs::metadata(lp, path, move |lp, found| found.and_then(|_| shared.next(lp, room)).expect(WELL)).map(drop)
}

fn read(lp: &LoopRef, shared: &Rc<Shared>, room: Vec<u8>) -> Result<()> {
    let offset = shared.below(LARGE_SIZE / PIECE) * PIECE;
    let file = shared.file.as_ref().expect("this workload has it open");
    let (shared, lp) = (Rc::clone(shared), lp.clone());
    let done = move |_: &File, bytes: Result<Vec<u8>>| {
        let bytes = bytes.expect(WELL);
        assert_eq!(bytes.len(), PIECE);
        shared.next(&lp, bytes).expect(WELL);
    };
    file.read_at(room, offset as u64, done).map(drop)
}

fn open_read_close(lp: &LoopRef, shared: &Rc<Shared>, room: Vec<u8>) -> Result<()> {
    let path = shared.path();
    let shared = Rc::clone(shared);
    let opened = move |_: &LoopRef, file: Result<File>| {
        let have_read = move |file: &File, bytes: Result<Vec<u8>>| {
            let bytes = bytes.expect(WELL);
            assert_eq!(bytes.len(), PIECE);
            let closed = move |lp: &LoopRef, closed: Result<()>| {
                closed.and_then(|()| shared.next(lp, bytes)).expect(WELL);
            };
            file.clone().close(closed).expect(WELL);
        };
        file.and_then(|file| file.read_at(room, 0, have_read)).expect(WELL);
    };
    File::open(lp, path, opened).map(drop)
}
