//! Which loop runs on this thread.

use std::cell::RefCell;

use crate::LoopRef;

thread_local! {
    static HERE: RefCell<Option<LoopRef>> = const { RefCell::new(None) };
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
