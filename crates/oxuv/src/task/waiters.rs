//! Those who wait for one thing: all are woken when it has come, and each looks for itself whether it has come for it.

use std::cell::{Cell, RefCell};
use std::mem;
use std::task::{Context, Waker};

use super::wakeup::Id;
use crate::loop_::Inner;

/// Those who wait. As long as there is but one, nothing is allocated.
#[derive(Default)]
pub(crate) struct Waiters {
    list: RefCell<List>,
    tickets: Cell<u64>,
}

/// Whose waker it is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Ticket(u64);

struct Entry {
    whose: Ticket,
    whom: Whom,
}

/// Whom to wake.
enum Whom {
    /// A task of the loop's, which needs no waker.
    Task(Id),
    Other(Waker),
}

#[derive(Default)]
struct List {
    /// `None` only if there are no others either.
    first: Option<Entry>,
    others: Vec<Entry>,
}

/// One who may wait, and does no more when this is dropped.
pub(crate) struct Waiter<'a> {
    waiters: &'a Waiters,
    ticket: Ticket,
}

impl Ticket {
    /// Of all who poll without being a [`Waiter`], and so cannot say when they have given up: the last of them is woken.
    pub(crate) const LAST_POLLED: Ticket = Ticket(0);
}

impl Waiters {
    #[inline]
    pub(crate) fn enter(&self) -> Waiter<'_> {
        let number = self.tickets.get() + 1;
        self.tickets.set(number);
        Waiter { waiters: self, ticket: Ticket(number) }
    }

    /// Has the task of this context woken next time, instead of the one that had this ticket before.
    #[inline]
    pub(crate) fn wait(&self, inner: &Inner, whose: Ticket, context: &Context<'_>) {
        let task = inner.tasks.of_context(context);
        let mut list = self.list.borrow_mut();
        let old = match &mut list.first {
            Some(entry) if entry.whose == whose => entry.whom.renew(task, context),
            Some(_) => list.wait_among_others(whose, task, context),
            first @ None => {
                *first = Some(Entry { whose, whom: Whom::new(task, context) });
                return;
            }
        };
        drop(list);
        drop(old);
    }

    /// Wakes all; false if there are none. This is for the thread of the loop that those wait on whom [`Waiters::wait`] was told of.
    #[inline(never)] // There are several callers, and one in the driver.
    pub(crate) fn wake(&self, inner: &Inner) -> bool {
        let mut list = self.list.borrow_mut();
        let Some(first) = list.first.take() else { return false };
        // They are taken out before any is woken, which is foreign code.
        let others = if list.others.is_empty() { Vec::new() } else { mem::take(&mut list.others) };
        drop(list);
        first.whom.wake(inner);
        if !others.is_empty() {
            wake_others(inner, others);
        }
        true
    }
}

#[cold]
fn wake_others(inner: &Inner, others: Vec<Entry>) {
    for entry in others {
        entry.whom.wake(inner);
    }
}

impl Whom {
    #[inline]
    fn new(task: Option<Id>, context: &Context<'_>) -> Whom {
        task.map_or_else(|| Whom::Other(context.waker().clone()), Whom::Task)
    }

    /// Becomes the one of this context. The old one is to be dropped where nothing is borrowed.
    #[inline]
    fn renew(&mut self, task: Option<Id>, context: &Context<'_>) -> Option<Whom> {
        let is_same = match self {
            Whom::Task(id) => task == Some(*id),
            Whom::Other(waker) => task.is_none() && waker.will_wake(context.waker()),
        };
        if is_same { None } else { Some(mem::replace(self, Whom::new(task, context))) }
    }

    #[inline]
    fn wake(self, inner: &Inner) {
        match self {
            Whom::Task(id) => inner.tasks.wake(inner, id),
            Whom::Other(waker) => waker.wake(),
        }
    }
}

impl List {
    #[cold]
    fn wait_among_others(&mut self, whose: Ticket, task: Option<Id>, context: &Context<'_>) -> Option<Whom> {
        match self.others.iter_mut().find(|entry| entry.whose == whose) {
            Some(entry) => entry.whom.renew(task, context),
            None => {
                self.others.push(Entry { whose, whom: Whom::new(task, context) });
                None
            }
        }
    }

    fn remove(&mut self, whose: Ticket) -> Option<Entry> {
        match &self.first {
            None => None,
            Some(entry) if entry.whose == whose => mem::replace(&mut self.first, self.others.pop()),
            Some(_) => {
                let at = self.others.iter().position(|entry| entry.whose == whose)?;
                Some(self.others.swap_remove(at))
            }
        }
    }
}

impl Waiter<'_> {
    #[inline]
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        let left = self.waiters.list.borrow_mut().remove(self.ticket);
        drop(left);
    }
}
