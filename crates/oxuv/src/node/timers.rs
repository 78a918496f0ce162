//! Node's timers on a loop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::{Outcome, Pass, Script, TimerKey, TimerLists};
use crate::{LoopRef, Result, Timer};

/// Node's timers: any number of them on one timer of the loop, in Node's order (see [`TimerLists`]).
///
/// All that is due is called in one go, phase timers, with the script's queues [drained](Script::drain) between any two
/// callbacks and after the last; but after one that threw, the next comes first.
pub struct Timers<S: Script>(Rc<Inner<S>>);

struct Inner<S: Script> {
    owner: LoopRef,
    script: Rc<S>,
    timer: Timer,
    lists: RefCell<TimerLists<S::Task>>,
    /// When the loop's timer is due, in milliseconds of `now`; `u64::MAX` when it is not started.
    armed: Cell<u64>,
    /// True while callbacks run: the loop's timer is started after them.
    is_running: Cell<bool>,
    /// The loop's time when this was made: Node's timers count from it.
    base: Duration,
}

impl<S: Script> Timers<S> {
    /// No timers yet, for this script on this loop.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    pub fn new(owner: &LoopRef, script: Rc<S>) -> Result<Timers<S>> {
        let timer = Timer::new(owner)?;
        timer.unref()?;
        let inner = Rc::new(Inner {
            owner: owner.clone(),
            script,
            timer,
            lists: RefCell::default(),
            armed: Cell::new(u64::MAX),
            is_running: Cell::new(false),
            base: owner.now(),
        });
        // The closure is given once; from here on the timer is put off and on only.
        let weak = Rc::downgrade(&inner);
        inner.timer.start(Duration::MAX, move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.run();
            }
        })?;
        inner.timer.stop()?;
        Ok(Timers(inner))
    }

    /// Starts a timer of so many milliseconds, counted from now: the clock is read.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn insert(&self, task: S::Task, duration: u32, is_referenced: bool) -> Result<TimerKey> {
        self.insert_from(task, duration, self.now(), is_referenced)
    }

    /// Starts a timer that counts from `start`, a time of [`Timers::now`]: an interval counts from before its callback.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn insert_from(&self, task: S::Task, duration: u32, start: u64, is_referenced: bool) -> Result<TimerKey> {
        let key = self.0.lists.borrow_mut().insert(task, duration, start, is_referenced);
        self.0.arm(1)?;
        Ok(key)
    }

    /// Starts several that count from the same `start`: each with its duration, and whether it is referenced. Their keys go
    /// to `keep`, with what they carry.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn insert_all(
        &self,
        start: u64,
        timers: impl IntoIterator<Item = (S::Task, u32, bool)>,
        mut keep: impl FnMut(&S::Task, TimerKey),
    ) -> Result<()>
    where
        S::Task: Copy,
    {
        {
            let mut lists = self.0.lists.borrow_mut();
            for (task, duration, is_referenced) in timers {
                keep(&task, lists.insert(task, duration, start, is_referenced));
            }
        }
        // They may be due by now: then they come in the next phase, as if they had been started when `start` was.
        self.0.arm(0)
    }

    /// Stops a timer; what it carried comes back.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn remove(&self, key: TimerKey) -> Result<Option<S::Task>> {
        let task = self.0.lists.borrow_mut().remove(key);
        self.0.reference()?;
        Ok(task)
    }

    /// Whether the timer keeps the loop alive. Nothing happens if it has come or was stopped.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn set_referenced(&self, key: TimerKey, is_referenced: bool) -> Result<()> {
        self.0.lists.borrow_mut().set_referenced(key, is_referenced);
        self.0.reference()
    }

    /// The time in milliseconds since these timers were made, from a clock that is read now.
    pub fn now(&self) -> u64 {
        self.0.now()
    }

    /// The point that [`now`](Timers::now) counts from, by the loop's clock.
    pub fn base(&self) -> Duration {
        self.0.base
    }

    /// Ends it: stops all timers, and closes the handle.
    ///
    /// # Errors
    /// EINVAL when that was done, or the loop is gone.
    pub fn close(&self) -> Result<()> {
        let lists = self.0.lists.take();
        drop(lists);
        self.0.timer.close()
    }
}

impl<S: Script> Clone for Timers<S> {
    fn clone(&self) -> Timers<S> {
        Timers(self.0.clone())
    }
}

impl<S: Script> Inner<S> {
    fn now(&self) -> u64 {
        self.owner.update_time();
        (self.owner.now().saturating_sub(self.base)).as_millis() as u64
    }

    /// Starts the loop's timer, if the first list is due before it; `least` is the least it waits, in milliseconds.
    fn arm(&self, least: u64) -> Result<()> {
        if self.is_running.get() {
            return Ok(());
        }
        if let Some(due) = self.lists.borrow().due().filter(|due| *due < self.armed.get()) {
            let from_now = due.saturating_sub(self.now()).max(least);
            self.timer.restart(Duration::from_millis(from_now))?;
            self.armed.set(due);
        }
        self.reference()
    }

    fn reference(&self) -> Result<()> {
        // While callbacks run, the last of them may start or stop what counts.
        if self.is_running.get() {
            return Ok(());
        }
        if self.lists.borrow().has_referenced() { self.timer.r#ref() } else { self.timer.unref() }
    }

    /// Calls the timer that the pass has come to, or all that it comes to in that list.
    fn call(&self, key: TimerKey, pass: &mut Pass) -> Outcome {
        if S::TAKES_LISTS {
            let tasks = self.lists.borrow_mut().take_list(pass);
            return if tasks.is_empty() { Outcome::Done } else { self.script.call_list(tasks) };
        }
        let task = self.lists.borrow_mut().take(key);
        task.map_or(Outcome::Done, |task| self.script.call(task))
    }

    /// Calls all that is due.
    fn run(&self) {
        self.armed.set(u64::MAX);
        self.is_running.set(true);
        let _running = Running(self);
        let now = self.now();
        let mut pass = Pass::new(now);
        let mut must_drain = false;
        loop {
            let Some(key) = self.lists.borrow_mut().next(&mut pass) else { break };
            let mut outcome = if must_drain { self.script.drain() } else { Outcome::Done };
            if outcome == Outcome::Done {
                must_drain = true;
                outcome = self.call(key, &mut pass);
            }
            match outcome {
                Outcome::Done => {}
                Outcome::Threw => {
                    must_drain = false;
                    pass = Pass::new(now);
                }
                Outcome::Stop => return,
            }
        }
        drop(_running);
        self.script.drain();
    }
}

/// Callbacks run as long as this lives; afterwards, also when one panicked, the loop's timer is started for the rest.
struct Running<'a, S: Script>(&'a Inner<S>);

impl<S: Script> Drop for Running<'_, S> {
    fn drop(&mut self) {
        self.0.is_running.set(false);
        // It fails only when the loop is gone: then nothing comes any more.
        let _ = self.0.arm(1);
    }
}
