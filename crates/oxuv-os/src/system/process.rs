//! This process among the others: ids, priority, what it has used.

use std::mem::MaybeUninit;

pub use libc::rusage as Usage;
use rustix::process::{Pid, getppid, getpriority_process, setpriority_process};

use crate::{Errno, Result};

/// This process.
#[doc(alias = "uv_os_getpid")]
pub fn id() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// The parent; 0 if it is not to be seen from here, as in a container's first process.
#[doc(alias = "uv_os_getppid")]
pub fn parent_id() -> i32 {
    getppid().map_or(0, Pid::as_raw_pid)
}

/// The niceness of a process, from -20 (goes first) to 19; 0 means the calling thread.
///
/// # Errors
/// ESRCH.
#[doc(alias = "uv_os_getpriority")]
pub fn priority(pid: i32) -> Result<i32> {
    Ok(getpriority_process(process(pid)?)?)
}

/// Sets the niceness of a process, from -20 (goes first) to 19; 0 means the calling thread.
///
/// # Errors
/// EINVAL for another number; ESRCH; EPERM for another user's process, EACCES for a lower number without privilege.
#[doc(alias = "uv_os_setpriority")]
pub fn set_priority(pid: i32, priority: i32) -> Result<()> {
    if !(-20..=19).contains(&priority) {
        return Err(Errno::EINVAL);
    }
    Ok(setpriority_process(process(pid)?, priority)?)
}

/// No process has a negative number.
fn process(pid: i32) -> Result<Option<Pid>> {
    if pid < 0 { Err(Errno::from_raw(libc::ESRCH)) } else { Ok(Pid::from_raw(pid)) }
}

/// Whose use of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// All threads of this process, also those that have ended.
    Process,
    /// The calling thread.
    Thread,
}

/// Times and counts since the beginning. The largest resident set is in kibibytes.
///
/// # Errors
/// None that the manual knows.
#[doc(alias = "uv_getrusage")]
pub fn usage(whose: Whose) -> Result<Usage> {
    let who = match whose {
        Whose::Process => libc::RUSAGE_SELF,
        Whose::Thread => libc::RUSAGE_THREAD,
    };
    let mut usage = MaybeUninit::<Usage>::zeroed();
    // SAFETY: there is room for the whole structure.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: the structure is numbers only, and zero before the call.
    Ok(unsafe { usage.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_standard_library() {
        assert_eq!(id() as u32, std::process::id());
        assert_eq!(parent_id() as u32, std::os::unix::process::parent_id());
    }

    #[test]
    fn priorities_out_of_range_and_strange_processes_are_refused() {
        assert_eq!(set_priority(0, 20), Err(Errno::EINVAL));
        assert_eq!(set_priority(0, -21), Err(Errno::EINVAL));
        assert_eq!(priority(-1), Err(Errno::from_raw(libc::ESRCH)));
        assert_eq!(set_priority(i32::MIN, 0), Err(Errno::from_raw(libc::ESRCH)));
        assert_eq!(priority(0), priority(id()));
    }

    #[test]
    fn a_thread_uses_no_more_than_its_process() {
        let thread = usage(Whose::Thread).unwrap();
        let process = usage(Whose::Process).unwrap();
        assert!(process.ru_maxrss > 0);
        assert!(process.ru_minflt >= thread.ru_minflt);
    }
}
