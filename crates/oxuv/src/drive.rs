//! Running a loop: asks the core what is due, and calls the closure that belongs to it.

use oxuv_core::{Event, Key, Mode};

use crate::callbacks::Callback;
use crate::loop_::Inner;
use crate::{Async, Check, Errno, Handle, Idle, LoopRef, Poll, Prepare, Result, Tcp, Timer};

/// The closure of this kind that the handle has.
macro_rules! pick {
    ($callbacks:expr, $key:expr, $kind:ident) => {
        $callbacks.get($key.index(), |callback| match callback {
            Callback::$kind(callback) => Some(callback),
            _ => None,
        })
    };
}

/// The size of the buffer that reads read into: libuv's suggestion.
const BUFFER: usize = 64 * 1024;

pub(crate) fn run(lp: &LoopRef, mode: Mode) -> Result<bool> {
    let inner = &*lp.0;
    if inner.is_running.replace(true) {
        return Err(Errno::EBUSY);
    }
    let _running = Running(inner);
    inner.with(|core| {
        core.begin(mode);
        Ok(())
    })?;
    // Nothing borrows the core but `next` itself, so the callbacks may do as they like.
    while let Some(event) = inner.next() {
        dispatch(lp, event);
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

#[inline]
fn dispatch(lp: &LoopRef, event: Event<u32>) {
    let callbacks = &lp.0.callbacks;
    match event {
        Event::Timer { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Timer) {
                callback(&Timer(Handle::new(lp, key)));
            }
        }
        Event::Idle { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Idle) {
                callback(&Idle(Handle::new(lp, key)));
            }
        }
        Event::Prepare { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Prepare) {
                callback(&Prepare(Handle::new(lp, key)));
            }
        }
        Event::Check { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Check) {
                callback(&Check(Handle::new(lp, key)));
            }
        }
        Event::Async { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Async) {
                callback(&Async(Handle::new(lp, key)));
            }
        }
        Event::Poll { key, result, .. } => {
            if let Some(callback) = pick!(callbacks, key, Poll) {
                callback(&Poll(Handle::new(lp, key)), result);
            }
        }
        Event::Connection { key, result, .. } => {
            if let Some(callback) = pick!(callbacks, key, Connection) {
                callback(&Tcp(Handle::new(lp, key)), result);
            }
        }
        Event::NeedBuffer { key, .. } => read(lp, key),
        Event::HungUp { key, .. } => {
            if let Some(callback) = pick!(callbacks, key, Read) {
                callback(&Tcp(Handle::new(lp, key)), Err(Errno::EOF));
            }
        }
        Event::Connected { key, user, result } | Event::ShutDown { key, user, result } => done(lp, key, user, result),
        Event::Written { key, user, result } => {
            let buffers = lp.0.with(|core| Ok(core.take_buffers()));
            drop(buffers);
            done(lp, key, user, result);
        }
        Event::Done { .. } => {}
        Event::Closed { key, .. } => {
            let (callback, on_close) = callbacks.remove(key.index());
            drop(callback);
            if let Some(on_close) = on_close {
                on_close(&Handle::new(lp, key));
            }
        }
    }
}

fn done(lp: &LoopRef, key: Key, request: u32, result: Result<()>) {
    if let Some(on_done) = lp.0.callbacks.take_request(request) {
        on_done(&Tcp(Handle::new(lp, key)), result);
    }
}

/// Reads once, into the loop's buffer, which belongs to this call until the callback is over.
fn read(lp: &LoopRef, key: Key) {
    let Some(callback) = pick!(lp.0.callbacks, key, Read) else { return };
    let mut buffer = lp.0.buffer.take().unwrap_or_else(|| Box::new_uninit_slice(BUFFER));
    match lp.0.with(|core| core.read_into(key, &mut buffer)) {
        // There was nothing after all. A Rust callback has no buffer of its own to get back, so it hears nothing.
        Ok([]) => {}
        Ok(bytes) => callback(&Tcp(Handle::new(lp, key)), Ok(bytes)),
        Err(error) => callback(&Tcp(Handle::new(lp, key)), Err(error)),
    }
    lp.0.buffer.set(Some(buffer));
}
