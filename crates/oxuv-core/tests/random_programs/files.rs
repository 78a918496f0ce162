//! Handles that watch files, or look at them again and again: simulated ones, which others change.

use std::ffi::CString;

use oxuv_core::sim::Sim;
use oxuv_core::{Errno, FsChange, FsEvents, Kind, Result as CoreResult};

use crate::Check;
use crate::actions::{is_limit, same};
use crate::model::Life;
use crate::outside::Outside;
use crate::program::Place;
use crate::run::Machine;

/// What programs watch, and others change. At first there are two directories, and a file in one of them.
pub(crate) const PATHS: [&str; 7] = ["/d", "/d/f", "/d/s", "/d/s/g", "/e", "/e/h", "/none"];

/// Something happens to the file, or the files, of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    MakeFile(usize),
    MakeDirectory(usize),
    Write(usize),
    Remove(usize),
    Rename(usize, usize),
}

/// What a handle watches.
#[derive(Debug, Clone, Copy)]
struct Watch {
    path: usize,
    /// What was at that path when it was started is there still.
    is_there: bool,
    /// Something that it has to be told of: the polls begun when it happened.
    due: Option<u64>,
}

/// What the handles of each place watch.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    of: Vec<Option<Watch>>,
    /// Something has happened to some file. Whoever comes to watch what others watch may hear of what was before.
    has_changed: bool,
    /// The last thing that a handle was told of what it looks at: whether that is there.
    seen: Vec<Option<CoreResult<()>>>,
}

/// Makes the files that are there at first.
pub(crate) fn make_files(sim: &Sim) {
    let made = [sim.make_directory("/d"), sim.make_directory("/e"), sim.make_file("/d/f")];
    assert!(made.iter().all(Result::is_ok), "they are not there yet");
}

fn above(path: usize) -> &'static str {
    PATHS[path].rsplit_once('/').map_or("", |(above, _)| above)
}

impl Watches {
    pub(crate) fn new(places: usize) -> Watches {
        Watches { of: vec![None; places], has_changed: false, seen: vec![None; places] }
    }

    pub(crate) fn stop(&mut self, place: Place) {
        self.of[place] = None;
    }

    pub(crate) fn is_due(&self, place: Place) -> bool {
        self.of[place].is_some_and(|watch| watch.due.is_some())
    }

    /// What has happened before a poll was told in it.
    pub(crate) fn check(&self, turns: u64) -> Check {
        let lost = self.of.iter().flatten().find(|watch| watch.due.is_some_and(|due| due < turns));
        ensure!(lost.is_none(), "a change of {} got lost", PATHS[lost.map_or(0, |lost| lost.path)]);
        Ok(())
    }

    /// Something has happened to what is at this path.
    fn happen(&mut self, path: usize, is_gone: bool, turns: u64) {
        self.has_changed = true;
        for watch in self.of.iter_mut().flatten() {
            let watched = PATHS[watch.path];
            if watch.is_there && (above(path) == watched || path == watch.path) {
                watch.due = watch.due.or(Some(turns));
            }
            // It may come back, but that is another one.
            watch.is_there &= !(is_gone && watched.starts_with(PATHS[path]));
        }
    }

    /// This is a child: all is watched anew, and what has not been told is not.
    pub(crate) fn fork(&mut self) {
        for watch in self.of.iter_mut().flatten() {
            (watch.is_there, watch.due) = (false, None);
        }
    }
}

impl Outside {
    /// Others do something to files; what cannot be done has no effect.
    pub(crate) fn change(&mut self, sim: &Sim, change: Change) {
        let turns = self.turns;
        let (done, path, is_gone) = match change {
            Change::MakeFile(path) => (sim.make_file(PATHS[path]), path, false),
            Change::MakeDirectory(path) => (sim.make_directory(PATHS[path]), path, false),
            Change::Write(path) => (sim.write_file(PATHS[path]), path, false),
            Change::Remove(path) => (sim.remove(PATHS[path]), path, true),
            Change::Rename(from, to) => (sim.rename(PATHS[from], PATHS[to]), from, true),
        };
        if done.is_ok() {
            self.watches.happen(path, is_gone, turns);
            if let Change::Rename(_, to) = change {
                self.watches.happen(to, false, turns);
            }
        }
    }
}

impl Machine<'_> {
    fn may_watch(&self, place: Place, path: usize) -> CoreResult<()> {
        self.model.open(place)?;
        if self.model.handles[place].is_active { Err(Errno::EINVAL) } else { self.sim.find(PATHS[path]) }
    }

    pub(crate) fn watch(&mut self, place: Place, path: usize, is_recursive: bool) -> Check {
        let key = self.model.handles[place].key;
        same("set_recursive", self.core.fs_event_set_recursive(key, is_recursive), self.model.open(place))?;
        let got = self.core.fs_event_start(key, &CString::new(PATHS[path]).expect("there is no zero byte"));
        let expected = self.may_watch(place, path);
        let faults = self.program.faults;
        let may_fail = match got {
            Err(error) if is_limit(error) => faults.no_descriptor > 0,
            Err(Errno::ENOSPC) => faults.no_watch > 0,
            Err(Errno::ENOMEM) => faults.no_memory > 0,
            _ => false,
        };
        if may_fail && expected != Err(Errno::EINVAL) {
            return Ok(());
        }
        same("fs_event_start", got, expected)?;
        if got.is_ok() {
            self.model.handles[place].is_active = true;
            let watch = Watch { path, is_there: true, due: None };
            self.outside.borrow_mut().watches.of[place] = Some(watch);
        }
        Ok(())
    }

    pub(crate) fn stop_watching(&mut self, place: Place) -> Check {
        let key = self.model.handles[place].key;
        let got = match self.model.handles[place].kind {
            Kind::FsEvent => self.core.fs_event_stop(key),
            _ => self.core.fs_poll_stop(key),
        };
        same("stop", got, self.model.known(place))?;
        if got.is_ok() {
            self.model.handles[place].is_active = false;
            self.outside.borrow_mut().watches.stop(place);
        }
        Ok(())
    }

    pub(crate) fn take_change(&mut self, place: Place, result: CoreResult<FsEvents>) -> Check {
        let handle = &mut self.model.handles[place];
        ensure!(handle.is_active, "a change for one who watches nothing");
        let name = self.core.fs_event_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_known = name.is_empty() || PATHS.iter().any(|path| path.ends_with(&format!("/{last}")));
        ensure!(is_known, "a change of {name}, which nobody has made");
        let mut outside = self.outside.borrow_mut();
        let has_changed = outside.watches.has_changed;
        let watch = outside.watches.of[place].as_mut().ok_or("a change for one who watches nothing")?;
        watch.due = None;
        match result {
            Ok(events) => ensure!(!events.is_empty() && has_changed, "nothing has happened"),
            Err(error) => {
                let faults = &self.program.faults;
                let has_ended = self.core.fs_event_path(handle.key).is_err();
                let may_fail = faults.no_watch > 0 && error == Errno::ENOSPC
                    || faults.no_descriptor > 0 && is_limit(error)
                    || faults.no_memory > 0 && has_ended && error == Errno::ENOMEM
                    || has_ended && matches!(error, Errno::ENOENT | Errno::ENOTDIR);
                ensure!(may_fail, "watching fails with {error:?}");
                handle.is_active = !has_ended;
            }
        }
        Ok(())
    }

    pub(crate) fn look(&mut self, place: Place, path: usize, interval: u64) -> Check {
        let name = CString::new(PATHS[path]).expect("there is no zero byte");
        let handle = &mut self.model.handles[place];
        let got = self.core.fs_poll_start(handle.key, &name, interval);
        let faults = &self.program.faults;
        let may_fail = match got {
            Err(Errno::ENOMEM) => faults.no_memory > 0,
            Err(Errno::EAGAIN) => faults.no_thread > 0,
            _ => false,
        };
        let expected = match (handle.life == Life::Open && interval > 0, handle.is_active) {
            (false, _) => Err(Errno::EINVAL),
            (true, is_active) => Ok(!is_active),
        };
        if may_fail && expected == Ok(true) {
            return Ok(());
        }
        same("fs_poll_start", got, expected)?;
        if got == Ok(true) {
            (handle.is_active, handle.may_look) = (true, true);
            let mut outside = self.outside.borrow_mut();
            // Looks may miss what others change back.
            outside.watches.of[place] = Some(Watch { path, is_there: false, due: None });
            outside.watches.seen[place] = None;
            drop(outside);
            self.plan_end();
        }
        Ok(())
    }

    pub(crate) fn take_look(&mut self, place: Place, result: CoreResult<()>) -> Check {
        let handle = &self.model.handles[place];
        ensure!(handle.is_active, "a look for one who does not look");
        let FsChange { previous, current } = self.core.fs_poll_change(handle.key).ok_or("no change is there")?;
        let mut outside = self.outside.borrow_mut();
        let seen = outside.watches.seen[place].replace(result);
        ensure!(current.is_some() == result.is_ok(), "{result:?}, and {current:?} is there");
        ensure!(result.is_ok() || seen != Some(result), "{result:?} is told again");
        let watch = outside.watches.of[place].ok_or("a look for one who does not look")?;
        let faults = &self.program.faults;
        let was_there = previous.is_some() || seen.is_some();
        match result {
            Ok(()) => ensure!(was_there && previous != current || seen.is_some_and(|seen| seen.is_err()), "no news"),
            Err(Errno::ENOMEM) => ensure!(faults.no_memory > 0, "there is memory"),
            Err(Errno::EAGAIN) => ensure!(faults.no_thread > 0, "there are threads"),
            Err(Errno::ENOENT | Errno::ENOTDIR) => {
                let is_new = previous.is_none() || outside.watches.has_changed;
                ensure!(is_new, "{} is gone, and nobody has removed it", PATHS[watch.path]);
            }
            Err(error) => return Err(format!("a look fails with {error:?}")),
        }
        Ok(())
    }
}
