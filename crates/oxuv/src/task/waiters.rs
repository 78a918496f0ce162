//! Those who wait for one thing: all are woken when it has come, and each looks for itself whether it has come for it.

use std::cell::{Cell, RefCell};
use std::mem;
use std::task::{Context, Waker};

use super::renew;

/// The wakers of those who wait. As long as there is but one, nothing is allocated.
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
    waker: Waker,
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
    pub(crate) fn wait(&self, whose: Ticket, context: &Context<'_>) {
        let mut list = self.list.borrow_mut();
        let old = match &mut list.first {
            Some(entry) if entry.whose == whose => renew(&mut entry.waker, context),
            Some(_) => list.wait_among_others(whose, context),
            None => {
                list.first = Some(Entry { whose, waker: context.waker().clone() });
                None
            }
        };
        drop(list);
        drop(old);
    }

    /// Wakes all; false if there are none.
    #[inline]
    pub(crate) fn wake(&self) -> bool {
        let first = self.list.borrow_mut().first.take();
        let Some(first) = first else { return false };
        // They are taken out before any is woken, which is foreign code.
        let others = mem::take(&mut self.list.borrow_mut().others);
        first.waker.wake();
        for entry in others {
            entry.waker.wake();
        }
        true
    }
}

impl List {
    #[cold]
    fn wait_among_others(&mut self, whose: Ticket, context: &Context<'_>) -> Option<Waker> {
        match self.others.iter_mut().find(|entry| entry.whose == whose) {
            Some(entry) => renew(&mut entry.waker, context),
            None => {
                self.others.push(Entry { whose, waker: context.waker().clone() });
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
