//! Names of network interfaces.

use std::ffi::{c_char, c_int, c_uint};
use std::ptr::copy_nonoverlapping;

use oxuv_core::Errno;
use oxuv_os::interface;

/// The name of the interface with this number, with a zero at its end. `*size`, the bytes at `buffer`, becomes the
/// name's length without the zero.
///
/// UV_EINVAL for null or no room at all; UV_ENXIO when there is no such interface; UV_ENOBUFS when it does not fit, and
/// `*size` becomes what is needed.
///
/// # Safety
/// `size` is null or points to a size; `buffer` is null or points to `*size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_if_indextoname(ifindex: c_uint, buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: not null, hence a size.
    if buffer.is_null() || size.is_null() || unsafe { *size } == 0 {
        return Errno::EINVAL.code();
    }
    let mut memory = [0; interface::NAME_SIZE];
    let name = match interface::name(ifindex, &mut memory) {
        Ok(name) => name.to_bytes_with_nul(),
        Err(error) => return error.code(),
    };
    // SAFETY: `*size` bytes are there, and no more are written.
    unsafe {
        if *size < name.len() {
            *size = name.len();
            return Errno::ENOBUFS.code();
        }
        copy_nonoverlapping(name.as_ptr(), buffer.cast(), name.len());
        *size = name.len() - 1;
    }
    0
}

/// What stands for an interface behind the % of an IPv6 address: its name. As [`uv_if_indextoname`].
///
/// # Safety
/// `size` is null or points to a size; `buffer` is null or points to `*size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_if_indextoiid(ifindex: c_uint, buffer: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: the caller says the same.
    unsafe { uv_if_indextoname(ifindex, buffer, size) }
}
