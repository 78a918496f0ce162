//! Terminals.

use std::ffi::{c_int, c_uint};

use oxuv_core::kernel::Kernel;
use oxuv_core::{Errno, Key, NewTty, Result};
use oxuv_os::tty::{TtyMode, reset_mode};

use crate::error::code;
use crate::handle::with_open;
use crate::loop_::{Loop, User, kernel, with};
use crate::stream;
use crate::types::{UV_TTY, uv_loop_t, uv_stream_t};

/// A terminal.
#[repr(C)]
pub struct uv_tty_t {
    /// What all streams have.
    pub stream: uv_stream_t,
    _modes: [c_uint; 16],
}

/// `uv_tty_mode_t`: what a terminal does with what is typed and printed.
pub type uv_tty_mode_t = c_uint;
/// As the terminal was found.
pub const UV_TTY_MODE_NORMAL: uv_tty_mode_t = 0;
/// Each key is read at once, as it is; printing goes on as usual.
pub const UV_TTY_MODE_RAW: uv_tty_mode_t = 1;
/// Bytes go through in both directions as they are.
pub const UV_TTY_MODE_IO: uv_tty_mode_t = 2;
/// The same as raw, here.
pub const UV_TTY_MODE_RAW_VT: uv_tty_mode_t = 3;

/// `uv_tty_vtermstate_t`: who interprets escape sequences on Windows.
pub type uv_tty_vtermstate_t = c_uint;

/// Flag of a terminal that could not be opened anew, and was left blocking. Private in libuv too, but its tests read it.
const BLOCKING: c_uint = 0x0010_0000;

/// Initialises a terminal handle for a descriptor, usually 0, 1 or 2. The last argument is not looked at.
///
/// A terminal is opened anew, so that others who share the descriptor do not find it non-blocking: `fd` stands for the new
/// one from now on, too, and stays the caller's. The master of a pseudo-terminal and what cannot be opened are
/// used as they are, and block while writing; pipes and sockets are used as they are and made non-blocking. In these cases `fd`
/// is closed with the handle, unless it is 0, 1 or 2.
///
/// UV_EINVAL for a file and for what is no descriptor; UV_EEXIST when a handle of this loop waits for it.
///
/// # Safety
/// `loop_` was initialised; `tty` points to memory for a terminal handle, which holds no open handle. If the handle takes the
/// descriptor, nobody else closes that.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tty_init(loop_: *mut uv_loop_t, tty: *mut uv_tty_t, fd: c_int, _: c_int) -> c_int {
    if fd < 0 {
        return Errno::EINVAL.code();
    }
    // SAFETY: `loop_` has its core since init; `tty` is memory for all the fields written. The descriptor of this number is
    // the handle's, or is let go of unclosed.
    unsafe {
        let made = with(loop_, |core| {
            let given = kernel::own(core.kernel(), fd);
            let NewTty { key, given, is_blocking } = core.tty_init(User::of(tty), given, true).map_err(|refused| {
                kernel::Kernel::let_go(refused.given);
                refused.error
            })?;
            given.into_iter().for_each(kernel::Kernel::let_go);
            Ok((key, is_blocking))
        });
        match made {
            Ok((key, is_blocking)) => {
                stream::init(tty.cast(), loop_, UV_TTY, key);
                if is_blocking {
                    (*tty).stream.handle.flags |= BLOCKING;
                }
            }
            Err(error) => return error.code(),
        }
        stream::show_descriptor(tty.cast());
    }
    0
}

/// Changes what the terminal does with what is typed and printed; at once, not when everything is printed.
///
/// UV_EINVAL for an unknown mode; UV_EBADF for a closing handle; UV_ENOTTY, UV_EIO.
///
/// # Safety
/// `tty` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tty_set_mode(tty: *mut uv_tty_t, mode: uv_tty_mode_t) -> c_int {
    let mode = match mode {
        UV_TTY_MODE_NORMAL => TtyMode::Normal,
        UV_TTY_MODE_RAW => TtyMode::Raw,
        UV_TTY_MODE_IO => TtyMode::Io,
        UV_TTY_MODE_RAW_VT => TtyMode::RawVt,
        _ => return Errno::EINVAL.code(),
    };
    // SAFETY: the handle was initialised.
    code(unsafe { with_terminal(tty, |core, key| core.tty_set_mode(key, mode)) })
}

/// Gives the first terminal that was put in a mode back as it was found, for the next program. Callable from signal handlers
/// and when the process ends; `errno` is kept.
///
/// UV_EBUSY when it comes in the middle of `uv_tty_set_mode` or `uv_close` of a terminal.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_tty_reset_mode() -> c_int {
    code(reset_mode())
}

/// The size of the terminal's window in characters.
///
/// UV_EBADF for a closing handle; UV_ENOTTY, UV_EIO.
///
/// # Safety
/// `tty` was initialised; `width` and `height` point to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tty_get_winsize(tty: *mut uv_tty_t, width: *mut c_int, height: *mut c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        match with_terminal(tty, |core, key| core.tty_window_size(key)) {
            Ok(size) => {
                *width = size.columns.into();
                *height = size.rows.into();
                0
            }
            Err(error) => error.code(),
        }
    }
}

/// # Safety
/// `tty` was initialised.
unsafe fn with_terminal<R>(tty: *const uv_tty_t, ask: impl FnOnce(&mut Loop, Key) -> Result<R>) -> Result<R> {
    // SAFETY: the same is asked of our caller.
    unsafe {
        if stream::is_closing(tty.cast()) {
            return Err(Errno::EBADF);
        }
        with_open(tty.cast(), ask)
    }
}

/// Of consequence on Windows only.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_tty_set_vterm_state(_: uv_tty_vtermstate_t) {}

/// UV_ENOTSUP: known on Windows only.
///
/// # Safety
/// None here: nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_tty_get_vterm_state(_: *mut uv_tty_vtermstate_t) -> c_int {
    Errno::ENOTSUP.code()
}
