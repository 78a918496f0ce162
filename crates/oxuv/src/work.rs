//! Work on other threads.

use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use oxuv_core::kernel::Job;
use oxuv_core::linux::{PoolOf, Shared, random};
use oxuv_core::pool::{Pool as CorePool, PoolMetrics};
use oxuv_core::{Lane, Refused, Ticket};

use crate::{Errno, LoopRef, Result};

/// Why work has no result.
pub enum NotDone {
    /// It was cancelled before a thread began it.
    Canceled,
    /// It has panicked, with this payload. The thread lives on.
    Panicked(Box<dyn Any + Send>),
}

impl fmt::Display for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotDone::Panicked(payload) = self else { return f.write_str("cancelled") };
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        write!(f, "panicked: {}", text.unwrap_or("with something that is no text"))
    }
}

impl fmt::Debug for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NotDone({self})")
    }
}

impl std::error::Error for NotDone {}

/// Something that a thread of the pool is to do. Dropping this value changes nothing.
#[derive(Debug, Clone)]
pub struct Request {
    owner: LoopRef,
    ticket: Ticket,
}

impl Request {
    /// Takes the request back if no thread has begun it: its callback hears of that later.
    ///
    /// # Errors
    /// EBUSY when it has begun, is done, or was cancelled before; EINVAL when the loop is gone.
    #[doc(alias = "uv_cancel")]
    pub fn cancel(&self) -> Result<()> {
        self.owner.0.with(|core| core.cancel(self.ticket))
    }
}

/// Threads of a loop's own, or of several loops'. Without one, all loops of the process share a pool, which has as many
/// threads as the environment's `UV_THREADPOOL_SIZE` says at first use: 4 if it says nothing, 1024 at most.
///
/// Clones are the same pool. When the last of them and the last of its loops are gone, that waits for what runs.
///
/// ```
/// use oxuv::{Loop, Mode, Pool};
/// use std::num::NonZeroUsize;
///
/// let pool = Pool::new(NonZeroUsize::MIN)?;
/// let lp = Loop::with_pool(&pool)?;
/// lp.work(|| 6 * 7, |_, result| assert_eq!(result.unwrap(), 42))?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool(Shared<CorePool<Box<dyn Job>>>);

impl Pool {
    /// A pool of so many threads, 1024 at most. They are started at first use.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(threads: NonZeroUsize) -> Result<Pool> {
        Ok(Pool(Shared::new(CorePool::with_size(c"oxuv-worker", threads))?))
    }

    /// What the pool has counted, lane by lane.
    pub fn metrics(&self) -> PoolMetrics {
        self.0.metrics()
    }

    /// Measures how long jobs wait and run, from now on.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn measure(&self) -> Result<()> {
        self.0.measure()
    }

    pub(crate) fn of_loop(&self) -> PoolOf<Box<dyn Job>> {
        PoolOf::Own(self.0.clone())
    }
}

/// A closure for another thread, and then its result. A panic is a result, too. It shares no cache line with what the loop is at
/// meanwhile.
#[repr(align(64))]
struct Work<F, T> {
    work: Option<F>,
    result: Option<std::thread::Result<T>>,
}

impl<F, T> Default for Work<F, T> {
    fn default() -> Self {
        Work { work: None, result: None }
    }
}

impl<F: FnOnce() -> T + Send + 'static, T: Send + 'static> Job for Work<F, T> {
    fn run(&mut self) {
        if let Some(work) = self.work.take() {
            // Whatever the closure owns is gone with it, so nobody sees what it has left half done.
            self.result = Some(catch_unwind(AssertUnwindSafe(work)));
        }
    }
}

impl<F, T> Work<F, T> {
    /// What the closure has returned. Nothing is left of it, nor of the closure.
    #[inline]
    fn found(&mut self) -> Result<T, NotDone> {
        match self.result.take() {
            Some(result) => result.map_err(NotDone::Panicked),
            None => {
                self.work = None;
                Err(NotDone::Canceled)
            }
        }
    }
}

/// What hears of a job that has come back.
pub(crate) trait Answer {
    fn answer(self: Box<Self>, lp: &LoopRef, job: Option<Box<dyn Job>>);
}

/// Who hears of a job, in a box that is kept for the next one of its type. The job's own box is kept in it.
struct Asker<J, H> {
    /// What finds the answer in the job, and what is told that.
    hearer: Option<H>,
    job: Option<Box<J>>,
}

impl<J, H> Default for Asker<J, H> {
    fn default() -> Self {
        Asker { hearer: None, job: None }
    }
}

impl<J, T, F, C> Answer for Asker<J, (F, C)>
where
    J: Job,
    F: FnOnce(Option<&mut J>) -> T + 'static,
    C: FnOnce(&LoopRef, T) + 'static,
{
    fn answer(mut self: Box<Self>, lp: &LoopRef, job: Option<Box<dyn Job>>) {
        let Some((find, done)) = self.hearer.take() else { return };
        let job = job.map(|job| -> Box<dyn Any> { job });
        self.job = job.and_then(|job| job.downcast().ok());
        let found = find(self.job.as_deref_mut());
        lp.0.spare_askers.keep(self);
        done(lp, found);
    }
}

impl LoopRef {
    /// Calls `work` on a thread of the pool, and then `callback` on the loop's, with what `work` has returned. Phase: poll.
    ///
    /// It keeps the loop running until then. A panic of `work` harms neither thread nor loop: `callback` gets it.
    ///
    /// ```
    /// use oxuv::{Loop, Mode};
    ///
    /// let lp = Loop::new()?;
    /// lp.work(|| (1..=20).product::<u64>(), |_, product| println!("20! is {}", product.unwrap()))?;
    /// lp.run(Mode::Default)?;
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    ///
    /// # Errors
    /// ENOMEM; EAGAIN when no thread can be started; EINVAL when the loop is gone. Neither closure is called then.
    #[doc(alias = "uv_queue_work")]
    #[track_caller]
    pub fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        callback: impl FnOnce(&LoopRef, Result<T, NotDone>) + 'static,
    ) -> Result<Request> {
        self.submit(Lane::Work, work, callback)
    }

    /// Fetches so many random bytes, fit for keys, on a thread of the pool. Phase: poll.
    ///
    /// `callback` hears ENOMEM when there is no room for them, and ECANCELED when the request was cancelled.
    ///
    /// # Errors
    /// As [`LoopRef::work`].
    #[doc(alias = "uv_random")]
    #[track_caller]
    pub fn random(&self, len: usize, callback: impl FnOnce(&LoopRef, Result<Vec<u8>>) + 'static) -> Result<Request> {
        self.ask(Lane::Work, Errno::ECANCELED, move || random::bytes(len), callback)
    }

    /// What the loop's pool has counted, lane by lane.
    pub fn pool_metrics(&self) -> PoolMetrics {
        self.0.with(|core| Ok(core.kernel().pool().metrics())).unwrap_or_default()
    }

    /// [`LoopRef::work`] in any lane, for something that may fail, but does not panic.
    #[track_caller]
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        lane: Lane,
        canceled: Errno,
        question: impl FnOnce() -> Result<T> + Send + 'static,
        callback: impl FnOnce(&LoopRef, Result<T>) + 'static,
    ) -> Result<Request> {
        self.submit(lane, question, move |lp, answer| match answer {
            Ok(answer) => callback(lp, answer),
            Err(NotDone::Canceled) => callback(lp, Err(canceled)),
            Err(NotDone::Panicked(payload)) => std::panic::resume_unwind(payload),
        })
    }

    #[track_caller]
    fn submit<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        lane: Lane,
        work: F,
        callback: impl FnOnce(&LoopRef, Result<T, NotDone>) + 'static,
    ) -> Result<Request> {
        let found = |job: Option<&mut Work<F, T>>| job.map_or(Err(NotDone::Canceled), Work::found);
        self.submit_job(lane, |job| job.work = Some(work), found, callback)
    }

    /// Submits a job that `set_up` was given, as it was made or left by `find`. That gets it back, unless it was lost, and `done`
    /// hears of what is found.
    #[track_caller]
    pub(crate) fn submit_job<J: Job + Default, T: 'static>(
        &self,
        lane: Lane,
        set_up: impl FnOnce(&mut J),
        find: impl FnOnce(Option<&mut J>) -> T + 'static,
        done: impl FnOnce(&LoopRef, T) + 'static,
    ) -> Result<Request> {
        let mut asker: Box<Asker<J, _>> = self.0.spare_askers.take();
        let mut job = asker.job.take().unwrap_or_default();
        set_up(&mut job);
        asker.hearer = Some((find, done));
        self.submit_boxed(lane, job, asker)
    }

    #[track_caller]
    fn submit_boxed(&self, lane: Lane, job: Box<dyn Job>, on_done: Box<dyn Answer>) -> Result<Request> {
        let place = Location::caller();
        // What the closures own may call the loop when it is dropped: that is where nobody is in it.
        let submitted = self.0.request(
            |requests| &mut requests.jobs,
            on_done,
            |core, number| match core.submit(lane, job, number) {
                Ok(ticket) => Ok((ticket, number, core.time())),
                Err(Refused { error, given }) => Err((error, Some(given))),
            },
        );
        let (ticket, number, now) = submitted.map_err(|(error, _)| error)?;
        self.0.callbacks.submitted.set(number as usize, place, now);
        Ok(Request { owner: self.clone(), ticket })
    }
}
