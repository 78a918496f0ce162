//! Child processes: waiting for their end, and signals to them and to others.

use std::ffi::{c_int, c_long, c_void};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::{Errno, Result};

/// The signal that a process gets when a child of it has ended.
pub const SIGCHLD: i32 = libc::SIGCHLD;

/// How a process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit(c_int);

impl Exit {
    /// The end by this exit code, of which the system keeps 8 bits.
    pub const fn with_code(code: i32) -> Exit {
        Exit((code & 0xff) << 8)
    }

    /// The end by this signal.
    pub const fn by_signal(signal: i32) -> Exit {
        Exit(signal & 0x7f)
    }

    /// The exit code; 0 if a signal has ended it.
    pub const fn code(self) -> i32 {
        (self.0 >> 8) & 0xff
    }

    /// The signal that has ended it, or 0.
    pub const fn signal(self) -> i32 {
        self.0 & 0x7f
    }

    /// Code and signal as one number, as `waitpid` has them.
    pub const fn raw(self) -> i32 {
        self.0
    }
}

/// A child of this process. Its end is to be waited for; dropped before that, it goes on, and is a zombie when it has ended.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    /// `None` where the system refuses it.
    descriptor: Option<OwnedFd>,
}

impl Child {
    pub(crate) fn new(pid: libc::pid_t) -> Child {
        Child { pid, descriptor: open_pidfd(pid) }
    }

    /// Its number. Good until its end was waited for: another process may get it then.
    pub fn id(&self) -> i32 {
        self.pid
    }

    /// A descriptor that is ready to be read when the child has ended. `None` where the system has none: then the child
    /// has ended already, or SIGCHLD tells.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.descriptor.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// How it has ended, once; `None` while it has not.
    ///
    /// # Errors
    /// ECHILD when it cannot be known: somebody else has waited for it, or SIGCHLD is ignored.
    pub fn try_wait(&self) -> Result<Option<Exit>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let by_pid = || WaitId::Pid(Pid::from_raw(self.pid).unwrap_or(Pid::INIT));
        let status = match &self.descriptor {
            Some(descriptor) => match waitid(WaitId::PidFd(descriptor.as_fd()), options) {
                // Linux 5.3 has such descriptors, but does not wait by them.
                Err(rustix::io::Errno::INVAL) => waitid(by_pid(), options),
                waited => waited,
            },
            None => waitid(by_pid(), options),
        }?;
        Ok(status.map(|status| {
            let signal = status.terminating_signal().map_or(0, |signal| signal & 0x7f);
            let core = if status.dumped() { 0x80 } else { 0 };
            Exit(status.exit_status().map_or(0, |code| (code & 0xff) << 8) | signal | core)
        }))
    }

    /// Sends a signal; 0 only looks whether it is there.
    ///
    /// # Errors
    /// ESRCH when it is not there any more; EINVAL for a number that is no signal; EPERM.
    pub fn kill(&self, signal: i32) -> Result<()> {
        let Some(descriptor) = self.descriptor() else { return kill(self.pid, signal) };
        let (number, signal_number) = (c_long::from(descriptor), c_long::from(signal));
        // SAFETY: numbers, and no further information.
        let sent = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, number, signal_number, null::<c_void>(), c_long::from(0))
        };
        match done(sent as c_int) {
            // Refused to us, or by a filter.
            Err(Errno::ENOSYS | Errno::EPERM) => kill(self.pid, signal),
            sent => sent,
        }
    }
}

/// A descriptor for a child; `None` where the system, a filter or a limit has none.
fn open_pidfd(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: numbers only.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, c_long::from(pid), c_long::from(0)) };
    // SAFETY: it was made for us just now.
    (opened >= 0).then(|| unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// Waits for a child that is about to end.
pub(crate) fn reap(pid: libc::pid_t) {
    // SAFETY: numbers only; no status is asked for.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
}

/// Sends a signal to a process; with 0 to those of our group, with -1 to all that may be sent to, with another negative
/// number to those of that group. Signal 0 only looks whether somebody is there.
///
/// # Errors
/// ESRCH when nobody is there; EINVAL for a number that is no signal; EPERM.
#[doc(alias = "uv_kill")]
pub fn kill(pid: i32, signal: i32) -> Result<()> {
    // SAFETY: numbers only.
    done(unsafe { libc::kill(pid, signal) })
}

/// Makes all descriptors of this process close-on-exec, whoever has opened them.
#[doc(alias = "uv_disable_stdio_inheritance")]
pub fn disable_inheritance() {
    const CLOSE_RANGE_CLOEXEC: c_long = 4;
    // SAFETY: numbers only. Descriptors stay open.
    let changed =
        unsafe { libc::syscall(libc::SYS_close_range, c_long::from(0), c_long::from(u32::MAX), CLOSE_RANGE_CLOEXEC) };
    if changed == 0 {
        return;
    }
    // Before Linux 5.11: one by one, until there seem to be no more.
    for number in 0.. {
        // SAFETY: numbers only.
        let changed = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        if changed < 0 && number > 15 {
            return;
        }
    }
}

fn done(result: c_int) -> Result<()> {
    if result < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_by_code_or_by_signal() {
        let (code, signal) = (Exit::with_code(300), Exit::by_signal(libc::SIGKILL));
        assert_eq!((code.code(), code.signal(), code.raw()), (44, 0, 44 << 8));
        assert_eq!((signal.code(), signal.signal(), signal.raw()), (0, 9, 9));
    }

    #[test]
    fn signals_go_to_who_is_there() {
        assert_eq!(kill(std::process::id() as i32, 0), Ok(()));
        assert_eq!(kill(std::process::id() as i32, 1000), Err(Errno::EINVAL));
        assert_eq!(kill(i32::MAX, 0), Err(Errno::ESRCH));
    }
}
