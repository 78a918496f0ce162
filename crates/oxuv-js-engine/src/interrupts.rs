//! Being asked from inside of a running script whether it is to end. The engine's crate does so without a way to look at the
//! script; this one hands that over.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

use rquickjs::{Context, Ctx, qjs};

/// What is asked: whether the script is to end.
type Handler = Box<dyn for<'js> Fn(&Ctx<'js>) -> bool>;

/// Asks for as long as it lives.
pub struct Interrupts {
    runtime: NonNull<qjs::JSRuntime>,
    /// What the engine has a pointer to.
    _asked: Rc<Asked>,
}

struct Asked {
    /// Alive as long as this.
    context: Context,
    handler: Handler,
}

impl fmt::Debug for Interrupts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupts").finish_non_exhaustive()
    }
}

impl Interrupts {
    /// Calls the handler once in many thousand steps of the scripts of this context's runtime, in the middle of whatever they do, in
    /// place of the handler that the runtime has. It may run scripts.
    pub fn new(context: &Context, handler: impl for<'js> Fn(&Ctx<'js>) -> bool + 'static) -> Interrupts {
        // SAFETY: the context is alive, and has a runtime.
        let runtime = context.with(|ctx| unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) });
        let runtime = NonNull::new(runtime).expect("a context has a runtime");
        let asked = Rc::new(Asked { context: context.clone(), handler: Box::new(handler) });
        // SAFETY: the runtime lives as long as the context, of which a clone is kept. `ask` has the signature that the engine calls.
        // What it is given lives until it is taken away again when this is dropped.
        unsafe { qjs::JS_SetInterruptHandler(runtime.as_ptr(), Some(ask), Rc::as_ptr(&asked).cast_mut().cast()) };
        Interrupts { runtime, _asked: asked }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        // SAFETY: the runtime is alive, since the context still is.
        unsafe { qjs::JS_SetInterruptHandler(self.runtime.as_ptr(), None, null_mut()) };
    }
}

/// # Safety
/// Only the engine calls it, while it runs a script, with what [`Interrupts::new`] has given.
unsafe extern "C" fn ask(_runtime: *mut qjs::JSRuntime, opaque: *mut c_void) -> c_int {
    let asked: *const Asked = opaque.cast();
    // SAFETY: it is what an `Rc` gave that is still there. It is kept here, since the handler may drop the other one.
    let asked = unsafe {
        Rc::increment_strong_count(asked);
        Rc::from_raw(asked)
    };
    let context = asked.context.as_raw();
    // SAFETY: the context is alive; the engine calls from inside of a script, so that the runtime is locked; `ctx` does not leave
    // this call.
    let ctx = unsafe { Ctx::from_raw(context) };
    c_int::from((asked.handler)(&ctx))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rquickjs::{Function, Runtime};

    use super::*;

    #[test]
    fn a_handler_sees_where_the_script_is_and_ends_it() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| ctx.eval::<(), _>("globalThis.place = () => new Error().stack")).unwrap();
        let seen = Rc::new(RefCell::new(String::new()));
        let told = Rc::clone(&seen);
        let interrupts = Interrupts::new(&context, move |ctx| {
            let place: Function<'_> = ctx.globals().get("place").unwrap();
            told.replace(place.call::<_, String>(()).unwrap());
            true
        });
        let endless = "function work() { for (;;) Math.abs(1); } work();";
        assert!(context.with(|ctx| ctx.eval::<(), _>(endless)).is_err());
        assert!(seen.borrow().contains("at work "), "{}", seen.borrow());
        drop(interrupts);
        seen.take();
        context.with(|ctx| ctx.eval::<(), _>("for (let i = 0; i < 100000; i++) ;")).unwrap();
        assert_eq!(*seen.borrow(), "");
    }
}
