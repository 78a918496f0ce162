//! Node's immediates on a loop.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::{Outcome, Script};
use crate::{Check, Idle, LoopRef, Result};

/// Which immediate of [`Immediates`]: a number that is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImmediateKey(u64);

impl ImmediateKey {
    /// The key as a number, for languages that have only numbers.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The key of such a number.
    pub fn from_bits(bits: u64) -> ImmediateKey {
        ImmediateKey(bits)
    }
}

/// Node's immediates: called once, in the check phase of this turn, or of the next one if they are made in it.
///
/// They stand in one queue, on a check handle of the loop; an idle handle keeps poll from waiting while one of them is
/// referenced. Between any two callbacks and after the last the script's queues are [drained](Script::drain); but after
/// one that threw, the next comes first. What is [left](Script::has_rest) from an exception before the check phase is
/// drained at its beginning.
pub struct Immediates<S: Script>(Rc<Inner<S>>);

struct Inner<S: Script> {
    script: Rc<S>,
    check: Check,
    idle: Idle,
    queues: RefCell<Queues<S::Task>>,
}

struct Queues<T> {
    /// Those whose turn it is, while callbacks run.
    running: Queue<T>,
    /// Those made since.
    waiting: Queue<T>,
    referenced: usize,
}

/// Immediates with consecutive numbers. One that was removed leaves its place empty.
struct Queue<T> {
    first: u64,
    entries: VecDeque<Option<Entry<T>>>,
}

struct Entry<T> {
    task: T,
    is_referenced: bool,
}

impl<T> Queue<T> {
    fn get(&mut self, key: ImmediateKey) -> Option<&mut Option<Entry<T>>> {
        self.entries.get_mut(usize::try_from(key.0.checked_sub(self.first)?).ok()?)
    }

    fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn pop(&mut self) -> Option<Option<Entry<T>>> {
        let entry = self.entries.pop_front()?;
        self.first += 1;
        Some(entry)
    }
}

impl<T> Queues<T> {
    fn get(&mut self, key: ImmediateKey) -> Option<&mut Option<Entry<T>>> {
        match self.running.get(key) {
            None => self.waiting.get(key),
            found => found,
        }
    }
}

impl<S: Script> Immediates<S> {
    /// No immediates yet, for this script on this loop.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    pub fn new(owner: &LoopRef, script: Rc<S>) -> Result<Immediates<S>> {
        let queue = || Queue { first: 1, entries: VecDeque::new() };
        let inner = Rc::new(Inner {
            script,
            check: Check::new(owner)?,
            idle: Idle::new(owner)?,
            queues: RefCell::new(Queues { running: queue(), waiting: queue(), referenced: 0 }),
        });
        let weak = Rc::downgrade(&inner);
        inner.check.start(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.run();
            }
        })?;
        inner.check.unref()?;
        Ok(Immediates(inner))
    }

    /// Adds one to the end of the queue.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn add(&self, task: S::Task, is_referenced: bool) -> Result<ImmediateKey> {
        let key = {
            let mut queues = self.0.queues.borrow_mut();
            let key = ImmediateKey(queues.waiting.next());
            queues.waiting.entries.push_back(Some(Entry { task, is_referenced }));
            queues.referenced += usize::from(is_referenced);
            key
        };
        if is_referenced {
            self.0.reference()?;
        }
        Ok(key)
    }

    /// Takes one out of the queue; what it carried comes back.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn remove(&self, key: ImmediateKey) -> Result<Option<S::Task>> {
        let entry = {
            let mut queues = self.0.queues.borrow_mut();
            let entry = queues.get(key).and_then(Option::take);
            queues.referenced -= usize::from(entry.as_ref().is_some_and(|entry| entry.is_referenced));
            entry
        };
        self.0.reference()?;
        Ok(entry.map(|entry| entry.task))
    }

    /// Whether it keeps the loop alive. Nothing happens if it has come or was removed.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn set_referenced(&self, key: ImmediateKey, is_referenced: bool) -> Result<()> {
        {
            let mut queues = self.0.queues.borrow_mut();
            if let Some(Some(entry)) = queues.get(key) {
                let was = std::mem::replace(&mut entry.is_referenced, is_referenced);
                queues.referenced = queues.referenced - usize::from(was) + usize::from(is_referenced);
            }
        }
        self.0.reference()
    }

    /// Ends it: forgets all immediates, and closes the handles.
    ///
    /// # Errors
    /// EINVAL when that was done, or the loop is gone.
    pub fn close(&self) -> Result<()> {
        let (running, waiting) = {
            let mut queues = self.0.queues.borrow_mut();
            queues.referenced = 0;
            (std::mem::take(&mut queues.running.entries), std::mem::take(&mut queues.waiting.entries))
        };
        drop((running, waiting));
        self.0.idle.close()?;
        self.0.check.close()
    }
}

impl<S: Script> Clone for Immediates<S> {
    fn clone(&self) -> Immediates<S> {
        Immediates(self.0.clone())
    }
}

impl<S: Script> Inner<S> {
    /// The idle handle runs while something is referenced.
    fn reference(&self) -> Result<()> {
        if self.queues.borrow().referenced > 0 { self.idle.start(|_| ()) } else { self.idle.stop() }
    }

    /// Calls those that are in the queue now; before them, what an exception has left is drained.
    fn run(&self) {
        if self.script.has_rest() && self.script.drain() == Outcome::Stop {
            return;
        }
        {
            let mut queues = self.queues.borrow_mut();
            if queues.waiting.entries.is_empty() && queues.running.entries.is_empty() {
                return;
            }
            // There are some already if a callback of the last time has panicked: they come first.
            if queues.running.entries.is_empty() {
                let next = queues.waiting.next();
                queues.running.first = queues.waiting.first;
                queues.running.entries = std::mem::take(&mut queues.waiting.entries);
                queues.waiting.first = next;
            }
        }
        let mut must_drain = false;
        loop {
            let is_over = self.queues.borrow().running.entries.is_empty();
            if is_over {
                break;
            }
            let mut outcome = if must_drain { self.script.drain() } else { Outcome::Done };
            if outcome == Outcome::Done {
                must_drain = true;
                outcome = self.pop().map_or(Outcome::Done, |task| self.script.call(task));
            }
            match outcome {
                Outcome::Done => {}
                Outcome::Threw => must_drain = false,
                Outcome::Stop => return,
            }
        }
        let _ = self.reference();
        if must_drain {
            self.script.drain();
        }
    }

    fn pop(&self) -> Option<S::Task> {
        let mut queues = self.queues.borrow_mut();
        let entry = queues.running.pop()??;
        queues.referenced -= usize::from(entry.is_referenced);
        Some(entry.task)
    }
}
