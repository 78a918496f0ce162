//! Asking for the engine's jobs. Scripts do so after every callback, when there are none as a rule: what the engine's crate does
//! around each call of a function would be most of what that costs.

use std::ffi::c_int;
use std::ptr::NonNull;

use rquickjs::{Ctx, Exception, Function, JsLifetime, Result, Value, qjs};

/// What is called when there are jobs.
type Runner = for<'js> fn(&Ctx<'js>);

/// The one that a runtime has.
#[derive(Clone, Copy, JsLifetime)]
struct Running(Runner);

/// A function for scripts, without arguments or a value, that calls this one if jobs wait, and else costs next to nothing. A runtime
/// has one runner; another one replaces it.
///
/// # Errors
/// Without memory; or when called by the runner itself.
pub fn job_function<'js>(ctx: &Ctx<'js>, runner: Runner) -> Result<Function<'js>> {
    if ctx.store_userdata(Running(runner)).is_err() {
        return Err(Exception::throw_message(ctx, "jobs are being run"));
    }
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    // SAFETY: the context is alive and its runtime ours while `ctx` lives, `ask` has the signature of this kind, the name ends with
    // a NUL, and the new reference is given to the value alone.
    let function = unsafe {
        let function = qjs::JS_NewCFunction2(ctx.as_raw().as_ptr(), Some(ask), c"runMicrotasks".as_ptr(), 0, kind, 0);
        Value::from_raw(ctx.clone(), function)
    };
    // What is no function is the mark of an exception.
    function.into_function().ok_or(rquickjs::Error::Exception)
}

/// # Safety
/// Only the engine calls it, with a context of its own whose runtime is locked.
unsafe extern "C" fn ask(
    context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _count: c_int,
    _arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the context is alive while it calls.
    if unsafe { qjs::JS_IsJobPending(qjs::JS_GetRuntime(context)) } {
        run(context);
    }
    qjs::JS_UNDEFINED
}

/// Calls the runner. Apart from `ask`, which is to be small.
#[cold]
fn run(context: *mut qjs::JSContext) {
    let Some(context) = NonNull::new(context) else { return };
    // SAFETY: only `ask` calls this, from inside of the script, so that the context is alive and the runtime locked, and `ctx` does
    // not leave this call.
    let ctx = unsafe { Ctx::from_raw(context) };
    let runner = ctx.userdata::<Running>().map(|running| running.0);
    if let Some(runner) = runner {
        runner(&ctx);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rquickjs::{Context, Runtime};

    use super::*;

    thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn the_runner_is_called_where_jobs_wait() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let function = job_function(&ctx, |ctx| {
                CALLS.set(CALLS.get() + 1);
                while ctx.execute_pending_job() {}
            });
            ctx.globals().set("run", function.unwrap()).unwrap();
            ctx.eval::<(), _>("run(); run(1, 2)").unwrap();
            assert_eq!(CALLS.get(), 0);
            let seen: String = ctx
                .eval("let seen = ''; Promise.resolve().then(() => { seen += 'a' }).then(() => { seen += 'b' }); run(); seen")
                .unwrap();
            assert_eq!((seen.as_str(), CALLS.get()), ("ab", 1));
            assert!(ctx.eval::<bool, _>("run() === undefined && run.name === 'runMicrotasks'").unwrap());
        });
    }
}
