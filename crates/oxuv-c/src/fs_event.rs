//! Handles that tell of changes of files.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use oxuv_core::{Errno, FsEvents, Key, Result};

use crate::error::code;
use crate::handle::{self, with_open};
use crate::loop_::{Loop, User, with};
use crate::system::room::Room;
use crate::types::{uv_handle_t, uv_handle_type, uv_loop_t};

/// Called when something has happened: to which file, what, and 0; or with an error, when a directory of this name, beneath
/// one that is watched recursively, cannot be watched. The name is null when it is not known; then, with `UV_CHANGE`,
/// something was lost.
pub type uv_fs_event_cb = Option<unsafe extern "C-unwind" fn(*mut uv_fs_event_t, *const c_char, c_int, c_int)>;

/// A handle that tells of changes of files.
pub const UV_FS_EVENT: uv_handle_type = 3;

/// Event: a name has come or gone.
pub const UV_RENAME: c_int = 1;
/// Event: bytes or attributes have changed.
pub const UV_CHANGE: c_int = 2;

/// Flag of `uv_fs_event_start`: everything beneath a directory, too. The other flags of libuv have no effect.
pub const UV_FS_EVENT_RECURSIVE: c_uint = 4;

/// Tells of changes of a file, or of a directory and what is in it.
#[repr(C)]
pub struct uv_fs_event_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    _path: *mut c_char,
    pub(crate) cb: uv_fs_event_cb,
    _watchers: [usize; 2],
    _wd: c_int,
}

/// Initialises a handle, stopped.
///
/// # Safety
/// `loop_` was initialised; `handle` points to memory for such a handle, which holds no open one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_event_init(loop_: *mut uv_loop_t, handle: *mut uv_fs_event_t) -> c_int {
    // SAFETY: `loop_` has its core since init; `handle` is memory for all the fields written.
    unsafe {
        match with(loop_, |core| core.fs_event_init(User::of(handle))) {
            Ok(key) => handle::init(handle.cast(), loop_, UV_FS_EVENT, key),
            Err(error) => return error.code(),
        }
        (*handle)._path = null_mut();
        (*handle).cb = None;
        (*handle)._wd = -1;
    }
    0
}

/// Has `cb` called for what happens from now on to the file at `path`, or to the directory and what is directly in it; with
/// `UV_FS_EVENT_RECURSIVE` to everything beneath, which libuv does on other systems only. Then it blocks until all that
/// is there was looked through: seconds for tens of thousands of directories.
///
/// UV_EINVAL for a null path, and a handle that is started, closing or zero; UV_ENOENT, UV_EACCES and others about the path;
/// UV_ENOSPC, UV_EMFILE when the user has as many watches, or descriptors for them, as the system allows; UV_ENOMEM.
///
/// # Safety
/// `handle` was initialised, and stays valid until it is closed; `path` is null, or a text that ends by a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_event_start(
    handle: *mut uv_fs_event_t,
    cb: uv_fs_event_cb,
    path: *const c_char,
    flags: c_uint,
) -> c_int {
    if path.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the handle was initialised, and the path is a text.
    unsafe {
        let path = CStr::from_ptr(path);
        let started = with_open(handle.cast(), |core, key| {
            if core.is_active(key) {
                return Err(Errno::EINVAL);
            }
            core.fs_event_set_recursive(key, flags & UV_FS_EVENT_RECURSIVE != 0)?;
            core.fs_event_start(key, path)
        });
        if started.is_ok() {
            (*handle).cb = cb;
        }
        code(started)
    }
}

/// Stops a handle. Stopped is stopped: again does nothing.
///
/// UV_EINVAL for a zero handle.
///
/// # Safety
/// `handle` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_event_stop(handle: *mut uv_fs_event_t) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { handle::stop(handle.cast(), |core, key| core.fs_event_stop(key)) }
}

/// The path that a handle watches, as it was given; `*size` is the room for it, and then its length.
///
/// UV_ENOBUFS when there is too little room: `*size` is what it takes, with the zero. UV_EINVAL for null pointers and no
/// room; also for a handle that is not started, and then `*size` is 0.
///
/// # Safety
/// `handle` was initialised, or is zero; `buffer` points to `*size` bytes, or one of the two is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_event_getpath(
    handle: *mut uv_fs_event_t,
    buffer: *mut c_char,
    size: *mut usize,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe { path(handle.cast(), buffer, size, Loop::fs_event_path) }
}

/// Writes the path of a handle, for which the core is asked by `ask`.
///
/// # Safety
/// As for [`uv_fs_event_getpath`].
pub(crate) unsafe fn path(
    handle: *const uv_handle_t,
    buffer: *mut c_char,
    size: *mut usize,
    ask: impl FnOnce(&Loop, Key) -> Result<&CStr>,
) -> c_int {
    // SAFETY: the caller says what buffer and size are; a size that there is room by is not null.
    unsafe {
        let written = Room::new(buffer, size).and_then(|room| {
            with_open(handle, |core, key| match ask(core, key) {
                Ok(path) => room.fill(path.to_bytes()),
                Err(error) => {
                    *size = 0;
                    Err(error)
                }
            })
        });
        code(written)
    }
}

/// The longest name: a path as long as the system takes, and a name in the directory that it leads to.
const NAME: usize = 4096 + 256;

/// Something has happened, of which the core has the name.
///
/// # Safety
/// `handle` is valid: an event of it has just come from the core of `loop_`.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn happened(loop_: *mut uv_loop_t, handle: *mut uv_fs_event_t, result: Result<FsEvents>) {
    // SAFETY: the name is copied, since the callback may do anything to the core, and lies here until that returns.
    unsafe {
        let mut memory = [MaybeUninit::<u8>::uninit(); NAME];
        let name = with(loop_, |core| {
            let name = core.fs_event_name()?.to_bytes_with_nul();
            memory.get_mut(..name.len())?.write_copy_of_slice(name);
            Some(())
        });
        let name = if name.is_some() { memory.as_ptr().cast() } else { null() };
        let status = code(result.map(|_| ()));
        let events = result.map_or(0, |events| {
            // As libuv tells of it on Windows.
            let events = if events.contains(FsEvents::LOST) { FsEvents::CHANGE } else { events };
            events.bits().into()
        });
        if let Some(cb) = (*handle).cb {
            cb(handle, name, events, status);
        }
    }
}
