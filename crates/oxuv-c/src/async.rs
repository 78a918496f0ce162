//! Async handles: waking a loop from other threads and from signal handlers.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use oxuv_core::kernel::Kernel;
use oxuv_core::{AsyncSender, Errno, Key};
use oxuv_os::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use oxuv_os::sync::{UnsafeCell, yield_now};

use crate::handle;
use crate::loop_::{User, guard, kernel, with};
use crate::types::{UV_ASYNC, uv_handle_t, uv_loop_t};

/// Called after a send.
pub type uv_async_cb = Option<unsafe extern "C-unwind" fn(*mut uv_async_t)>;

/// Calls a callback on the loop's thread when another thread or a signal handler asks for it.
#[repr(C)]
pub struct uv_async_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) async_cb: uv_async_cb,
    /// There from init to `uv_close`.
    sender: UnsafeCell<MaybeUninit<Sender>>,
    sends: AtomicU32,
}

type Sender = AsyncSender<<kernel::Kernel as Kernel>::Waker>;

// The bits of `sends`: a send that the callback has not seen, or that nobody will see since the handle is closed; and,
// from the second bit on, the number of senders who use `sender` now.
const SENT: u32 = 1;
const SENDING: u32 = 2;

/// Initialises an async handle, active from now on. `async_cb` may be null: then a send just ends the loop's wait.
///
/// # Safety
/// `loop_` was initialised; `handle` points to memory for an async handle, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_async_init(
    loop_: *mut uv_loop_t,
    handle: *mut uv_async_t,
    async_cb: uv_async_cb,
) -> c_int {
    // SAFETY: `loop_` has its core since init; `handle` is memory to write to.
    unsafe {
        let made = with(loop_, |core| {
            let key = core.async_init(User::of(handle))?;
            Ok((key, core.async_sender(key)?))
        });
        let (key, sender): (Key, Sender) = match made {
            Ok(made) => made,
            Err(error) => return Errno::code(error),
        };
        handle::init(handle.cast(), loop_, UV_ASYNC, key);
        (*handle).async_cb = async_cb;
        (&raw mut (*handle).sender).write(UnsafeCell::new(MaybeUninit::new(sender)));
        (&raw mut (*handle).sends).write(AtomicU32::new(0));
    }
    0
}

/// Makes the callback run on the loop's thread, in its next poll phase. Sends before the callback has begun are one.
/// From any thread and from signal handlers; `errno` is kept. Once the handle is closing, nothing happens.
///
/// UV_EINVAL for a handle of another kind, and for one that was never initialised.
///
/// # Safety
/// `handle` was initialised, or is zero, and its memory is valid until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_async_send(handle: *mut uv_async_t) -> c_int {
    // SAFETY: the type is written at init only; whoever sends has been told of the handle after that. Of the rest only
    // the atomic word is touched here.
    unsafe {
        if (*handle).handle.r#type != UV_ASYNC {
            return Errno::EINVAL.code();
        }
        // A callback is due that has not begun. Writing the word, unchanged, shows it what we wrote before.
        let sends = &(*handle).sends;
        if sends.load(Relaxed) & SENT != 0 && sends.fetch_or(0, AcqRel) & SENT != 0 {
            return 0;
        }
        send(handle)
    }
}

/// As [`uv_async_send`], when no callback was due: rings the bell.
///
/// # Safety
/// `handle` was initialised, and its memory is valid until this returns.
#[inline(never)]
unsafe fn send(handle: *mut uv_async_t) -> c_int {
    // SAFETY: but for the atomic word only the sender is touched, while that word says that it is in use: `close` waits
    // until it is not.
    unsafe {
        let sends = &(*handle).sends;
        let mut seen = sends.load(Relaxed);
        loop {
            // Somebody else has sent meanwhile.
            if seen & SENT != 0 && sends.fetch_or(0, AcqRel) & SENT != 0 {
                return 0;
            }
            seen &= !SENT;
            match sends.compare_exchange_weak(seen, seen + SENDING + SENT, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // EINVAL: closed by somebody who has not told this handle; nobody will run the callback.
        let _ = (*handle).sender.with(|sender| (*sender).assume_init_ref().send());
        sends.fetch_sub(SENDING, Release);
    }
    0
}

/// The core says that the handle was sent to: calls the callback.
///
/// # Safety
/// `handle` is open, and its event has just come.
pub(crate) unsafe fn call(handle: *mut uv_async_t) {
    // SAFETY: the handle is valid until its callback, which may do with it what it likes.
    unsafe {
        // What senders wrote until now the callback sees; who sends from now on makes it run again.
        (*handle).sends.fetch_and(!SENT, AcqRel);
        if let Some(cb) = (*handle).async_cb {
            cb(handle);
        }
    }
}

/// In a child: what was sent is for its parent, and threads that were sending are none of the child's.
///
/// # Safety
/// `handle` was initialised, and its close callback has not run.
pub(crate) unsafe fn forget_senders(handle: *mut uv_async_t) {
    // SAFETY: the handle is valid. A closing one has no sender any more, and none is to begin.
    unsafe {
        let nobody = if (*handle).handle.flags & handle::CLOSING == 0 { 0 } else { SENT };
        (*handle).sends.store(nobody, Release);
    }
}

/// Takes the sender away once nobody uses it. Sends from now on do nothing.
///
/// # Safety
/// `handle` was open until now.
pub(crate) unsafe fn close(handle: *mut uv_async_t) {
    // SAFETY: with SENT for ever set no send begins, and none is under way when the count is zero: the sender is ours.
    unsafe {
        (*handle).sends.fetch_or(SENT, AcqRel);
        while (*handle).sends.load(Acquire) >= SENDING {
            yield_now();
        }
        guard(|| (*handle).sender.with_mut(|sender| (*sender).assume_init_drop()));
    }
}
