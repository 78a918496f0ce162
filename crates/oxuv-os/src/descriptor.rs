//! Owned descriptors, and a spare one for the day the limit is reached.

use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::FdFlags;

use crate::{Errno, Result};

/// A file descriptor that closes itself when dropped, except for 0, 1 and 2.
///
/// A stream opened on standard input, output or error leaves these open when it is closed: whatever the process
/// opened next would get the number, and prints to it would go astray.
#[derive(Debug)]
pub struct Descriptor(ManuallyDrop<OwnedFd>);

/// What a process has from its beginning on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// Descriptor 0.
    Input,
    /// Descriptor 1.
    Output,
    /// Descriptor 2.
    Error,
}

impl From<Standard> for Descriptor {
    fn from(standard: Standard) -> Self {
        let number = match standard {
            Standard::Input => libc::STDIN_FILENO,
            Standard::Output => libc::STDOUT_FILENO,
            Standard::Error => libc::STDERR_FILENO,
        };
        // SAFETY: these are never closed by a `Descriptor`, so it is no matter who else has them. If the process was
        // started without, system calls say EBADF.
        unsafe { OwnedFd::from_raw_fd(number) }.into()
    }
}

impl Descriptor {
    /// A descriptor that is closed in any case. In a process without standard streams it gets another number.
    ///
    /// # Errors
    /// EMFILE.
    pub fn not_standard(fd: OwnedFd) -> Result<Descriptor> {
        if fd.as_raw_fd() > libc::STDERR_FILENO {
            return Ok(fd.into());
        }
        Ok(rustix::io::fcntl_dupfd_cloexec(&fd, libc::STDERR_FILENO + 1)?.into())
    }
}

impl From<OwnedFd> for Descriptor {
    #[inline]
    fn from(fd: OwnedFd) -> Self {
        Descriptor(ManuallyDrop::new(fd))
    }
}

impl From<Descriptor> for OwnedFd {
    fn from(fd: Descriptor) -> Self {
        let mut fd = ManuallyDrop::new(fd);
        // SAFETY: `fd` is never dropped, nor used any more.
        unsafe { ManuallyDrop::take(&mut fd.0) }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.as_raw_fd() > libc::STDERR_FILENO {
            // Not by dropping an `OwnedFd`: that ends the process if foreign hands have closed the descriptor.
            // SAFETY: the descriptor is owned, and `self.0` is never dropped.
            unsafe { libc::close(self.as_raw_fd()) };
        }
    }
}

impl AsFd for Descriptor {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Descriptor {
    #[inline]
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Makes a descriptor non-blocking, by its number: it may be somebody else's.
///
/// # Errors
/// EBADF.
pub fn set_nonblocking(number: RawFd) -> Result<()> {
    change_flags(number, |flags| flags | libc::O_NONBLOCK)
}

/// Makes a descriptor blocking, by its number: it may be somebody else's.
///
/// # Errors
/// EBADF.
pub fn set_blocking(number: RawFd) -> Result<()> {
    change_flags(number, |flags| flags & !libc::O_NONBLOCK)
}

/// A number, if there is a descriptor of it.
///
/// # Errors
/// EBADF.
pub fn check_open(number: RawFd) -> Result<RawFd> {
    // SAFETY: a number only.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    if flags < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(number) }
}

/// Takes over a descriptor that whoever started the process has left open for it, by its number. It does not go on to children
/// from now on. Of the standard streams it is a copy.
///
/// Whatever the process has opened itself is marked as closed by `exec`, while what came through one cannot be: so nothing that
/// has an owner can be taken, and nothing twice.
///
/// # Errors
/// EBADF when there is none, or when it is the process's own.
pub fn take_inherited(number: RawFd) -> Result<OwnedFd> {
    check_open(number)?;
    // SAFETY: it is open. The borrow ends with this function.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    if number <= libc::STDERR_FILENO {
        return Ok(rustix::io::fcntl_dupfd_cloexec(fd, libc::STDERR_FILENO + 1)?);
    }
    let flags = rustix::io::fcntl_getfd(fd)?;
    if flags.contains(FdFlags::CLOEXEC) {
        return Err(Errno::EBADF);
    }
    rustix::io::fcntl_setfd(fd, flags | FdFlags::CLOEXEC)?;
    // SAFETY: it came through `exec`, so nothing in the process owns it; from now on it is marked as owned.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Has a number of ours stand for another file, which it closes on exec; what it stood for is closed. So whoever has kept
/// the number has the new file.
pub(crate) fn replace(number: RawFd, new: &OwnedFd) -> Result<()> {
    // SAFETY: takes integers only. Both are descriptors of ours.
    let replaced = unsafe { libc::dup3(new.as_raw_fd(), number, libc::O_CLOEXEC) };
    if replaced < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(()) }
}

fn change_flags(number: RawFd, change: impl FnOnce(libc::c_int) -> libc::c_int) -> Result<()> {
    // SAFETY: fcntl with these commands takes integers only; a number that is no descriptor is EBADF.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    if flags < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let changed = change(flags);
    if changed != flags {
        // SAFETY: as above.
        let set = unsafe { libc::fcntl(number, libc::F_SETFL, changed) };
        if set < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
    }
    Ok(())
}

/// A descriptor held in reserve, so that one can be made free when the process is at its limit.
#[derive(Debug, Default)]
pub struct Spare(Option<OwnedFd>);

impl Spare {
    /// Takes a descriptor into reserve, if there is none yet and one can be had.
    pub fn refill(&mut self) {
        if self.0.is_none() {
            self.0 = open_harmless().ok();
        }
    }

    /// Gives the reserve up: one more descriptor can be opened now. False when there was none.
    pub fn release(&mut self) -> bool {
        self.0.take().is_some()
    }
}

fn open_harmless() -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    // In a bare chroot there is no /dev/null, but there is always a root.
    let fd = open("/dev/null", flags, Mode::empty()).or_else(|_| open("/", flags, Mode::empty()))?;
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(fd: RawFd) -> bool {
        std::path::Path::new(&format!("/proc/self/fd/{fd}")).exists()
    }

    #[test]
    fn a_dropped_descriptor_is_closed() {
        let fd = Descriptor::from(open_harmless().unwrap());
        let number = fd.as_raw_fd();
        assert!(number > 2 && is_open(number));
        drop(fd);
        // Another test may have been given the number meanwhile, but not on the same file.
        let target = std::fs::read_link(format!("/proc/self/fd/{number}"));
        assert!(target.is_err() || target.unwrap() != std::path::Path::new("/dev/null"));
    }

    #[test]
    fn one_that_foreign_hands_have_closed_is_dropped_quietly() {
        // A number that no other test is given meanwhile: far above those in use.
        let fd = rustix::io::fcntl_dupfd_cloexec(open_harmless().unwrap(), 900).unwrap();
        let number = fd.as_raw_fd();
        let fd = Descriptor::from(fd);
        // SAFETY: nothing is done with the descriptor any more, but for the attempt to close it.
        unsafe { libc::close(number) };
        drop(fd);
    }

    #[test]
    fn what_came_through_exec_is_taken_once_and_what_is_ours_never() {
        let ours = open_harmless().unwrap();
        assert_eq!(take_inherited(ours.as_raw_fd()).unwrap_err(), Errno::EBADF);
        // A copy without the mark is as those that came through `exec`.
        let number = std::os::fd::IntoRawFd::into_raw_fd(rustix::io::dup(&ours).unwrap());
        let taken = take_inherited(number).unwrap();
        assert_eq!(taken.as_raw_fd(), number);
        assert_eq!(take_inherited(number).unwrap_err(), Errno::EBADF);
        assert_eq!(take_inherited(1 << 30).unwrap_err(), Errno::EBADF);
        assert!(take_inherited(0).is_ok_and(|copy| copy.as_raw_fd() > 2));
    }

    #[test]
    fn standard_streams_stay_open() {
        assert!(is_open(2));
        let fd = Descriptor::from(Standard::Error);
        assert_eq!(fd.as_raw_fd(), 2);
        drop(fd);
        assert!(is_open(2));
    }

    #[test]
    fn the_spare_is_given_up_once() {
        let mut spare = Spare::default();
        assert!(!spare.release());
        spare.refill();
        assert!(spare.release());
        assert!(!spare.release());
    }

    #[test]
    fn harmless_descriptors_are_close_on_exec() {
        let fd = open_harmless().unwrap();
        let flags = rustix::io::fcntl_getfd(&fd).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }
}
