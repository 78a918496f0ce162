//! Looking at real files, on the simulated kernel's clock and threads.

use std::ffi::CString;
use std::fs::{File, create_dir, remove_dir_all, remove_file, write};
use std::path::PathBuf;

use oxuv_os::Errno;

use crate::sim::{Faults, Sim};
use crate::{Config, Core, Event, FsChange, Key, Mode, One};

const MS: u64 = 1_000_000;

struct Bed {
    sim: Sim,
    core: Core<Sim, u32, One<Vec<u8>>>,
    watch: Key,
    place: PathBuf,
}

/// What an event tells, without the file's details: sizes before and after.
type Told = (u32, Result<(), Errno>, Option<u64>, Option<u64>);

impl Bed {
    fn new(name: &str) -> Bed {
        let place = std::env::temp_dir().join(format!("oxuv-{name}-{}", std::process::id()));
        let _ = remove_dir_all(&place);
        create_dir(&place).unwrap();
        let sim = Sim::new(5, Faults::none());
        sim.set_wait_limit(100_000);
        let mut core = Core::new(sim.clone(), Config { grain: MS, ..Config::default() }).unwrap();
        let watch = core.fs_poll_init(1).unwrap();
        Bed { sim, core, watch, place }
    }

    fn path(&self, name: &str) -> CString {
        CString::new(self.place.join(name).to_str().unwrap()).unwrap()
    }

    fn start(&mut self, name: &str, interval: u64) -> Result<bool, Errno> {
        let path = self.path(name);
        self.core.fs_poll_start(self.watch, &path, interval)
    }

    /// What is told within so many milliseconds.
    fn told_in(&mut self, milliseconds: u64) -> Vec<Told> {
        let end = self.sim.time() + milliseconds * MS;
        let timer = self.core.timer_init(9).unwrap();
        self.core.timer_start(timer, milliseconds * MS, 0).unwrap();
        let mut told = Vec::new();
        while self.sim.time() < end {
            self.core.begin(Mode::Once);
            while let Some(event) = self.core.next() {
                match event {
                    Event::FsPoll { key, user, result } => {
                        let FsChange { previous, current } = self.core.fs_poll_change(key).unwrap();
                        told.push((user, result, previous.map(|was| was.size), current.map(|is| is.size)));
                    }
                    Event::Timer { user: 9, .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        self.core.close(timer).unwrap();
        self.core.begin(Mode::NoWait);
        while self.core.next().is_some() {}
        told
    }

    /// The turns until the handle is closed.
    fn turns_until_closed(&mut self) -> u64 {
        let before = self.core.turns();
        loop {
            self.core.begin(Mode::Once);
            if let Some(event) = self.core.next() {
                assert_eq!(event, Event::Closed { key: self.watch, user: 1 });
                assert_eq!(self.core.check_closable(), Ok(()));
                return self.core.turns() - before;
            }
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.place);
    }
}

#[test]
fn changes_are_told_with_what_was_and_errors_once() {
    let mut bed = Bed::new("looks");
    let file = bed.place.join("file");
    write(&file, "1").unwrap();
    assert_eq!(bed.start("file", 10 * MS), Ok(true));
    // Started is started.
    assert_eq!(bed.start("other", 10 * MS), Ok(false));
    assert_eq!(bed.core.fs_poll_path(bed.watch).unwrap(), bed.path("file").as_c_str());
    assert_eq!(bed.told_in(100), []);
    write(&file, "22").unwrap();
    assert_eq!(bed.told_in(100), [(1, Ok(()), Some(1), Some(2))]);
    remove_file(&file).unwrap();
    assert_eq!(bed.told_in(100), [(1, Err(Errno::ENOENT), Some(2), None)]);
    // Another error is news.
    remove_dir_all(&bed.place).unwrap();
    File::create(&bed.place).unwrap();
    assert_eq!(bed.told_in(100), [(1, Err(Errno::ENOTDIR), Some(2), None)]);
    remove_file(&bed.place).unwrap();
    create_dir(&bed.place).unwrap();
    write(&file, "333").unwrap();
    assert_eq!(bed.told_in(100), [(1, Ok(()), Some(2), Some(3))]);
    // Reading it is no change.
    std::fs::read(&file).unwrap();
    assert_eq!(bed.told_in(100), []);
    bed.core.fs_poll_stop(bed.watch).unwrap();
    write(&file, "4444").unwrap();
    assert_eq!(bed.told_in(100), []);
    assert_eq!(bed.core.fs_poll_path(bed.watch), Err(Errno::EINVAL));
    // A new series knows nothing of the old one.
    bed.start("none", 10 * MS).unwrap();
    assert_eq!(bed.told_in(100), [(1, Err(Errno::ENOENT), None, None)]);
}

#[test]
fn looks_keep_their_distance() {
    let mut bed = Bed::new("distance");
    bed.start("none", 50 * MS).unwrap();
    assert_eq!(bed.told_in(20).len(), 1);
    // The next one is 50 milliseconds after the first: neither before nor much later.
    write(bed.place.join("none"), "").unwrap();
    assert_eq!(bed.told_in(20), []);
    assert_eq!(bed.told_in(20).len(), 1);
    assert_eq!(bed.core.fs_poll_start(bed.watch, c"x", 0), Err(Errno::EINVAL));
}

#[test]
fn a_handle_is_closed_when_its_last_look_is_back() {
    // Under way, once and twice.
    let mut bed = Bed::new("closing");
    bed.start("none", 10 * MS).unwrap();
    bed.core.fs_poll_stop(bed.watch).unwrap();
    assert_eq!(bed.start("none", 10 * MS), Ok(true));
    assert_eq!(bed.core.active_requests(), 2);
    bed.core.close(bed.watch).unwrap();
    assert_eq!(bed.core.check_closable(), Err(Errno::EBUSY));
    assert_eq!(bed.core.close(bed.watch), Err(Errno::EINVAL));
    assert!(bed.turns_until_closed() >= 2);
    // Between two looks it takes a turn more than for a handle that was never started.
    for (is_started, turns) in [(true, 2), (false, 1)] {
        bed.watch = bed.core.fs_poll_init(1).unwrap();
        if is_started {
            bed.start("none", 1000 * MS).unwrap();
            bed.told_in(10);
        }
        bed.core.close(bed.watch).unwrap();
        assert_eq!(bed.turns_until_closed(), turns);
    }
}

#[test]
fn a_look_of_an_earlier_start_is_not_told() {
    let mut bed = Bed::new("earlier");
    write(bed.place.join("file"), "1").unwrap();
    for _ in 0..10 {
        bed.start("none", MS).unwrap();
        bed.core.fs_poll_stop(bed.watch).unwrap();
    }
    bed.start("file", MS).unwrap();
    assert_eq!(bed.told_in(50), []);
    write(bed.place.join("file"), "22").unwrap();
    assert_eq!(bed.told_in(50), [(1, Ok(()), Some(1), Some(2))]);
}

#[test]
fn without_memory_or_threads_it_looks_later() {
    let mut bed = Bed::new("no-memory");
    bed.sim.set_faults(Faults { no_memory: 1000, ..Faults::none() });
    assert_eq!(bed.start("none", 10 * MS), Err(Errno::ENOMEM));
    assert!(!bed.core.is_active(bed.watch));
    bed.sim.set_faults(Faults::none());
    bed.start("none", 10 * MS).unwrap();
    assert_eq!(bed.told_in(5).len(), 1);
    bed.sim.set_faults(Faults { no_memory: 1000, ..Faults::none() });
    assert_eq!(bed.told_in(100), [(1, Err(Errno::ENOMEM), None, None)]);
    bed.sim.set_faults(Faults::none());
    assert_eq!(bed.told_in(100), [(1, Err(Errno::ENOENT), None, None)]);
    bed.core.close(bed.watch).unwrap();
    bed.turns_until_closed();
}

#[test]
fn what_a_run_has_left_is_looked_at_by_the_next() {
    let mut bed = Bed::new("left");
    bed.start("none", 10 * MS).unwrap();
    assert_eq!(bed.told_in(5).len(), 1);
    let timer = bed.core.timer_init(2).unwrap();
    bed.core.timer_start(timer, 0, 0).unwrap();
    bed.sim.advance(20 * MS);
    bed.core.begin(Mode::Default);
    assert_eq!(bed.core.next(), Some(Event::Timer { key: timer, user: 2 }));
    // The run is left, with the look due in the same pass.
    write(bed.place.join("none"), "").unwrap();
    assert_eq!(bed.told_in(30), [(1, Ok(()), None, Some(0))]);
}

#[test]
fn in_a_child_it_looks_anew() {
    let mut bed = Bed::new("child");
    write(bed.place.join("file"), "1").unwrap();
    bed.start("file", 10 * MS).unwrap();
    let other = bed.core.fs_poll_init(2).unwrap();
    let path = bed.path("file");
    bed.core.fs_poll_start(other, &path, 10 * MS).unwrap();
    bed.core.close(other).unwrap();
    assert_eq!(bed.core.after_fork(), Ok(true));
    let mut closed = 0;
    while closed == 0 {
        bed.core.begin(Mode::Once);
        while let Some(event) = bed.core.next() {
            assert_eq!(event, Event::Closed { key: other, user: 2 });
            closed += 1;
        }
    }
    assert_eq!(bed.told_in(20), []);
    write(bed.place.join("file"), "22").unwrap();
    assert_eq!(bed.told_in(100), [(1, Ok(()), Some(1), Some(2))]);
}

#[test]
fn simulated_files_are_looked_at_where_there_are_any() {
    let mut bed = Bed::new("simulated-looks");
    bed.sim.make_file("/file").and_then(|()| bed.sim.make_file("/other")).unwrap();
    assert_eq!(bed.core.fs_poll_start(bed.watch, c"/file", MS), Ok(true));
    assert_eq!(bed.told_in(10), []);
    bed.sim.write_file("/file").unwrap();
    assert_eq!(bed.told_in(10), [(1, Ok(()), Some(0), Some(1))]);
    bed.sim.remove("/file").unwrap();
    assert_eq!(bed.told_in(10), [(1, Err(Errno::ENOENT), Some(1), None)]);
}
