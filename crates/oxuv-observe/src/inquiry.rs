//! Asking a loop from another thread why it is alive.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

use oxuv_core::Why;

/// A question to a loop, which answers it on its own thread when it has next waited: a clone is another way to ask the same one.
/// Whoever asks wakes the loop.
#[derive(Clone)]
pub struct Inquiry(Arc<Question>);

struct Question {
    is_asked: AtomicBool,
    is_answered: AtomicBool,
    answer: Box<dyn Fn(Why, Vec<String>) + Send + Sync>,
}

impl fmt::Debug for Inquiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inquiry").field("is_asked", &self.0.is_asked).finish_non_exhaustive()
    }
}

impl Inquiry {
    /// One that is answered by this: it gets a line for each handle and each job that keeps the loop alive; or open, if it was
    /// [`Core::tell_keepers`](oxuv_core::Core::tell_keepers) that asked.
    pub fn new(answer: impl Fn(Why, Vec<String>) + Send + Sync + 'static) -> Inquiry {
        let (is_asked, is_answered) = (AtomicBool::new(false), AtomicBool::new(false));
        Inquiry(Arc::new(Question { is_asked, is_answered, answer: Box::new(answer) }))
    }

    /// Asks. Any thread may.
    pub fn ask(&self) {
        self.0.is_answered.store(false, Release);
        self.0.is_asked.store(true, Release);
    }

    /// Whether the loop has begun to answer since it was last asked, so that the answer is to be waited for.
    pub fn has_begun(&self) -> bool {
        !self.0.is_asked.load(Acquire)
    }

    /// Whether it has been answered since it was last asked.
    pub fn is_answered(&self) -> bool {
        self.0.is_answered.load(Acquire)
    }

    /// Whether there is no other way to it: the loop is gone.
    pub fn is_orphaned(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.0.is_asked.load(Acquire) && self.0.is_asked.swap(false, AcqRel)
    }

    pub(crate) fn answer(&self, why: Why, lines: Vec<String>) {
        (self.0.answer)(why, lines);
        self.0.is_answered.store(true, Release);
    }
}
