//! Timers and immediates of the script: what the loop's side keeps of them is numbers, and it calls many at once.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use oxuv::node::{Outcome, Script, TimerKey};
use rquickjs::function::IntoArgs;
use rquickjs::{CatchResultExt, Ctx, TypedArray};

use crate::host::{Host, Kept};

/// The keys of the script's timers, by the numbers that `lib/timers.js` has given them.
#[derive(Default)]
pub(crate) struct TimerKeys(RefCell<Vec<Option<TimerKey>>>);

impl TimerKeys {
    /// The key of a timer that was started.
    pub(crate) fn get(&self, number: u32) -> Option<TimerKey> {
        self.0.borrow().get(number as usize).copied().flatten()
    }

    pub(crate) fn set(&self, number: u32, key: TimerKey) {
        let mut keys = self.0.borrow_mut();
        let place = number as usize;
        if place >= keys.len() {
            keys.resize(place + 1, None);
        }
        keys[place] = Some(key);
    }
}

/// The timers of a script, each with a number.
pub(crate) struct DueTimers(Weak<Host>);

impl DueTimers {
    pub(crate) fn of(host: &Rc<Host>) -> DueTimers {
        DueTimers(Rc::downgrade(host))
    }
}

impl Script for DueTimers {
    type Task = u32;
    const TAKES_LISTS: bool = true;

    fn call(&self, number: u32) -> Outcome {
        self.call_list(vec![number])
    }

    fn call_list(&self, numbers: Vec<u32>) -> Outcome {
        let Some(host) = self.0.upgrade() else { return Outcome::Stop };
        host.context.with(|ctx| match TypedArray::new(ctx.clone(), numbers).catch(&ctx) {
            Ok(numbers) => host.run_queue(&ctx, &host.hooks().run_timers, (numbers,)),
            Err(error) => host.uncaught(&ctx, error),
        })
    }

    fn drain(&self) -> Outcome {
        drain(&self.0)
    }
}

/// The immediates of a script: all that wait are one to the loop.
pub(crate) struct DueImmediates(Weak<Host>);

impl DueImmediates {
    pub(crate) fn of(host: &Rc<Host>) -> DueImmediates {
        DueImmediates(Rc::downgrade(host))
    }
}

impl Script for DueImmediates {
    type Task = ();

    fn call(&self, (): ()) -> Outcome {
        let Some(host) = self.0.upgrade() else { return Outcome::Stop };
        host.context.with(|ctx| host.run_queue(&ctx, &host.hooks().run_immediates, (true,)))
    }

    fn drain(&self) -> Outcome {
        drain(&self.0)
    }

    fn has_rest(&self) -> bool {
        self.0.upgrade().is_some_and(|host| host.has_rest())
    }
}

fn drain(host: &Weak<Host>) -> Outcome {
    let Some(host) = host.upgrade() else { return Outcome::Stop };
    host.context.with(|ctx| host.drain_in(&ctx))
}

impl Host {
    /// Calls a function that works off a queue, and again after each exception: the next comes before what else there is.
    fn run_queue<'js, A: IntoArgs<'js>>(&self, ctx: &Ctx<'js>, function: &Kept, args: A) -> Outcome {
        let Ok(function) = function.clone().restore(ctx) else { return Outcome::Stop };
        let mut called = self.call_value::<A, bool>(ctx, &function, args);
        while called == Err(Outcome::Threw) {
            called = match self.call_value::<_, bool>(ctx, &function, ()) {
                // The one that threw was the last.
                Ok(false) => return Outcome::Threw,
                called => called,
            };
        }
        self.set_cause("");
        called.map_or_else(|outcome| outcome, |_| Outcome::Done)
    }
}
