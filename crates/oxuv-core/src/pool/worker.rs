//! The threads, and what they share.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::PoisonError;
use std::time::Duration;

use oxuv_os::sync::atomic::{AtomicBool, Ordering::Relaxed};
use oxuv_os::sync::{Condvar, Mutex, MutexGuard, yield_now};
use oxuv_os::{Errno, Result, Shared, Thread, clock};

use super::desk::{DeskKey, Desks, Errand};
use super::queue::{HasLane, Lane, Lanes, Queue, Ticket};
use super::{LaneMetrics, PoolMetrics};
use crate::kernel::{Finished, Job};
use crate::linux::Waker;
use crate::observe;

/// What libuv's pool threads have, in bytes.
const STACK: usize = 8 << 20;

/// So often a lane is passed over, at least; more often where there are many threads, for whom jobs of one lane are begun together.
const PATIENCE: usize = 8;

/// So often a thread that lingers looks around; each time costs half a microsecond, if nobody else wants the processor.
const LINGERING: usize = 10;

/// A job that was submitted.
#[derive(Debug)]
pub(crate) struct Task<J> {
    pub(crate) job: J,
    pub(crate) lane: Lane,
    /// The loop's number for it.
    pub(crate) request: u32,
    /// Where it goes when it is finished.
    pub(super) desk: DeskKey,
    /// When it was submitted, in nanoseconds; 0 if that is not measured.
    pub(crate) since: u64,
}

impl<J> HasLane for Task<J> {
    #[inline]
    fn lane(&self) -> Lane {
        self.lane
    }
}

/// The threads of one process, and the jobs that wait for them.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Crew<J> {
    state: Mutex<State<J>>,
    /// A job is there that a thread may run, or the threads are to end.
    available: Condvar,
    /// The same for the thread that lingers.
    is_called: AtomicBool,
    /// The last thread has ended.
    ended: Condvar,
}

/// Who has the lock has the cache lines as well, so what each job needs lies together, in front.
#[derive(Debug)]
#[repr(C)]
struct State<J> {
    /// A thread has nothing to do, but lingers.
    lingers: bool,
    /// One of them was woken and has not come yet: that is enough, it wakes the next one if there is need of it.
    is_waking: bool,
    is_ending: bool,
    measures: bool,
    /// A loop has gone that may have jobs in the queue.
    has_orphans: bool,
    /// The lanes of which a job may begin.
    open: Lanes,
    /// Threads that wait.
    idle: usize,
    /// Those to be joined.
    threads: Vec<Thread>,
    queue: Queue<Task<J>>,
    desks: Desks<J>,
    /// What has been done in each lane; what waits and runs is known from the queue.
    lanes: [LaneMetrics; 3],
    /// How many threads there are, those included that are being joined.
    count: usize,
    /// How many of these have ended.
    gone: usize,
}

impl<J: Job> State<J> {
    /// Jobs of a lane that run now.
    #[inline]
    fn running(&self, lane: Lane) -> usize {
        (self.queue.popped(lane) - self.lanes[lane as usize].done) as usize
    }

    /// Sees which lanes are open, after a slow job has begun or ended, or the number of threads has changed.
    fn open_or_shut(&mut self) {
        let is_open = self.running(Lane::SlowIo) < self.count.div_ceil(2);
        self.open = if is_open { Lanes::ALL } else { Lanes::ALL.without(Lane::SlowIo) };
    }

    /// Takes out the next job that may begin.
    #[inline]
    fn begin_next(&mut self) -> Option<Task<J>> {
        let task = self.queue.pop(self.open, || PATIENCE.max(2 * self.count))?;
        if task.lane == Lane::SlowIo {
            self.open_or_shut();
        }
        Some(task)
    }

    /// A job has been run.
    #[inline]
    fn count_done(&mut self, lane: Lane) {
        self.lanes[lane as usize].done += 1;
        if lane == Lane::SlowIo {
            self.open_or_shut();
        }
    }

    /// Gives a job back to its loop.
    #[inline]
    fn give_back(&mut self, task: Task<J>, result: Result<()>) -> Option<Errand<J>> {
        let Task { job, request, desk, .. } = task;
        let is_last = !self.queue.has_any(self.open);
        self.desks.put(desk, Finished { request, job, result }, is_last)
    }

    /// True if a thread has to be woken.
    #[inline]
    fn must_wake(&mut self) -> bool {
        self.idle > 0 && !self.is_waking && self.wake_idle()
    }

    #[inline(never)]
    fn wake_idle(&mut self) -> bool {
        if self.lingers && self.queue.has_one() {
            return false;
        }
        self.is_waking = self.queue.has_any(self.open);
        self.is_waking
    }

    fn metrics(&self) -> PoolMetrics {
        let mut metrics = PoolMetrics { threads: self.count, lanes: self.lanes };
        for lane in Lane::ALL {
            metrics.lanes[lane as usize].queued = self.queue.len(lane);
            metrics.lanes[lane as usize].running = self.running(lane);
        }
        metrics
    }
}

impl<J: Job> Crew<J> {
    pub(crate) fn new(seed: u32) -> Self {
        let state = State {
            queue: Queue::new(seed),
            desks: Desks::new(),
            threads: Vec::new(),
            count: 0,
            gone: 0,
            idle: 0,
            lingers: false,
            is_waking: false,
            is_ending: false,
            measures: false,
            has_orphans: false,
            open: Lanes::ALL,
            lanes: [LaneMetrics::default(); 3],
        };
        Crew {
            state: Mutex::new(state),
            available: Condvar::new(),
            is_called: AtomicBool::new(false),
            ended: Condvar::new(),
        }
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job. `start` is asked for the threads if there are none.
    #[inline(always)] // As `Core::submit_for`.
    pub(crate) fn submit(
        &self,
        mut task: Task<J>,
        start: impl FnOnce(&mut Vec<Thread>) -> Result<()>,
    ) -> Result<Ticket, (Errno, Task<J>)> {
        let mut state = self.lock();
        if !state.is_ready()
            && let Err(error) = state.prepare(start)
        {
            drop(state);
            return Err((error, task));
        }
        if state.measures {
            task.since = clock::now();
        }
        let ticket = state.queue.push(task);
        let (must_wake, lingers) = (state.must_wake(), state.lingers);
        drop(state);
        if lingers {
            self.is_called.store(true, Relaxed);
        }
        if must_wake {
            self.available.notify_one();
        }
        Ok(ticket)
    }

    /// Gives a job that has not begun back to its loop.
    ///
    /// # Errors
    /// EBUSY when it has.
    pub(crate) fn cancel(&self, ticket: Ticket) -> Result<()> {
        let mut state = self.lock();
        let task = state.queue.remove(ticket).ok_or(Errno::EBUSY)?;
        let errand = state.give_back(task, Err(Errno::ECANCELED));
        drop(state);
        if let Some(errand) = errand {
            errand.run();
        }
        Ok(())
    }

    pub(super) fn open_desk(&self, waker: Waker) -> Result<DeskKey> {
        self.lock().desks.open(waker)
    }

    pub(super) fn close_desk(&self, desk: DeskKey) {
        let mut state = self.lock();
        let left = state.desks.close(desk);
        state.has_orphans = true;
        drop(state);
        drop(left);
    }

    /// Room on a desk: see [`Desks::reserve`].
    pub(super) fn reserve(&self, desk: DeskKey, count: usize) -> Result<usize> {
        self.lock().desks.reserve(desk, count)
    }

    /// Takes what is on a desk: see [`Desks::take`].
    pub(super) fn take(&self, desk: DeskKey, taken: &mut VecDeque<Finished<J>>) {
        self.lock().desks.take(desk, taken);
    }

    /// See [`Desks::rest`].
    pub(super) fn rest(&self, desk: DeskKey, enough: usize) -> usize {
        self.lock().desks.rest(desk, enough)
    }

    /// See [`Desks::observed`].
    pub(super) fn observed(&self, desk: DeskKey) -> Vec<observe::Job> {
        self.lock().desks.observed(desk)
    }

    pub(crate) fn measure(&self) {
        self.lock().measures = true;
    }

    pub(crate) fn metrics(&self) -> PoolMetrics {
        self.lock().metrics()
    }

    /// Has the threads end when the queue is empty, and waits for them, no longer than `patience` if there is one. What
    /// might take long, and has not begun, is cancelled.
    pub(crate) fn end(&self, patience: Option<Duration>) {
        let mut state = self.lock();
        state.is_ending = true;
        let threads = std::mem::take(&mut state.threads);
        while let Some(task) = state.queue.remove_first(Lane::SlowIo) {
            let errand = state.give_back(task, Err(Errno::ECANCELED));
            drop(state);
            if let Some(errand) = errand {
                errand.run();
            }
            state = self.lock();
        }
        drop(state);
        self.available.notify_all();
        if let Some(patience) = patience {
            let waited = self.ended.wait_timeout_while(self.lock(), patience, |state| state.gone < state.count);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.gone < state.count {
                // They are left to themselves, and nobody starts others.
                return;
            }
        }
        threads.into_iter().for_each(Thread::join);
        let mut state = self.lock();
        (state.is_ending, state.count, state.gone) = (false, 0, 0);
        state.open_or_shut();
    }

    /// What a thread does.
    fn work(&self) {
        let mut state = self.lock();
        // What the last job has left to do.
        let mut errand: Option<Errand<J>> = None;
        let mut last_desk = None;
        loop {
            let Some(mut task) = state.begin_next() else {
                if let Some(errand) = errand.take() {
                    drop(state);
                    errand.run();
                    state = self.lock();
                } else if state.is_ending {
                    return self.leave(state);
                } else {
                    state = self.stand_by(state, last_desk.take());
                }
                continue;
            };
            if state.has_orphans && !state.desks.is_open(task.desk) {
                state = self.discard(state, task);
                continue;
            }
            let must_wake = state.must_wake();
            drop(state);
            if must_wake {
                self.available.notify_one();
            }
            if errand.is_some() {
                errand.take().into_iter().for_each(Errand::run);
            }
            if task.since == 0 {
                task.job.run();
            } else {
                self.run_measured(&mut task);
            }
            state = self.lock();
            state.count_done(task.lane);
            last_desk = Some(task.desk);
            if let Some(left) = state.give_back(task, Ok(())) {
                errand = Some(left);
            }
        }
    }

    #[inline(never)]
    fn run_measured(&self, task: &mut Task<J>) {
        let begun = clock::now();
        task.job.run();
        let ended = clock::now();
        let mut state = self.lock();
        state.lanes[task.lane as usize].measure(task.since, begun, ended);
        let job = observe::Job { lane: Some(task.lane), queued: task.since, started: begun, finished: ended };
        state.desks.observe(task.desk, job);
    }

    /// The loop of a job is gone: it is not run.
    #[cold]
    fn discard<'a>(&'a self, mut state: MutexGuard<'a, State<J>>, task: Task<J>) -> MutexGuard<'a, State<J>> {
        state.count_done(task.lane);
        drop(state);
        Errand::Discard(task.job).run();
        self.lock()
    }

    /// There is nothing to do.
    #[inline(never)]
    fn stand_by<'a>(&'a self, mut state: MutexGuard<'a, State<J>>, last: Option<DeskKey>) -> MutexGuard<'a, State<J>> {
        if !state.queue.has_any(Lanes::ALL) {
            state.has_orphans = false;
        }
        match last {
            Some(desk) if !state.lingers && state.desks.is_busy(desk) => self.linger(state),
            _ => self.wait(state),
        }
    }

    /// Lets others use the processor for a moment.
    ///
    /// A loop that has come for many jobs is about to submit as many. To sleep and be woken for the first of them costs more
    /// than to run a dozen; and where they share a processor, the thread would be back before there is a second.
    fn linger<'a>(&'a self, mut state: MutexGuard<'a, State<J>>) -> MutexGuard<'a, State<J>> {
        state.lingers = true;
        self.is_called.store(false, Relaxed);
        drop(state);
        for _ in 0..LINGERING {
            yield_now();
            if self.is_called.load(Relaxed) {
                break;
            }
        }
        state = self.lock();
        state.lingers = false;
        state
    }

    /// Waits until there may be something to do.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State<J>>) -> MutexGuard<'a, State<J>> {
        state.idle += 1;
        state = self.available.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        state.is_waking = false;
        state
    }

    /// A thread ends.
    fn leave(&self, mut state: MutexGuard<'_, State<J>>) {
        state.gone += 1;
        if state.gone == state.count {
            self.ended.notify_all();
        }
    }
}

impl LaneMetrics {
    /// A job was run.
    fn measure(&mut self, since: u64, begun: u64, ended: u64) {
        self.run += ended - begun;
        self.wait += begun.saturating_sub(since);
    }
}

impl<J: Job> State<J> {
    /// True if there is room in the queue, and there are threads, which do not end.
    #[inline]
    fn is_ready(&self) -> bool {
        self.queue.has_room() && !self.threads.is_empty()
    }

    /// Sees to that.
    #[cold]
    fn prepare(&mut self, start: impl FnOnce(&mut Vec<Thread>) -> Result<()>) -> Result<()> {
        if self.is_ending {
            return Err(Errno::EAGAIN);
        }
        self.queue.reserve()?;
        if self.threads.is_empty() {
            start(&mut self.threads)?;
            self.count = self.threads.len();
            self.open_or_shut();
        }
        Ok(())
    }
}

/// Starts so many threads, or fewer if the system has no room for all of them.
///
/// # Errors
/// Why there is not even one.
pub(crate) fn start<J: Job>(
    crew: &Shared<Crew<J>>,
    threads: &mut Vec<Thread>,
    count: usize,
    name: &'static CStr,
) -> Result<()> {
    threads.try_reserve_exact(count)?;
    for _ in 0..count {
        match Thread::start(name, STACK, |crew: Shared<Crew<J>>| crew.work(), crew.clone()) {
            Ok(thread) => threads.push(thread),
            Err(error) if threads.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(())
}
