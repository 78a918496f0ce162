//! Child processes: waiting for their end, and signals to them and to others.

use std::ffi::{c_int, c_long, c_void};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null;
use std::sync::{Mutex, MutexGuard, TryLockError};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

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
    /// `None` where the system refuses it, or would soon have none for the program.
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

    /// How it has ended, once (the kernel may tell it again); `None` while it has not.
    ///
    /// # Errors
    /// ECHILD when it cannot be known: somebody else has waited for it or SIGCHLD is ignored, and the kernel does not keep
    /// it (before Linux 6.15); or a filter of system calls refuses to tell.
    pub fn try_wait(&self) -> Result<Option<Exit>> {
        let Some(descriptor) = &self.descriptor else { return self.try_wait_by_id() };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        match waitid(WaitId::PidFd(descriptor.as_fd()), options) {
            Ok(status) => Ok(status.map(|status| {
                let signal = status.terminating_signal().map_or(0, |signal| signal & 0x7f);
                let core = if status.dumped() { 0x80 } else { 0 };
                Exit(status.exit_status().map_or(0, |code| (code & 0xff) << 8) | signal | core)
            })),
            Err(rustix::io::Errno::CHILD) => kept_exit(descriptor),
            // Linux 5.3 has such descriptors, but does not wait by them; a filter may not know this call.
            Err(_) => self.try_wait_by_id(),
        }
    }

    fn try_wait_by_id(&self) -> Result<Option<Exit>> {
        match waitpid(Pid::from_raw(self.pid), WaitOptions::NOHANG) {
            Ok(waited) => Ok(waited.map(|(_, status)| Exit(status.as_raw()))),
            Err(_) => Err(Errno::ECHILD),
        }
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

/// Children whose loop is gone.
static LEFT: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Leaves children to whoever next calls [`wait_for_left`]. Without memory for that they are zombies when they have ended.
pub fn leave(mut children: Vec<Child>) {
    if children.is_empty() {
        return;
    }
    if let Some(mut left) = lock_left()
        && left.try_reserve(children.len()).is_ok()
    {
        left.append(&mut children);
    }
}

/// Waits for those of the children that were left which have ended.
pub fn wait_for_left() {
    if let Some(mut left) = lock_left() {
        left.retain(|child| child.try_wait() == Ok(None));
    }
}

/// It is held for moments only. `None` in a child of a fork that was made in such a moment, where nobody gives it back.
fn lock_left() -> Option<MutexGuard<'static, Vec<Child>>> {
    const ATTEMPTS: usize = 1000;
    (0..ATTEMPTS).find_map(|_| match LEFT.try_lock() {
        Ok(left) => Some(left),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::thread::yield_now();
            None
        }
    })
}

/// A descriptor for a child; `None` where the system, a filter or a limit has none, or the limit is near.
fn open_pidfd(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: numbers only.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, c_long::from(pid), c_long::from(0)) };
    // SAFETY: it was made for us just now.
    let descriptor = (opened >= 0).then(|| unsafe { OwnedFd::from_raw_fd(opened as RawFd) })?;
    (!is_near_the_limit(opened as u64)).then_some(descriptor)
}

/// Whether a descriptor of this number, which was the lowest that was free, is one of the last quarter that a process may
/// have. These are the program's: a child can be heard of by SIGCHLD as well.
fn is_near_the_limit(number: u64) -> bool {
    /// The limit is not asked for below that: a program with so few descriptors open has others left.
    const FEW: u64 = 16;
    number >= FEW && descriptor_limit().is_some_and(|limit| number >= limit - limit / 4)
}

/// `RLIMIT_NOFILE`; `None` if the system will not tell.
fn descriptor_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes to `limit`, a local of the type that it asks for. By rustix a sandbox could not refuse it.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    told.then_some(limit.rlim_cur)
}

/// What `PIDFD_GET_INFO` tells of a process: the first 64 bytes, which it has had from the beginning.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    /// What is asked for, and what was told.
    mask: u64,
    cgroup: u64,
    pid: u32,
    tgid: u32,
    ppid: u32,
    users_and_groups: [u32; 8],
    exit: c_int,
}

/// How a child has ended that nobody can wait for any more: the kernel keeps that for who has a descriptor of it. `None`
/// when it is about to: its descriptor was ready a moment before.
///
/// # Errors
/// ECHILD when the kernel does not keep it, or the process is no child of ours.
fn kept_exit(descriptor: &OwnedFd) -> Result<Option<Exit>> {
    const PIDFD_GET_INFO: libc::Ioctl = libc::_IOWR::<PidfdInfo>(0xff, 11);
    const PIDFD_INFO_EXIT: u64 = 1 << 3;
    let mut info = PidfdInfo { mask: PIDFD_INFO_EXIT, ..PidfdInfo::default() };
    // SAFETY: the number of the request has the size of what is written.
    let told = unsafe { libc::ioctl(descriptor.as_raw_fd(), PIDFD_GET_INFO, &raw mut info) } == 0;
    if told && info.mask & PIDFD_INFO_EXIT != 0 {
        Ok(Some(Exit(info.exit)))
    } else if told && info.ppid == std::process::id() {
        Ok(None)
    } else {
        Err(Errno::ECHILD)
    }
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
    fn the_last_descriptors_are_the_programs() {
        let limit = descriptor_limit().unwrap();
        assert!(!is_near_the_limit(3) && !is_near_the_limit(limit / 2));
        assert!(limit <= 16 || is_near_the_limit(limit - 1));
    }

    #[test]
    fn signals_go_to_who_is_there() {
        assert_eq!(kill(std::process::id() as i32, 0), Ok(()));
        assert_eq!(kill(std::process::id() as i32, 1000), Err(Errno::EINVAL));
        assert_eq!(kill(i32::MAX, 0), Err(Errno::ESRCH));
    }
}
