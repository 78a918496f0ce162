//! Asking the loops of a program why they are alive.
//!
//! Each answers on its own thread when it has next waited; of one that is in a callback, it is said which.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use oxuv_core::Why;
use oxuv_core::kernel::{Kernel as _, Wake};
use oxuv_observe::{Inquiry, Pulse, group_alike, how_many_keepers};
use oxuv_os::clock;

use super::say;
use crate::loop_::{Loop, kernel::Kernel};

/// A loop that can be asked.
struct Asked {
    /// The address of its core.
    core: usize,
    inquiry: Inquiry,
    pulse: Pulse,
    waker: <Kernel as oxuv_core::kernel::Kernel>::Waker,
}

static LOOPS: Mutex<Vec<Asked>> = Mutex::new(Vec::new());

/// So long the loops have to begin with their answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// And those that are in the same callback for so long have no more.
const PATIENCE_WITH_STUCK: Duration = Duration::from_millis(500);

/// Answers that have begun may take so long: whoever is to read them may not.
const PATIENCE_WITH_ANSWERS: Duration = Duration::from_secs(60);

impl Asked {
    /// Whether it is to be waited for an answer, some time after the question.
    fn is_awaited(&self, since: Duration) -> bool {
        if self.is_told() {
            return false;
        }
        if self.inquiry.has_begun() {
            return since < PATIENCE_WITH_ANSWERS;
        }
        let is_stuck = self.pulse.under_way().is_some_and(|callback| callback.duration >= PATIENCE_WITH_STUCK);
        since < PATIENCE_WITH_STUCK || (since < PATIENCE && !is_stuck)
    }

    /// Whether there is nothing more to tell: it has answered, or is gone meanwhile.
    fn is_told(&self) -> bool {
        self.inquiry.is_answered() || self.inquiry.is_orphaned()
    }
}

/// A loop that is to be asked from now on.
///
/// # Safety
/// It is a loop's core, that nothing is in at the moment.
pub(super) unsafe fn add_loop(core: *mut Loop, pulse: Pulse) -> Option<Inquiry> {
    let inquiry = Inquiry::new(|why, keepers| {
        let is = if why == Why::Alive { "is alive" } else { "cannot be closed" };
        say(format_args!("the loop {is} because of {}", how_many_keepers(keepers.len())));
        group_alike(&keepers).iter().for_each(|keeper| say(format_args!("  {keeper}")));
    });
    // SAFETY: says the caller.
    let waker = unsafe { (*core).kernel().waker() };
    let mut loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    // Those whose loop is gone have no other owner.
    loops.retain(|asked| !asked.inquiry.is_orphaned());
    loops.try_reserve(1).ok()?;
    loops.push(Asked { core: core.expose_provenance(), inquiry: inquiry.clone(), pulse, waker });
    Some(inquiry)
}

/// Has all loops tell.
pub(super) fn ask_all() {
    let mut loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    loops.retain(|asked| !asked.inquiry.is_orphaned());
    for asked in &*loops {
        asked.inquiry.ask();
        asked.waker.wake();
    }
    let begun = Instant::now();
    while loops.iter().any(|asked| asked.is_awaited(begun.elapsed())) {
        clock::sleep(Duration::from_millis(5));
    }
    for asked in loops.iter().filter(|asked| !asked.is_told()) {
        match asked.pulse.under_way() {
            Some(stuck) => say(stuck),
            None => {
                let patience = PATIENCE.as_millis();
                say(format_args!("a loop has not answered in {patience} ms: it is in a callback, or not being run"));
            }
        }
    }
}

/// The same for the loops that have a callback under way on this thread, which does not come back.
pub(super) fn tell_of_this_thread() {
    let mut loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    loops.retain(|asked| !asked.inquiry.is_orphaned());
    for asked in loops.iter().filter(|asked| asked.pulse.is_of_this_thread()) {
        let core = std::ptr::with_exposed_provenance_mut::<Loop>(asked.core);
        // SAFETY: the core owns the inquiry's other end, so it is there; and nothing is in it while a callback runs, on the thread that
        // it belongs to.
        unsafe { (*core).tell_keepers(Why::Alive) };
    }
}
