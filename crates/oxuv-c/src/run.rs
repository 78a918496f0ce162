//! The driver: takes the core's events one by one, and calls the callbacks.
//!
//! A callback may do anything: start, stop and close handles, free their memory in the close callback, run the loop
//! again, close it, or leave by an exception or a `longjmp`. So nothing here borrows the core or a handle while one
//! runs, nothing waits to be dropped, and what is needed after a callback is looked up anew. The callback's address
//! is read from the handle at each event: programs change it between.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::slice;

use oxuv_core::{Errno, Event, Key, Mode, Result};

use crate::error::code;
use crate::handle::CLOSED;
use crate::loop_::{Loop, User, guard, show_counts, with};
use crate::poll::{events_of, uv_poll_t};
use crate::tcp_connect::uv_connect_t;
use crate::types::{
    uv_buf_t, uv_handle_t, uv_loop_t, uv_req_t, uv_shutdown_t, uv_stream_t, uv_timer_t, uv_watcher_t, uv_write_t,
};
use crate::write::{free_bufs, show_queue_size};

/// What libuv suggests to whom it asks for memory.
const SUGGESTED_SIZE: usize = 65536;

const NO_BUFFER: uv_buf_t = uv_buf_t { base: null_mut(), len: 0 };

/// Runs the loop; true if something is still alive.
///
/// # Safety
/// As for [`uv_run`](crate::uv_run).
pub(crate) unsafe fn run(loop_: *mut uv_loop_t, mode: Mode) -> Result<bool> {
    // SAFETY: the loop has its core when this begins, and `next` looks whether it still has after each callback. What an event
    // speaks of is valid: the core's slot for it was not freed before, or was just now, for the close event.
    unsafe {
        if loop_.is_null() || (*loop_).core.is_null() {
            return Ok(false);
        }
        let stop = (*loop_).stop_flag != 0;
        // This may be a callback of another run of the loop.
        let (outer, run) = with(loop_, |core| {
            let outer = core.suspend();
            core.set_stop(stop);
            core.begin(mode);
            Ok((outer, core.run()))
        })?;
        loop {
            let core = (*loop_).core;
            if core.is_null() || !call_watchers(loop_, core) {
                // A callback has closed it.
                return Ok(false);
            }
            if let Some(event) = next(loop_, &mut *core, run, mode) {
                call(loop_, run, event);
            } else if (*core).is_over() {
                break;
            }
        }
        (*loop_).stop_flag = 0;
        with(loop_, |core| {
            let ended = core.end();
            core.resume(outer);
            ended
        })
    }
}

/// The next event that is no watcher's; `None` where it is theirs, or the run of this number is over. A callback may have begun
/// another one, and have caught what left it.
///
/// # Safety
/// `core` is that of `loop_`.
#[inline]
unsafe fn next(loop_: *mut uv_loop_t, core: &mut Loop, run: u32, mode: Mode) -> Option<Event<User>> {
    // SAFETY: an initialised loop is memory to read and to write, and the core lies elsewhere.
    unsafe {
        // What programs may have changed in the callback.
        core.set_active_handles((*loop_).active_handles);
        core.set_stop((*loop_).stop_flag != 0);
        let event = guard(|| {
            if core.run() != run {
                core.take_over(run, mode);
            }
            core.next_other()
        });
        show_counts(loop_, core);
        event
    }
}

/// Calls the callbacks of idle, prepare and check handles as long as they are next. False if one has closed the loop.
///
/// # Safety
/// As for [`call`]; `core` is that of `loop_`.
#[inline]
unsafe fn call_watchers(loop_: *mut uv_loop_t, core: *mut Loop) -> bool {
    // SAFETY: the core is there, and after each callback it is seen to be so still. The handle of an event that came just now is valid.
    unsafe {
        while let Some((_, _, user)) = guard(|| (*core).next_watcher()) {
            call_watcher(user);
            if (*loop_).core != core {
                return false;
            }
        }
    }
    true
}

/// Calls the callback of an idle, prepare or check handle.
///
/// # Safety
/// As for [`call`].
#[inline]
unsafe fn call_watcher(user: User) {
    let watcher: *mut uv_watcher_t = user.0.cast();
    // SAFETY: the handle is valid, and of this layout whatever of the three it is. It is started, so it has a callback, unless the
    // program has taken that out of it.
    unsafe {
        if let Some(cb) = (*watcher).watcher_cb {
            cb(watcher);
        }
    }
}

/// Calls the callback of an event of the run of this number.
///
/// # Safety
/// `event` is the last that the core of `loop_` gave, and nothing has happened since.
#[inline]
unsafe fn call(loop_: *mut uv_loop_t, run: u32, event: Event<User>) {
    // SAFETY: `user` is what the init, write or shutdown of this kind of event was given: the address of a valid
    // structure of this type, which is not ours to touch any more once its callback runs.
    unsafe {
        match event {
            Event::Idle { user, .. } | Event::Prepare { user, .. } | Event::Check { user, .. } => call_watcher(user),
            Event::Timer { user, .. } => {
                let timer: *mut uv_timer_t = user.0.cast();
                if let Some(cb) = (*timer).timer_cb {
                    cb(timer);
                }
            }
            Event::Async { user, .. } => crate::async_::call(user.0.cast()),
            Event::NeedBuffer { key, user } => read_all(loop_, run, key.to_u64(), user.0.cast()),
            Event::Written { user, result, .. } => all_written(loop_, run, user.0.cast(), code(result)),
            Event::Done { user, result } => all_done(loop_, user.0.cast(), result),
            _ => call_other(loop_, event),
        }
    }
}

/// As [`call`], for what does not happen all the time: apart, so that the driver has its registers for what does.
///
/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe fn call_other(loop_: *mut uv_loop_t, event: Event<User>) {
    // SAFETY: as in `call`.
    unsafe {
        match event {
            Event::NeedDatagramBuffer { key, user } => crate::udp_recv::receive_all(loop_, key, user.0.cast()),
            Event::Sent { user, result, .. } => crate::udp_send::all_sent(loop_, user.0.cast(), code(result)),
            Event::HungUp { user, .. } => {
                let (stream, buf): (*mut uv_stream_t, _) = (user.0.cast(), NO_BUFFER);
                if let Some(cb) = (*stream).read_cb {
                    cb(stream, Errno::EOF.code() as isize, &raw const buf);
                }
            }
            Event::ShutDown { user, result, .. } => shut_down(user.0.cast(), code(result)),
            Event::Connection { user, result: Ok(()), .. } => {
                let stream: *mut uv_stream_t = user.0.cast();
                if let Some(cb) = (*stream).connection_cb {
                    cb(stream, 0);
                }
            }
            // Programs written for libuv never hear of these, and some end themselves when they do.
            Event::Connection { result: Err(_), .. } => {}
            Event::Connected { user, result, .. } => connected(user.0.cast(), code(result)),
            Event::Poll { user, result, .. } => {
                let poll: *mut uv_poll_t = user.0.cast();
                let (status, readiness) = (code(result.map(|_| ())), result.unwrap_or_default());
                if let Some(cb) = (*poll).poll_cb {
                    cb(poll, status, events_of(readiness));
                }
            }
            // Nothing in libuv's interface asks for it.
            Event::Ready { .. } => {}
            Event::Exited { user, result, .. } => crate::process::exited(user.0.cast(), result),
            Event::FsEvent { user, result, .. } => crate::fs_event::happened(loop_, user.0.cast(), result),
            Event::FsPoll { user, result, .. } => crate::fs_poll::changed(loop_, user.0.cast(), result),
            Event::Signal { key, user, number } => crate::signal::call(loop_, key, user.0.cast(), number),
            Event::Closed { user, .. } => {
                let handle: *mut uv_handle_t = user.0.cast();
                (*handle).flags |= CLOSED;
                if let Some(cb) = (*handle).close_cb {
                    cb(handle);
                }
            }
            // Those are `call`'s.
            _ => {}
        }
    }
}

/// A job has come back, and as a rule others with it: they are told one after the other.
///
/// # Safety
/// As for [`call`]: a `Done` event of `req`.
#[inline(never)]
unsafe fn all_done(loop_: *mut uv_loop_t, req: *mut uv_req_t, result: Result<()>) {
    // SAFETY: says the caller. The loop is one that runs; if the callback has closed it, that is all.
    unsafe {
        crate::job::done(req, result);
        while let Some(event) = with(loop_, |core| core.next_done()) {
            match event {
                Event::Done { user, result } => crate::job::done(user.0.cast(), result),
                _ => return call_other(loop_, event),
            }
        }
    }
}

/// There is something to read: asks for memory, reads, and tells. As a rule others of the batch are next, and follow at once.
///
/// # Safety
/// As for [`call`]: a `NeedBuffer` event of `stream`.
#[inline(never)] // As `call_other`.
unsafe fn read_all(loop_: *mut uv_loop_t, run: u32, mut key: u64, mut stream: *mut uv_stream_t) {
    // SAFETY: `stream` is valid until `alloc_cb`. That may run the loop until the stream, or the loop itself, is
    // closed for good; else the stream is valid still. The next one is that of an event that came just now.
    unsafe {
        loop {
            let mut buf = NO_BUFFER;
            if let Some(alloc_cb) = (*stream).alloc_cb {
                alloc_cb(stream.cast(), SUGGESTED_SIZE, &raw mut buf);
            }
            if (*loop_).core.is_null() {
                return;
            }
            let Some(nread) = read_into(loop_, Key::from_u64(key), buf) else { return };
            if let Some(read_cb) = (*stream).read_cb {
                read_cb(stream, nread, &raw const buf);
            }
            if (*loop_).core.is_null() {
                return;
            }
            let core = &mut *(*loop_).core;
            let next = guard(|| core.next_to_read(run).or_else(|| core.next_to_read_on(run)));
            let Some((next, User(memory))) = next else { return };
            (key, stream) = (next.to_u64(), memory.cast());
        }
    }
}

/// What the read callback is to hear; `None` if the stream's close callback has run already.
///
/// # Safety
/// `loop_` has its core. `buf` is memory that nobody else uses.
#[inline]
unsafe fn read_into(loop_: *mut uv_loop_t, key: Key, buf: uv_buf_t) -> Option<isize> {
    // SAFETY: the core is there, and borrowed for this call alone.
    unsafe {
        let core = &mut *(*loop_).core;
        core.set_active_handles((*loop_).active_handles);
        let nread = match guard(|| core.read_into(key, memory_of(buf))) {
            // Nothing to read; or `alloc_cb` has stopped or closed the stream, and gets its buffer back.
            Ok([]) => core.kind(key).map(|_| 0),
            // The counts are what they were.
            Ok(bytes) => return Some(bytes.len() as isize),
            Err(error) => Some(error.code() as isize),
        };
        show_counts(loop_, core);
        nread
    }
}

/// The memory that a program has given to be read into.
///
/// # Safety
/// Nobody else uses it.
#[inline]
unsafe fn memory_of<'a>(buf: uv_buf_t) -> &'a mut [MaybeUninit<u8>] {
    if buf.base.is_null() {
        return &mut [];
    }
    // SAFETY: ours until the read callback, by the promise at `uv_read_start`; it need not be initialised.
    unsafe { slice::from_raw_parts_mut(buf.base.cast(), buf.len.min(isize::MAX as usize)) }
}

/// A write has ended, and often others with it: they are told one after the other.
///
/// # Safety
/// As for [`call`]: a `Written` event of `req`.
#[inline]
unsafe fn all_written(loop_: *mut uv_loop_t, run: u32, mut req: *mut uv_write_t, mut status: c_int) {
    // SAFETY: says the caller. The loop is one that runs; if the callback has closed it, that is all. The next request is that of an
    // event that came just now.
    unsafe {
        loop {
            written(req, status);
            if (*loop_).core.is_null() {
                return;
            }
            let core = &mut *(*loop_).core;
            let Some(User(next)) = guard(|| core.next_sent_whole(run)) else { break };
            show_counts(loop_, core);
            (req, status) = (next.cast(), 0);
        }
        if (*(*loop_).core).has_more_written() {
            all_of_stream_written(loop_, run);
        }
    }
}

/// The same stream's next write has ended as well.
///
/// # Safety
/// As for [`call`], after a `Written` event.
#[inline(never)] // As `call_other`.
unsafe fn all_of_stream_written(loop_: *mut uv_loop_t, run: u32) {
    // SAFETY: as in `all_written`.
    unsafe {
        while let Some((User(req), result)) = with(loop_, |core| core.next_written(run)) {
            written(req.cast(), code(result));
        }
    }
}

/// # Safety
/// As for [`call`]: a `Written` event of `req`.
#[inline]
unsafe fn written(req: *mut uv_write_t, status: c_int) {
    // SAFETY: the core is done with the request's buffers. Its stream is valid: it has not been told that it is closed.
    unsafe {
        free_bufs(req);
        if status < 0 {
            // What was never sent has counted as queued until now.
            show_queue_size((*req).handle);
        }
        if let Some(cb) = (*req).cb {
            cb(req, status);
        }
    }
}

/// # Safety
/// As for [`call`]: a `Connected` event of `req`.
unsafe fn connected(req: *mut uv_connect_t, status: c_int) {
    // SAFETY: the stream is valid: it has not been told that it is closed.
    unsafe {
        (*(*req).handle).connect_req = null_mut();
        if let Some(cb) = (*req).cb {
            cb(req, status);
        }
    }
}

/// # Safety
/// As for [`call`]: a `ShutDown` event of `req`.
unsafe fn shut_down(req: *mut uv_shutdown_t, status: c_int) {
    // SAFETY: the stream is valid: it has not been told that it is closed.
    unsafe {
        (*(*req).handle).shutdown_req = null_mut();
        if let Some(cb) = (*req).cb {
            cb(req, status);
        }
    }
}
