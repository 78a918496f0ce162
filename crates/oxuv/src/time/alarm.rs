//! Timers that wake tasks. They are used again and again: nothing is allocated for most.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use oxuv_core::linux::{TimerClock, TimerDescriptor};

use super::Clock;
use crate::callbacks::Callback;
use crate::handle::nanoseconds;
use crate::io::AsyncFd;
use crate::task::{Ticket, remember};
use crate::{LoopRef, Readiness, Result, Timer};

/// So many timers are kept for later.
const SPARE: usize = 4096;

/// A loop's timers that nobody waits for now.
#[derive(Default)]
pub(crate) struct Alarms(RefCell<Vec<Rc<Bell>>>);

impl Alarms {
    /// The loop is gone.
    pub(crate) fn clear(&self) {
        drop(self.0.take());
    }
}

struct Bell {
    timer: Timer,
    has_rung: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// What rings when it is time.
pub(super) enum Alarm {
    Own(OwnAlarm),
    /// A descriptor of its own, since the loop does not know that clock.
    Boot(Box<AsyncFd<TimerDescriptor>>),
}

impl Alarm {
    pub(super) fn new(owner: &LoopRef, clock: Clock) -> Result<Alarm> {
        if clock == Clock::Boot
            && let Ok(alarm) = boot_alarm(owner)
        {
            return Ok(Alarm::Boot(Box::new(alarm)));
        }
        // Where no descriptor can be had this one is late by the time that the machine is suspended, and not early.
        OwnAlarm::new(owner).map(Alarm::Own)
    }

    /// Rings that long after its clock's time of now.
    pub(super) fn set(&self, after: Duration) {
        match self {
            Alarm::Own(alarm) => alarm.set(after),
            // It does not fail.
            Alarm::Boot(alarm) => drop(alarm.get_ref().set_after(nanoseconds(after))),
        }
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        match self {
            Alarm::Own(alarm) => alarm.poll(context),
            // It fails for a loop that is gone.
            Alarm::Boot(alarm) => alarm
                .poll_with(Ticket::LAST_POLLED, context, Readiness::READ, &mut |timer| Ok(timer.take()?))
                .map(|_taken| ()),
        }
    }
}

fn boot_alarm(owner: &LoopRef) -> Result<AsyncFd<TimerDescriptor>> {
    let alarm = AsyncFd::of(owner, TimerDescriptor::new(TimerClock::Boot)?)?;
    alarm.hide()?;
    Ok(alarm)
}

/// A timer of the loop's own, as long as somebody waits for it.
pub(super) struct OwnAlarm(Rc<Bell>);

impl OwnAlarm {
    fn new(owner: &LoopRef) -> Result<OwnAlarm> {
        let spare = owner.0.alarms.0.borrow_mut().pop();
        if let Some(bell) = spare {
            bell.timer.say_made_again();
            return Ok(OwnAlarm(bell));
        }
        let timer = Timer::new(owner)?;
        timer.with(|core, key| core.hide(key))?;
        let bell = Rc::new(Bell { timer, has_rung: Cell::new(false), waker: RefCell::new(None) });
        let weak = Rc::downgrade(&bell);
        bell.timer.set_callback(Callback::Timer(Box::new(move |_| {
            let Some(bell) = weak.upgrade() else { return };
            bell.has_rung.set(true);
            let waker = bell.waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        })));
        Ok(OwnAlarm(bell))
    }

    fn set(&self, after: Duration) {
        self.0.has_rung.set(false);
        // It fails only for a loop that is gone.
        let _ = self.0.timer.with(|core, key| core.timer_start(key, nanoseconds(after), 0));
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.0.has_rung.get() {
            return Poll::Ready(());
        }
        let old = remember(&mut self.0.waker.borrow_mut(), context);
        drop(old);
        Poll::Pending
    }
}

impl Drop for OwnAlarm {
    fn drop(&mut self) {
        let bell = Rc::clone(&self.0);
        drop(bell.waker.take());
        if bell.timer.stop().is_err() {
            // The loop is gone.
            return;
        }
        let mut spare = bell.timer.owner().0.alarms.0.borrow_mut();
        if spare.len() < SPARE {
            spare.push(Rc::clone(&bell));
        } else {
            drop(spare);
            let _ = bell.timer.close();
        }
    }
}
