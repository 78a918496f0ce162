//! Knowing that this is a child of the process that something was made in.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::{Errno, Result};

static FORKS: AtomicU32 = AtomicU32::new(0);
static IS_COUNTING: AtomicBool = AtomicBool::new(false);

/// How many forks, counted from the first call of [`count`] in an ancestor on, lead to this process. A child has one
/// more than its parent.
#[inline]
pub fn forks() -> u32 {
    FORKS.load(Relaxed)
}

/// A process, as something can remember it that must not be touched by its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub(crate) pid: i32,
    pub(crate) forks: u32,
}

impl Process {
    /// The process that this runs in. Callable from signal handlers. What `vfork` makes is another one, too, as long as it
    /// shares the memory.
    #[inline]
    pub fn current() -> Process {
        // SAFETY: asks for a number, which cannot fail.
        let pid = unsafe { libc::getpid() };
        // In another namespace a child may have its parent's number, but then it has one more fork.
        Process { pid, forks: forks() }
    }
}

impl Process {
    /// What [`forks`] says in it.
    #[inline]
    pub fn forks(self) -> u32 {
        self.forks
    }
}

/// Has forks counted from now on. Again is the same as once.
///
/// # Errors
/// ENOMEM.
pub fn count() -> Result<()> {
    if IS_COUNTING.swap(true, Relaxed) {
        return Ok(());
    }
    // SAFETY: the function does what a child of a process with threads may do: it changes a number.
    let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if refused != 0 {
        IS_COUNTING.store(false, Relaxed);
        return Err(Errno::from_raw(refused));
    }
    Ok(())
}

extern "C" fn in_child() {
    FORKS.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_one_more() {
        count().unwrap();
        count().unwrap();
        let before = forks();
        // SAFETY: the child looks at a number and ends.
        match unsafe { libc::fork() } {
            // SAFETY: ends the child without running what is registered for the end of the process.
            0 => unsafe { libc::_exit((forks() - before) as i32) },
            child => {
                let mut status = 0;
                // SAFETY: waits for the child made just now, and writes to a local.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 1));
                assert_eq!(forks(), before);
            }
        }
    }
}
