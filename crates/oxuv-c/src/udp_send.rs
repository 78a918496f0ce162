//! Sending datagrams.

use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::slice;

use libc::{AF_INET, AF_INET6, AF_UNIX, sockaddr};
use oxuv_core::{AddressRef, Buffers, Errno, Result};

use crate::error::code;
use crate::handle::with_open;
use crate::loop_::{User, with};
use crate::memory::{free, malloc};
use crate::types::{uv_buf_t, uv_loop_t, uv_req_t, uv_req_type};
use crate::udp::{show_descriptor, uv_udp_t};
use crate::write::{BUFSML, Bufs, OneBuf};

/// Called when a datagram was handed to the network, or could not be.
pub type uv_udp_send_cb = Option<unsafe extern "C-unwind" fn(*mut uv_udp_send_t, c_int)>;

/// A datagram to be sent.
pub const UV_UDP_SEND: uv_req_type = 5;

/// A datagram to be sent.
#[repr(C)]
pub struct uv_udp_send_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// The handle that it is sent by.
    pub handle: *mut uv_udp_t,
    _cb: usize,
    /// Its bytes, as the handle counts them until the callback.
    total: usize,
    _queue: usize,
    _address: [u64; 16],
    nbufs: c_uint,
    /// Room for a copy of the caller's array: `bufsml` if it fits there, else memory of its own.
    bufs: *mut uv_buf_t,
    _status: isize,
    pub(crate) send_cb: uv_udp_send_cb,
    bufsml: [uv_buf_t; 4],
}

/// Sends a datagram, at once if the system takes it, else when it does. A null `addr` is the one that the handle is
/// connected to. `cb`, which may be null, is called later, never from here. The array is copied, the bytes are not. A
/// handle without a socket is bound first.
///
/// UV_EISCONN for an address when connected, UV_EDESTADDRREQ without one when not; UV_EINVAL for no buffer, more than 2^20
/// of them or more than 2^31-1 bytes, for an address of another family, and for a closing handle. What the system says of
/// the datagram, `cb` tells.
///
/// # Safety
/// `udp` was initialised; `bufs` has `nbufs` buffers; `addr` is null or points to an address as large as its family says.
/// `req` and the buffers' bytes stay valid until `cb`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_send(
    req: *mut uv_udp_send_t,
    udp: *mut uv_udp_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    addr: *const sockaddr,
    cb: uv_udp_send_cb,
) -> c_int {
    if bufs.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the same is asked of our caller.
    unsafe {
        let to = match destination(addr) {
            Ok(to) => to,
            Err(error) => return error.code(),
        };
        match nbufs {
            1 => send_one(req, udp, *bufs, to, cb),
            _ => send_many(req, udp, bufs, nbufs, to, cb),
        }
    }
}

/// As [`uv_udp_send`], for one buffer, as most programs have it: that always fits into the request.
///
/// # Safety
/// As for [`uv_udp_send`].
#[inline]
unsafe fn send_one(
    req: *mut uv_udp_send_t,
    udp: *mut uv_udp_t,
    buf: uv_buf_t,
    to: Option<AddressRef<'_>>,
    cb: uv_udp_send_cb,
) -> c_int {
    // SAFETY: the request is memory to write to; what the core keeps until the event is our copy there.
    unsafe {
        let one = match OneBuf::new(buf) {
            Ok(one) => one,
            Err(error) => return error.code(),
        };
        (*req).nbufs = 1;
        (*req).bufs = (&raw mut (*req).bufsml).cast();
        let keep = |one: OneBuf| one.keep_at((&raw mut (*req).bufsml).cast());
        code(send(req, udp, to, one, buf.len, cb, keep))
    }
}

/// As [`uv_udp_send`], for several buffers, or none.
///
/// # Safety
/// As for [`uv_udp_send`].
#[inline(never)]
unsafe fn send_many(
    req: *mut uv_udp_send_t,
    udp: *mut uv_udp_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    to: Option<AddressRef<'_>>,
    cb: uv_udp_send_cb,
) -> c_int {
    // SAFETY: the request is memory to write to. What the core keeps until the event is our copy of the array, in the room
    // that `free_room` frees there, or here if nothing is kept.
    unsafe {
        let bufs = match Bufs::new(bufs, nbufs).and_then(|bufs| make_room(req, nbufs).map(|()| bufs)) {
            Ok(bufs) => bufs,
            Err(error) => return error.code(),
        };
        let mut is_kept = false;
        let keep = |bufs: Bufs| {
            is_kept = true;
            bufs.copy_to((*req).bufs)
        };
        let sent = send(req, udp, to, bufs, bufs.bytes(), cb, keep);
        if !is_kept {
            free_room(req);
        }
        code(sent)
    }
}

/// Gives a datagram of so many bytes to the core. Unless `keep` was called, that does not keep it.
///
/// # Safety
/// As for [`uv_udp_send`]; `keep` gives what is valid until the event.
#[inline]
unsafe fn send<T: Buffers>(
    req: *mut uv_udp_send_t,
    udp: *mut uv_udp_t,
    to: Option<AddressRef<'_>>,
    buffers: T,
    bytes: usize,
    cb: uv_udp_send_cb,
    keep: impl FnOnce(T) -> Bufs,
) -> Result<()> {
    // SAFETY: the request is memory to write to, and the handle was initialised.
    unsafe {
        (*req).req.r#type = UV_UDP_SEND;
        (*req).handle = udp;
        (*req).send_cb = cb;
        (*req).total = bytes;
        let sent = with_open(udp.cast(), |core, key| {
            let sent = core.udp_send(key, User::of(req), to, buffers, keep);
            sent.map(drop).map_err(|refused| refused.error)
        });
        if (*udp).io_watcher.fd == -1 {
            show_descriptor(udp);
        }
        if sent.is_ok() {
            (*udp).send_queue_count += 1;
            (*udp).send_queue_size += bytes;
        }
        sent
    }
}

/// A send is over, and as a rule others with it: they are told one after the other.
///
/// # Safety
/// The core of `loop_` has just told so of `req`.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn all_sent(loop_: *mut uv_loop_t, req: *mut uv_udp_send_t, status: c_int) {
    // SAFETY: says the caller. The loop is one that runs; if the callback has closed it, that is all.
    unsafe {
        sent(req, status);
        while let Some((user, result)) = with(loop_, |core| core.next_sent()) {
            sent(user.0.cast(), code(result));
        }
    }
}

/// A send is over: its request and its handle are shown as such, and the callback is called.
///
/// # Safety
/// The core has just told so of `req`.
#[inline]
unsafe fn sent(req: *mut uv_udp_send_t, status: c_int) {
    // SAFETY: the core is done with the request's buffers. Its handle is valid: it has not been told that it is closed.
    unsafe {
        free_room(req);
        let udp = (*req).handle;
        (*udp).send_queue_count -= 1;
        (*udp).send_queue_size -= (*req).total;
        if let Some(cb) = (*req).send_cb {
            cb(req, status);
        }
    }
}

/// Finds room for a copy of the array: in the request, or memory of its own.
///
/// # Safety
/// `req` is memory to write to.
unsafe fn make_room(req: *mut uv_udp_send_t, nbufs: c_uint) -> Result<()> {
    // SAFETY: the request is memory to write to. `Bufs::new` has seen that there are not too many.
    unsafe {
        (*req).nbufs = nbufs;
        (*req).bufs = if nbufs <= BUFSML {
            (&raw mut (*req).bufsml).cast()
        } else {
            malloc(nbufs as usize * size_of::<uv_buf_t>()).cast()
        };
        if (*req).bufs.is_null() { Err(Errno::ENOMEM) } else { Ok(()) }
    }
}

/// Frees the room for the array's copy, once.
///
/// # Safety
/// [`make_room`] has made it, and the core does not use it any more.
unsafe fn free_room(req: *mut uv_udp_send_t) {
    // SAFETY: what does not fit into the request came from `malloc`. Once freed it is forgotten, for the event.
    unsafe {
        if (*req).nbufs > BUFSML {
            free((*req).bufs.cast());
            (*req).bufs = null_mut();
        }
    }
}

/// Sends a datagram if the system takes it at once, and returns its number of bytes.
///
/// UV_EAGAIN when it does not, or while a send's callback is still to come; else as [`uv_udp_send`], and what the system
/// says of the datagram.
///
/// # Safety
/// `udp` was initialised; `bufs` has `nbufs` buffers of valid bytes; `addr` is as for [`uv_udp_send`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_try_send(
    udp: *mut uv_udp_t,
    bufs: *const uv_buf_t,
    nbufs: c_uint,
    addr: *const sockaddr,
) -> c_int {
    // SAFETY: the handle was initialised; the core does not keep the buffers.
    unsafe {
        let sent = destination(addr).and_then(|to| {
            let bufs = Bufs::new(bufs, nbufs)?;
            with_open(udp.cast(), |core, key| core.udp_try_send(key, to, &bufs))
        });
        if (*udp).io_watcher.fd == -1 {
            show_descriptor(udp);
        }
        match sent {
            // Not more than 2^31-1.
            Ok(bytes) => bytes as c_int,
            Err(error) => error.code(),
        }
    }
}

/// Sends as many of `count` datagrams as the system takes at once, in their order, and returns how many that was. `flags`
/// is 0.
///
/// UV_EINVAL for no datagram, for flags, for a null array, and for a handle without a socket; else, when none was sent, as
/// [`uv_udp_try_send`]. If any would be refused without asking the system, none is sent.
///
/// # Safety
/// `udp` was initialised; each array is null or has `count` elements, which are as for [`uv_udp_try_send`]: in `addrs` null
/// is for a connected handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_try_send2(
    udp: *mut uv_udp_t,
    count: c_uint,
    bufs: *mut *mut uv_buf_t,
    nbufs: *mut c_uint,
    addrs: *mut *mut sockaddr,
    flags: c_uint,
) -> c_int {
    if count < 1 || flags != 0 || bufs.is_null() || nbufs.is_null() || addrs.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the handle was initialised; the core asks for numbers below `count`, and does not keep the buffers.
    unsafe {
        let count = count as usize;
        // As a rule each has one buffer, and all go to one address. Then there is less to do.
        let is_alike = |nth| *addrs.add(nth) == *addrs && *nbufs.add(nth) == 1 && !(*bufs.add(nth)).is_null();
        let sent = with_open(udp.cast(), |core, key| {
            core.udp_descriptor(key).map_err(|_| Errno::EINVAL)?;
            if (0..count).all(is_alike) {
                let to = destination(*addrs)?;
                return core.udp_try_send_several(key, count, |nth| Ok((OneBuf::new(**bufs.add(nth))?, to)));
            }
            core.udp_try_send_several(key, count, |nth| {
                let to = destination(*addrs.add(nth))?;
                Ok((Bufs::new(*bufs.add(nth), *nbufs.add(nth))?, to))
            })
        });
        match sent {
            Ok(datagrams) => datagrams as c_int,
            Err(error) => error.code(),
        }
    }
}

/// Bytes of datagrams whose send callback is still to come.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_get_send_queue_size(udp: *const uv_udp_t) -> usize {
    // SAFETY: init has written the field.
    unsafe { (*udp).send_queue_size }
}

/// Datagrams whose send callback is still to come.
///
/// # Safety
/// `udp` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_udp_get_send_queue_count(udp: *const uv_udp_t) -> usize {
    // SAFETY: init has written the field.
    unsafe { (*udp).send_queue_count }
}

/// The address that a datagram goes to; `None` for null. UV_EINVAL for a family that is neither an internet's nor Unix's.
///
/// # Safety
/// `addr` is null or points to an address as large as its family says, which stays as it is for the lifetime that the
/// caller chooses.
#[inline]
unsafe fn destination<'a>(addr: *const sockaddr) -> Result<Option<AddressRef<'a>>> {
    if addr.is_null() {
        return Ok(None);
    }
    // SAFETY: the family says which structure it is.
    unsafe {
        let size = match c_int::from((&raw const (*addr).sa_family).read_unaligned()) {
            AF_INET => size_of::<libc::sockaddr_in>(),
            AF_INET6 => size_of::<libc::sockaddr_in6>(),
            AF_UNIX => size_of::<libc::sockaddr_un>(),
            _ => return Err(Errno::EINVAL),
        };
        Ok(Some(AddressRef::new(slice::from_raw_parts(addr.cast(), size))))
    }
}
