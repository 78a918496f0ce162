//! Sockets of any kind, also those of somebody else, by their numbers.

use std::io::Error;
use std::os::fd::{OwnedFd, RawFd};

use libc::{c_int, c_void};
use rustix::net::{self, AddressFamily, Protocol, SocketFlags, SocketType};

use crate::Result;

/// One of the two buffers that the kernel has for a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// What is to be sent.
    Send,
    /// What was received.
    Receive,
}

impl Buffer {
    fn option(self) -> c_int {
        match self {
            Buffer::Send => libc::SO_SNDBUF,
            Buffer::Receive => libc::SO_RCVBUF,
        }
    }
}

/// The size of a buffer in bytes, which Linux says twice as large as it was set, for what it needs itself.
///
/// # Errors
/// ENOTSOCK, EBADF.
pub fn buffer_size(number: RawFd, buffer: Buffer) -> Result<c_int> {
    let (mut size, mut len) = (0, size_of::<c_int>() as libc::socklen_t);
    let place: *mut c_void = (&raw mut size).cast();
    // SAFETY: `size` and `len` live until the call returns, which writes no more than `len` says. A number that is no
    // descriptor is an error.
    match unsafe { libc::getsockopt(number, libc::SOL_SOCKET, buffer.option(), place, &raw mut len) } {
        0 => Ok(size),
        _ => Err(Error::last_os_error().into()),
    }
}

/// Sets the size of a buffer; the kernel keeps it within its limits.
///
/// # Errors
/// ENOTSOCK, EBADF.
pub fn set_buffer_size(number: RawFd, buffer: Buffer, size: c_int) -> Result<()> {
    let (place, len) = ((&raw const size).cast::<c_void>(), size_of::<c_int>() as libc::socklen_t);
    // SAFETY: `size` lives until the call returns, and is as large as `len` says. A number that is no descriptor is an
    // error; the buffers of somebody else's socket are not memory of this process.
    match unsafe { libc::setsockopt(number, libc::SOL_SOCKET, buffer.option(), place, len) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error().into()),
    }
}

/// Two connected Unix sockets, close-on-exec and blocking; `type` and `protocol` are the system's numbers.
///
/// # Errors
/// EPROTONOSUPPORT, ESOCKTNOSUPPORT, EINVAL for numbers that the system does not know; EMFILE, ENFILE, ENOBUFS, ENOMEM.
pub fn pair(r#type: c_int, protocol: c_int) -> Result<(OwnedFd, OwnedFd)> {
    let r#type = SocketType::from_raw(r#type.cast_unsigned());
    let protocol = std::num::NonZeroU32::new(protocol.cast_unsigned()).map(Protocol::from_raw);
    Ok(net::socketpair(AddressFamily::UNIX, r#type, SocketFlags::CLOEXEC, protocol)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errno;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_buffer_is_twice_as_large_as_it_was_set() {
        let (socket, _other) = pair(libc::SOCK_STREAM, 0).unwrap();
        for buffer in [Buffer::Send, Buffer::Receive] {
            set_buffer_size(socket.as_raw_fd(), buffer, 10_000).unwrap();
            assert_eq!(buffer_size(socket.as_raw_fd(), buffer), Ok(20_000));
        }
        assert_eq!(buffer_size(-1, Buffer::Send), Err(Errno::EBADF));
        assert_eq!(set_buffer_size(-1, Buffer::Send, 10_000), Err(Errno::EBADF));
    }

    #[test]
    fn a_pair_of_an_unknown_type_is_refused() {
        assert!(pair(12_345, 0).is_err());
        assert!(pair(libc::SOCK_STREAM, 12_345).is_err());
    }

    #[test]
    fn a_pair_is_close_on_exec() {
        let (one, other) = pair(libc::SOCK_DGRAM, 0).unwrap();
        for fd in [one, other] {
            assert!(rustix::io::fcntl_getfd(&fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        }
    }
}
