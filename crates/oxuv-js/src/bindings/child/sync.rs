//! A child that is waited for: it has a loop of its own, on which nothing else happens.

use std::cell::{Cell, RefCell};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

use oxuv::{Errno, Loop, Mode, Pipe, Process, Timer};
use rquickjs::{Ctx, Exception, FromJs, Object, Result};

use super::command::{Request, Slot};
use crate::host::host;
use oxuv_js_engine::Bytes;

/// When the child is ended before it ends by itself, and how.
struct Limits {
    /// Milliseconds.
    time: Option<f64>,
    /// Bytes of output, of all slots together.
    output: f64,
    signal: i32,
}

/// A connection to a child, and what has come from it.
type Connected = (Pipe, Vec<u8>);

/// What is known of a child so far.
#[derive(Default)]
struct Course {
    process: RefCell<Option<Process>>,
    timer: RefCell<Option<Timer>>,
    /// By slot.
    pipes: RefCell<Vec<Option<Connected>>>,
    status: Cell<Option<ExitStatus>>,
    has_started: Cell<bool>,
    is_killed: Cell<bool>,
    /// What went wrong first, with the child and with its connections.
    error: Cell<Option<Errno>>,
    pipe_error: Cell<Option<Errno>>,
    received: Cell<usize>,
}

/// Runs a child to its end. An object with `pid`, `status`, `signal` (numbers or null), `output` (a list by slot, or null) and `error`.
pub(super) fn spawn<'js>(ctx: Ctx<'js>, options: Object<'js>) -> Result<Object<'js>> {
    let limits = Limits {
        time: options.get::<_, Option<f64>>("timeout")?.filter(|time| *time > 0.0),
        output: options.get::<_, Option<f64>>("maxBuffer")?.unwrap_or(f64::INFINITY),
        signal: options.get::<_, Option<i32>>("killSignal")?.filter(|signal| *signal > 0).unwrap_or(15),
    };
    let request = Request::from_js(&ctx, options.into_value())?;
    let course = Rc::new(Course::default());
    let mut id = 0;
    if let Err(errno) = run(&ctx, request, &Rc::new(limits), &course, &mut id) {
        Course::set(&course.error, errno);
    }
    let object = Object::new(ctx.clone())?;
    object.set("pid", id)?;
    object.set("status", course.status.get().and_then(|status| status.code()))?;
    object.set("signal", course.status.get().and_then(|status| status.signal()))?;
    object.set("error", course.error.get().or(course.pipe_error.get()).map_or(0, Errno::code))?;
    if course.has_started.get() {
        let outputs = course.pipes.take().into_iter().enumerate();
        let outputs = outputs.map(|(slot, pipe)| pipe.filter(|_| slot != 0).map(|(_, bytes)| Bytes(bytes)));
        object.set("output", outputs.collect::<Vec<_>>()).map_err(|error| short_of_memory(&ctx, error))?;
    }
    Ok(object)
}

fn short_of_memory(ctx: &Ctx<'_>, error: rquickjs::Error) -> rquickjs::Error {
    if error.is_exception() { error } else { Exception::throw_range(ctx, "no memory for so many bytes") }
}

fn run(ctx: &Ctx<'_>, request: Request, limits: &Rc<Limits>, course: &Rc<Course>, id: &mut i32) -> oxuv::Result<()> {
    let lp = Loop::new()?;
    let mut pipes = Vec::new();
    for slot in &request.slots {
        pipes.push(if let Slot::Pipe(_) = slot { Some((Pipe::new(&lp)?, Vec::new())) } else { None });
    }
    let command = request.command(&host(ctx), pipes.iter().flatten().map(|(pipe, _)| pipe))?;
    *course.pipes.borrow_mut() = pipes;
    let ended = course.clone();
    let process = command.spawn(&lp, move |process, status| {
        let _ = process.close();
        ended.stop_timer();
        ended.has_started.set(true);
        ended.status.set(status.ok());
    })?;
    *id = process.id()?;
    *course.process.borrow_mut() = Some(process);
    drop(command);
    if let Some(time) = limits.time {
        start_timer(&lp, time, limits, course)?;
    }
    for (slot, kind) in request.slots.into_iter().enumerate() {
        let Slot::Pipe(input) = kind else { continue };
        let Some((pipe, _)) = course.pipes.borrow()[slot].as_ref().map(|(pipe, _)| (pipe.clone(), ())) else {
            continue;
        };
        if slot == 0 { feed(&pipe, input, course)? } else { collect(&pipe, slot, limits, course)? }
    }
    lp.run(Mode::Default)?;
    Ok(())
}

fn start_timer(lp: &Loop, time: f64, limits: &Rc<Limits>, course: &Rc<Course>) -> oxuv::Result<()> {
    let timer = Timer::new(lp)?;
    let (limits, late) = (limits.clone(), course.clone());
    timer.start(Duration::from_secs_f64((time / 1e3).min(1e9)), move |_| {
        Course::set(&late.error, Errno::ETIMEDOUT);
        late.kill(limits.signal);
    })?;
    *course.timer.borrow_mut() = Some(timer);
    Ok(())
}

/// Writes what the child is to read, and then the end.
fn feed(pipe: &Pipe, input: Option<Bytes>, course: &Rc<Course>) -> oxuv::Result<()> {
    if let Some(Bytes(bytes)) = input.filter(|bytes| !bytes.0.is_empty()) {
        let course = course.clone();
        pipe.write(bytes, move |_, written| {
            // The one who closes it knows.
            if let Err(errno) = written
                && errno != Errno::ECANCELED
            {
                Course::set(&course.pipe_error, errno);
            }
        })?;
    }
    pipe.shutdown(|pipe, _| {
        let _ = pipe.close();
    })
}

fn collect(pipe: &Pipe, slot: usize, limits: &Rc<Limits>, course: &Rc<Course>) -> oxuv::Result<()> {
    let (limits, course) = (limits.clone(), course.clone());
    pipe.read_start(move |pipe, read| match read {
        Ok(bytes) => course.received(slot, bytes, &limits),
        Err(errno) => {
            if errno != Errno::EOF {
                Course::set(&course.pipe_error, errno);
            }
            let _ = pipe.close();
        }
    })
}

impl Course {
    fn set(place: &Cell<Option<Errno>>, errno: Errno) {
        place.set(place.get().or(Some(errno)));
    }

    fn received(&self, slot: usize, bytes: &[u8], limits: &Limits) {
        if let Some((_, so_far)) = &mut self.pipes.borrow_mut()[slot] {
            if so_far.try_reserve(bytes.len()).is_err() {
                Course::set(&self.error, Errno::ENOMEM);
                self.is_killed.set(false);
            } else {
                so_far.extend_from_slice(bytes);
            }
        }
        self.received.set(self.received.get() + bytes.len());
        if self.received.get() as f64 > limits.output {
            Course::set(&self.error, Errno::ENOBUFS);
        }
        if self.error.get().is_some() {
            self.kill(limits.signal);
        }
    }

    fn stop_timer(&self) {
        if let Some(timer) = self.timer.take() {
            let _ = timer.close();
        }
    }

    /// Ends the child, and does not wait for those that it has given its descriptors to.
    fn kill(&self, signal: i32) {
        if self.is_killed.replace(true) {
            return;
        }
        if let Some(process) = &*self.process.borrow()
            && let Err(errno) = process.kill(signal)
            && errno != Errno::ESRCH
        {
            Course::set(&self.error, errno);
            let _ = process.kill(9);
        }
        for (pipe, _) in self.pipes.borrow().iter().flatten() {
            let _ = pipe.close();
        }
        self.stop_timer();
    }
}
