//! The threads, and what they share.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxuv_os::{Errno, Result, Shared, Thread, clock};

use super::desk::{DeskKey, Desks, Errand};
use super::queue::{Lane, Lanes, Queue, Ticket};
use super::{LaneMetrics, PoolMetrics};
use crate::kernel::{Finished, Job};
use crate::linux::Waker;

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
    /// The loop's number for it.
    pub(crate) request: u32,
    /// Where it goes when it is finished.
    pub(super) desk: DeskKey,
    /// When it was submitted, in nanoseconds; 0 if that is not measured.
    pub(crate) since: u64,
}

/// The threads of one process, and the jobs that wait for them.
#[derive(Debug)]
pub(crate) struct Crew<J> {
    state: Mutex<State<J>>,
    /// A job is there that a thread may run, or the threads are to end.
    available: Condvar,
    /// The same for the thread that lingers.
    is_called: AtomicBool,
    /// The last thread has ended.
    ended: Condvar,
}

#[derive(Debug)]
struct State<J> {
    queue: Queue<Task<J>>,
    desks: Desks<J>,
    /// Those to be joined.
    threads: Vec<Thread>,
    /// How many there are, those included that are being joined.
    count: usize,
    /// How many of these have ended.
    gone: usize,
    /// Threads that wait.
    idle: usize,
    /// A thread has nothing to do, but lingers.
    lingers: bool,
    /// One of them was woken and has not come yet: that is enough, it wakes the next one if there is need of it.
    is_waking: bool,
    is_ending: bool,
    measures: bool,
    /// Jobs of each lane that run now.
    running: [usize; 3],
    /// What else is counted.
    lanes: [LaneMetrics; 3],
}

impl<J: Job> State<J> {
    /// The lanes of which a job may begin.
    fn open_lanes(&self) -> Lanes {
        let is_open = self.running[Lane::SlowIo as usize] < self.count.div_ceil(2);
        if is_open { Lanes::ALL } else { Lanes::ALL.without(Lane::SlowIo) }
    }

    /// Takes out the next job that may begin.
    fn begin_next(&mut self) -> Option<(Lane, Task<J>)> {
        let (lane, task) = self.queue.pop(PATIENCE.max(2 * self.count), self.open_lanes())?;
        self.running[lane as usize] += 1;
        Some((lane, task))
    }

    /// Gives a job back to its loop.
    fn give_back(&mut self, task: Task<J>, result: Result<()>) -> Errand<J> {
        let Task { job, request, desk, .. } = task;
        let is_last = !self.queue.has_any(self.open_lanes());
        self.desks.put(desk, Finished { request, job, result }, is_last)
    }

    /// True if a thread has to be woken.
    fn must_wake(&mut self) -> bool {
        if self.idle == 0 || self.is_waking || (self.lingers && self.queue.has_one()) {
            return false;
        }
        self.is_waking = self.queue.has_any(self.open_lanes());
        self.is_waking
    }

    fn metrics(&self) -> PoolMetrics {
        let mut metrics = PoolMetrics { threads: self.count, lanes: self.lanes };
        for lane in Lane::ALL {
            metrics.lanes[lane as usize].queued = self.queue.len(lane);
            metrics.lanes[lane as usize].running = self.running[lane as usize];
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
            running: [0; 3],
            lanes: [LaneMetrics::default(); 3],
        };
        Crew {
            state: Mutex::new(state),
            available: Condvar::new(),
            is_called: AtomicBool::new(false),
            ended: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job. `start` is asked for the threads if there are none.
    pub(crate) fn submit(
        &self,
        lane: Lane,
        mut task: Task<J>,
        start: impl FnOnce(&mut Vec<Thread>) -> Result<()>,
    ) -> Result<Ticket, (Errno, Task<J>)> {
        let mut state = self.lock();
        if let Err(error) = state.prepare(start) {
            return Err((error, task));
        }
        if state.measures {
            task.since = clock::now();
        }
        let ticket = state.queue.push(lane, task);
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
        errand.run();
        Ok(())
    }

    pub(super) fn open_desk(&self, waker: Waker) -> Result<DeskKey> {
        self.lock().desks.open(waker)
    }

    pub(super) fn close_desk(&self, desk: DeskKey) {
        let left = self.lock().desks.close(desk);
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
        while let Some((_, task)) = state.queue.pop(0, Lanes::of(Lane::SlowIo)) {
            let errand = state.give_back(task, Err(Errno::ECANCELED));
            drop(state);
            errand.run();
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
    }

    /// What a thread does.
    fn work(&self) {
        let mut state = self.lock();
        // What the last job has left to do.
        let mut errand = Errand::Nothing;
        let mut last_desk = None;
        loop {
            let Some((lane, mut task)) = state.begin_next() else {
                if !matches!(errand, Errand::Nothing) {
                    drop(state);
                    std::mem::replace(&mut errand, Errand::Nothing).run();
                    state = self.lock();
                } else if state.is_ending {
                    return self.leave(state);
                } else if let Some(desk) = last_desk.take()
                    && !state.lingers
                    && state.desks.is_busy(desk)
                {
                    state = self.linger(state);
                } else {
                    state = self.wait(state);
                }
                continue;
            };
            let (must_wake, is_wanted, measures) = (state.must_wake(), state.desks.is_open(task.desk), state.measures);
            drop(state);
            if must_wake {
                self.available.notify_one();
            }
            std::mem::replace(&mut errand, Errand::Nothing).run();
            let begun = if measures { clock::now() } else { 0 };
            if is_wanted {
                task.job.run();
            }
            let ended = if measures { clock::now() } else { 0 };
            state = self.lock();
            state.running[lane as usize] -= 1;
            state.lanes[lane as usize].count(task.since, begun, ended);
            last_desk = Some(task.desk);
            errand = state.give_back(task, Ok(()));
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
            std::thread::yield_now();
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
    /// A job was run. The times are 0 where nobody has looked at the clock.
    fn count(&mut self, since: u64, begun: u64, ended: u64) {
        self.done += 1;
        self.run += ended - begun;
        if since != 0 {
            self.wait += begun.saturating_sub(since);
        }
    }
}

impl<J: Job> State<J> {
    /// Sees to room in the queue, and to threads.
    fn prepare(&mut self, start: impl FnOnce(&mut Vec<Thread>) -> Result<()>) -> Result<()> {
        if self.is_ending {
            return Err(Errno::EAGAIN);
        }
        self.queue.reserve()?;
        if self.threads.is_empty() {
            start(&mut self.threads)?;
            self.count = self.threads.len();
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
