//! Memory: what there is, what is free, what this process may have and has. In bytes.

use std::ffi::c_int;

use oxuv_core::Errno;
use oxuv_os::system::memory;

/// What of this process lies in memory now.
///
/// UV_EINVAL for null, and when /proc makes no sense; the errors of reading it.
///
/// # Safety
/// `rss` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_resident_set_memory(rss: *mut usize) -> c_int {
    if rss.is_null() {
        return Errno::EINVAL.code();
    }
    match memory::resident() {
        // SAFETY: the caller has a place for the result.
        Ok(resident) => unsafe { rss.write(usize::try_from(resident).unwrap_or(usize::MAX)) },
        Err(error) => return error.code(),
    }
    0
}

/// What the machine has; 0 if the system does not say.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_get_total_memory() -> u64 {
    memory::total()
}

/// What programs may take before the machine begins to swap; 0 if the system does not say.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_get_free_memory() -> u64 {
    memory::free()
}

/// What this process may still take: what is left of the limit of its control groups; without one below what the machine
/// has, what is free.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_get_available_memory() -> u64 {
    memory::available()
}

/// What this process may have, by its control groups and its own limits; that may be more than the machine has, and is
/// UINT64_MAX when its groups say that there is no limit. 0 if nobody says anything.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_get_constrained_memory() -> u64 {
    memory::constrained().unwrap_or(0)
}
