//! Threads: how large their stacks are, which processor runs them, and how nice they are.

use rustix::param::page_size;
use rustix::process::{getpriority_process, setpriority_process};

use crate::{Errno, Result};

/// The C library's own choice where no limit is set, in bytes.
const UNLIMITED: usize = if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) { 4 << 20 } else { 2 << 20 };

/// No stack is smaller, in bytes, whatever the C library may say: musl's minimum leaves no room for a signal.
const LEAST: usize = 8192;

/// The stack that a new thread gets, in bytes: as large as the main thread's may become (`RLIMIT_STACK`), in whole
/// pages; 2 MiB (4 on PowerPC) where that is unlimited, too small or unknown.
pub fn stack_size() -> usize {
    stack_size_under(stack_limit())
}

/// The size in bytes to ask for when at least `wanted` bytes of stack are wanted: whole pages, and not less than what
/// a thread needs. An absurd size stays absurd, for the system to refuse.
pub fn stack_size_for(wanted: usize) -> usize {
    let page = page_size();
    wanted.max(least_stack()).checked_next_multiple_of(page).unwrap_or(usize::MAX - (page - 1))
}

fn stack_size_under(limit: Option<usize>) -> usize {
    let pages = limit.map(|limit| limit - limit % page_size());
    pages.filter(|&size| size >= least_stack()).unwrap_or(UNLIMITED)
}

/// `RLIMIT_STACK` in bytes; `None` if there is no limit or the system will not tell.
fn stack_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes to `limit`, a local of the type that it asks for. rustix has this too, but takes for granted
    // that it cannot be refused, which sandboxes do.
    let refused = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } != 0;
    if refused || limit.rlim_cur == libc::RLIM_INFINITY { None } else { usize::try_from(limit.rlim_cur).ok() }
}

/// What a thread needs for itself before its program gets anything.
fn least_stack() -> usize {
    // SAFETY: looks a number up. It depends on the processor, whose registers a signal saves on the stack.
    let told = unsafe { libc::sysconf(libc::_SC_THREAD_STACK_MIN) };
    usize::try_from(told).unwrap_or(0).max(LEAST)
}

/// The number of the processor that runs the calling thread just now.
///
/// # Errors
/// ENOSYS.
#[doc(alias = "uv_thread_getcpu")]
pub fn processor() -> Result<i32> {
    // SAFETY: takes nothing and touches no memory of ours. rustix does not look for the error.
    let number = unsafe { libc::sched_getcpu() };
    if number < 0 { Err(Errno::from_raw(errno::errno().0)) } else { Ok(number) }
}

/// How nice the calling thread is to others: from -20, the least, to 19. Each thread of Linux has its own.
///
/// # Errors
/// Only what a sandbox says.
pub fn nice() -> Result<i32> {
    Ok(getpriority_process(None)?)
}

/// Makes the calling thread so nice. A number out of range counts as the nearest.
///
/// # Errors
/// EACCES for less than now without the privilege for that.
pub fn set_nice(nice: i32) -> Result<()> {
    Ok(setpriority_process(None, nice)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_in_whole_pages() {
        let page = page_size();
        assert_eq!(stack_size_under(Some(1 << 20)), 1 << 20);
        assert_eq!(stack_size_under(Some((1 << 20) + page - 1)), 1 << 20);
        let least = least_stack().next_multiple_of(page);
        assert_eq!(stack_size_under(Some(least)), least);
    }

    #[test]
    fn no_limit_and_one_below_the_least_give_the_usual_size() {
        assert_eq!(stack_size_under(None), UNLIMITED);
        assert_eq!(stack_size_under(Some(0)), UNLIMITED);
        assert_eq!(stack_size_under(Some(least_stack() - 1)), UNLIMITED);
    }

    #[test]
    fn sizes_asked_for_are_rounded_up() {
        let page = page_size();
        assert_eq!(stack_size_for(0), least_stack().next_multiple_of(page));
        assert_eq!(stack_size_for(1), stack_size_for(0));
        assert_eq!(stack_size_for((1 << 20) - 1), 1 << 20);
        assert_eq!(stack_size_for(1 << 20), 1 << 20);
        assert_eq!(stack_size_for((1 << 20) + 1), (1 << 20) + page);
        assert!(stack_size_for(usize::MAX) > usize::MAX - page);
    }

    #[test]
    fn niceness_is_the_threads_own() {
        let before = nice().unwrap();
        let nicer = std::thread::spawn(move || {
            set_nice(before + 1).unwrap();
            nice().unwrap()
        });
        assert_eq!(nicer.join().unwrap(), (before + 1).min(19));
        assert_eq!(nice(), Ok(before));
        assert!(processor().unwrap() >= 0);
    }
}
