//! Directories and files that a process knows by itself.

use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

use oxuv_core::{Errno, Result};
use oxuv_os::system::paths;
use oxuv_os::system::users::{User, effective_user_id};

use super::env;
use super::room::Room;
use crate::error::code;

/// The longest path that the kernel tells, with its zero.
const PATH_MAX: usize = libc::PATH_MAX as usize;

/// Writes the working directory to `buffer`. `*size` is the buffer's, and becomes the path's length.
///
/// UV_ENOBUFS if the buffer is too small, `*size` is then what it takes, the zero at the end included; UV_EINVAL for
/// null and for a size of 0; UV_ENOENT if the directory was removed.
///
/// # Safety
/// `buffer` points to `*size` bytes, or one of them is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cwd(buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: passed on to our caller word for word.
    code(unsafe { Room::new(buffer, size) }.and_then(working_directory))
}

fn working_directory(mut room: Room) -> Result<()> {
    let length = match paths::working_directory(room.bytes()) {
        Ok(path) => path.count_bytes(),
        Err(error) if error.raw() == libc::ERANGE => {
            // Read once more, only to say what it takes.
            let mut scratch = [MaybeUninit::uninit(); PATH_MAX + 1];
            let length = paths::working_directory(&mut scratch)?.count_bytes();
            return Err(room.too_small_for(length));
        }
        Err(error) => return Err(error),
    };
    room.end(length);
    Ok(())
}

/// Changes the working directory, for all threads.
///
/// UV_ENOENT, UV_ENOTDIR, UV_EACCES and the like; UV_EFAULT for null.
///
/// # Safety
/// `dir` is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_chdir(dir: *const c_char) -> c_int {
    if dir.is_null() {
        return Errno::EFAULT.code();
    }
    // SAFETY: a text, says the caller.
    code(paths::set_working_directory(unsafe { CStr::from_ptr(dir) }))
}

/// Writes the path of the running program to `buffer`, as much as fits. `*size` is the buffer's, and becomes the length
/// of what was written.
///
/// UV_EINVAL for null and for a size of 0; UV_ENOENT and the like without /proc.
///
/// # Safety
/// `buffer` points to `*size` bytes, or one of them is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_exepath(buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: passed on to our caller word for word.
    let room = unsafe { Room::new(buffer, size) };
    code(room.and_then(|mut room| {
        // One byte is left for the zero.
        let length = match room.bytes() {
            [before_zero @ .., _] => paths::program(before_zero)?.len(),
            [] => 0,
        };
        room.end(length);
        Ok(())
    }))
}

/// Writes the user's home directory to `buffer`: what HOME says, even if that is nothing, else what the user database
/// says. `*size` is the buffer's, and becomes the path's length.
///
/// UV_ENOBUFS if the buffer is too small, `*size` is then what it takes, the zero at the end included; UV_EINVAL for
/// null and for a size of 0; UV_ENOENT if the user is not known.
///
/// # Safety
/// `buffer` points to `*size` bytes, or one of them is null. No other thread changes the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_homedir(buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: passed on to our caller word for word. The value is copied at once.
    code(unsafe {
        Room::new(buffer, size).and_then(|room| match env::value(c"HOME") {
            Ok(home) => room.fill(home.to_bytes()),
            Err(_) => room.fill(User::with_id(effective_user_id())?.home().to_bytes()),
        })
    })
}

/// Writes the directory for temporary files to `buffer`: what the first of TMPDIR, TMP, TEMP and TEMPDIR says that is set,
/// without a slash at its end; else `/tmp`. `*size` is the buffer's, and becomes the path's length.
///
/// UV_ENOBUFS if the buffer is too small, `*size` is then what it takes, the zero at the end included; UV_EINVAL for
/// null and for a size of 0.
///
/// # Safety
/// `buffer` points to `*size` bytes, or one of them is null. No other thread changes the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_tmpdir(buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: passed on to our caller word for word. The path is copied at once.
    code(unsafe { Room::new(buffer, size).and_then(|room| room.fill(paths::temporary())) })
}
