//! What wakes tasks when it is time.
//!
//! All who wait by a loop's own clock share one hidden timer, which is set for the first of them; so a task that sleeps costs a place in a
//! heap, and no handle.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::Location;
use std::task::{Context, Poll};

use oxuv_core::Deadlines;
use oxuv_core::linux::{TimerClock, TimerDescriptor};

use super::{Clock, Instant};
use crate::callbacks::Callback;
use crate::handle::nanoseconds;
use crate::io::AsyncFd;
use crate::loop_::Inner;
use crate::task::{Ticket, Whom};
use crate::{LoopRef, Readiness, Result, Timer};

/// Who waits by a loop's clock.
#[derive(Default)]
pub(crate) struct Alarms {
    deadlines: RefCell<Deadlines<Whom>>,
    /// Those whose time has come, to be woken in that order.
    due: RefCell<VecDeque<Whom>>,
    /// Made with the first.
    timer: RefCell<Option<Timer>>,
    /// The first has changed, and the timer is still set for the one before.
    is_behind: Cell<bool>,
    is_over: Cell<bool>,
}

impl Alarms {
    /// The loop is gone: nobody waits any more.
    pub(crate) fn clear(&self) {
        self.is_over.set(true);
        let (deadlines, due, timer) = (self.deadlines.take(), self.due.take(), self.timer.take());
        drop((deadlines, due, timer));
    }

    fn add(&self, owner: &LoopRef, due: u64, whom: Whom) -> Result<u32> {
        self.make_timer(owner)?;
        let (number, is_first) = {
            let mut deadlines = self.deadlines.borrow_mut();
            let number = deadlines.add(due, whom)?;
            (number, deadlines.may_be_first(number))
        };
        if is_first && let Err(error) = self.follow(&owner.0) {
            let whom = self.deadlines.borrow_mut().remove(number);
            drop(whom);
            return Err(error);
        }
        Ok(number)
    }

    #[inline]
    fn make_timer(&self, owner: &LoopRef) -> Result<()> {
        if self.timer.borrow().is_some() {
            return Ok(());
        }
        let timer = Timer::new(owner)?;
        timer.with(|core, key| core.hide(key))?;
        timer.set_callback(Callback::Timer(Box::new(|timer| {
            let inner = &*timer.owner().0;
            inner.alarms.ring(inner);
        })));
        self.timer.replace(Some(timer));
        Ok(())
    }

    /// Whether it is time, for the task of this context: then the number is given back.
    #[inline]
    fn poll(&self, inner: &Inner, number: u32, context: &Context<'_>) -> Poll<()> {
        let task = inner.tasks.of_context(context);
        if self.is_over.get() {
            return Poll::Ready(());
        }
        {
            let mut deadlines = self.deadlines.borrow_mut();
            let Some(whom) = deadlines.waiting(number) else {
                // It was taken out to be woken: this is nobody.
                deadlines.remove(number);
                return Poll::Ready(());
            };
            if whom.is(task, context) {
                return Poll::Pending;
            }
        }
        // To make one may be foreign code, as may be to drop one.
        let mut whom = Whom::new(task, context);
        if let Some(kept) = self.deadlines.borrow_mut().waiting(number) {
            std::mem::swap(kept, &mut whom);
        }
        drop(whom);
        Poll::Pending
    }

    fn set(&self, inner: &Inner, number: u32, due: u64) {
        if self.is_over.get() {
            return;
        }
        let concerns_first = {
            let mut deadlines = self.deadlines.borrow_mut();
            let was_first = deadlines.may_be_first(number);
            deadlines.set(number, due);
            was_first || deadlines.may_be_first(number)
        };
        if concerns_first {
            // It fails only for a loop that is gone.
            let _ = self.follow(inner);
        }
    }

    #[inline]
    fn remove(&self, inner: &Inner, number: u32) {
        if self.is_over.get() {
            return;
        }
        let (whom, was_first) = {
            let mut deadlines = self.deadlines.borrow_mut();
            let was_first = deadlines.may_be_first(number);
            (deadlines.remove(number), was_first)
        };
        if was_first {
            // As in `set`.
            let _ = self.follow(inner);
        }
        drop(whom);
    }

    /// The first may have changed: sets the timer anew, but while tasks run not before these have, since they change it again and again.
    #[inline]
    fn follow(&self, inner: &Inner) -> Result<()> {
        self.is_behind.set(true);
        if inner.tasks.are_running() { Ok(()) } else { self.catch_up(inner) }
    }

    /// Sets the timer for the first, if it is for another.
    #[inline]
    pub(crate) fn catch_up(&self, inner: &Inner) -> Result<()> {
        if self.is_behind.get() { self.set_timer(inner) } else { Ok(()) }
    }

    #[inline(never)]
    fn set_timer(&self, inner: &Inner) -> Result<()> {
        let timer = self.timer.borrow();
        let Some(timer) = &*timer else { return Ok(()) };
        let first = self.deadlines.borrow_mut().first();
        timer.with(|core, key| {
            let due = match first {
                // Who was to be woken is still to be.
                _ if !self.due.borrow().is_empty() => 0,
                Some((_, due)) => due,
                None => return core.timer_stop(key),
            };
            core.timer_start(key, due.saturating_sub(core.time()), 0)
        })?;
        self.is_behind.set(false);
        if inner.tasks.is_observed()
            && let Some((number, _)) = first
        {
            self.tell_whose(inner, timer, number);
        }
        Ok(())
    }

    /// An observer hears of the timer as from the task that it is set for.
    #[cold]
    fn tell_whose(&self, inner: &Inner, timer: &Timer, number: u32) {
        let site = self.deadlines.borrow_mut().waiting(number).and_then(|whom| whom.site(inner));
        let _ = inner.with(|core| {
            inner.callbacks.made.set(timer.key().index(), site.unwrap_or(Location::caller()), core.time());
            Ok(())
        });
    }

    /// The timer has come: wakes all who are due now.
    fn ring(&self, inner: &Inner) {
        /// Whatever becomes of those who are woken: the timer is set for who is left.
        struct Set<'a>(&'a Inner);
        impl Drop for Set<'_> {
            fn drop(&mut self) {
                // As in `Alarms::set`.
                let _ = self.0.alarms.set_timer(self.0);
            }
        }
        let _set = Set(inner);
        let Ok(time) = inner.with(|core| Ok(core.last_read())) else { return };
        {
            // All are taken out before any is woken, which may be foreign code: what that has wait anew comes later, even if it is due.
            let (mut deadlines, mut due) = (self.deadlines.borrow_mut(), self.due.borrow_mut());
            deadlines.take_due(time, &mut due);
        }
        loop {
            let next = self.due.borrow_mut().pop_front();
            let Some(whom) = next else { return };
            whom.wake(inner);
        }
    }
}

/// What rings when it is time.
pub(super) enum Alarm {
    /// The number of a deadline among the loop's [`Alarms`].
    Own(u32),
    /// A descriptor of its own, since the loop does not know that clock.
    Boot(Box<AsyncFd<TimerDescriptor>>),
}

impl Alarm {
    /// Rings at that time of this clock, for the task of this context. `None`: it has rung by now.
    #[inline]
    pub(super) fn start(
        owner: &LoopRef,
        clock: Clock,
        deadline: Instant,
        context: &mut Context<'_>,
    ) -> Result<Option<Alarm>> {
        if clock == Clock::Boot
            && let Ok(descriptor) = boot_alarm(owner)
        {
            let alarm = Alarm::Boot(Box::new(descriptor));
            alarm.set(owner, clock, deadline);
            return Ok(alarm.poll(owner, context).is_pending().then_some(alarm));
        }
        let whom = Whom::new(owner.0.tasks.of_context(context), context);
        owner.0.alarms.add(owner, own_time(owner, clock, deadline), whom).map(|number| Some(Alarm::Own(number)))
    }

    /// Rings at that time, and not at the one that was said before.
    pub(super) fn set(&self, owner: &LoopRef, clock: Clock, deadline: Instant) {
        match self {
            Alarm::Own(number) => owner.0.alarms.set(&owner.0, *number, own_time(owner, clock, deadline)),
            // It does not fail.
            Alarm::Boot(alarm) => drop(alarm.get_ref().set_after(nanoseconds(deadline - clock.now(owner)))),
        }
    }

    #[inline]
    pub(super) fn poll(&self, owner: &LoopRef, context: &mut Context<'_>) -> Poll<()> {
        match self {
            Alarm::Own(number) => owner.0.alarms.poll(&owner.0, *number, context),
            // It fails for a loop that is gone.
            Alarm::Boot(alarm) => alarm
                .poll_with(Ticket::LAST_POLLED, context, Readiness::READ, &mut |timer| Ok(timer.take()?))
                .map(|_taken| ()),
        }
    }

    #[inline]
    pub(super) fn stop(self, owner: &LoopRef) {
        if let Alarm::Own(number) = self {
            owner.0.alarms.remove(&owner.0, number);
        }
    }
}

/// That time by the loop's clock. Where there is no descriptor for another clock, it is late by the time that the machine is suspended,
/// and not early.
#[inline]
fn own_time(owner: &LoopRef, clock: Clock, deadline: Instant) -> u64 {
    match clock {
        Clock::Monotonic => deadline.0,
        Clock::Boot => (Clock::Monotonic.now(owner) + (deadline - clock.now(owner))).0,
    }
}

fn boot_alarm(owner: &LoopRef) -> Result<AsyncFd<TimerDescriptor>> {
    let alarm = AsyncFd::of(owner, TimerDescriptor::new(TimerClock::Boot)?)?;
    alarm.hide()?;
    Ok(alarm)
}
