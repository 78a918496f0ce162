//! Poll handles: readiness of a descriptor that the program owns.

use std::ffi::c_int;

use oxuv_core::Errno;
use oxuv_core::kernel::Readiness;

use crate::error::code;
use crate::handle::{self, with_open};
use crate::loop_::{User, with};
use crate::types::{uv__io_t, uv_handle_t, uv_handle_type, uv_loop_t};

/// Called when the descriptor is ready: with 0 and for what, or with UV_EBADF when it has failed.
pub type uv_poll_cb = Option<unsafe extern "C-unwind" fn(*mut uv_poll_t, c_int, c_int)>;

/// A poll handle.
pub const UV_POLL: uv_handle_type = 8;

/// Event of a poll handle: bytes, a connection or the end of the stream can be read.
pub const UV_READABLE: c_int = 1;
/// Event of a poll handle: bytes can be written.
pub const UV_WRITABLE: c_int = 2;
/// Event of a poll handle: the peer has closed its writing side.
pub const UV_DISCONNECT: c_int = 4;
/// Event of a poll handle: out-of-band data, or a change of a sysfs file.
pub const UV_PRIORITIZED: c_int = 8;

/// Waits for readiness of a descriptor that the program owns.
#[repr(C)]
pub struct uv_poll_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    pub(crate) poll_cb: uv_poll_cb,
    /// Programs read its `fd`.
    pub io_watcher: uv__io_t,
}

const EVENTS: [(c_int, Readiness); 4] = [
    (UV_READABLE, Readiness::READ),
    (UV_WRITABLE, Readiness::WRITE),
    (UV_DISCONNECT, Readiness::READ_HANG_UP),
    (UV_PRIORITIZED, Readiness::PRIORITY),
];

/// What C calls that readiness.
pub(crate) fn events_of(readiness: Readiness) -> c_int {
    EVENTS.iter().filter(|(_, bit)| readiness.contains(*bit)).map(|(event, _)| event).sum()
}

/// `None` if there are bits that are no events.
fn readiness_of(events: c_int) -> Option<Readiness> {
    let readiness = EVENTS.iter().filter(|(event, _)| events & event != 0).map(|&(_, bit)| bit).collect();
    (events_of(readiness) == events).then_some(readiness)
}

/// Initialises a poll handle for a descriptor, stopped. The descriptor is made non-blocking, and stays the program's,
/// which closes the handle, or stops it, before it closes the descriptor.
///
/// UV_EEXIST when a handle of this loop waits for the descriptor; UV_EPERM when it cannot be polled, as a regular file;
/// UV_EBADF.
///
/// # Safety
/// `loop_` was initialised; `poll` points to memory for a poll handle, which holds no open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_poll_init(loop_: *mut uv_loop_t, poll: *mut uv_poll_t, fd: c_int) -> c_int {
    // SAFETY: `loop_` has its core since init; `poll` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| core.poll_init(User::of(poll), fd)) {
            Ok(key) => handle::init(poll.cast(), loop_, UV_POLL, key),
            Err(error) => return error.code(),
        }
        (*poll).poll_cb = None;
        (*poll).io_watcher.fd = fd;
    }
    0
}

/// The same as [`uv_poll_init`], since sockets are descriptors.
///
/// # Safety
/// As for [`uv_poll_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_poll_init_socket(
    loop_: *mut uv_loop_t,
    poll: *mut uv_poll_t,
    socket: c_int,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { uv_poll_init(loop_, poll, socket) }
}

/// Waits for any of `events`, anew if it waited before; for none, it stops. `cb` is called in each turn in which the
/// descriptor is ready.
///
/// UV_EINVAL for a closing handle, and for other bits in `events`; UV_EEXIST when another handle of this loop waits for
/// the descriptor.
///
/// # Safety
/// `poll` was initialised, and stays valid until it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_poll_start(poll: *mut uv_poll_t, events: c_int, cb: uv_poll_cb) -> c_int {
    let Some(interest) = readiness_of(events) else { return Errno::EINVAL.code() };
    // SAFETY: the handle was initialised.
    unsafe {
        let started = with_open(poll.cast(), |core, key| core.poll_start(key, interest));
        if started.is_ok() && !interest.is_empty() {
            (*poll).poll_cb = cb;
        }
        code(started)
    }
}

/// Stops a poll handle: the program may close the descriptor now. Stopped is stopped: again does nothing.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `poll` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_poll_stop(poll: *mut uv_poll_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { handle::stop(poll.cast(), |core, key| core.poll_stop(key)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_one_bit_of_readiness() {
        for events in 0..16 {
            let readiness = readiness_of(events).unwrap();
            assert_eq!((readiness.iter().count() as u32, events_of(readiness)), (events.count_ones(), events));
        }
        for events in [16, 17, -1, c_int::MIN] {
            assert_eq!(readiness_of(events), None);
        }
        assert_eq!(events_of(Readiness::ERROR | Readiness::HANG_UP), 0);
    }
}
