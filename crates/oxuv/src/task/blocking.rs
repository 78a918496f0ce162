//! Work on threads of the pool, waited for by tasks.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::answer::{Answer, Teller, begin};
use super::here;
use super::join::JoinError;
use crate::{Errno, LoopRef, NotDone, Request};

/// Calls `work` on a thread of the loop's pool, from the call on, and waits for what it returns. A panic of `work` harms neither the
/// thread nor the loop.
///
/// ```
/// let lp = oxuv::Loop::new()?;
/// let product = lp.block_on(async { oxuv::task::spawn_blocking(|| (1..=20).product::<u64>()).await });
/// assert_eq!(product.unwrap(), 2_432_902_008_176_640_000);
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> BlockingHandle<T> {
    here::current().spawn_blocking(work)
}

impl LoopRef {
    /// As [`task::spawn_blocking`](spawn_blocking), for the pool of this loop.
    #[track_caller]
    pub fn spawn_blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> BlockingHandle<T> {
        let submit = |teller: Teller<_>| self.work(work, move |_, result| teller.tell(Ok(result))).map(Some);
        BlockingHandle(here::made_at(Location::caller(), || begin(submit)))
    }
}

/// Waits for work on another thread: a future of its result. Dropped, the work is done all the same, if a thread is there for it.
///
/// Cancel safety: the result stays here until it is taken.
pub struct BlockingHandle<T>(Result<Answer<Result<T, NotDone>>, Errno>);

impl<T> BlockingHandle<T> {
    /// Takes the work back if no thread has begun it: [`JoinError::is_cancelled`] is the result then. Else nothing happens.
    pub fn abort(&self) {
        if let Some(request) = self.0.as_ref().ok().and_then(Answer::request) {
            let _ = request.cancel();
        }
    }
}

impl<T> Future for BlockingHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Without a thread, or a loop, it was never begun.
        let Ok(answer) = &mut self.0 else { return Poll::Ready(Err(JoinError::cancelled())) };
        Pin::new(answer).poll(context).map(|answer| match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(NotDone::Panicked(payload))) => Err(JoinError::panicked(payload)),
            Ok(Err(NotDone::Canceled)) | Err(_) => Err(JoinError::cancelled()),
        })
    }
}

impl<T> Drop for BlockingHandle<T> {
    fn drop(&mut self) {
        if let Ok(answer) = &mut self.0 {
            drop::<Option<Request>>(answer.take_request());
        }
    }
}

impl<T> std::fmt::Debug for BlockingHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockingHandle").finish_non_exhaustive()
    }
}
