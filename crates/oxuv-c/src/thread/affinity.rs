//! Which processors a thread may run on. C has a byte for each of them, the system a bit.

use std::ffi::{c_char, c_int};
use std::mem::zeroed;

use libc::{CPU_ISSET, CPU_SET, cpu_set_t};
use oxuv_core::{Errno, Result};

use super::{check, uv_thread_t};
use crate::error::code;

/// How many processors a set has room for, of those that the system may have.
const PROCESSORS: usize = libc::CPU_SETSIZE as usize;

/// As many bytes as the caller has at the least: not 0 for a processor that is in the set.
type Mask = [c_char; PROCESSORS];

fn set_of(mask: &Mask) -> cpu_set_t {
    // SAFETY: an array of integers; all zero is the empty set.
    let mut set = unsafe { zeroed() };
    for processor in (0..PROCESSORS).filter(|&processor| mask[processor] != 0) {
        // SAFETY: a set has room for this many processors.
        unsafe { CPU_SET(processor, &mut set) };
    }
    set
}

fn mask_of(set: &cpu_set_t) -> Mask {
    // SAFETY: a set has room for this many processors.
    std::array::from_fn(|processor| unsafe { CPU_ISSET(processor, set) }.into())
}

/// Writes which processors a thread may run on.
///
/// # Safety
/// `thread` has not ended; `mask` is valid to write to.
unsafe fn write_affinity(thread: uv_thread_t, mask: *mut Mask) -> Result<()> {
    // SAFETY: all zero is the empty set. What the C library writes there is a set of the size given, and then there
    // is memory for the mask.
    unsafe {
        let mut set = zeroed();
        check(libc::pthread_getaffinity_np(thread, size_of::<cpu_set_t>(), &raw mut set))?;
        mask.write(mask_of(&set));
    }
    Ok(())
}

/// How many bytes a mask of processors must have at the least.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_cpumask_size() -> c_int {
    libc::CPU_SETSIZE
}

/// Lets a thread run on the processors only whose byte in `cpumask` is not 0. Unless `oldmask` is null, it gets those
/// that the thread may have run on so far; it may be the same memory.
///
/// UV_EINVAL for a mask that is smaller than [`uv_cpumask_size`], and for one without a processor that can be had.
///
/// # Safety
/// `tid` points to a thread that has not ended; `cpumask`, and `oldmask` unless it is null, to `mask_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_setaffinity(
    tid: *mut uv_thread_t,
    cpumask: *mut c_char,
    oldmask: *mut c_char,
    mask_size: usize,
) -> c_int {
    if cpumask.is_null() || mask_size < PROCESSORS {
        return Errno::EINVAL.code();
    }
    // SAFETY: both masks are large enough, as was looked at. The new one is read, and the reference to it over, before
    // the old one is written.
    code(unsafe {
        let set = set_of(&*cpumask.cast::<Mask>());
        let told = if oldmask.is_null() { Ok(()) } else { write_affinity(*tid, oldmask.cast()) };
        told.and_then(|()| check(libc::pthread_setaffinity_np(*tid, size_of::<cpu_set_t>(), &raw const set)))
    })
}

/// Writes 1 to the byte of each processor that a thread may run on, and 0 to the others.
///
/// UV_EINVAL for a mask that is smaller than [`uv_cpumask_size`].
///
/// # Safety
/// `tid` points to a thread that has not ended; `cpumask` to `mask_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_getaffinity(
    tid: *mut uv_thread_t,
    cpumask: *mut c_char,
    mask_size: usize,
) -> c_int {
    if cpumask.is_null() || mask_size < PROCESSORS {
        return Errno::EINVAL.code();
    }
    // SAFETY: the mask is large enough, as was looked at.
    code(unsafe { write_affinity(*tid, cpumask.cast()) })
}

/// The number of the processor that runs the calling thread just now.
///
/// UV_ENOSYS where the system does not tell.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_thread_getcpu() -> c_int {
    oxuv_os::thread::processor().unwrap_or_else(Errno::code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_keeps_its_processors() {
        let mut mask: Mask = [0; PROCESSORS];
        mask[0] = 1;
        mask[65] = -1;
        mask[PROCESSORS - 1] = 2;
        let back = mask_of(&set_of(&mask));
        let there: Vec<_> = (0..PROCESSORS).filter(|&processor| back[processor] == 1).collect();
        assert_eq!(there, [0, 65, PROCESSORS - 1]);
        assert_eq!(back.iter().filter(|&&byte| byte == 0).count(), PROCESSORS - 3);
    }
}
