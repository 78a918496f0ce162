//! The threads, and what they share.

use std::ffi::CStr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxuv_os::{Errno, Result, Shared, Thread, clock};

use super::desk::Desk;
use super::queue::{Lane, Queue, Ticket};
use super::{LaneMetrics, PoolMetrics};
use crate::kernel::{Finished, Job};

/// What libuv's pool threads have, in bytes.
const STACK: usize = 8 << 20;

/// So often a lane is passed over, at least; more often where there are many threads, for whom jobs of one lane are begun together.
const PATIENCE: usize = 8;

/// A job that was submitted.
#[derive(Debug)]
pub(crate) struct Task<J> {
    pub(crate) job: J,
    /// The loop's number for it.
    pub(crate) request: u32,
    /// Where it goes when it is finished.
    pub(crate) desk: Shared<Desk<J>>,
    /// When it was submitted, in nanoseconds; 0 if that is not measured.
    pub(crate) since: u64,
}

impl<J: Job> Task<J> {
    /// Runs the job and gives it back to its loop. If that is gone, the job is dropped.
    fn run(mut self) {
        if self.desk.is_closed() {
            return;
        }
        self.job.run();
        self.give_back(Ok(()));
    }

    pub(crate) fn give_back(self, result: Result<()>) {
        self.desk.put(Finished { request: self.request, job: self.job, result });
    }
}

/// The threads of one process, and the jobs that wait for them.
#[derive(Debug)]
pub(crate) struct Crew<J> {
    state: Mutex<State<J>>,
    /// A job is there that a thread may run, or the threads are to end.
    available: Condvar,
    /// The last thread has ended.
    ended: Condvar,
}

#[derive(Debug)]
struct State<J> {
    queue: Queue<Task<J>>,
    /// Those to be joined.
    threads: Vec<Thread>,
    /// How many there are, those included that are being joined.
    count: usize,
    /// How many of these have ended.
    gone: usize,
    /// Threads that wait.
    idle: usize,
    /// One of them was woken and has not come yet: that is enough, it wakes the next one if there is need of it.
    is_waking: bool,
    is_ending: bool,
    measures: bool,
    lanes: [LaneMetrics; 3],
}

impl<J: Job> State<J> {
    /// True if a job of this lane may begin.
    fn is_open(lanes: &[LaneMetrics; 3], threads: usize, lane: Lane) -> bool {
        lane != Lane::SlowIo || lanes[lane as usize].running < threads.div_ceil(2)
    }

    /// Takes out the next job that may begin.
    fn begin_next(&mut self) -> Option<(Lane, Task<J>)> {
        let (lanes, threads) = (&self.lanes, self.count);
        let (lane, task) = self.queue.pop(PATIENCE.max(2 * threads), |lane| Self::is_open(lanes, threads, lane))?;
        self.lanes[lane as usize].running += 1;
        Some((lane, task))
    }

    /// True if a thread has to be woken.
    fn must_wake(&mut self) -> bool {
        if self.idle == 0 || self.is_waking {
            return false;
        }
        let (lanes, threads) = (&self.lanes, self.count);
        self.is_waking = self.queue.has_any(|lane| Self::is_open(lanes, threads, lane));
        self.is_waking
    }

    fn metrics(&self) -> PoolMetrics {
        let mut metrics = PoolMetrics { threads: self.count, lanes: self.lanes };
        for lane in Lane::ALL {
            metrics.lanes[lane as usize].queued = self.queue.len(lane);
        }
        metrics
    }
}

impl<J: Job> Crew<J> {
    pub(crate) fn new(seed: u32) -> Self {
        let state = State {
            queue: Queue::new(seed),
            threads: Vec::new(),
            count: 0,
            gone: 0,
            idle: 0,
            is_waking: false,
            is_ending: false,
            measures: false,
            lanes: [LaneMetrics::default(); 3],
        };
        Crew { state: Mutex::new(state), available: Condvar::new(), ended: Condvar::new() }
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
        let must_wake = state.must_wake();
        drop(state);
        if must_wake {
            self.available.notify_one();
        }
        Ok(ticket)
    }

    /// Takes back a job that has not begun; `None` if it has.
    pub(crate) fn cancel(&self, ticket: Ticket) -> Option<Task<J>> {
        self.lock().queue.remove(ticket)
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
        while let Some((_, task)) = state.queue.pop(0, |lane| lane == Lane::SlowIo) {
            drop(state);
            task.give_back(Err(Errno::ECANCELED));
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
        loop {
            let Some((lane, task)) = state.begin_next() else {
                if state.is_ending {
                    state.gone += 1;
                    if state.gone == state.count {
                        self.ended.notify_all();
                    }
                    return;
                }
                state.idle += 1;
                state = self.available.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                state.is_waking = false;
                continue;
            };
            let measures = state.measures;
            let must_wake = state.must_wake();
            drop(state);
            if must_wake {
                self.available.notify_one();
            }
            let (since, begun) = (task.since, if measures { clock::now() } else { 0 });
            task.run();
            let ended = if measures { clock::now() } else { 0 };
            state = self.lock();
            let lane = &mut state.lanes[lane as usize];
            lane.running -= 1;
            lane.done += 1;
            lane.run += ended - begun;
            if since != 0 {
                lane.wait += begun.saturating_sub(since);
            }
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
