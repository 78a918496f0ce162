//! Bytes to and from descriptors that are no sockets: FIFOs, ends of pipes, terminals; and files within the limit of their size.

use std::fs::File;
use std::io::{self, IoSlice, Write as _};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, tell};
use rustix::io::{Errno as Raw, read as raw_read, write as raw_write, writev};
use rustix::process::{Resource, getrlimit};

use crate::{Descriptor, Errno, Result, Room};

/// Reads what has come, as much as there is room for; an empty slice at the end.
///
/// # Errors
/// EAGAIN when nothing has come; EIO for a terminal that has lost its other side.
pub fn read<'a>(fd: &Descriptor, mut room: Room<'a>) -> Result<&'a mut [u8]> {
    let count = loop {
        match raw_read(fd, room.memory()) {
            Ok((filled, _)) => break filled.len(),
            Err(Raw::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    // SAFETY: `read` has written that many bytes.
    Ok(unsafe { room.filled(count) })
}

/// Writes from one buffer as much as is taken.
///
/// # Errors
/// EAGAIN when nothing is taken now; EPIPE, with the signal SIGPIPE, when nobody reads any more; EIO.
pub fn write(fd: &Descriptor, buf: &[u8]) -> Result<usize> {
    loop {
        match raw_write(fd, buf) {
            Err(Raw::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Writes from several buffers (at most 1024) as much as is taken.
///
/// # Errors
/// As [`write()`]; EINVAL for more than 1024 buffers.
#[inline(always)] // As `net::send`.
pub fn write_vectored(fd: &Descriptor, bufs: &[IoSlice<'_>]) -> Result<usize> {
    loop {
        match writev(fd, bufs) {
            Err(Raw::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Whether a file may be written up to this place: the kernel ends a process by SIGXFSZ that writes beyond `RLIMIT_FSIZE`, and whether it
/// does something about that signal is the program's own affair.
///
/// # Errors
/// EFBIG if it may not.
pub fn check_size(end: u64) -> Result<()> {
    let is_within = getrlimit(Resource::Fsize).current.is_none_or(|limit| end <= limit);
    if is_within { Ok(()) } else { Err(Errno::EFBIG) }
}

/// Writes a file anew, or to what has no size, such as a FIFO.
///
/// # Errors
/// Those of opening and of writing; EFBIG beyond the limit of its size, without the signal SIGXFSZ.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    if file.metadata()?.is_file() {
        check_size(bytes.len() as u64)?;
    }
    file.write_all(bytes)
}

/// Writes all of this to standard error, which may be a file.
///
/// # Errors
/// Those of writing; EFBIG, of which nothing is written, beyond the limit of a file's size, without the signal SIGXFSZ.
pub fn write_to_standard_error(bytes: &[u8]) -> io::Result<()> {
    let mut error = io::stderr().lock();
    let fd = error.as_fd();
    let found = fstat(fd)?;
    if FileType::from_raw_mode(found.st_mode).is_file() {
        let at = if fcntl_getfl(fd)?.contains(OFlags::APPEND) { found.st_size as u64 } else { tell(fd)? };
        check_size(at.saturating_add(bytes.len() as u64))?;
    }
    error.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    #[test]
    fn a_pipe_carries_bytes_one_way() {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
        let (reader, writer) = (Descriptor::from(reader), Descriptor::from(writer));
        let mut buf = [0; 8];
        assert_eq!(read(&reader, Room::from(&mut buf[..])), Err(Errno::EAGAIN));
        assert_eq!(write(&writer, b"hel"), Ok(3));
        assert_eq!(write_vectored(&writer, &[IoSlice::new(b"l"), IoSlice::new(b"o")]), Ok(2));
        assert_eq!(read(&reader, Room::from(&mut buf[..])).unwrap(), b"hello");
        assert_eq!(write(&reader, b"x"), Err(Errno::EBADF));
        drop(writer);
        assert!(read(&reader, Room::from(&mut buf[..])).unwrap().is_empty());
    }
}
