//! Jobs that a ring does in place of a thread, or the loop at once: operations on files.
//!
//! A loop makes its ring when it submits the first such job, if it wants one and can have one; whatever stands against it, the
//! pool does the job. What is submitted in one turn is entered by one system call, when the loop is about to wait. The ring's
//! descriptor is in the epoll set under [`WAKE`], so what has come back is collected with what threads hand back.

use std::collections::VecDeque;
use std::os::fd::AsRawFd;

use oxuv_os::epoll::{Epoll, EventFlags};
use oxuv_os::ring::{Name, Operation, Outcome, Ring};
use oxuv_os::system::env;
use oxuv_os::{Errno, Result, clock};

use crate::Ticket;
use crate::kernel::{Finished, Job, WAKE};
use crate::observe;
use crate::pool::OBSERVED;

/// Who does operations on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The pool.
    Pool,
    /// Each is done where that costs least: by the ring what kernels do without threads of their own, at once what takes but a
    /// moment if nothing else is under way, and all else by the pool.
    Fastest,
    /// The ring, all that it can do.
    Ring,
}

/// Set in the index of a ticket that is a ring's; no pool has so many jobs.
const RINGS: u32 = 1 << 31;

impl Ticket {
    /// That of a job that was done at once: there is no such place in a ring.
    const DONE: Ticket = Ticket { index: u32::MAX, generation: 1 };

    /// Whether the job is a ring's to do, not a thread's.
    pub fn is_of_ring(self) -> bool {
        self.index & RINGS != 0
    }
}

/// A loop's ring, and the jobs in it.
#[derive(Debug)]
pub(crate) struct RingJobs<J> {
    state: State<J>,
    way: Way,
    /// Whether the environment has had its say.
    is_decided: bool,
    /// Completions that are to be looked at.
    ready: usize,
    /// What has come back without a completion.
    early: VecDeque<Returned<J>>,
    /// So many of the ring's places have room there.
    room: usize,
    /// The loop is observed: when each job was queued and begun.
    times: Option<Times>,
}

/// What an observer is to hear of a ring's jobs.
#[derive(Debug, Default)]
struct Times {
    /// By the numbers of requests.
    spans: Vec<Span>,
    /// Requests that the kernel has not been told of.
    new: Vec<u32>,
    /// What came back since the observer was last told, of as many as [`OBSERVED`].
    done: Vec<observe::Job>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    queued: u64,
    /// 0 until the kernel is told of it.
    started: u64,
}

impl Times {
    fn queued(&mut self, request: u32) {
        let place = request as usize;
        if place >= self.spans.len() {
            let missing = place + 1 - self.spans.len();
            if self.spans.try_reserve(missing).is_err() {
                return;
            }
            self.spans.resize(place + 1, Span::default());
        }
        if self.new.try_reserve(1).is_ok() {
            self.spans[place] = Span { queued: clock::now(), started: 0 };
            self.new.push(request);
        }
    }

    fn entered(&mut self) {
        let now = clock::now();
        self.new.drain(..).for_each(|request| self.spans[request as usize].started = now);
    }

    fn done(&mut self, request: u32) {
        let Some(span) = self.spans.get_mut(request as usize) else { return };
        let Span { queued, started } = std::mem::take(span);
        // Else it was submitted before there was an observer.
        if started > 0 && self.done.len() < OBSERVED && self.done.try_reserve(1).is_ok() {
            self.done.push(observe::Job { lane: None, queued, started, finished: clock::now() });
        }
    }
}

#[derive(Debug)]
enum State<J> {
    /// Nothing was submitted yet.
    Unused,
    /// There is one. The number is the request's.
    On(Ring<(u32, J)>),
    /// It takes no more operations; what it has comes back.
    Ending(Ring<(u32, J)>),
    /// There is none.
    Off,
}

/// A job that the ring has done, or has not.
#[derive(Debug)]
pub(crate) enum Returned<J> {
    Finished(Finished<J>),
    ForThread { request: u32, job: J },
}

impl<J> Default for RingJobs<J> {
    fn default() -> Self {
        let (state, way, early) = (State::Unused, Way::Fastest, VecDeque::new());
        RingJobs { state, way, is_decided: false, ready: 0, early, room: 0, times: None }
    }
}

impl<J: Job> RingJobs<J> {
    pub(crate) fn use_it(&mut self, on: bool) {
        (self.way, self.is_decided) = (if on { Way::Ring } else { Way::Pool }, false);
        if on && matches!(self.state, State::Off) {
            self.state = State::Unused;
        }
    }

    pub(crate) fn is_there(&self) -> bool {
        matches!(self.state, State::On(_))
    }

    fn ring(&mut self) -> Option<&mut Ring<(u32, J)>> {
        match &mut self.state {
            State::On(ring) | State::Ending(ring) => Some(ring),
            State::Unused | State::Off => None,
        }
    }

    /// The way that was asked for, if the environment has nothing against it.
    fn way(&mut self) -> Way {
        if !self.is_decided {
            self.is_decided = true;
            self.way = match (self.way, environment_allows()) {
                (_, Some(false)) => Way::Pool,
                (Way::Fastest, Some(true)) => Way::Ring,
                (way, _) => way,
            };
        }
        self.way
    }

    /// Whether nothing is under way here.
    pub(crate) fn is_idle(&self) -> bool {
        let is_empty = match &self.state {
            State::On(ring) | State::Ending(ring) => ring.is_empty(),
            State::Unused | State::Off => true,
        };
        is_empty && self.early.is_empty()
    }

    /// Does the job here and now, if that takes but a moment: it is there to be collected then. Else it is back.
    pub(crate) fn run_at_once(&mut self, request: u32, mut job: J) -> Result<Ticket, J> {
        if self.way() != Way::Fastest || self.early.try_reserve(1).is_err() || !job.run_at_once() {
            return Err(job);
        }
        self.early.push_back(Returned::Finished(Finished { request, job, result: Ok(()) }));
        Ok(Ticket::DONE)
    }

    /// Gives the job to the ring; it is back if it is for a thread.
    pub(crate) fn submit(&mut self, request: u32, mut job: J, epoll: &Epoll) -> Result<Ticket, J> {
        let way = self.way();
        if way == Way::Pool || (way == Way::Fastest && !job.may_be_quick()) {
            return Err(job);
        }
        if matches!(self.state, State::Unused) {
            self.state = Ring::new().map_or(State::Off, State::On);
            if self.watch(epoll).is_err() {
                self.state = State::Off;
            }
        }
        let State::On(ring) = &mut self.state else { return Err(job) };
        // A child of a fork has a ring when its loop was told of the fork.
        if !ring.is_of_this_process() {
            return Err(job);
        }
        let Ok(place) = ring.place() else { return Err(job) };
        job.put_operation(place);
        let is_for_ring = way == Way::Ring || place.is_quick();
        let has_room = is_for_ring && reserve(&mut self.early, &mut self.room, ring.places()).is_ok();
        let submitted = if has_room { ring.submit((request, job)) } else { Err((request, job)) };
        let Name { index, generation } = match submitted {
            Ok(name) => name,
            Err((_, mut job)) => {
                ring.withdraw(|operation| job.take_back(operation));
                return Err(job);
            }
        };
        if let Some(times) = &mut self.times {
            times.queued(request);
        }
        Ok(Ticket { index: index | RINGS, generation })
    }

    /// Takes a job back. True if it is there at once, to be collected.
    ///
    /// # Errors
    /// EBUSY when it is done, or cannot be stopped.
    pub(crate) fn cancel(&mut self, ticket: Ticket) -> Result<bool> {
        let name = Name { index: ticket.index & !RINGS, generation: ticket.generation };
        let ring = self.ring().filter(|ring| ring.is_of_this_process()).ok_or(Errno::EBUSY)?;
        let Some(((request, mut job), mut operation)) = ring.cancel(name)? else { return Ok(false) };
        job.take_back(&mut operation);
        self.early.push_back(Returned::Finished(Finished { request, job, result: Err(Errno::ECANCELED) }));
        Ok(true)
    }

    #[inline]
    pub(crate) fn must_enter(&self) -> bool {
        matches!(&self.state, State::On(ring) if ring.must_enter())
    }

    /// Has completions wake the loop.
    ///
    /// # Errors
    /// ENOMEM, ENOSPC.
    pub(crate) fn watch(&self, epoll: &Epoll) -> Result<()> {
        match &self.state {
            State::On(ring) | State::Ending(ring) => epoll.set(ring.as_raw_fd(), WAKE, EventFlags::IN, false),
            State::Unused | State::Off => Ok(()),
        }
    }

    /// Has the times of jobs kept that are submitted from now on.
    pub(crate) fn observe(&mut self) {
        self.times.get_or_insert_default();
    }

    /// Tells of the jobs that came back since it was last asked.
    pub(crate) fn observed(&mut self, tell: &mut dyn FnMut(observe::Job)) {
        if let Some(times) = &mut self.times {
            times.done.drain(..).for_each(tell);
        }
    }

    /// In a child: what was submitted is its parent's, and lost. The child makes a ring of its own when it needs one.
    pub(crate) fn lose(&mut self) {
        if let State::On(ring) | State::Ending(ring) = std::mem::replace(&mut self.state, State::Unused) {
            ring.forget();
        }
        self.ready = 0;
        if let Some(times) = &mut self.times {
            *times = Times::default();
        }
        std::mem::forget(std::mem::take(&mut self.early));
        self.room = 0;
    }

    /// Has the kernel begin what is new.
    ///
    /// # Errors
    /// Why it takes no more. What it has not taken comes back for the pool then, and so does all that follows.
    pub(crate) fn enter(&mut self) -> Result<()> {
        let State::On(ring) = &mut self.state else { return Ok(()) };
        if !ring.is_of_this_process() {
            return Ok(());
        }
        let entered = ring.enter();
        if let Some(times) = &mut self.times {
            times.entered();
        }
        if entered.is_err()
            && let State::On(mut ring) = std::mem::replace(&mut self.state, State::Off)
        {
            while let Some(((request, mut job), mut operation)) = ring.take_waiting() {
                job.take_back(&mut operation);
                self.early.push_back(Returned::ForThread { request, job });
            }
            self.state = State::Ending(ring);
        }
        entered
    }

    /// Collects what has come back by now, and returns how much that is.
    #[inline]
    pub(crate) fn take(&mut self, epoll: &Epoll) -> usize {
        if matches!(self.state, State::Unused | State::Off) {
            return self.early.len();
        }
        self.take_completed(epoll)
    }

    #[inline(never)]
    fn take_completed(&mut self, epoll: &Epoll) -> usize {
        self.ready = match self.ring() {
            Some(ring) if ring.is_of_this_process() => ring.completed(),
            _ => 0,
        };
        if self.ready == 0
            && let State::Ending(ring) = &self.state
            && ring.is_empty()
        {
            // A child of a fork may have it open still, so it does not leave the set by being closed.
            epoll.remove(ring.as_raw_fd());
            self.state = State::Off;
        }
        self.ready + self.early.len()
    }

    /// True if something of what was collected is left.
    #[inline]
    pub(crate) fn has_returned(&self) -> bool {
        self.ready > 0 || !self.early.is_empty()
    }

    /// The next of what was collected.
    pub(crate) fn next(&mut self) -> Option<Returned<J>> {
        if let Some(returned) = self.early.pop_front() {
            return Some(returned);
        }
        while self.ready > 0 {
            self.ready -= 1;
            let (State::On(ring) | State::Ending(ring)) = &mut self.state else { return None };
            let times = &mut self.times;
            let returned = ring.next_done(|(request, job), outcome, operation| {
                if let (Some(times), Outcome::Answer(_)) = (times, &outcome) {
                    times.done(request);
                }
                returned(request, job, outcome, operation)
            });
            if returned.is_some() {
                return returned;
            }
        }
        None
    }
}

/// Makes room for what comes back early from so many places.
#[inline]
fn reserve<J>(early: &mut VecDeque<Returned<J>>, room: &mut usize, places: usize) -> Result<()> {
    if *room < places {
        early.try_reserve(places)?;
        *room = places;
    }
    Ok(())
}

/// The job gets what the ring has found out.
#[inline]
fn returned<J: Job>(request: u32, mut job: J, outcome: Outcome, operation: &mut Operation) -> Returned<J> {
    let result = match outcome {
        Outcome::Answer(result) => {
            job.answered(result, operation);
            Ok(())
        }
        Outcome::Cancelled => {
            job.take_back(operation);
            Err(Errno::ECANCELED)
        }
        Outcome::Elsewhere => {
            job.take_back(operation);
            return Returned::ForThread { request, job };
        }
    };
    Returned::Finished(Finished { request, job, result })
}

/// What the environment's `UV_USE_IO_URING` says: yes if it is a positive number. `None` if it is not there.
pub(crate) fn environment_allows() -> Option<bool> {
    env::copy(c"UV_USE_IO_URING", &mut [0; 16]).map(is_positive)
}

fn is_positive(value: &[u8]) -> bool {
    let value = value.trim_ascii_start();
    let digits = value.strip_prefix(b"+").unwrap_or(value);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.get(zeros).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_number_in_front_is_yes() {
        for yes in ["1", " +2", "017", "1x", "10"] {
            assert!(is_positive(yes.as_bytes()), "{yes}");
        }
        for no in ["0", "", "-1", "no", "00", "+", "x1"] {
            assert!(!is_positive(no.as_bytes()), "{no}");
        }
    }
}
