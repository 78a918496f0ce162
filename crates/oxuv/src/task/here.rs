//! Which loop runs on this thread, and for what place in the program.

use std::cell::{Cell, RefCell};
use std::panic::Location;

use oxuv_os::sync::thread_local;

use crate::LoopRef;

thread_local! {
    static HERE: RefCell<Option<LoopRef>> = const { RefCell::new(None) };
    /// Where what this crate makes for itself now is said to be from.
    static SITE: Cell<Option<Site>> = const { Cell::new(None) };
}

impl LoopRef {
    /// The loop that runs on this thread: that of the callback or task that asks. `None` outside of [`Loop::run`](crate::Loop::run)
    /// and [`Loop::block_on`](crate::Loop::block_on).
    pub fn current() -> Option<LoopRef> {
        let mut current = None;
        with(|lp| current = Some(lp.clone()));
        current
    }
}

/// The loop that runs here, for futures that are made without being told of one.
#[track_caller]
pub(crate) fn current() -> LoopRef {
    LoopRef::current()
        .expect("no loop runs on this thread: this has to be called in a callback, or inside of `Loop::block_on`")
}

/// Shows `look` the loop that runs here, if any does. None does when the thread is about to end.
#[inline]
pub(crate) fn with(look: impl FnOnce(&LoopRef)) {
    let _ = HERE.try_with(|here| {
        if let Some(lp) = &*here.borrow() {
            look(lp);
        }
    });
}

/// As long as this lives, a loop is the one that runs here.
pub(crate) struct Here(Option<LoopRef>);

impl Here {
    pub(crate) fn enter(lp: &LoopRef) -> Here {
        Here(HERE.with(|here| here.replace(Some(lp.clone()))))
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        // The loop in whose callback this one has run, if any.
        let outer = self.0.take();
        let inner = HERE.try_with(|here| here.replace(outer));
        drop(inner);
    }
}

/// A place in a program.
pub(crate) type Site = &'static Location<'static>;

/// Where something is from that was made there. An `async fn` does not know its caller: what one of this crate's makes is from
/// the place on whose behalf that is, which is that of the call if [`made_at`] says it, and else where the task was spawned.
#[inline]
pub(crate) fn site_of(location: Site) -> Site {
    match SITE.try_with(Cell::get) {
        Ok(Some(site)) if is_own(location) => site,
        _ => location,
    }
}

/// Whether a place is in this crate's own sources.
fn is_own(location: Site) -> bool {
    file!().strip_suffix("task/here.rs").is_some_and(|sources| location.file().starts_with(sources))
}

/// What this crate's own sources make in `make` is from this place.
#[inline]
pub(crate) fn made_at<T>(site: Site, make: impl FnOnce() -> T) -> T {
    let _before = Before(SITE.try_with(|kept| kept.replace(Some(site_of(site)))).ok().flatten());
    make()
}

/// The place from before, which is put back.
struct Before(Option<Site>);

impl Drop for Before {
    fn drop(&mut self) {
        let _ = SITE.try_with(|kept| kept.set(self.0));
    }
}
