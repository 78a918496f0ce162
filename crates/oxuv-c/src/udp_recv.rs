//! Receiving datagrams.

use std::ffi::{c_int, c_uint};
use std::mem::MaybeUninit;
use std::ptr::null;
use std::slice;

use libc::sockaddr;
use oxuv_core::kernel::{Batch, Received};
use oxuv_core::{DATAGRAM_SIZE, Errno, Key};

use crate::error::code;
use crate::handle::{stop, with_open};
use crate::loop_::{ask, with};
use crate::types::{uv_alloc_cb, uv_buf_t, uv_loop_t};
use crate::udp::{
    SEVERAL, UV_UDP_LINUX_RECVERR, UV_UDP_MMSG_CHUNK, UV_UDP_MMSG_FREE, UV_UDP_PARTIAL, show_descriptor, uv_udp_t,
};

/// Gets a datagram, its sender and what is to be said of it, or a negative error, and the buffer back.
pub type uv_udp_recv_cb =
    Option<unsafe extern "C-unwind" fn(*mut uv_udp_t, isize, *const uv_buf_t, *const sockaddr, c_uint)>;

/// The most that comes at a time.
const MOST: usize = 20;

/// Starts receiving: `alloc_cb` is asked for memory and `recv_cb` gets what was received, until stopped. A handle without
/// a socket is bound first.
///
/// With UV_UDP_RECVMMSG each datagram comes in its own 64 KiB of the buffer, at most 20 at a time, flagged
/// UV_UDP_MMSG_CHUNK; then the buffer comes back, flagged UV_UDP_MMSG_FREE, also if the datagrams' callbacks stop or close
/// the handle.
///
/// UV_EINVAL without one of the callbacks, or for a closing handle; UV_EALREADY when it is receiving; UV_EEXIST when
/// another handle of this loop waits for the descriptor.
///
/// # Safety
/// `udp` was initialised, and stays valid until it is closed. The memory that `alloc_cb` gives is valid for writing, and
/// nobody else's, until `recv_cb` has it back.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_recv_start(
    udp: *mut uv_udp_t,
    alloc_cb: uv_alloc_cb,
    recv_cb: uv_udp_recv_cb,
) -> c_int {
    if alloc_cb.is_none() || recv_cb.is_none() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the handle was initialised.
    unsafe {
        let receiving = with_open(udp.cast(), |core, key| core.udp_receive_start(key));
        if receiving.is_ok() {
            (*udp).alloc_cb = alloc_cb;
            (*udp).recv_cb = recv_cb;
        }
        show_descriptor(udp);
        code(receiving)
    }
}

/// Stops receiving. Stopped is stopped: again does nothing.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_recv_stop(udp: *mut uv_udp_t) -> c_int {
    // SAFETY: the handle was initialised.
    unsafe { stop(udp.cast(), |core, key| core.udp_receive_stop(key)) }
}

/// 1 if the handle receives several datagrams at a time, else 0.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_using_recvmmsg(udp: *const uv_udp_t) -> c_int {
    // SAFETY: the handle was initialised.
    c_int::from(unsafe { (*udp).handle.flags } & SEVERAL != 0)
}

/// There is something to receive, and as a rule more: one after the other.
///
/// # Safety
/// The core has just told so of `udp`, whose key this is.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn receive_all(loop_: *mut uv_loop_t, key: Key, udp: *mut uv_udp_t) {
    // SAFETY: says the caller, and then the core. The loop is one that runs; if a callback has closed it, that is all.
    unsafe {
        if (*udp).handle.flags & SEVERAL != 0 {
            return receive_all_several(loop_, key, udp);
        }
        receive_one(loop_, key, udp);
        while is_next(loop_) {
            receive_one(loop_, key, udp);
        }
    }
}

/// As [`receive_all`], of a handle that receives several datagrams at a time.
///
/// # Safety
/// As for [`receive_all`].
#[inline(never)] // Others do not need the memory.
unsafe fn receive_all_several(loop_: *mut uv_loop_t, key: Key, udp: *mut uv_udp_t) {
    // SAFETY: as in `receive_all`.
    unsafe {
        let mut batch = Batch::default();
        receive_several(loop_, key, udp, &mut batch);
        while is_next(loop_) {
            batch.clear();
            receive_several(loop_, key, udp, &mut batch);
        }
    }
}

/// True if there is more to be received by the same handle. Then it is to be received.
///
/// # Safety
/// As for [`with`].
#[inline]
unsafe fn is_next(loop_: *mut uv_loop_t) -> bool {
    // SAFETY: the same is asked of our caller.
    unsafe { with(loop_, |core| core.next_receive().then_some(())).is_some() }
}

/// Asks for memory to receive into.
///
/// # Safety
/// `udp` is valid.
#[inline]
unsafe fn ask_for_memory(udp: *mut uv_udp_t) -> uv_buf_t {
    let mut buf = uv_buf_t { base: std::ptr::null_mut(), len: 0 };
    // SAFETY: says the caller.
    unsafe {
        if let Some(alloc_cb) = (*udp).alloc_cb {
            alloc_cb(udp.cast(), DATAGRAM_SIZE, &raw mut buf);
        }
    }
    buf
}

/// There is something to receive: asks for memory, receives, and tells.
///
/// # Safety
/// The core has just told so of `udp`, whose key this is.
unsafe fn receive_one(loop_: *mut uv_loop_t, key: Key, udp: *mut uv_udp_t) {
    // SAFETY: `udp` is valid until `alloc_cb`. That may run the loop until the handle, or the loop itself, is closed for
    // good; else it is valid still. The buffer goes back to whom it belongs. The bytes are not looked at any more once the callback
    // runs.
    unsafe {
        let buf = ask_for_memory(udp);
        let mut received = Received::none();
        let heard = with(loop_, |core| match core.udp_receive_into(key, memory(&buf), &mut received) {
            Ok(true) => Some((told(&received), true)),
            // Nothing to receive; or `alloc_cb` has stopped or closed the handle, and gets its buffer back.
            Ok(false) => core.kind(key).map(|_| ((0, 0), false)),
            Err(error) => Some(((error.code() as isize, 0), false)),
        });
        if let Some(((nread, flags), is_datagram)) = heard {
            // That of a sender without an address is zero: null would say that there is no datagram.
            let from = if is_datagram { received.from.as_ptr() } else { null() };
            call(udp, nread, &buf, from, flags);
        }
    }
}

/// As [`receive_one`], several at a time, into a batch that is empty.
///
/// # Safety
/// As for [`receive_one`].
#[inline]
unsafe fn receive_several(loop_: *mut uv_loop_t, key: Key, udp: *mut uv_udp_t, batch: &mut Batch<'_>) {
    // SAFETY: as in `receive_one`. The handle is there before the first callback, and looked for after each. The bytes are not looked at any
    // more once the first one runs; each datagram has as many bytes of the buffer as its part says.
    unsafe {
        let buf = ask_for_memory(udp);
        let heard = with(loop_, |core| match core.udp_receive_several_into(key, memory(&buf), batch) {
            Ok(()) => core.kind(key).map(|_| 0),
            Err(error) => Some(error.code() as isize),
        });
        match heard {
            None => return,
            Some(nread) if batch.is_empty() => return call(udp, nread, &buf, null(), 0),
            Some(_) => {}
        }
        let mut all = [(0, 0, null()); MOST];
        let all = &mut all[..batch.len()];
        for (place, received) in all.iter_mut().zip(batch.iter()) {
            let (nread, flags) = told(received);
            *place = (nread, flags | UV_UDP_MMSG_CHUNK, sender(received));
        }
        let mut base = buf.base;
        for &mut (nread, flags, from) in all {
            if ask(loop_, |core| Some(core.udp_is_receiving(key))) != Some(true) {
                break;
            }
            call(udp, nread, &uv_buf_t { base, len: DATAGRAM_SIZE }, from, flags);
            base = base.wrapping_add(DATAGRAM_SIZE);
        }
        if is_there(loop_, key) {
            call(udp, 0, &buf, null(), UV_UDP_MMSG_FREE);
        }
    }
}

/// What is to be received into, until the next callback.
///
/// # Safety
/// `buf` is memory that nobody else uses meanwhile.
unsafe fn memory<'a>(buf: &uv_buf_t) -> &'a mut [MaybeUninit<u8>] {
    let len = if buf.base.is_null() { 0 } else { buf.len.min(isize::MAX as usize) };
    if len == 0 {
        return &mut [];
    }
    // SAFETY: ours by the promise at `uv_udp_recv_start`; it need not be initialised.
    unsafe { slice::from_raw_parts_mut(buf.base.cast(), len) }
}

/// What a callback hears of a datagram: its size or the error that it tells of, and the flags.
fn told(received: &Received<'_>) -> (isize, c_uint) {
    let partial = if received.is_truncated { UV_UDP_PARTIAL } else { 0 };
    match received.error {
        None => (received.bytes.len() as isize, partial),
        Some(error) => (error.code() as isize, partial | UV_UDP_LINUX_RECVERR),
    }
}

/// Where the sender's address is, if it has one.
#[inline]
fn sender(received: &Received<'_>) -> *const sockaddr {
    if received.from.is_none() { null() } else { received.from.as_ptr() }
}

/// False if a callback has run the loop until the handle, or the loop itself, was closed for good.
///
/// # Safety
/// `loop_` was initialised.
unsafe fn is_there(loop_: *const uv_loop_t, key: Key) -> bool {
    // SAFETY: the same is asked of our caller.
    unsafe { ask(loop_, |core| core.kind(key)).is_some() }
}

/// # Safety
/// `udp` was initialised, and its memory is not given back.
unsafe fn call(udp: *mut uv_udp_t, nread: isize, buf: &uv_buf_t, from: *const sockaddr, flags: c_uint) {
    // SAFETY: says the caller; `buf` and `from` are ours for the time of the call.
    unsafe {
        if let Some(recv_cb) = (*udp).recv_cb {
            recv_cb(udp, nread, buf, from, flags);
        }
    }
}
