//! Error numbers with libuv's names.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::num::NonZeroI32;

use crate::errno_names::ERRORS;

/// What oxuv's functions return.
pub type Result<T, E = Errno> = std::result::Result<T, E>;

/// An error number of the system, or one of the few that libuv adds (such as [`Errno::EOF`]).
///
/// The number is positive. libuv's C interface shows the same number negated, see [`Errno::code`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(NonZeroI32);

macro_rules! errors {
    ($($name:ident = $number:expr;)*) => {
        /// The numbers that oxuv itself tests for or returns; every other one keeps its number all the same.
        impl Errno {
            $(#[doc = concat!("`", stringify!($name), "`")] pub const $name: Errno = Errno(NonZeroI32::new($number).unwrap());)*
        }
    };
}

errors! {
    E2BIG = libc::E2BIG;
    EADDRINUSE = libc::EADDRINUSE;
    EAFNOSUPPORT = libc::EAFNOSUPPORT;
    EAGAIN = libc::EAGAIN;
    ECONNABORTED = libc::ECONNABORTED;
    EALREADY = libc::EALREADY;
    EACCES = libc::EACCES;
    EADDRNOTAVAIL = libc::EADDRNOTAVAIL;
    EHOSTUNREACH = libc::EHOSTUNREACH;
    ENETUNREACH = libc::ENETUNREACH;
    EBADF = libc::EBADF;
    EBUSY = libc::EBUSY;
    ECHILD = libc::ECHILD;
    ECANCELED = libc::ECANCELED;
    ECONNREFUSED = libc::ECONNREFUSED;
    ECONNRESET = libc::ECONNRESET;
    EDESTADDRREQ = libc::EDESTADDRREQ;
    EEXIST = libc::EEXIST;
    EFAULT = libc::EFAULT;
    EFBIG = libc::EFBIG;
    EINPROGRESS = libc::EINPROGRESS;
    EINTR = libc::EINTR;
    EINVAL = libc::EINVAL;
    EIO = libc::EIO;
    ENAMETOOLONG = libc::ENAMETOOLONG;
    EISCONN = libc::EISCONN;
    ELOOP = libc::ELOOP;
    EMSGSIZE = libc::EMSGSIZE;
    EOPNOTSUPP = libc::EOPNOTSUPP;
    EMFILE = libc::EMFILE;
    ENFILE = libc::ENFILE;
    ENOBUFS = libc::ENOBUFS;
    ENOENT = libc::ENOENT;
    ENOMEM = libc::ENOMEM;
    ENOPROTOOPT = libc::ENOPROTOOPT;
    ENOSPC = libc::ENOSPC;
    ENOSYS = libc::ENOSYS;
    ENOTCONN = libc::ENOTCONN;
    ENOTDIR = libc::ENOTDIR;
    ENOTSOCK = libc::ENOTSOCK;
    ENOTSUP = libc::ENOTSUP;
    ENOTTY = libc::ENOTTY;
    ENXIO = libc::ENXIO;
    EPERM = libc::EPERM;
    EPIPE = libc::EPIPE;
    EPROTOTYPE = libc::EPROTOTYPE;
    ESPIPE = libc::ESPIPE;
    ESRCH = libc::ESRCH;
    ETIMEDOUT = libc::ETIMEDOUT;
    EXDEV = libc::EXDEV;
    UNKNOWN = 4094;
    EOF = 4095;
}

impl Errno {
    /// The error with this positive number. Zero and negative numbers give [`Errno::UNKNOWN`].
    #[inline]
    pub const fn from_raw(number: i32) -> Errno {
        match NonZeroI32::new(number) {
            Some(positive) if number > 0 => Errno(positive),
            _ => Errno::UNKNOWN,
        }
    }

    /// The error that the last system call of this thread has failed with.
    #[inline]
    pub(crate) fn last() -> Errno {
        // SAFETY: it is valid for as long as the thread is.
        Errno::from_raw(unsafe { *libc::__errno_location() })
    }

    /// The positive number.
    #[inline]
    pub const fn raw(self) -> i32 {
        self.0.get()
    }

    /// The number as libuv's C interface has it: negative.
    #[inline]
    pub const fn code(self) -> i32 {
        -self.raw()
    }

    /// The error's name, `"ECONNRESET"` for example; `None` if libuv has no name for this number.
    #[doc(alias = "uv_err_name")]
    pub fn name(self) -> Option<&'static str> {
        self.c_name()?.to_str().ok()
    }

    /// As [`Errno::name`], for C.
    pub fn c_name(self) -> Option<&'static CStr> {
        self.entry().map(|&(_, name, _)| name)
    }

    /// What the error means, in a few words; `None` if libuv has no message for this number.
    #[doc(alias = "uv_strerror")]
    pub fn message(self) -> Option<&'static str> {
        self.c_message()?.to_str().ok()
    }

    /// As [`Errno::message`], for C.
    pub fn c_message(self) -> Option<&'static CStr> {
        self.entry().map(|&(_, _, message)| message)
    }

    fn entry(self) -> Option<&'static (i32, &'static CStr, &'static CStr)> {
        ERRORS.iter().find(|&&(number, ..)| number == self.raw())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.message()) {
            (Some(name), Some(message)) => write!(f, "{name}: {message}"),
            _ => write!(f, "error {}", self.raw()),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.raw()),
        }
    }
}

impl std::error::Error for Errno {}

impl From<rustix::io::Errno> for Errno {
    #[inline]
    fn from(error: rustix::io::Errno) -> Errno {
        Errno::from_raw(error.raw_os_error())
    }
}

/// The system's numbers keep their number; [`Errno::EOF`] becomes [`io::ErrorKind::UnexpectedEof`], and libuv's
/// other own numbers become an error that carries the `Errno`.
impl From<Errno> for io::Error {
    fn from(error: Errno) -> io::Error {
        match error {
            Errno::EOF => io::Error::new(io::ErrorKind::UnexpectedEof, error),
            _ if error.raw() < 3000 => io::Error::from_raw_os_error(error.raw()),
            _ => io::Error::other(error),
        }
    }
}

/// The way back: an error of the system by its number, one that carries an `Errno` by that, the rest by the
/// nearest number to its kind, else [`Errno::UNKNOWN`].
impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Errno {
        if let Some(number) = error.raw_os_error() {
            return Errno::from_raw(number);
        }
        if let Some(&errno) = error.get_ref().and_then(|inner| inner.downcast_ref::<Errno>()) {
            return errno;
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Errno::EOF,
            io::ErrorKind::InvalidInput => Errno::EINVAL,
            io::ErrorKind::OutOfMemory => Errno::ENOMEM,
            io::ErrorKind::Interrupted => Errno::EINTR,
            io::ErrorKind::WouldBlock => Errno::EAGAIN,
            io::ErrorKind::NotFound => Errno::ENOENT,
            io::ErrorKind::BrokenPipe => Errno::EPIPE,
            io::ErrorKind::ConnectionReset => Errno::ECONNRESET,
            io::ErrorKind::NotConnected => Errno::ENOTCONN,
            io::ErrorKind::AddrInUse => Errno::EADDRINUSE,
            _ => Errno::UNKNOWN,
        }
    }
}

impl From<std::collections::TryReserveError> for Errno {
    fn from(_: std::collections::TryReserveError) -> Errno {
        Errno::ENOMEM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_libuv_names_and_messages() {
        assert_eq!(Errno::EOF.name(), Some("EOF"));
        assert_eq!(Errno::EOF.message(), Some("end of file"));
        assert_eq!(Errno::EOF.code(), -4095);
        assert_eq!(Errno::ECONNRESET.to_string(), "ECONNRESET: connection reset by peer");
        assert_eq!(format!("{:?}", Errno::EADDRINUSE), "EADDRINUSE");
        assert_eq!(Errno::from_raw(3001).name(), Some("EAI_AGAIN"));
    }

    #[test]
    fn unknown_numbers_are_kept() {
        let odd = Errno::from_raw(2999);
        assert_eq!((odd.raw(), odd.name(), odd.message()), (2999, None, None));
        assert_eq!(odd.to_string(), "error 2999");
        assert_eq!(Errno::from_raw(0), Errno::UNKNOWN);
        assert_eq!(Errno::from_raw(-5), Errno::UNKNOWN);
    }

    #[test]
    fn every_named_error_survives_the_way_through_io_error() {
        for &(number, name, _) in ERRORS {
            let error = Errno::from_raw(number);
            assert_eq!(Errno::from(io::Error::from(error)), error, "{name:?}");
        }
    }

    #[test]
    fn io_errors_have_the_kind_that_rust_programs_expect() {
        assert_eq!(io::Error::from(Errno::EOF).kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(io::Error::from(Errno::EAGAIN).kind(), io::ErrorKind::WouldBlock);
        assert_eq!(io::Error::from(Errno::EPIPE).kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(Errno::from(io::Error::from(io::ErrorKind::BrokenPipe)), Errno::EPIPE);
    }

    #[test]
    fn names_are_unique() {
        for (i, a) in ERRORS.iter().enumerate() {
            assert!(ERRORS[..i].iter().all(|b| a.0 != b.0 && a.1 != b.1), "{:?}", a.1);
        }
    }
}
