//! Which threads run first.
//!
//! Under the usual policy Linux has no priorities but niceness, which a thread can only set for itself. Under the
//! real-time policies each thread has a priority, between bounds that the policy says.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libc::{SCHED_OTHER, sched_param};
use oxuv_core::{Errno, Result};
use oxuv_os::thread::{nice, set_nice};

use super::{check, uv_thread_self, uv_thread_t};
use crate::error::code;

/// The highest that the policy has, or the niceness -4.
pub const UV_THREAD_PRIORITY_HIGHEST: c_int = 2;
/// Three quarters up, or the niceness -2.
pub const UV_THREAD_PRIORITY_ABOVE_NORMAL: c_int = 1;
/// Half-way, or the niceness 0.
pub const UV_THREAD_PRIORITY_NORMAL: c_int = 0;
/// A quarter up, or the niceness 2.
pub const UV_THREAD_PRIORITY_BELOW_NORMAL: c_int = -1;
/// The lowest that the policy has, or the niceness 4.
pub const UV_THREAD_PRIORITY_LOWEST: c_int = -2;

/// How a thread is scheduled.
struct Schedule {
    policy: c_int,
    param: sched_param,
    /// Its priority is its niceness, which it may ask for and set: it is the calling thread.
    by_nice: bool,
}

/// # Safety
/// `thread` has not ended.
unsafe fn schedule(thread: uv_thread_t) -> Result<Schedule> {
    let (mut policy, mut param) = (0, MaybeUninit::uninit());
    // SAFETY: the C library knows the thread, and gives both a value unless there is an error.
    unsafe {
        check(libc::pthread_getschedparam(thread, &raw mut policy, param.as_mut_ptr()))?;
        let by_nice = policy == SCHED_OTHER && libc::pthread_equal(thread, uv_thread_self()) != 0;
        Ok(Schedule { policy, param: param.assume_init(), by_nice })
    }
}

/// A priority of libuv's between the lowest and the highest of a policy.
fn scaled(priority: c_int, lowest: c_int, highest: c_int) -> c_int {
    lowest + (highest - lowest) * (priority - UV_THREAD_PRIORITY_LOWEST) / 4
}

/// The lowest and the highest priority of a policy.
fn bounds(policy: c_int) -> Result<(c_int, c_int)> {
    // SAFETY: both look a number up, and touch no memory of ours.
    match unsafe { (libc::sched_get_priority_min(policy), libc::sched_get_priority_max(policy)) } {
        (-1, _) | (_, -1) => Err(std::io::Error::last_os_error().into()),
        bounds => Ok(bounds),
    }
}

/// Gets the priority of a thread: for the calling thread under the usual policy its niceness (the lower, the
/// earlier), for others under that policy 0, and under real-time policies the policy's own number.
///
/// UV_EINVAL without a place for it; UV_ESRCH for a thread that has ended, if the C library notices.
///
/// # Safety
/// `tid` has not ended, unless `priority` is null; `priority` is null or valid to write to.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_getpriority(tid: uv_thread_t, priority: *mut c_int) -> c_int {
    if priority.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the thread has not ended, and `priority` is there to be written to.
    code(unsafe {
        let found = schedule(tid).and_then(|now| if now.by_nice { nice() } else { Ok(now.param.sched_priority) });
        found.map(|number| priority.write(number))
    })
}

/// Sets the priority of a thread, one of `UV_THREAD_PRIORITY_LOWEST` to `UV_THREAD_PRIORITY_HIGHEST`. Under the usual
/// policy this is the calling thread's niceness, and nothing at all for others.
///
/// UV_EINVAL for other numbers; UV_EACCES or UV_EPERM for more than the thread may have.
///
/// # Safety
/// `tid` has not ended, unless `priority` is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_thread_setpriority(tid: uv_thread_t, priority: c_int) -> c_int {
    if !(UV_THREAD_PRIORITY_LOWEST..=UV_THREAD_PRIORITY_HIGHEST).contains(&priority) {
        return Errno::EINVAL.code();
    }
    // SAFETY: the thread has not ended.
    code(unsafe { set_priority(tid, priority) })
}

/// # Safety
/// `thread` has not ended.
unsafe fn set_priority(thread: uv_thread_t, priority: c_int) -> Result<()> {
    // SAFETY: passed on to our caller word for word.
    let now = unsafe { schedule(thread)? };
    if now.by_nice {
        return set_nice(priority * -2);
    }
    let (lowest, highest) = bounds(now.policy)?;
    let mut param = now.param;
    param.sched_priority = scaled(priority, lowest, highest);
    if param.sched_priority == now.param.sched_priority {
        return Ok(());
    }
    // SAFETY: the thread is there, and `param` is a local.
    check(unsafe { libc::pthread_setschedparam(thread, now.policy, &raw const param) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_spread_over_the_policys_range() {
        let all = -2..=2;
        assert_eq!(all.clone().map(|priority| scaled(priority, 1, 99)).collect::<Vec<_>>(), [1, 25, 50, 74, 99]);
        assert!(all.clone().all(|priority| scaled(priority, 0, 0) == 0));
    }
}
