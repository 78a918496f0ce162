//! What the bindings and the loop's callbacks share: the ways from the loop into the script.

use std::cell::{Cell, OnceCell, RefCell};
use std::io::Write;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use oxuv::node::{Immediates, Outcome, Timers};
use oxuv::{IdleClock, LoopRef};
use oxuv_js_engine::PromiseEvent;
use rquickjs::function::{Constructor, IntoArgs};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, FromJs, Function, JsLifetime, Object, Persistent, Value,
};

use crate::Options;
use crate::bindings::{Descriptors, Endpoint, Life, Problem, Requests, Threads};
use crate::observing::Observed;
use crate::queues::{DueImmediates, DueTimers, TimerKeys};

/// A function of the script's side, kept by the loop's side.
pub(crate) type Kept = Persistent<Function<'static>>;

/// The functions of `lib/bootstrap.js` that the loop's side calls.
pub(crate) struct Hooks {
    /// Calls the timers of these numbers, or what an exception has left of them: whether there were any.
    pub(crate) run_timers: Kept,
    /// Calls the immediates, or what an exception has left of them: whether there were any.
    pub(crate) run_immediates: Kept,
    /// Runs ticks, microtasks and rejections, until there are none.
    drain: Kept,
    /// An exception that nobody caught: true when a listener has dealt with it.
    uncaught: Kept,
    /// Takes note of a promise that is rejected without a handler, or gets one afterwards.
    rejection: Kept,
    /// Loads `lib/esm.js`, which sets the module hooks.
    load_modules: Kept,
    /// Gives the module `internal/observing`.
    observing: Kept,
    /// Emits `beforeExit`.
    before_exit: Kept,
    /// Emits `exit`, and gives the exit code.
    exit: Kept,
}

/// The functions of `lib/esm.js` that the engine asks about modules.
pub(crate) struct ModuleHooks {
    /// The URL that a specifier leads to.
    pub(crate) resolve: Kept,
    /// The text of what is at a URL.
    pub(crate) load: Kept,
    /// Fills `import.meta`.
    pub(crate) meta: Kept,
}

/// The most bytes that are set aside.
const SPARE: usize = 1 << 20;

/// One script's side of things. Lives on the loop's thread.
pub(crate) struct Host {
    pub(crate) lp: LoopRef,
    pub(crate) context: Context,
    pub(crate) options: Options,
    pub(crate) timers: OnceCell<Timers<DueTimers>>,
    pub(crate) timer_keys: TimerKeys,
    pub(crate) immediates: OnceCell<Immediates<DueImmediates>>,
    /// The files that the script has open.
    pub(crate) files: Descriptors,
    /// What the script waits for, beside handles.
    pub(crate) requests: Requests,
    hooks: OnceCell<Hooks>,
    pub(crate) module_hooks: OnceCell<ModuleHooks>,
    /// How many ES modules were required so far.
    pub(crate) imports: Cell<u32>,
    /// Set when the script is to end with this code.
    ending: Cell<Option<i32>>,
    /// Who sees what the loop does, if anybody does.
    pub(crate) observed: Option<Observed>,
    /// Where in the script is the cause of what the library does now, while somebody wants to know such places.
    cause: RefCell<Option<Rc<str>>>,
    /// How long the loop has waited.
    pub(crate) idle_clock: IdleClock,
    /// When the loop began and ended, in nanoseconds of the monotonic clock; negative where it has not.
    pub(crate) loop_span: Cell<(f64, f64)>,
    /// The function that is told of promises, if there is one.
    promise_watcher: OnceCell<Kept>,
    /// While the steps of the script are followed: has a function find the values that are there now.
    binder: OnceCell<Kept>,
    /// True from an exception to the next drain that comes to its end.
    has_rest: Cell<bool>,
    /// Of a worker, its course, and its end of the channel to who started it.
    pub(crate) life: Option<Arc<Life>>,
    pub(crate) parent: Cell<Option<Endpoint>>,
    /// The workers that this script has started.
    pub(crate) threads: Threads,
    /// Memory that is given back when the script has used up its own, so that somebody can say so.
    spare: Cell<Option<Persistent<Value<'static>>>>,
    /// Some of it was given back since the last drain.
    has_spent: Cell<bool>,
}

/// The way from a function of the script's side to its host.
#[derive(JsLifetime)]
struct HostRef(Weak<Host>);

/// The host of this script.
///
/// # Panics
/// When there is none: a script runs only while its host lives.
pub(crate) fn host(ctx: &Ctx<'_>) -> Rc<Host> {
    let found = ctx.userdata::<HostRef>().and_then(|host| host.0.upgrade());
    found.expect("a script runs only while its host lives")
}

/// Says something where nothing of the script's side can. There is nobody to tell if standard error is gone.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "oxuv: {text}");
}

/// The most bytes that the process had resident so far.
fn most_resident() -> usize {
    use oxuv_os::system::process::{Whose, usage};
    usage(Whose::Process).map_or(usize::MAX, |usage| usage.ru_maxrss as usize * 1024)
}

impl Host {
    pub(crate) fn new(
        lp: LoopRef,
        context: Context,
        options: Options,
        worker: Option<(Arc<Life>, Endpoint)>,
        observed: Option<Observed>,
    ) -> oxuv::Result<Rc<Host>> {
        let idle_clock = lp.idle_clock()?;
        let (life, parent) = worker.unzip();
        let host = Rc::new(Host {
            lp,
            context,
            options,
            timers: OnceCell::new(),
            timer_keys: TimerKeys::default(),
            immediates: OnceCell::new(),
            files: Descriptors::default(),
            requests: Requests::default(),
            hooks: OnceCell::new(),
            module_hooks: OnceCell::new(),
            imports: Cell::new(0),
            ending: Cell::new(None),
            observed,
            cause: RefCell::default(),
            idle_clock,
            loop_span: Cell::new((-1.0, -1.0)),
            promise_watcher: OnceCell::new(),
            binder: OnceCell::new(),
            has_rest: Cell::new(false),
            spare: Cell::new(None),
            has_spent: Cell::new(false),
            life,
            parent: Cell::new(parent),
            threads: Threads::default(),
        });
        let timers = || Timers::new(&host.lp, Rc::new(DueTimers::of(&host)));
        let _ = host.timers.set(host.lp.made_at("the timers of the script", timers)?);
        let immediates = || Immediates::new(&host.lp, Rc::new(DueImmediates::of(&host)));
        let _ = host.immediates.set(host.lp.made_at("the immediates of the script", immediates)?);
        let weak = HostRef(Rc::downgrade(&host));
        host.context.with(|ctx| ctx.store_userdata(weak).map(drop)).map_err(|_| oxuv::Errno::EBUSY)?;
        Ok(host)
    }

    pub(crate) fn timers(&self) -> &Timers<DueTimers> {
        self.timers.get().expect("set when the host was made")
    }

    pub(crate) fn immediates(&self) -> &Immediates<DueImmediates> {
        self.immediates.get().expect("set when the host was made")
    }

    /// Keeps the functions that `lib/bootstrap.js` gave.
    pub(crate) fn set_hooks(&self, hooks: &Object<'_>) -> rquickjs::Result<()> {
        let _ = self.hooks.set(Hooks {
            run_timers: hooks.get("runTimers")?,
            run_immediates: hooks.get("runImmediates")?,
            drain: hooks.get("drain")?,
            uncaught: hooks.get("uncaught")?,
            rejection: hooks.get("rejection")?,
            load_modules: hooks.get("loadModules")?,
            observing: hooks.get("observing")?,
            before_exit: hooks.get("beforeExit")?,
            exit: hooks.get("exit")?,
        });
        Ok(())
    }

    /// Makes a handle or a job; where in the script that is called from is its origin, if anybody wants to know.
    pub(crate) fn make<T>(&self, ctx: &Ctx<'_>, make: impl FnOnce(&LoopRef) -> oxuv::Result<T>) -> oxuv::Result<T> {
        self.made_at(self.place(ctx).as_ref(), make)
    }

    /// The same, if that is known already.
    pub(crate) fn made_at<T>(&self, place: Option<&Rc<str>>, make: impl FnOnce(&LoopRef) -> T) -> T {
        match place {
            Some(place) => self.lp.made_at(place, || make(&self.lp)),
            None => make(&self.lp),
        }
    }

    /// Calls a function of the module `internal/observing`.
    pub(crate) fn observing<'js, T: FromJs<'js>>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<T> {
        let module: Object<'js> = self.hooks().observing.clone().restore(ctx)?.call(())?;
        module.get::<_, Function<'js>>(name)?.call(())
    }

    /// Where in the script this is, or what has caused it if only the library is at work; empty if that is not known. `None` if nobody
    /// wants to know.
    pub(crate) fn place(&self, ctx: &Ctx<'_>) -> Option<Rc<str>> {
        if !self.observed.as_ref().is_some_and(Observed::keeps_places) {
            return None;
        }
        let place = self.observing::<String>(ctx, "place");
        let place = place.ok().filter(|place| !place.is_empty());
        Some(place.map(Rc::from).or_else(|| self.cause()).unwrap_or_default())
    }

    /// The process is about to end, unless this is a worker: writes what is written then.
    pub(crate) fn finish_observing(&self) {
        if let Some(observed) = &self.observed
            && self.life.is_none()
        {
            observed.observers().finish();
        }
    }

    /// What has caused what the library does now.
    pub(crate) fn cause(&self) -> Option<Rc<str>> {
        self.cause.borrow().clone()
    }

    /// From now on, until the callback under way is over, this place is.
    pub(crate) fn set_cause(&self, place: &str) {
        self.cause.replace((!place.is_empty()).then(|| Rc::from(place)));
    }

    /// Does something that this place has caused.
    pub(crate) fn caused_by<T>(&self, place: Option<&Rc<str>>, act: impl FnOnce() -> T) -> T {
        let Some(place) = place else { return act() };
        let before = self.cause.replace(Some(Rc::clone(place)));
        let done = act();
        self.cause.replace(before);
        done
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        self.hooks.get().expect("set before the script runs")
    }

    /// The module hooks; they are set by the first import.
    pub(crate) fn module_hooks(&self, ctx: &Ctx<'_>) -> rquickjs::Result<&ModuleHooks> {
        if self.module_hooks.get().is_none() {
            self.hooks().load_modules.clone().restore(ctx)?.call::<_, Value<'_>>(())?;
        }
        self.module_hooks.get().ok_or(rquickjs::Error::Unknown)
    }

    /// Whether an exception has left something in the queues.
    pub(crate) fn has_rest(&self) -> bool {
        self.has_rest.get()
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.get().is_some() || self.life.as_ref().is_some_and(|life| life.is_stopping())
    }

    /// Calls a function of the script from the loop, then runs ticks and microtasks: what Node does around each callback.
    pub(crate) fn call_back<'js, A: IntoArgs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        function: &Function<'js>,
        args: A,
    ) -> Outcome {
        match self.call_only(ctx, function, args) {
            Outcome::Done => self.drain_in(ctx),
            other => other,
        }
    }

    /// Calls a function of the script for its value, then runs ticks and microtasks. Nothing if it threw.
    pub(crate) fn call_for<'js, A: IntoArgs<'js>, T: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        function: &Function<'js>,
        args: A,
    ) -> Option<T> {
        let value = match function.call::<A, T>(args).catch(ctx) {
            Ok(value) => Some(value),
            Err(thrown) => {
                self.uncaught(ctx, thrown);
                None
            }
        };
        self.drain_in(ctx);
        value
    }

    /// Calls a function of the script, and deals with what it throws.
    fn call_only<'js, A: IntoArgs<'js>>(&self, ctx: &Ctx<'js>, function: &Function<'js>, args: A) -> Outcome {
        self.call_value::<A, Value<'js>>(ctx, function, args).map_or_else(|outcome| outcome, |_| Outcome::Done)
    }

    /// As [`call_only`](Self::call_only), for a value.
    pub(crate) fn call_value<'js, A: IntoArgs<'js>, T: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        function: &Function<'js>,
        args: A,
    ) -> Result<T, Outcome> {
        if self.is_ending() {
            return Err(Outcome::Stop);
        }
        match function.call::<A, T>(args).catch(ctx) {
            Ok(_) if self.is_ending() => Err(Outcome::Stop),
            Ok(value) => Ok(value),
            Err(thrown) => Err(self.uncaught(ctx, thrown)),
        }
    }

    pub(crate) fn drain_in<'js>(&self, ctx: &Ctx<'js>) -> Outcome {
        let Ok(drain) = self.hooks().drain.clone().restore(ctx) else { return Outcome::Stop };
        let outcome = self.call_only(ctx, &drain, ());
        if outcome == Outcome::Done {
            self.has_rest.set(false);
            if self.has_spent.replace(false) {
                self.set_spare_aside(ctx);
            }
        }
        outcome
    }

    /// As [`call_back`](Self::call_back), but ticks and microtasks come also after an exception: the script's main part.
    pub(crate) fn call_main<'js, A: IntoArgs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        function: &Function<'js>,
        args: A,
    ) -> Outcome {
        match self.call_only(ctx, function, args) {
            Outcome::Stop => Outcome::Stop,
            Outcome::Done | Outcome::Threw => self.drain_in(ctx),
        }
    }

    /// Sets memory aside, if there is a limit that scripts can reach.
    pub(crate) fn set_spare_aside(&self, ctx: &Ctx<'_>) {
        let Some(limit) = self.options.max_memory else { return };
        let buffer = ctx.globals().get::<_, Constructor<'_>>("ArrayBuffer");
        let bytes = (limit / 8).min(SPARE) as f64;
        let spare = buffer.and_then(|buffer| buffer.construct::<_, Value<'_>>((bytes,)));
        // Where there is none, less can be said.
        self.spare.set(spare.ok().map(|spare| Persistent::save(ctx, spare)));
    }

    /// Whether this was thrown because memory is short. If so, there is some from now on.
    pub(crate) fn is_short(&self, value: &Value<'_>) -> bool {
        // The engine throws null where there is no memory for an error either; but a script may throw that, too.
        let is_short = self.options.max_memory.is_some_and(|limit| {
            (value.is_null() && most_resident() >= limit / 4 * 3)
                || value.as_exception().and_then(Exception::message).is_some_and(|text| text == "out of memory")
        });
        if is_short {
            self.spare.set(None);
            self.has_spent.set(true);
        }
        is_short
    }

    /// An exception that nobody caught goes to the listeners of the process. Without any the program ends here.
    pub(crate) fn uncaught<'js>(&self, ctx: &Ctx<'js>, thrown: CaughtError<'js>) -> Outcome {
        if self.is_ending() {
            return Outcome::Stop;
        }
        let value = match thrown {
            CaughtError::Exception(exception) => exception.into_value(),
            CaughtError::Value(value) => value,
            CaughtError::Error(error) => {
                let message = error.to_string();
                match Exception::from_message(ctx.clone(), &message) {
                    Ok(exception) => exception.into_value(),
                    Err(_) => Value::new_undefined(ctx.clone()),
                }
            }
        };
        self.is_short(&value);
        let handled = self.hooks().uncaught.clone().restore(ctx).and_then(|uncaught| uncaught.call((value,)));
        match handled.catch(ctx) {
            Ok(true) if !self.is_ending() => {
                self.has_rest.set(true);
                self.set_spare_aside(ctx);
                Outcome::Threw
            }
            Ok(_) => Outcome::Stop,
            // A worker was ended in there.
            Err(_) if self.is_ending() => Outcome::Stop,
            Err(error) => {
                // Only when memory or stack is short: the script's side could not even say so.
                match &self.life {
                    Some(life) => life.set_problem(Problem::Memory),
                    None if self.options.max_memory.is_some() => say("out of memory"),
                    None => say(&error.to_string()),
                }
                self.end(1);
                Outcome::Stop
            }
        }
    }

    /// What went wrong on the way into the script goes the same way: mostly memory was short.
    pub(crate) fn uncaught_error(&self, ctx: &Ctx<'_>, error: rquickjs::Error) {
        if let Err(thrown) = Err::<(), _>(error).catch(ctx) {
            self.uncaught(ctx, thrown);
        }
    }

    /// A promise is rejected without a handler, or gets one afterwards.
    pub(crate) fn rejection<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
        let Some(hooks) = self.hooks.get() else { return };
        self.is_short(&reason);
        let rejection = hooks.rejection.clone().restore(ctx);
        let noted = rejection.and_then(|rejection| rejection.call::<_, Value<'_>>((promise, reason, is_handled)));
        // The function only takes notes. If even that fails, stack or memory is short. Short stack passes with the calls that
        // have it, but without memory a script that goes on rejecting would never be told.
        if let Err(thrown) = noted.catch(ctx)
            && !thrown.to_string().contains("call stack")
        {
            let Some(life) = &self.life else {
                say("out of memory");
                std::process::exit(1);
            };
            life.set_problem(Problem::Memory);
            self.end(1);
        }
    }

    /// Tells a function of the script of each promise from now on: 0 it is made, 1 a `then` is to be called for it, 2 it was, 3 it is
    /// resolved.
    /// And what the loop is to call is bound by another one.
    pub(crate) fn watch_promises(&self, ctx: &Ctx<'_>, watcher: Kept, binder: Kept) -> rquickjs::Result<()> {
        let _ = self.promise_watcher.set(watcher);
        let _ = self.binder.set(binder);
        oxuv_js_engine::watch_promises(ctx, |ctx, what, promise| host(ctx).tell_of_promise(ctx, what, promise))
    }

    /// A function that finds the values of the script's step that are there now.
    pub(crate) fn in_frame(&self, ctx: &Ctx<'_>, function: Kept) -> Kept {
        let Some(binder) = self.binder.get() else { return function };
        let bound = binder.clone().restore(ctx).and_then(|binder| binder.call((function.clone(),)));
        // Without memory for it, it is called all the same.
        bound.unwrap_or(function)
    }

    fn tell_of_promise<'js>(&self, ctx: &Ctx<'js>, what: PromiseEvent, promise: Value<'js>) {
        let watcher = self.promise_watcher.get().map(|watcher| watcher.clone().restore(ctx));
        if let Some(Ok(watcher)) = watcher {
            // If memory or stack is short, the script's own work fails next.
            let _ = watcher.call::<_, Value<'_>>((what as i32, promise)).catch(ctx);
        }
    }

    /// The script ends with this code: nothing of it is called any more.
    pub(crate) fn end(&self, code: i32) {
        if self.ending.get().is_some() {
            return;
        }
        self.ending.set(Some(code));
        // Handles that are open would keep it running.
        self.lp.stop();
        if let Some(life) = &self.life {
            // What runs of a worker's script ends where it is.
            life.stop();
        }
    }

    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.ending.get()
    }

    pub(crate) fn emit_before_exit(&self) {
        self.context.with(|ctx| {
            if let Ok(before_exit) = self.hooks().before_exit.clone().restore(&ctx) {
                self.call_back(&ctx, &before_exit, ());
            }
        });
    }

    /// Emits `exit`; the code that the process is to end with.
    pub(crate) fn emit_exit(&self) -> i32 {
        self.context.with(|ctx| {
            let exit = || self.hooks().exit.clone().restore(&ctx)?.call::<_, i32>(());
            match exit().catch(&ctx) {
                Ok(code) => code,
                Err(thrown) => match self.uncaught(&ctx, thrown) {
                    // A listener has dealt with it; the second time only the code is asked for.
                    Outcome::Threw => exit().unwrap_or(0),
                    _ => self.exit_code().unwrap_or(7),
                },
            }
        })
    }
}
