//! Seeing what a loop does: traces, slow callbacks, numbers, and why it does not end.
//!
//! ```
//! use oxuv::{Loop, Mode, Timer};
//! use std::time::Duration;
//!
//! let lp = Loop::new()?;
//! # let path = std::env::temp_dir().join(format!("oxuv-doc-{}.json", std::process::id()));
//! # let path = &path;
//! // let path = "trace.json"; Perfetto and chrome://tracing open it.
//! lp.trace(path)?;
//! let timer = Timer::new(&lp)?;
//! timer.start(Duration::from_millis(10), |timer| timer.close().unwrap())?;
//! for alive in lp.why_alive() {
//!     // timer 8: active, due in 10.0 ms, since 0.0 ms, from src/main.rs:7
//!     println!("{alive}");
//! }
//! lp.run(Mode::Default)?;
//! # std::fs::remove_file(path).unwrap();
//! # Ok::<(), oxuv::Errno>(())
//! ```

use std::cell::RefCell;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::time::Duration;

use oxuv_core::{Event, Key};
use oxuv_observe::{Origins, observer};

use crate::callbacks::Callbacks;
use crate::loop_::{Core, Inner};
use crate::task::here::{Site, site_of};
use crate::{LoopRef, Result};

pub use oxuv_core::{Alive as Keeper, CallbackKind, Doing, Metrics, Why};
pub use oxuv_observe::{
    Delays, Inquiry, Numbers, OfKind, Pulse, Settings, SlowCallback, Stuck, Trace, Watchdog, group_alike,
    how_many_keepers, path_for_process, view,
};

/// Something that keeps a loop from ending.
#[derive(Debug, Clone)]
pub struct Alive {
    /// The handle, job or task, and what it does.
    pub keeper: Keeper<u32>,
    /// Where in the program it was made; a task, where it was spawned or blocked on.
    pub origin: String,
    /// How long it has been there, by the loop's time.
    pub age: Duration,
}

impl fmt::Display for Alive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.keeper)?;
        write_made(f, self.age, &self.origin)
    }
}

/// Since when something is there, and where it is from, behind what it is.
fn write_made(to: &mut impl fmt::Write, age: Duration, origin: impl fmt::Display) -> fmt::Result {
    write!(to, ", since {:.1} ms", age.as_secs_f64() * 1000.0)?;
    let origin = origin.to_string();
    if origin.is_empty() { Ok(()) } else { write!(to, ", from {origin}") }
}

impl LoopRef {
    /// Writes what the loop does from now on to this file, in Chrome's trace-event format: turns, phases, waits, each
    /// callback with where its handle was made, and the pool's jobs. An old file is made empty. Whatever the program dies
    /// of, the file tells of all up to then, the callback under way included. What was observed before, by whomever, is not
    /// any more.
    ///
    /// # Errors
    /// Those of opening a file for writing; ENOSPC, ENOMEM; ENODEV for what is no file; EBUSY while another trace is
    /// written to it, and in an observer's closure; EINVAL when the loop is gone.
    pub fn trace(&self, path: impl AsRef<Path>) -> Result<Trace> {
        let trace = Trace::create(path.as_ref())?;
        self.observe(Settings { trace: Some(trace.clone()), ..Settings::default() })?;
        Ok(trace)
    }

    /// Has the loop observed as the settings say, in place of what was said before. Empty settings end it.
    ///
    /// The closure for slow callbacks runs on the loop's thread after the callback. It cannot use the loop: that says EBUSY.
    ///
    /// # Errors
    /// EINVAL when the loop is gone; EBUSY in an observer's closure.
    pub fn observe(&self, settings: Settings) -> Result<()> {
        let observer = observer(settings, Box::new(Places::of(&self.0)));
        let is_observed = observer.is_some();
        let before = self.0.with(|core| Ok(core.observe(observer)))?;
        self.0.tasks.set_observed(is_observed);
        // What its closures own may call the loop when it is dropped.
        drop(before);
        Ok(())
    }

    /// Handles and jobs that `make` makes are said to come from this origin, not from where in the Rust program they are made: for programs
    /// that run others' scripts. An empty origin is none.
    pub fn made_at<T>(&self, origin: &str, make: impl FnOnce() -> T) -> T {
        let said: Rc<str> = Rc::from(origin);
        let Callbacks { made, submitted, .. } = &self.0.callbacks;
        let before = [made, submitted].map(|places| places.say(Some(Rc::clone(&said))));
        let done = make();
        for (places, before) in [made, submitted].into_iter().zip(before) {
            places.say(before);
        }
        done
    }

    /// Tells the observer that a callback begins, which is one of several in the loop's own that is under way, or comes before the
    /// loop runs: for programs that run others' scripts. The one before it is over, and the last is with the loop's own.
    pub fn begin_part(&self, kind: CallbackKind, origin: &str) {
        // Without a loop there is nobody to tell.
        let _ = self.0.with(|core| {
            core.begin_part(kind, &origin);
            Ok(())
        });
    }

    /// The last of them is over now.
    pub fn end_part(&self) {
        let _ = self.0.with(|core| {
            core.end_part();
            Ok(())
        });
    }

    /// What keeps [`Loop::run`](crate::Loop::run) from returning: handles in the order in which they were made, then jobs, then
    /// [tasks](crate::task) that have not ended. Those timers of a task that it sleeps by are not told besides.
    pub fn why_alive(&self) -> Vec<Alive> {
        self.keepers(|core, keepers| core.why_alive(|keeper| keepers.push(keeper)))
    }

    /// What keeps the loop from being closed, so that [`Loop::check_closable`](crate::Loop::check_closable) says EBUSY: all
    /// handles, also those that do nothing, then jobs, then tasks.
    pub fn why_open(&self) -> Vec<Alive> {
        self.keepers(|core, keepers| core.why_open(|keeper| keepers.push(keeper)))
    }

    fn keepers(&self, ask: impl FnOnce(&mut Core, &mut Vec<Keeper<u32>>)) -> Vec<Alive> {
        let mut keepers = Vec::new();
        let asked = self.0.with(|core| {
            ask(core, &mut keepers);
            Ok(core.time())
        });
        let Ok(now) = asked else { return Vec::new() };
        let callbacks = &self.0.callbacks;
        let alive = |keeper: Keeper<u32>| {
            let made = callbacks.place(keeper.key, Some(keeper.user));
            let age = made.as_ref().map_or(Duration::ZERO, |made| made.age(now));
            let origin = made.map(|made| made.to_string()).unwrap_or_default();
            Alive { keeper, origin, age }
        };
        let tasks = self.0.tasks.unfinished().into_iter().map(|task| task.alive(now));
        keepers.into_iter().map(alive).chain(tasks).collect()
    }
}

/// Where something was made, and when by the loop's time.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    origin: Origin,
    at: u64,
}

impl Place {
    fn age(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.at))
    }
}

/// Where something comes from.
#[derive(Debug, Clone)]
enum Origin {
    Location(Site),
    Said(Rc<str>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Location(location) => FileAndLine(location).fmt(f),
            Origin::Said(text) => f.write_str(text),
        }
    }
}

/// A place in a program, as it is told.
pub(crate) struct FileAndLine(pub(crate) Site);

impl fmt::Display for FileAndLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.file(), self.0.line())
    }
}

/// A task that has not ended.
pub(crate) struct Unfinished {
    pub(crate) site: Site,
    /// Since when it is there, by the loop's time.
    pub(crate) since: u64,
    pub(crate) is_running: bool,
}

impl Unfinished {
    fn alive(&self, now: u64) -> Alive {
        Alive {
            keeper: Keeper::task(0, self.is_running),
            origin: FileAndLine(self.site).to_string(),
            age: Duration::from_nanos(now.saturating_sub(self.since)),
        }
    }
}

/// Where things were made, by their numbers.
#[derive(Default)]
pub(crate) struct Places(RefCell<Kept>);

#[derive(Default)]
struct Kept {
    places: Vec<Option<Place>>,
    /// In place of where they are made, what somebody says.
    said: Option<Rc<str>>,
}

impl Places {
    #[inline]
    pub(crate) fn set(&self, index: usize, location: Site, at: u64) {
        let mut kept = self.0.borrow_mut();
        let kept = &mut *kept;
        // The usual case: nobody has said anything, now or when the number was last used.
        if let (None, Some(Some(place))) = (&kept.said, kept.places.get_mut(index))
            && let Origin::Location(site) = &mut place.origin
        {
            *site = site_of(location);
            place.at = at;
        } else {
            kept.set(index, location, at);
        }
    }

    /// From now on things are said to come from there; returns what was said before.
    fn say(&self, said: Option<Rc<str>>) -> Option<Rc<str>> {
        std::mem::replace(&mut self.0.borrow_mut().said, said)
    }

    /// A connection comes from where its listener is said to come from.
    pub(crate) fn inherit(&self, from: usize, to: usize) {
        if let Some(Place { origin: origin @ Origin::Said(_), .. }) = self.get(from)
            && let Some(Some(place)) = self.0.borrow_mut().places.get_mut(to)
        {
            place.origin = origin;
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Place> {
        self.0.borrow().places.get(index).cloned().flatten()
    }

    fn of(inner: &Rc<Inner>) -> OfLoop {
        OfLoop(Rc::downgrade(inner))
    }
}

impl Kept {
    #[inline(never)]
    fn set(&mut self, index: usize, location: Site, at: u64) {
        if index >= self.places.len() {
            self.places.resize(index + 1, None);
        }
        let said = self.said.as_ref().map(Rc::clone);
        let origin = said.map_or_else(|| Origin::Location(site_of(location)), Origin::Said);
        self.places[index] = Some(Place { origin, at });
    }
}

/// Where the handles of a loop were made. The loop owns the observer that asks.
struct OfLoop(Weak<Inner>);

impl Origins<u32> for OfLoop {
    fn origin(&mut self, event: &Event<u32>, to: &mut Vec<u8>) {
        let Some(inner) = self.0.upgrade() else { return };
        let job = if let Event::Done { user, .. } = event { Some(*user) } else { None };
        if let Some(place) = inner.callbacks.place(event.key(), job) {
            // Writing to memory does not fail.
            let _ = write!(to, "{place}");
        }
    }

    fn describe(&mut self, keeper: &Keeper<u32>, at: u64, to: &mut String) {
        let Some(inner) = self.0.upgrade() else { return };
        if let Some(place) = inner.callbacks.place(keeper.key, Some(keeper.user)) {
            let _ = write_made(to, place.age(at), &place);
        }
    }

    fn others(&mut self, _: Why, at: u64, to: &mut Vec<String>) {
        if let Some(inner) = self.0.upgrade() {
            to.extend(inner.tasks.unfinished().iter().map(|task| task.alive(at).to_string()));
        }
    }
}

impl Callbacks {
    /// Where a handle was made, or without one a job.
    fn place(&self, handle: Option<Key>, job: Option<u32>) -> Option<Place> {
        match (handle, job) {
            (Some(key), _) => self.made.get(key.index()),
            (None, job) => self.submitted.get(job? as usize),
        }
    }
}
