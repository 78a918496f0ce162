//! Where in the script a loop is, asked from another thread.

use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rquickjs::{CatchResultExt, Ctx};

use crate::host::host;

/// Asks a script where it is: a clone asks the same one. The script answers when the engine next looks whether it is to end.
#[derive(Clone, Default)]
pub(super) struct Position(Arc<Question>);

#[derive(Default)]
struct Question {
    is_asked: AtomicBool,
    /// One who asks at a time.
    turn: Mutex<()>,
    frames: Mutex<Option<Vec<String>>>,
    bell: Condvar,
}

impl Position {
    /// The script's frames, the innermost first. None if it has not answered in this time.
    pub(super) fn ask(&self, patience: Duration) -> Vec<String> {
        let Question { is_asked, turn, frames, bell } = &*self.0;
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = frames.lock().unwrap_or_else(PoisonError::into_inner);
        // One that came too late for the question before.
        *found = None;
        is_asked.store(true, Release);
        let waited = bell.wait_timeout_while(found, patience, |frames| frames.is_none());
        let found = waited.unwrap_or_else(PoisonError::into_inner).0.take();
        is_asked.store(false, Relaxed);
        found.unwrap_or_default()
    }

    /// In the midst of a script: if somebody asks, tells where that is.
    pub(super) fn answer(&self, ctx: &Ctx<'_>) {
        let Question { is_asked, frames, bell, .. } = &*self.0;
        if !is_asked.load(Relaxed) || !is_asked.swap(false, AcqRel) {
            return;
        }
        // Without memory for it nothing is known.
        let found: Vec<String> = host(ctx).observing(ctx, "frames").catch(ctx).unwrap_or_default();
        *frames.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        bell.notify_all();
    }
}
