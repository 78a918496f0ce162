//! A script with its loop and its engine, from the first line to the exit code.

use std::cell::Cell;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oxuv::node::{End, Platform};
use oxuv::observe::CallbackKind;
use oxuv::{Async, Loop};
use oxuv_js_engine::{CountAll, Interrupts, runtime_with_end};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Runtime};

use crate::bindings::{Endpoint, Life};
use crate::host::{Host, host};
use crate::observing::{Asked, Observed, Observers, Observing};
use crate::{bindings, library, prompt};

/// How a script is run.
#[derive(Debug, Default)]
pub struct Options {
    /// What the script finds in `process.argv` behind its own name.
    pub args: Vec<OsString>,
    /// The options before the script, as the script finds them in `process.execArgv`.
    pub exec_args: Vec<String>,
    /// Those that the script's side acts upon, a value behind `=`.
    pub flags: Vec<String>,
    /// What is to be seen of the loop.
    pub observing: Observing,
    /// Modules that are loaded before the script.
    pub requires: Vec<String>,
    /// Whether a script without a file is an ES module for certain.
    pub is_module: bool,
    /// Prints the value of the script.
    pub print: bool,
    /// Runs nothing, but looks for errors in the syntax.
    pub check: bool,
    /// The most bytes of memory that the script may use.
    pub max_memory: Option<usize>,
    /// The most bytes of the thread's stack that the script may use.
    pub stack: Option<usize>,
}

/// Where the script comes from.
#[derive(Debug)]
pub enum Source {
    /// A file: what it is, a CommonJS or an ES module, its name says.
    File(PathBuf),
    /// Given on the command line.
    Eval(String),
    /// All of the standard input.
    Stdin,
    /// Line by line from the terminal, with a prompt.
    Prompt,
    /// By the channel that a worker has to who started it.
    Worker {
        /// Where in the script of who started it that was, if anybody wants to know.
        made_at: String,
    },
}

impl Source {
    /// What its main part is called.
    fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Eval(_) => "[eval]".to_owned(),
            Source::Stdin => "[stdin]".to_owned(),
            Source::Prompt => "the prompt".to_owned(),
            Source::Worker { made_at } => made_at.clone(),
        }
    }
}

/// Why a program could not be made.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The file that an option names cannot be made.
    pub(crate) fn of_option(option: &str, path: &Path, errno: oxuv::Errno) -> Error {
        Error(format!("{option} {}: {errno}", path.display()))
    }
}

impl From<oxuv::Errno> for Error {
    fn from(errno: oxuv::Errno) -> Error {
        Error(format!("the loop: {errno}"))
    }
}

impl From<rquickjs::Error> for Error {
    fn from(error: rquickjs::Error) -> Error {
        Error(format!("the engine: {error}"))
    }
}

/// A script with its loop and its engine.
pub struct Program {
    // In the order in which they are to go: what keeps values of the engine goes before it.
    interrupts: Cell<Option<Interrupts>>,
    asked: Cell<Option<Asked>>,
    host: Rc<Host>,
    lp: Loop,
    runtime: Runtime,
}

/// What a worker begins with.
pub(crate) struct Beginning {
    pub(crate) life: Arc<Life>,
    /// Its end of the channel to who started it.
    pub(crate) parent: Endpoint,
    pub(crate) observers: Option<Observers>,
}

/// The most of the thread's stack that a script may use, in bytes: a main thread has 8 MB as a rule.
const STACK: usize = 4 << 20;

/// How many bytes there may be before garbage is looked for the first time. Later it is half as much again as was left.
const GARBAGE: usize = 1 << 20;

impl Program {
    /// A program without a script.
    ///
    /// # Errors
    /// No memory, or no descriptors; those of making a trace's file.
    pub fn new(options: Options) -> Result<Program, Error> {
        let observers = Observers::begin(&options.observing)?;
        Program::make(options, None, observers)
    }

    /// A worker: its script comes by the channel from who started it.
    pub(crate) fn in_worker(options: Options, beginning: Beginning) -> Result<Program, Error> {
        let Beginning { life, parent, observers } = beginning;
        Program::make(options, Some((life, parent)), observers)
    }

    fn make(
        mut options: Options,
        worker: Option<(Arc<Life>, Endpoint)>,
        observers: Option<Observers>,
    ) -> Result<Program, Error> {
        let life = worker.as_ref().map(|(life, _)| Arc::clone(life));
        let runtime = match &worker {
            Some((life, _)) => runtime_with_end(&life.end)?,
            None => Runtime::new()?,
        };
        runtime.set_max_stack_size(options.stack.unwrap_or(STACK));
        // Above what a small script has: whoever ends soon need not collect garbage.
        runtime.set_gc_threshold(GARBAGE);
        if let Some(limit) = options.max_memory {
            runtime.set_memory_limit(limit);
        }
        runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, is_handled| {
            host(&ctx).rejection(&ctx, promise, reason, is_handled);
        })));
        runtime.set_loader(bindings::Resolve, bindings::Load);
        let context = Context::full(&runtime)?;
        if options.max_memory.is_some() {
            context.with(|ctx| ctx.store_userdata(CountAll).map(drop)).map_err(|error| Error(error.to_string()))?;
        }
        // Node's clock of timers counts whole milliseconds.
        let lp = Loop::with_grain(Duration::from_millis(1))?;
        let number = life.as_ref().map_or(0, |life| life.id);
        let observed = observers.map(|observers| observers.observe(&lp, number)).transpose()?;
        options.flags.extend(observed.iter().flat_map(Observed::flags).map(|flag| (*flag).to_owned()));
        let host = Host::new(lp.clone(), context, options, worker, observed)?;
        let program = Program { interrupts: Cell::default(), asked: Cell::default(), host, lp, runtime };
        if let Some(life) = life {
            program.ask_while_running(move || life.must_stop());
        } else if program.host.observed.is_some() {
            program.ask_while_running(|| false);
        }
        program.host.context.with(|ctx| program.boot(&ctx).catch(&ctx).map_err(|error| Error(error.to_string())))?;
        Ok(program)
    }

    /// Asks now and then while the script runs whether it is to end.
    fn ask_while_running(&self, must_stop: impl Fn() -> bool + 'static) {
        // The one before must not take the next one away.
        self.interrupts.take();
        match &self.host.observed {
            Some(observed) => self.interrupts.set(Some(observed.watch_script(&self.host, must_stop))),
            None => self.runtime.set_interrupt_handler(Some(Box::new(must_stop))),
        }
    }

    /// Runs `lib/bootstrap.js`, which makes the globals.
    fn boot(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        let bindings = bindings::all(ctx)?;
        let bootstrap = library::function(ctx, "bootstrap")?.ok_or(rquickjs::Error::Unknown)?;
        let hooks: Object<'_> = bootstrap.call((bindings,))?;
        self.host.set_hooks(&hooks)?;
        self.host.set_spare_aside(ctx);
        ctx.globals().set(START, hooks.get::<_, Function<'_>>("start")?)
    }

    /// Runs the script's own text; what it leaves to do is the loop's.
    fn start(&self, ctx: &Ctx<'_>, source: Source, interrupt: prompt::Interrupt) -> rquickjs::Result<()> {
        let start: Function<'_> = ctx.globals().get(START)?;
        ctx.globals().remove(START)?;
        let (kind, text) = match source {
            Source::File(path) => ("file", path.to_string_lossy().into_owned()),
            Source::Eval(code) => ("eval", code),
            Source::Stdin => ("stdin", String::new()),
            Source::Worker { .. } => ("worker", String::new()),
            Source::Prompt => {
                let library: Object<'_> = start.call(("prompt",))?;
                return prompt::start(&self.host, ctx, &library, interrupt);
            }
        };
        self.host.call_main(ctx, &start, (kind, text));
        Ok(())
    }

    /// Runs a worker to its end; the exit code.
    ///
    /// # Errors
    /// Those of the loop.
    pub(crate) fn run_worker(&self) -> Result<i32, Error> {
        let Some(life) = &self.host.life else { return Ok(0) };
        let lp = (*self.lp).clone();
        let end = Async::new(&self.lp, move |_| lp.stop())?;
        end.unref()?;
        life.begin(end.sender()?, bindings::nanoseconds() as u64, self.host.idle_clock.clone());
        let code = self.run(Source::Worker { made_at: life.made_at.clone() });
        life.forget_loop();
        code
    }

    /// Runs the script and its loop to the end; the exit code.
    ///
    /// # Errors
    /// Those of the loop.
    pub fn run(&self, source: Source) -> Result<i32, Error> {
        let mut interrupt = prompt::Interrupt::default();
        if matches!(source, Source::Prompt) {
            interrupt = prompt::watch_interrupts();
            let asked = interrupt.clone();
            self.ask_while_running(move || asked.swap(false, Ordering::Relaxed));
        }
        if let Some(observed) = &self.host.observed {
            self.asked.set(observed.answer_inquiries(&self.host)?);
            self.lp.begin_part(CallbackKind::Script, &source.name());
        }
        // A worker's script is the first thing that its loop has to do.
        let mut start = bindings::nanoseconds();
        if self.host.life.is_some() {
            self.host.loop_span.set((start, -1.0));
        }
        self.host
            .context
            .with(|ctx| self.start(&ctx, source, interrupt).catch(&ctx).map_err(|error| Error(error.to_string())))?;
        if self.host.observed.is_some() {
            self.lp.end_part();
            self.host.set_cause("");
        }
        if self.host.life.is_none() {
            start = bindings::nanoseconds();
            self.host.loop_span.set((start, -1.0));
        }
        let end = self.lp.spin(&mut Outer(&self.host))?;
        self.host.loop_span.set((start, bindings::nanoseconds()));
        let code = match end {
            End::Idle => self.host.emit_exit(),
            // Who is ended by another has no code of its own.
            End::Stopped => self.host.exit_code().unwrap_or(1),
        };
        self.host.finish_observing();
        Ok(code)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.host.threads.end();
    }
}

/// The name under which the start waits in the globals.
const START: &str = "__oxuv_start";

/// Node's outer loop.
struct Outer<'a>(&'a Host);

impl Platform for Outer<'_> {
    fn is_stopping(&self) -> bool {
        self.0.is_ending()
    }

    fn before_exit(&mut self) {
        self.0.emit_before_exit();
    }
}
