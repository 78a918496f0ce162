//! Being told of promises. The engine's crate can switch that on only while no script runs; whoever needs it finds out when one
//! does.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use rquickjs::{Ctx, Exception, JsLifetime, Result, Value, qjs};

/// What is told of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseEvent {
    /// It is made.
    Init,
    /// The `then` of what it follows is to be called.
    Before,
    /// That was called.
    After,
    /// It is fulfilled; its reactions come next.
    Resolve,
}

/// What is called.
type Watcher = for<'js> fn(&Ctx<'js>, PromiseEvent, Value<'js>);

/// The one that a runtime has.
#[derive(Clone, Copy, JsLifetime)]
struct Watched(Watcher);

/// Calls a function for what becomes of each promise, from now on. Another one replaces it.
///
/// # Errors
/// When called by the function itself.
pub fn watch_promises(ctx: &Ctx<'_>, watcher: Watcher) -> Result<()> {
    if ctx.store_userdata(Watched(watcher)).is_err() {
        return Err(Exception::throw_message(ctx, "promises are being told of"));
    }
    // SAFETY: the context is alive and its runtime ours while `ctx` lives. The function has the signature that the engine calls, and
    // uses no pointer of ours.
    unsafe { qjs::JS_SetPromiseHook(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), Some(tell), null_mut()) };
    Ok(())
}

/// # Safety
/// Only the engine calls it, with a context of its own whose runtime is locked, and a promise that lives through the call.
unsafe extern "C" fn tell(
    context: *mut qjs::JSContext,
    what: qjs::JSPromiseHookType,
    promise: qjs::JSValue,
    _parent: qjs::JSValue,
    _opaque: *mut c_void,
) {
    let Some(context) = NonNull::new(context) else { return };
    // SAFETY: the engine calls from inside of the script, so that the runtime is locked, and `ctx` does not leave this call.
    let ctx = unsafe { Ctx::from_raw(context) };
    let what = match what {
        qjs::JSPromiseHookType_JS_PROMISE_HOOK_INIT => PromiseEvent::Init,
        qjs::JSPromiseHookType_JS_PROMISE_HOOK_BEFORE => PromiseEvent::Before,
        qjs::JSPromiseHookType_JS_PROMISE_HOOK_AFTER => PromiseEvent::After,
        _ => PromiseEvent::Resolve,
    };
    let Some(watcher) = ctx.userdata::<Watched>().map(|watched| watched.0) else { return };
    // SAFETY: the promise lives through this call; the reference that is counted here is given back when the value is dropped.
    let promise = unsafe { Value::from_raw(ctx.clone(), qjs::JS_DupValue(context.as_ptr(), promise)) };
    watcher(&ctx, what, promise);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rquickjs::{Context, Runtime};

    use super::*;

    thread_local! {
        static TOLD: RefCell<Vec<PromiseEvent>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn what_becomes_of_promises_is_told() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.eval::<(), _>("Promise.resolve(1)").unwrap();
            watch_promises(&ctx, |_, what, promise| {
                assert!(promise.is_promise());
                TOLD.with_borrow_mut(|told| told.push(what));
            })
            .unwrap();
            ctx.eval::<(), _>(
                "Promise.resolve(1); new Promise((r) => r({ then(done) { done(2) } })); Promise.reject(3)",
            )
            .unwrap();
            while ctx.execute_pending_job() {}
        });
        use PromiseEvent::{After, Before, Init, Resolve};
        assert_eq!(TOLD.take(), [Init, Resolve, Init, Init, Before, Resolve, After]);
    }
}
