//! Signals of the process: `lib/internal/signals.js` stands on these.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use oxuv::Signal;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use super::stream::{Caller, code};
use crate::host::{Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    let watched: Watched = Rc::default();
    let (starts, stops) = (watched.clone(), watched);
    object
        .set("start", Func::from(move |ctx: Ctx<'_>, number, callback| code(start(&starts, &ctx, number, callback))))?;
    object.set("stop", Func::from(move |ctx: Ctx<'_>, number| stop(&stops, &ctx, number)))?;
    object.set("kill", Func::from(|pid, number| code(oxuv_os::process::kill(pid, number))))
}

/// The handles, by the numbers of their signals.
type Watched = Rc<RefCell<HashMap<i32, Signal>>>;

/// Calls `callback(number)` whenever the signal comes. That alone does not keep the loop.
fn start(watched: &Watched, ctx: &Ctx<'_>, number: i32, callback: Kept) -> oxuv::Result<()> {
    let signal = host(ctx).make(ctx, Signal::new)?;
    let caller = Caller::new(ctx, callback);
    let started = signal.unref().and_then(|()| signal.start(number, move |_, number| heard(&caller, number)));
    if let Some(observed) = &host(ctx).observed {
        observed.set_listened(number, started.is_ok());
    }
    match started {
        Ok(()) => watched.borrow_mut().insert(number, signal).map_or(Ok(()), |before| before.close()),
        Err(errno) => signal.close().and(Err(errno)),
    }
}

fn heard(caller: &Caller, number: i32) {
    if let Some(host) = caller.host()
        && let Some(observed) = &host.observed
    {
        observed.answer_before_listener(&host, number);
    }
    caller.call(|_| Ok((number,)));
}

/// The signal has its default action again, if nobody else waits for it.
fn stop(watched: &Watched, ctx: &Ctx<'_>, number: i32) {
    if let Some(observed) = &host(ctx).observed {
        observed.set_listened(number, false);
    }
    if let Some(signal) = watched.borrow_mut().remove(&number) {
        // The handle may be closing, if the loop is at its end.
        let _ = signal.close();
    }
}
