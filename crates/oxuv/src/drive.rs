//! Running a loop: asks the core what is due, and calls the closure that belongs to it.

use std::cell::{RefCell, RefMut};
use std::mem::MaybeUninit;

use oxuv_core::kernel::Job;
use oxuv_core::{Event, Key, Mode};

use crate::callbacks::{Callback, Table, call};
use crate::kept::Kept;
use crate::loop_::{BUFFER, Engine, Inner};
use crate::task::here::Here;
use crate::work::Answer;
use crate::{
    Async, Check, Errno, FsEvent, FsPoll, Handle, Idle, LoopRef, Pipe, Poll, Prepare, Process, Readiness, Result,
    Signal, Tcp, Timer, Tty, Udp,
};

pub(crate) fn run(lp: &LoopRef, mode: Mode) -> Result<bool> {
    run_with(lp, mode, || ())
}

/// Runs the loop, and calls `after` after each callback, or after several of jobs that have come back together.
#[inline(always)] // The usual one has nothing to be called.
pub(crate) fn run_with(lp: &LoopRef, mode: Mode, mut after: impl FnMut()) -> Result<bool> {
    let inner = &*lp.0;
    if inner.is_running.replace(true) {
        return Err(Errno::EBUSY);
    }
    let _running = Running(inner);
    let _here = Here::enter(lp);
    inner.with(|core| {
        core.begin(mode);
        Ok(())
    })?;
    inner.tasks.begin_run(inner);
    let mut driver = Driver { subjects: Subjects::new(lp), room: inner.room.take() };
    while !driver.run(inner, &inner.callbacks.table(), &mut after) {
        inner.callbacks.catch_up();
    }
    inner.room.set(driver.room);
    inner.with(|core| core.end())
}

/// The loop runs as long as this lives. If a callback panics, what the run has moved aside is put back.
struct Running<'a>(&'a Inner);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.is_running.set(false);
        let _ = self.0.with(|core| {
            core.abandon();
            Ok(())
        });
        self.0.callbacks.catch_up();
    }
}

/// What a run needs besides the loop.
struct Driver {
    subjects: Subjects,
    /// What is read into. It belongs to the run, so a callback may hold on to the bytes as long as it lasts.
    room: Box<[MaybeUninit<u8>]>,
}

impl Driver {
    /// Calls what is due, one after the other: until the run is over, which is true, or until closures wait for their places.
    #[inline(always)] // It has one caller, and is of the run's.
    fn run(&mut self, inner: &Inner, table: &Table, after: &mut impl FnMut()) -> bool {
        // Nothing borrows the core but a step until it calls, so the callbacks may do as they like.
        while self.step(inner, table) {
            after();
            if inner.callbacks.is_behind() {
                return false;
            }
        }
        true
    }

    /// Asks what is due, and calls that. False when the run is over.
    #[inline(always)] // As `run`.
    fn step(&mut self, inner: &Inner, table: &Table) -> bool {
        let mut borrowed = inner.core.borrow_mut();
        let Some(Engine { core, requests }) = &mut *borrowed else { return false };
        let event = loop {
            if let Some((key, ..)) = core.next_watcher() {
                drop(borrowed);
                self.subjects.call_watcher(inner, table, key);
                return true;
            }
            match core.next_other() {
                Some(event) => break event,
                None if core.is_over() => return false,
                // It is the watchers' turn.
                None => {}
            }
        };
        let event = match event {
            Event::NeedBuffer { key, .. } => {
                if self.room.is_empty() {
                    self.room = Box::new_uninit_slice(BUFFER);
                }
                let read = core.read_next_into(&mut self.room).map(|bytes| &*bytes);
                drop(borrowed);
                // Without bytes there was nothing after all. A Rust callback has no buffer of its own to get back, so it hears
                // nothing.
                if !matches!(read, Ok([])) {
                    call!(table, key, Read, |callback| callback(&mut self.subjects, key, &read));
                }
                return true;
            }
            Event::Written { key, user, result } => {
                let on_done = requests.done.take(user);
                drop_buffers(core.take_buffers(), borrowed);
                if let Some(on_done) = on_done {
                    on_done(&mut self.subjects, key, result);
                }
                return true;
            }
            Event::Done { user, .. } => {
                let (job, on_done) = (core.take_job(), requests.jobs.take(user));
                drop(borrowed);
                let Some(event) = self.subjects.jobs_done(inner, job, on_done) else { return true };
                event
            }
            event => {
                drop(borrowed);
                event
            }
        };
        self.subjects.dispatch(inner, table, event);
        true
    }
}

/// Gives the core back, and then drops what it has kept of a write, if that is anything: mostly there is nothing.
#[inline]
fn drop_buffers(buffers: Option<Kept>, borrowed: RefMut<'_, Option<Engine>>) {
    #[cold]
    fn drop_some(buffers: Kept, borrowed: RefMut<'_, Option<Engine>>) {
        drop(borrowed);
        drop(buffers);
    }
    match buffers {
        Some(buffers) => drop_some(buffers, borrowed),
        None => drop(borrowed),
    }
}

/// The handles that closures are given, a value of each kind. They are made once for a run, and pointed at the handle
/// whose turn it is: a new one for each call would count the loop's references up and down.
pub struct Subjects {
    timer: Timer,
    pub(crate) idle: Idle,
    pub(crate) prepare: Prepare,
    pub(crate) check: Check,
    wake_up: Async,
    poll: Poll,
    signal: Signal,
    pub(crate) tcp: Tcp,
    pub(crate) pipe: Pipe,
    pub(crate) tty: Tty,
    udp: Udp,
    process: Process,
    fs_event: FsEvent,
    fs_poll: FsPoll,
}

impl Subjects {
    fn new(lp: &LoopRef) -> Subjects {
        let nobody = || Handle::new(lp, Key::default());
        Subjects {
            timer: Timer(nobody()),
            idle: Idle(nobody()),
            prepare: Prepare(nobody()),
            check: Check(nobody()),
            wake_up: Async(nobody()),
            poll: Poll(nobody()),
            signal: Signal(nobody()),
            tcp: Tcp(nobody()),
            pipe: Pipe(nobody()),
            tty: Tty(nobody()),
            udp: Udp(nobody()),
            process: Process(nobody()),
            fs_event: FsEvent(nobody()),
            fs_poll: FsPoll(nobody()),
        }
    }

    #[inline(always)] // Of its callers one is in every turn, and the others come once in a phase.
    fn call_watcher(&mut self, inner: &Inner, table: &Table, key: Key) {
        if let Some(place) = table.get(key.index())
            && let Ok(mut place) = place.try_borrow_mut()
            && let Callback::Watcher(callback) = &mut *place
        {
            callback(self, key);
        } else if inner.tasks.is_phase(key) {
            inner.tasks.run_phase(inner, key);
        }
    }

    #[inline(always)] // As `Driver::step`.
    fn dispatch(&mut self, inner: &Inner, table: &Table, event: Event<u32>) {
        match event {
            Event::Timer { key, .. } => {
                self.timer.0.point_at(key);
                call!(table, key, Timer, |callback| callback(&self.timer));
            }
            Event::Idle { key, .. } | Event::Prepare { key, .. } | Event::Check { key, .. } => {
                self.call_watcher(inner, table, key);
            }
            Event::Async { key, .. } => {
                self.wake_up.0.point_at(key);
                call!(table, key, Async, |callback| callback(&self.wake_up));
            }
            Event::Poll { key, result, .. } => {
                self.poll.0.point_at(key);
                call!(table, key, Poll, |callback| callback(&self.poll, result));
            }
            Event::Signal { key, number, .. } => {
                self.signal.0.point_at(key);
                call!(table, key, Signal, |callback| callback(&self.signal, number));
            }
            Event::Connection { key, result, .. } => {
                call!(table, key, Connection, |callback| callback(self, key, result));
                call!(table, key, Ready, |gate| gate.connection(inner, result));
            }
            Event::NeedDatagramBuffer { key, .. } => {
                self.udp.0.point_at(key);
                self.udp.receive(inner, table);
                while inner.with(|core| Ok(core.next_receive())) == Ok(true) {
                    self.udp.receive(inner, table);
                }
            }
            Event::Sent { key, user, result } => {
                self.udp.0.point_at(key);
                self.udp.sent(inner, user, result);
                while let Ok(Some((user, result))) = inner.with(|core| Ok(core.next_sent())) {
                    self.udp.sent(inner, user, result);
                }
            }
            Event::Ready { key, readiness, .. } => {
                call!(table, key, Ready, |gate| gate.open(inner, readiness));
            }
            Event::HungUp { key, .. } => {
                call!(table, key, Read, |callback| callback(self, key, &Err(Errno::EOF)));
            }
            Event::Connected { key, user, result } | Event::ShutDown { key, user, result } => {
                self.done(inner, key, user, result);
            }
            Event::Exited { key, result, .. } => {
                self.process.0.point_at(key);
                call!(table, key, Exit, |callback| callback(&self.process, result));
            }
            Event::FsEvent { key, result, .. } => self.fs_event.happened(inner, table, key, result),
            Event::FsPoll { key, result, .. } => self.fs_poll.changed(inner, table, key, result),
            // What is asked of the core for these, `step` asks at once.
            Event::NeedBuffer { .. } | Event::Written { .. } | Event::Done { .. } => {}
            Event::Closed { key, .. } => {
                let callback = table.get(key.index()).map(RefCell::take);
                if let Some(Callback::Ready(gate)) = callback {
                    gate.open(inner, Readiness::READ | Readiness::WRITE);
                    inner.gates.keep(gate);
                } else {
                    drop(callback);
                }
                if let Some(on_close) = inner.callbacks.take_on_close(key.index()) {
                    on_close(self.tcp.0.point_at(key));
                }
            }
        }
    }

    #[inline]
    fn done(&mut self, inner: &Inner, key: Key, request: u32, result: Result<()>) {
        if let Ok(Some(on_done)) = inner.with_requests(|_, requests| Ok(requests.done.take(request))) {
            on_done(self, key, result);
        }
    }

    /// A job has come back, and as a rule others with it: they are told one after the other. The next event, if that is another.
    #[inline(never)]
    fn jobs_done(
        &mut self,
        inner: &Inner,
        mut job: Option<Box<dyn Job>>,
        mut on_done: Option<Box<dyn Answer>>,
    ) -> Option<Event<u32>> {
        loop {
            if let Some(on_done) = on_done {
                on_done.answer(self.tcp.owner(), job);
            }
            if inner.callbacks.is_behind() {
                return None;
            }
            let mut borrowed = inner.core.borrow_mut();
            let Engine { core, requests } = borrowed.as_mut()?;
            match core.next_done() {
                Some(Event::Done { user, .. }) => (job, on_done) = (core.take_job(), requests.jobs.take(user)),
                other => return other,
            }
        }
    }
}
