//! This process among the others: ids, priority, what it has used.

use std::ffi::{c_int, c_long};

use oxuv_core::Errno;
use oxuv_os::system::process::{self, Whose};

use crate::error::code;

/// A priority for what has time.
pub const UV_PRIORITY_LOW: c_int = 19;
/// A priority below that of most.
pub const UV_PRIORITY_BELOW_NORMAL: c_int = 10;
/// The priority of most.
pub const UV_PRIORITY_NORMAL: c_int = 0;
/// A priority above that of most.
pub const UV_PRIORITY_ABOVE_NORMAL: c_int = -7;
/// A priority for what is urgent.
pub const UV_PRIORITY_HIGH: c_int = -14;
/// Before all others.
pub const UV_PRIORITY_HIGHEST: c_int = -20;

/// A duration.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_timeval_t {
    /// Whole seconds.
    pub tv_sec: c_long,
    /// Microseconds.
    pub tv_usec: c_long,
}

/// What was used.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_rusage_t {
    /// Time in the program.
    pub ru_utime: uv_timeval_t,
    /// Time in the kernel.
    pub ru_stime: uv_timeval_t,
    /// The most that was resident at any time, in KiB.
    pub ru_maxrss: u64,
    /// Linux does not count this.
    pub ru_ixrss: u64,
    /// Linux does not count this.
    pub ru_idrss: u64,
    /// Linux does not count this.
    pub ru_isrss: u64,
    /// Page faults without input.
    pub ru_minflt: u64,
    /// Page faults with input.
    pub ru_majflt: u64,
    /// Linux does not count this.
    pub ru_nswap: u64,
    /// Blocks read from disks.
    pub ru_inblock: u64,
    /// Blocks written to disks.
    pub ru_oublock: u64,
    /// Linux does not count this.
    pub ru_msgsnd: u64,
    /// Linux does not count this.
    pub ru_msgrcv: u64,
    /// Linux does not count this.
    pub ru_nsignals: u64,
    /// How often it waited for something.
    pub ru_nvcsw: u64,
    /// How often it had to make way.
    pub ru_nivcsw: u64,
}

/// What this process has used.
///
/// UV_EINVAL for null.
///
/// # Safety
/// `rusage` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_getrusage(rusage: *mut uv_rusage_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { usage(Whose::Process, rusage) }
}

/// What the calling thread has used.
///
/// UV_EINVAL for null.
///
/// # Safety
/// `rusage` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_getrusage_thread(rusage: *mut uv_rusage_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { usage(Whose::Thread, rusage) }
}

/// # Safety
/// `rusage` is null or a place for the result.
unsafe fn usage(whose: Whose, rusage: *mut uv_rusage_t) -> c_int {
    if rusage.is_null() {
        return Errno::EINVAL.code();
    }
    let time = |time: libc::timeval| uv_timeval_t { tv_sec: time.tv_sec, tv_usec: time.tv_usec };
    let written = process::usage(whose).map(|used| {
        let used = uv_rusage_t {
            ru_utime: time(used.ru_utime),
            ru_stime: time(used.ru_stime),
            ru_maxrss: used.ru_maxrss as u64,
            ru_ixrss: used.ru_ixrss as u64,
            ru_idrss: used.ru_idrss as u64,
            ru_isrss: used.ru_isrss as u64,
            ru_minflt: used.ru_minflt as u64,
            ru_majflt: used.ru_majflt as u64,
            ru_nswap: used.ru_nswap as u64,
            ru_inblock: used.ru_inblock as u64,
            ru_oublock: used.ru_oublock as u64,
            ru_msgsnd: used.ru_msgsnd as u64,
            ru_msgrcv: used.ru_msgrcv as u64,
            ru_nsignals: used.ru_nsignals as u64,
            ru_nvcsw: used.ru_nvcsw as u64,
            ru_nivcsw: used.ru_nivcsw as u64,
        };
        // SAFETY: the caller has a place for the result.
        unsafe { rusage.write(used) }
    });
    code(written)
}

/// The id of this process.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_os_getpid() -> c_int {
    process::id()
}

/// The id of the parent; 0 if it is not to be seen from here, as in a container's first process.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_os_getppid() -> c_int {
    process::parent_id()
}

/// The niceness of a process, from -20, which goes first, to 19; 0 means the calling thread.
///
/// UV_ESRCH; UV_EINVAL for null.
///
/// # Safety
/// `priority` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_getpriority(pid: c_int, priority: *mut c_int) -> c_int {
    if priority.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the caller has a place for the result.
    code(process::priority(pid).map(|number| unsafe { priority.write(number) }))
}

/// Sets the niceness of a process, from -20, which goes first, to 19; 0 means the calling thread.
///
/// UV_EINVAL for another number; UV_ESRCH; UV_EPERM for another user's process, UV_EACCES to go before others without
/// the right to.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_os_setpriority(pid: c_int, priority: c_int) -> c_int {
    code(process::set_priority(pid, priority))
}

/// The system's handle of a C descriptor: here they are the same.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_get_osfhandle(fd: c_int) -> c_int {
    fd
}

/// The C descriptor of a system's handle: here they are the same.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_open_osfhandle(os_fd: c_int) -> c_int {
    os_fd
}
