//! Files and directories: `lib/fs.js` stands on these.
//!
//! Each function takes first what is to be called, as `callback(errno, value)` with 0 for success; a thread of the pool
//! does the work then. Without it the work is done here: the value is returned, or the negative number of the error is
//! thrown, for the script's side to make an error of it.

mod attributes;
mod descriptors;
mod directory;
mod opened;
mod paths;
mod values;
mod watch;

pub(crate) use descriptors::Descriptors;
pub(crate) use opened::write_all;

use oxuv::LoopRef;
use rquickjs::function::Func;
use rquickjs::{Ctx, Function, IntoJs, Object, Persistent, Result, Value};

use super::resources::Request;
use crate::host::host;

type Callback<'js> = Option<Function<'js>>;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    attributes::fill(object)?;
    directory::fill(object)?;
    opened::fill(object)?;
    paths::fill(object)?;
    watch::fill(object)?;
    object.set("pause", Func::from(pause))
}

/// Waits here for so many milliseconds.
fn pause(ms: f64) {
    std::thread::sleep(std::time::Duration::from_millis(ms as u64));
}

/// Does the work here, or has it done.
fn perform<'js, T>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    work: impl FnOnce() -> oxuv::Result<T> + Send + 'static,
) -> Result<Value<'js>>
where
    T: for<'a> IntoJs<'a> + Send + 'static,
{
    perform_with(ctx, callback, work, |_, value| value)
}

/// The same, with a step on the loop's thread between the work and the script.
fn perform_with<'js, T, U>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    work: impl FnOnce() -> oxuv::Result<T> + Send + 'static,
    finish: impl FnOnce(&Descriptors, T) -> U + 'static,
) -> Result<Value<'js>>
where
    T: Send + 'static,
    U: for<'a> IntoJs<'a>,
{
    let host = host(&ctx);
    let Some(callback) = callback else {
        return match work() {
            Ok(value) => finish(&host.files, value).into_js(&ctx),
            Err(errno) => Err(throw(&ctx, errno)),
        };
    };
    let callback = Persistent::save(&ctx, callback);
    let weak = std::rc::Rc::downgrade(&host);
    let request = Request::new(&host, "FSReqCallback");
    let place = host.place(&ctx);
    let cause = place.clone();
    let told = move |_: &LoopRef, result: oxuv::Result<T>| {
        drop(request);
        let Some(host) = weak.upgrade() else { return };
        let call = |ctx: Ctx<'_>| {
            let Ok(callback) = callback.restore(&ctx) else { return };
            let (errno, value) = match result {
                Ok(value) => (0, finish(&host.files, value).into_js(&ctx)),
                Err(errno) => (errno.code(), Ok(Value::new_undefined(ctx.clone()))),
            };
            match value {
                Ok(value) => host.call_back(&ctx, &callback, (errno, value)),
                // No memory for the value.
                Err(_) => {
                    drop(ctx.catch());
                    host.call_back(&ctx, &callback, (oxuv::Errno::ENOMEM.code(), ()))
                }
            };
        };
        host.caused_by(cause.as_ref(), || host.context.with(call));
    };
    let submitted = host.made_at(place.as_ref(), |lp| oxuv::fs::work(lp, work, told));
    submitted.map_err(|errno| throw(&ctx, errno))?;
    Ok(Value::new_undefined(ctx))
}

/// Throws the number of an error.
fn throw(ctx: &Ctx<'_>, errno: oxuv::Errno) -> rquickjs::Error {
    ctx.throw(Value::new_int(ctx.clone(), errno.code()))
}
