//! Those who wait for one thing: all are woken when it has come, and each looks for itself whether it has come for it.

use std::cell::Cell;
use std::task::{Context, Waker};

use super::here::Site;
use super::wakeup::Id;
use crate::loop_::Inner;

/// Those who wait. As long as there is but one, nothing is allocated, and it takes part of a cache line: each connection has two of
/// these, and with many connections it is memory that a request waits for.
///
/// Everything is taken out while it is looked at, and no foreign code runs meanwhile.
#[derive(Default)]
pub(crate) struct Waiters {
    /// `None` only if there are no others either.
    first: Cell<Option<Entry>>,
    others: Cell<Option<Box<Others>>>,
    /// So many have waited so far.
    tickets: Cell<u64>,
}

struct Others(Vec<Entry>);

struct Entry {
    number: u64,
    whom: Whom,
}

/// Whom to wake: by default nobody.
pub(crate) enum Whom {
    /// A task of the loop's, which needs no waker.
    Task(Id),
    Other(Waker),
}

/// One who may wait, and does no more when this is dropped.
pub(crate) struct Waiter<'a> {
    waiters: &'a Waiters,
    /// 0 before it has waited for the first time: mostly nobody has to.
    number: Cell<u64>,
}

/// Who waits.
#[derive(Clone, Copy)]
pub(crate) struct Ticket<'a>(Option<&'a Cell<u64>>);

impl Ticket<'_> {
    /// All who poll without being a [`Waiter`], and so cannot say when they have given up: the last of them is woken.
    pub(crate) const LAST_POLLED: Ticket<'static> = Ticket(None);
}

impl Waiters {
    #[inline]
    pub(crate) fn enter(&self) -> Waiter<'_> {
        Waiter { waiters: self, number: Cell::new(0) }
    }

    /// Has the task of this context woken next time, instead of the one that had this ticket before.
    #[inline]
    pub(crate) fn wait(&self, inner: &Inner, whose: Ticket<'_>, context: &Context<'_>) {
        let task = inner.tasks.of_context(context);
        let number = self.number(whose);
        match self.first.take() {
            None => {}
            Some(first) => {
                let waits = first.number == number && first.whom.is(task, context);
                self.first.set(Some(first));
                if waits {
                    return;
                }
            }
        }
        // To make one may be foreign code, as may be to drop one.
        let entry = Entry { number, whom: Whom::new(task, context) };
        drop(self.put(entry));
    }

    /// The number of a ticket, which has one from now on.
    #[inline]
    fn number(&self, Ticket(place): Ticket<'_>) -> u64 {
        let Some(place) = place else { return 0 };
        if place.get() == 0 {
            self.tickets.set(self.tickets.get() + 1);
            place.set(self.tickets.get());
        }
        place.get()
    }

    /// Adds an entry, and returns the one that had its number before.
    #[inline]
    fn put(&self, entry: Entry) -> Option<Entry> {
        match self.first.take() {
            Some(first) if first.number != entry.number => {
                self.first.set(Some(first));
                self.put_among_others(entry)
            }
            old => {
                self.first.set(Some(entry));
                old
            }
        }
    }

    #[cold]
    fn put_among_others(&self, entry: Entry) -> Option<Entry> {
        let mut others = self.others.take().unwrap_or_else(|| Box::new(Others(Vec::new())));
        let old = match others.0.iter_mut().find(|other| other.number == entry.number) {
            Some(other) => Some(std::mem::replace(other, entry)),
            None => {
                others.0.push(entry);
                None
            }
        };
        self.others.set(Some(others));
        old
    }

    /// Takes out the one that has this number.
    #[inline]
    fn remove(&self, number: u64) -> Option<Entry> {
        let first = self.first.take()?;
        if first.number == number {
            let mut others = self.others.take();
            self.first.set(others.as_mut().and_then(|others| others.0.pop()));
            self.others.set(others);
            return Some(first);
        }
        self.first.set(Some(first));
        self.remove_from_others(number)
    }

    #[cold]
    fn remove_from_others(&self, number: u64) -> Option<Entry> {
        let mut others = self.others.take()?;
        let at = others.0.iter().position(|entry| entry.number == number);
        let entry = at.map(|at| others.0.swap_remove(at));
        self.others.set(Some(others));
        entry
    }

    /// Wakes all; false if there are none. This is for the thread of the loop that those wait on whom [`Waiters::wait`] was told of.
    #[inline]
    pub(crate) fn wake(&self, inner: &Inner) -> bool {
        let Some(first) = self.first.take() else { return false };
        // They are taken out before any is woken, which is foreign code.
        let others = self.others.take();
        first.whom.wake(inner);
        if let Some(others) = others {
            wake_others(inner, *others);
        }
        true
    }
}

#[cold]
fn wake_others(inner: &Inner, others: Others) {
    for entry in others.0 {
        entry.whom.wake(inner);
    }
}

impl Default for Whom {
    fn default() -> Whom {
        Whom::Task(Id::NOBODY)
    }
}

impl Whom {
    /// Who is woken by this context, which is that of this task, if the loop has given it.
    #[inline]
    pub(crate) fn new(task: Option<Id>, context: &Context<'_>) -> Whom {
        task.map_or_else(|| Whom::Other(context.waker().clone()), Whom::Task)
    }

    /// True if it is the one of this context.
    #[inline]
    pub(crate) fn is(&self, task: Option<Id>, context: &Context<'_>) -> bool {
        match self {
            Whom::Task(id) => task == Some(*id),
            Whom::Other(waker) => task.is_none() && waker.will_wake(context.waker()),
        }
    }

    #[inline]
    pub(crate) fn wake(self, inner: &Inner) {
        match self {
            Whom::Task(id) => inner.tasks.wake(inner, id),
            Whom::Other(waker) => waker.wake(),
        }
    }

    /// Where the task was spawned, if it is one of the loop's.
    pub(crate) fn site(&self, inner: &Inner) -> Option<Site> {
        match self {
            Whom::Task(id) => inner.tasks.site(*id),
            Whom::Other(_) => None,
        }
    }
}

impl Waiter<'_> {
    #[inline]
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        Ticket(Some(&self.number))
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.number.get() != 0 {
            drop(self.waiters.remove(self.number.get()));
        }
    }
}
