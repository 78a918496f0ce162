//! A worker's thread.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use oxuv::Async;
use rquickjs::class::Trace;
use rquickjs::{Class, Ctx, Exception, JsLifetime, Object, Result};

use super::life::{Life, Problem};
use super::port::Port;
use crate::bindings::OrThrow;
use crate::bindings::stream::Caller;
use crate::host::{Kept, host};
use crate::observing::Observed;
use crate::program::{Beginning, Options, Program};

/// The most of the stack that a worker's script may use, in MiB, and what its thread has beside that.
const STACK: usize = 4;
const MOST_STACK: usize = 256;
const BESIDE: usize = 4;

/// A thread that runs.
struct Running {
    life: Arc<Life>,
    thread: Cell<Option<JoinHandle<()>>>,
}

impl Running {
    fn join(&self) {
        if let Some(thread) = self.thread.take() {
            // A panic of its own is told by what it has left.
            let _ = thread.join();
        }
    }
}

/// The workers that a script has started: they end with it.
#[derive(Default)]
pub(crate) struct Threads(RefCell<Vec<Weak<Running>>>);

impl Threads {
    fn add(&self, running: &Rc<Running>) {
        let mut all = self.0.borrow_mut();
        all.retain(|known| known.strong_count() > 0);
        all.push(Rc::downgrade(running));
    }

    /// Ends all, and waits for it.
    pub(crate) fn end(&self) {
        let all: Vec<_> = self.0.take().iter().filter_map(Weak::upgrade).collect();
        for running in &all {
            running.life.terminate();
        }
        for running in &all {
            running.join();
        }
    }
}

/// What the script's side has of a worker.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Thread")]
pub(crate) struct Thread {
    #[qjs(skip_trace)]
    life: Arc<Life>,
    #[qjs(skip_trace)]
    end: Async,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Thread {
    #[qjs(get)]
    fn id(&self) -> u32 {
        self.life.id
    }

    /// When its loop began, in nanoseconds of the monotonic clock and negative where it has not, and for how many of them it has
    /// waited since.
    fn loop_times(&self) -> Vec<f64> {
        let (start, idle) = self.life.loop_times();
        vec![start, idle]
    }

    /// Ends its script wherever that is.
    fn terminate(&self) {
        self.life.terminate();
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        let _ = self.end.r#ref();
    }

    fn unref(&self) {
        let _ = self.end.unref();
    }

    fn has_ref(&self) -> bool {
        self.end.has_ref()
    }
}

/// Starts a worker, which finds the other end of this port as its own; `done(code, problem)` is called when it is over.
pub(super) fn start<'js>(
    ctx: Ctx<'js>,
    options: Object<'js>,
    port: Class<'js, Port>,
    done: Kept,
) -> Result<Class<'js, Thread>> {
    let host = host(&ctx);
    let mib = |name| options.get::<_, Option<f64>>(name).map(|mib| mib.filter(|mib| *mib > 0.0));
    let stack = mib("stackSizeMb")?.map_or(STACK, |mib| mib.ceil() as usize).min(MOST_STACK);
    let worker = Options {
        args: host.options.args.clone(),
        exec_args: options.get("execArgs")?,
        flags: options.get("flags")?,
        requires: options.get("requires")?,
        max_memory: mib("memoryMb")?.map(|mib| (mib * 1_048_576.0) as usize).or(host.options.max_memory),
        stack: Some(stack << 20),
        ..Options::default()
    };
    let end_port = port.borrow().take_end().ok_or_else(|| Exception::throw_type(&ctx, "the port is closed"))?;
    let running: Rc<RefCell<Option<Rc<Running>>>> = Rc::default();
    let (is_running, done) = (Rc::clone(&running), Cell::new(Some(Caller::new(&ctx, done))));
    let ended = move |end: &Async| {
        let running = is_running.borrow().clone();
        let Some(running) = running else { return };
        let Some((code, problem)) = running.life.outcome() else { return };
        running.join();
        is_running.take();
        let _ = end.close();
        if let Some(done) = done.take() {
            let problem = problem.map(|problem| if problem == Problem::Memory { "memory" } else { "start" });
            done.call(|_| Ok((code, problem)));
        }
    };
    let place = host.place(&ctx);
    let end = host.made_at(place.as_ref(), |lp| Async::new(lp, ended)).or_throw(&ctx)?;
    let life = Arc::new(Life::new(end.sender().or_throw(&ctx)?, place.unwrap_or_default().to_string()));
    let observers = host.observed.as_ref().map(Observed::observers).cloned();
    let beginning = Beginning { life: Arc::clone(&life), parent: end_port, observers };
    let thread = Builder::new().name("oxuv-worker".to_owned()).stack_size((stack + BESIDE) << 20);
    let thread = thread.spawn(move || live(worker, beginning)).inspect_err(|_| {
        let _ = end.close();
    });
    let thread = thread.map_err(oxuv::Errno::from).or_throw(&ctx)?;
    let now = Rc::new(Running { life: Arc::clone(&life), thread: Cell::new(Some(thread)) });
    host.threads.add(&now);
    *running.borrow_mut() = Some(now);
    Class::instance(ctx, Thread { life, end })
}

/// Says that the worker is over, even if its thread panics.
struct Over<'a>(&'a Life, i32);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.set_problem(Problem::Start);
        }
        self.0.finish(self.1);
    }
}

/// All of a worker, from its thread's begin to its end.
fn live(options: Options, beginning: Beginning) {
    let life = Arc::clone(&beginning.life);
    let mut over = Over(&life, 1);
    let ran = Program::in_worker(options, beginning).and_then(|program| program.run_worker());
    match ran {
        Ok(code) => over.1 = code,
        Err(_) => life.set_problem(Problem::Start),
    }
}
