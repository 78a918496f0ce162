//! What threads work on for a loop.

use std::any::Any;
use std::fmt;

use oxuv_core::kernel::Job;
use oxuv_core::{Lane, Ticket};

use crate::{Errno, LoopRef, Result};

/// Something that a thread works on. It keeps the loop alive until its closure has been called, which happens in any case,
/// unless the loop is dropped. Phase of the closure: poll.
///
/// This value is for taking it back; dropping it changes nothing.
#[derive(Clone)]
pub struct Request {
    owner: LoopRef,
    ticket: Ticket,
}

impl Request {
    /// Takes the request back if no thread has begun with it. Its closure hears ECANCELED then, later.
    ///
    /// # Errors
    /// EBUSY when a thread has begun, and when it is done or was taken back before; EINVAL when the loop is gone.
    #[doc(alias = "uv_cancel")]
    pub fn cancel(&self) -> Result<()> {
        self.owner.0.with(|core| core.cancel(self.ticket))
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// A closure for a thread; then what it has found.
enum Work<F, T> {
    Waiting(F),
    Found(T),
    /// It has panicked, or its result was taken.
    Spent,
}

impl<F, T> Job for Work<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    fn run(&mut self) {
        if let Work::Waiting(work) = std::mem::replace(self, Work::Spent) {
            *self = Work::Found(work());
        }
    }
}

/// Has a thread call `work`, and then the loop `done` with its result, or with ECANCELED.
///
/// # Errors
/// EAGAIN when no thread can be started, ENOMEM; EINVAL when the loop is gone. Nothing is called then.
pub(crate) fn submit<F, T>(
    owner: &LoopRef,
    lane: Lane,
    work: F,
    done: impl FnOnce(&LoopRef, Result<T>) + 'static,
) -> Result<Request>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let inner = &owner.0;
    let on_job = move |owner: &LoopRef, job: Option<Box<dyn Job>>| done(owner, found::<F, T>(job));
    let number = inner.callbacks.add_job(Box::new(on_job))?;
    let job: Box<dyn Job> = Box::new(Work::Waiting(work));
    let mut refused = None;
    let submitted = inner.with(|core| {
        core.submit(lane, job, number).map_err(|back| {
            refused = Some(back.given);
            back.error
        })
    });
    if submitted.is_err() {
        // Both may own whatever they like, and are dropped when nothing is borrowed.
        drop((inner.callbacks.take_job(number), refused));
    }
    Ok(Request { owner: owner.clone(), ticket: submitted? })
}

/// What a job has found; ECANCELED if it has not run.
fn found<F: 'static, T: 'static>(job: Option<Box<dyn Job>>) -> Result<T> {
    let work = job.and_then(|job| (job as Box<dyn Any>).downcast::<Work<F, T>>().ok());
    match work.map(|work| *work) {
        Some(Work::Found(result)) => Ok(result),
        _ => Err(Errno::ECANCELED),
    }
}
