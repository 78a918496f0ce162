//! The names of the machine and of its system.

use std::ffi::{CStr, c_char, c_int};

use oxuv_core::Errno;
use oxuv_os::system::host::{HOSTNAME_SIZE, hostname, uname};

use super::room::Room;
use crate::error::code;

/// What the system is.
#[repr(C)]
pub struct uv_utsname_t {
    /// `Linux`.
    pub sysname: [c_char; 256],
    /// The kernel's version.
    pub release: [c_char; 256],
    /// Which build of it, and when it was made.
    pub version: [c_char; 256],
    /// The kind of processor.
    pub machine: [c_char; 256],
}

/// Writes the host's name to `buffer`. `*size` is the buffer's, and becomes the name's length.
///
/// UV_ENOBUFS if the buffer is too small, `*size` is then what it takes, the zero at the end included; UV_EINVAL for
/// null and for a size of 0.
///
/// # Safety
/// `buffer` points to `*size` bytes, or one of them is null.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_gethostname(buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: passed on to our caller word for word.
    let room = unsafe { Room::new(buffer, size) };
    let mut name = [0; HOSTNAME_SIZE];
    code(room.and_then(|room| room.fill(hostname(&mut name)?.to_bytes())))
}

/// Tells what the system is.
///
/// UV_EINVAL for null.
///
/// # Safety
/// `buffer` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_uname(buffer: *mut uv_utsname_t) -> c_int {
    if buffer.is_null() {
        return Errno::EINVAL.code();
    }
    let names = uname();
    let names = uv_utsname_t {
        sysname: array(names.sysname()),
        release: array(names.release()),
        version: array(names.version()),
        machine: array(names.machine()),
    };
    // SAFETY: the caller has a place for the result.
    unsafe { buffer.write(names) };
    0
}

/// The text with zeros behind it. The kernel's are 64 bytes at most.
fn array(text: &CStr) -> [c_char; 256] {
    let mut array = [0; 256];
    for (place, &byte) in array[..255].iter_mut().zip(text.to_bytes()) {
        *place = byte as c_char;
    }
    array
}
