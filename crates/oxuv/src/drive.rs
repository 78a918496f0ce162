//! Running a loop: asks the core what is due, and calls the closure that belongs to it.

use oxuv_core::{Event, Key, Kind, Mode};

use crate::callbacks::Callback;
use crate::loop_::{Due, Inner};
use crate::task::here::Here;
use crate::{
    Async, Check, Errno, FsEvent, FsPoll, Handle, Idle, LoopRef, Pipe, Poll, Prepare, Process, Result, Signal, Tcp,
    Timer, Tty, Udp,
};

/// The closure of this kind that the handle has.
macro_rules! pick {
    ($callbacks:expr, $key:expr, $kind:ident) => {
        $callbacks.get($key.index(), |callback| match callback {
            Callback::$kind(callback) => Some(callback),
            _ => None,
        })
    };
}

pub(crate) fn run(lp: &LoopRef, mode: Mode) -> Result<bool> {
    run_with(lp, mode, || ())
}

/// Runs the loop, and calls `after` after each callback.
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
    let mut subjects = Subjects::new(lp);
    // Nothing borrows the core but `next` itself, so the callbacks may do as they like.
    while let Some(due) = inner.next() {
        match due {
            Due::Watcher(key, kind) => subjects.call_watcher(inner, key, kind),
            Due::Other(event) => subjects.dispatch(inner, event),
        }
        after();
    }
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
    }
}

/// The handles that closures are given, a value of each kind. They are made once for a run, and pointed at the handle
/// whose turn it is: a new one for each call would count the loop's references up and down.
pub(crate) struct Subjects {
    timer: Timer,
    idle: Idle,
    prepare: Prepare,
    check: Check,
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
    fn call_watcher(&mut self, inner: &Inner, key: Key, kind: Kind) {
        let callbacks = &inner.callbacks;
        if kind == Kind::Idle {
            if let Some(callback) = pick!(callbacks, key, Idle) {
                self.idle.0.point_at(key);
                callback(&self.idle);
            }
        } else if inner.tasks.is_phase(key) {
            inner.tasks.run_phase(inner, key);
        } else if kind == Kind::Prepare {
            if let Some(callback) = pick!(callbacks, key, Prepare) {
                self.prepare.0.point_at(key);
                callback(&self.prepare);
            }
        } else if let Some(callback) = pick!(callbacks, key, Check) {
            self.check.0.point_at(key);
            callback(&self.check);
        }
    }

    #[inline]
    fn dispatch(&mut self, inner: &Inner, event: Event<u32>) {
        let callbacks = &inner.callbacks;
        match event {
            Event::Timer { key, .. } => {
                if let Some(callback) = pick!(callbacks, key, Timer) {
                    self.timer.0.point_at(key);
                    callback(&self.timer);
                }
            }
            Event::Idle { key, .. } => self.call_watcher(inner, key, Kind::Idle),
            Event::Prepare { key, .. } => self.call_watcher(inner, key, Kind::Prepare),
            Event::Check { key, .. } => self.call_watcher(inner, key, Kind::Check),
            Event::Async { key, .. } => {
                if let Some(callback) = pick!(callbacks, key, Async) {
                    self.wake_up.0.point_at(key);
                    callback(&self.wake_up);
                }
            }
            Event::Poll { key, result, .. } => {
                if let Some(callback) = pick!(callbacks, key, Poll) {
                    self.poll.0.point_at(key);
                    callback(&self.poll, result);
                }
            }
            Event::Signal { key, number, .. } => {
                if let Some(callback) = pick!(callbacks, key, Signal) {
                    self.signal.0.point_at(key);
                    callback(&self.signal, number);
                }
            }
            Event::Connection { key, result, .. } => {
                if let Some(callback) = pick!(callbacks, key, Connection) {
                    callback(self, key, result);
                }
            }
            Event::NeedBuffer { key, .. } => self.read(inner, key),
            Event::NeedDatagramBuffer { key, .. } => {
                self.udp.0.point_at(key);
                self.udp.receive(inner);
                while inner.with(|core| Ok(core.next_receive())) == Ok(true) {
                    self.udp.receive(inner);
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
                if let Some(gate) = pick!(callbacks, key, Ready) {
                    gate.open(readiness);
                }
            }
            Event::HungUp { key, .. } => {
                if let Some(callback) = pick!(callbacks, key, Read) {
                    callback(self, key, Err(Errno::EOF));
                }
            }
            Event::Connected { key, user, result } | Event::ShutDown { key, user, result } => {
                self.done(inner, key, user, result);
            }
            Event::Written { key, user, result } => {
                let buffers = inner.with(|core| Ok(core.take_buffers()));
                drop(buffers);
                self.done(inner, key, user, result);
            }
            Event::Exited { key, result, .. } => {
                if let Some(callback) = pick!(callbacks, key, Exit) {
                    self.process.0.point_at(key);
                    callback(&self.process, result);
                }
            }
            Event::Done { user, .. } => self.job_done(inner, user),
            Event::FsEvent { key, result, .. } => self.fs_event.happened(inner, key, result),
            Event::FsPoll { key, result, .. } => self.fs_poll.changed(inner, key, result),
            Event::Closed { key, .. } => {
                let (callback, on_close) = callbacks.remove(key.index());
                drop(callback);
                if let Some(on_close) = on_close {
                    on_close(self.tcp.0.point_at(key));
                }
            }
        }
    }

    #[inline]
    fn done(&mut self, inner: &Inner, key: Key, request: u32, result: Result<()>) {
        if let Some(on_done) = inner.callbacks.take_request(request) {
            on_done(self, key, result);
        }
    }

    fn job_done(&mut self, inner: &Inner, number: u32) {
        let job = inner.with(|core| Ok(core.take_job())).ok().flatten();
        if let Some(on_done) = inner.callbacks.take_job(number) {
            on_done(self.tcp.owner(), job);
        }
    }

    /// Reads once, into the loop's buffer, which belongs to this call until the callback is over.
    #[inline]
    fn read(&mut self, inner: &Inner, key: Key) {
        let Some(callback) = pick!(inner.callbacks, key, Read) else { return };
        let mut buffer = inner.take_buffer();
        match inner.with(|core| core.read_into(key, &mut buffer)) {
            // There was nothing after all. A Rust callback has no buffer of its own to get back, so it hears nothing.
            Ok([]) => {}
            Ok(bytes) => callback(self, key, Ok(bytes)),
            Err(error) => callback(self, key, Err(error)),
        }
        inner.buffer.set(Some(buffer));
    }
}
