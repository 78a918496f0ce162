//! Tasks: futures that a loop runs.
//!
//! [`Loop::block_on`](crate::Loop::block_on) runs the loop until a future is ready; [`spawn_local`] adds another that goes on beside
//! it. All of them run on the loop's thread, one at a time, between callbacks, and need not be [`Send`].
//!
//! ```
//! use oxuv::{Loop, task, time};
//! use std::time::Duration;
//!
//! let lp = Loop::new()?;
//! let sum = lp.block_on(async {
//!     let one = task::spawn_local(async {
//!         time::sleep(Duration::from_millis(2)).await;
//!         1
//!     });
//!     let two = task::spawn_local(async { 2 });
//!     one.await.unwrap() + two.await.unwrap()
//! });
//! assert_eq!(sum, 3);
//! # Ok::<(), oxuv::Errno>(())
//! ```
//!
//! # When tasks run
//!
//! A task that is woken goes to the end of a queue, which is worked off twice a turn: in the prepare phase, before the loop
//! waits for events, and in the check phase, when these were worked off. What timers wake runs in the one, what I/O wakes in
//! the other, without another wait in between. Each time at most 1024 tasks are polled, as many as one wait wakes; as long as
//! there are more, the loop looks for events without waiting for them. So tasks starve neither timers nor I/O, and these do not
//! starve tasks. A task that always finds something to do is made to give way after 128 operations of this crate, and counts
//! for 512 then: of such tasks the loop looks for events at least each 512 operations.
//!
//! What is [blocked on](crate::Loop::block_on) stands in the same queue.
//!
//! A task keeps [`Loop::run`](crate::Loop::run) from returning until it has ended. In [`Loop::block_on`](crate::Loop::block_on) that
//! matters to nobody: it returns when its own future is ready, and tasks that have not ended go on when the loop runs again.
//!
//! # Where they are from
//!
//! A task that has not ended is among [what keeps the loop alive](LoopRef::why_alive), with the file and the line where it was spawned
//! or blocked on. If the loop is [observed](crate::observe), each poll of a task is a callback of its own there
//! ([`CallbackKind::Task`](crate::observe::CallbackKind::Task)) from that place, whose time and name are told if it is slow. Handles and jobs
//! are from where the program asks for them; what is made without a call of the program's, such as the timer of a
//! sleep when that is first polled, is from where its task was spawned.
//!
//! # Wakers
//!
//! The waker of a task may be used on any thread, at any time, also when the task has ended or the loop is gone: nothing happens
//! then. On the loop's thread it costs an entry in the queue. From others, many cost one wake-up of the loop.
//!
//! # Panics
//!
//! A panic ends its task, and nothing else: whoever [waits for it](JoinHandle) gets it. One in what the loop blocks on leaves
//! [`Loop::block_on`](crate::Loop::block_on).

mod answer;
mod block_on;
mod blocking;
mod executor;
pub(crate) mod here;
#[cfg(feature = "hyper")]
mod hyper;
mod join;
mod phases;
mod waiters;
mod wakeup;

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

pub(crate) use answer::{answer, answer_at};
pub use blocking::{BlockingHandle, spawn_blocking};
pub(crate) use executor::Tasks;
#[cfg(feature = "hyper")]
pub use hyper::HyperExecutor;
pub use join::{AbortHandle, JoinError, JoinHandle};
pub(crate) use waiters::{Ticket, Waiter, Waiters, Whom};

use crate::LoopRef;

/// Adds a task to the loop that runs on this thread; see [`LoopRef::spawn_local`].
///
/// # Panics
/// When no loop runs here.
#[track_caller]
pub fn spawn_local<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    here::current().spawn_local(future)
}

/// Lets all other tasks that are to run do so first, and the loop look for events if there are many.
///
/// Cancel safety: nothing is left of one that is dropped.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

impl LoopRef {
    /// Adds a task: a future that runs on this loop, beside all else. It is not polled inside of this call, but when its turn
    /// comes (see [`task`](crate::task)).
    ///
    /// If the loop is gone, or has no memory for handles of its own, the future is dropped and its result is
    /// [`JoinError::is_cancelled`].
    #[track_caller]
    pub fn spawn_local<F: Future + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        self.0.tasks.spawn(self, here::site_of(Location::caller()), future)
    }
}

/// Keeps the waker of this context, unless it is the one that is kept. The old one is to be dropped where nothing is borrowed.
#[inline]
pub(crate) fn remember(kept: &mut Option<Waker>, context: &Context<'_>) -> Option<Waker> {
    match kept {
        Some(waker) if waker.will_wake(context.waker()) => None,
        Some(waker) => Some(std::mem::replace(waker, context.waker().clone())),
        None => {
            *kept = Some(context.waker().clone());
            None
        }
    }
}
