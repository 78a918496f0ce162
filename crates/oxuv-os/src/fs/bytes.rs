//! The bytes of files.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::retry_c;
use crate::{Errno, Result};

/// The most buffers that the system takes in one call.
pub const MAX_BUFFERS: usize = libc::UIO_MAXIOV as usize;

/// Memory to read into, which need not be initialised.
///
/// It is laid out as the system's `iovec`, so that an array of them can be handed over as it is.
#[derive(Debug)]
#[repr(transparent)]
pub struct ReadBuf<'a> {
    vec: libc::iovec,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

/// Bytes to be written.
///
/// Laid out as [`ReadBuf`] is.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct WriteBuf<'a> {
    vec: libc::iovec,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: it stands for an exclusive reference to bytes, which may go to another thread.
unsafe impl Send for ReadBuf<'_> {}

// SAFETY: it stands for a shared reference to bytes, which may go to another thread.
unsafe impl Send for WriteBuf<'_> {}

impl<'a> ReadBuf<'a> {
    /// All of this memory.
    pub fn new(memory: &'a mut [MaybeUninit<u8>]) -> Self {
        let vec = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
        ReadBuf { vec, memory: PhantomData }
    }
}

impl<'a> WriteBuf<'a> {
    /// All of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        // The system does not write there.
        let vec = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        WriteBuf { vec, memory: PhantomData }
    }

    fn len(&self) -> usize {
        self.vec.iov_len
    }
}

/// Reads into the buffers, one after the other, and returns how many bytes that was; they are initialised then. 0 at
/// the end of the file. With an offset it reads there, else where the file's position is, and moves that on.
///
/// Of more than [`MAX_BUFFERS`] buffers the first so many are used.
///
/// # Errors
/// EINTR, if a signal comes before anything could be read: who reads from a terminal or a FIFO may have to stop
/// waiting. EISDIR, EBADF, EAGAIN, EIO; EINVAL for a position beyond what a file can have; ESPIPE for an offset where
/// there is no position.
#[doc(alias = "uv_fs_read")]
pub fn read(fd: BorrowedFd<'_>, bufs: &[ReadBuf<'_>], offset: Option<u64>) -> Result<usize> {
    let count = bufs.len().min(MAX_BUFFERS);
    let place = place(offset)?;
    let (number, vec) = (fd.as_raw_fd(), bufs.as_ptr().cast::<libc::iovec>());
    // SAFETY: each buffer is memory of this size, exclusively ours as long as it is, and bytes may be written there;
    // `count` is at most their number, so the cast does not cut it.
    let read = unsafe {
        match place {
            None if count == 1 => libc::read(number, (*vec).iov_base, (*vec).iov_len),
            None => libc::readv(number, vec, count as i32),
            Some(place) if count == 1 => libc::pread64(number, (*vec).iov_base, (*vec).iov_len, place),
            Some(place) => libc::preadv64(number, vec, count as i32, place),
        }
    };
    match usize::try_from(read) {
        Ok(read) => Ok(read),
        Err(_) => match Errno::from_raw(errno::errno().0) {
            Errno::ENOSYS | Errno::EPERM if count > 1 => read_one_by_one(fd, &bufs[..count], offset),
            error => Err(error),
        },
    }
}

/// As [`read`], into the room that a vector has behind its bytes. An interrupted call is made again.
///
/// # Errors
/// Those of [`read`], but for EINTR.
pub fn read_to_vec(fd: BorrowedFd<'_>, bytes: &mut Vec<u8>, offset: Option<u64>) -> Result<usize> {
    loop {
        match read(fd, &[ReadBuf::new(bytes.spare_capacity_mut())], offset) {
            Err(Errno::EINTR) => {}
            done => {
                let count = done?;
                // SAFETY: so many bytes were written behind the others, where there was room for them.
                unsafe { bytes.set_len(bytes.len() + count) };
                return Ok(count);
            }
        }
    }
}

fn place(offset: Option<u64>) -> Result<Option<i64>> {
    offset.map(|offset| i64::try_from(offset).map_err(|_| Errno::EINVAL)).transpose()
}

/// As [`read`], where the system has no call for several buffers.
fn read_one_by_one(fd: BorrowedFd<'_>, bufs: &[ReadBuf<'_>], offset: Option<u64>) -> Result<usize> {
    let mut total = 0;
    for buf in bufs {
        let place = offset.map(|offset| offset + total as u64);
        match read(fd, std::slice::from_ref(buf), place) {
            Ok(read) => {
                total += read;
                if read < buf.vec.iov_len {
                    break;
                }
            }
            Err(error) if total == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(total)
}

/// Writes all of the buffers, however many there are, and returns how many bytes that was. They are fewer if an error
/// comes after something was written. With an offset it writes there, else where the file's position is, and moves that
/// on; a file opened for appending is written at its end in either case.
///
/// # Errors
/// ENOSPC, EDQUOT, EFBIG, EIO, EBADF, EAGAIN; EPIPE, with the signal SIGPIPE; ESPIPE for an offset where there is no
/// position.
#[doc(alias = "uv_fs_write")]
pub fn write(fd: BorrowedFd<'_>, bufs: &[WriteBuf<'_>], offset: Option<u64>) -> Result<usize> {
    let mut total = 0;
    let mut rest = bufs;
    // How much of the first of the rest is written.
    let mut begun = 0;
    while let Some(first) = rest.first() {
        let place = place(offset.map(|offset| offset.saturating_add(total as u64)))?;
        let batch = &rest[..rest.len().min(MAX_BUFFERS)];
        let written = if begun > 0 || batch.len() == 1 {
            write_one(fd, first, begun, place)
        } else {
            write_batch(fd, batch, place)
        };
        let written = match written {
            // A descriptor that takes nothing and says no error.
            Ok(0) if batch.iter().any(|buf| buf.len() > 0) => break,
            Err(_) if total > 0 => break,
            done => done?,
        };
        total += written;
        begun += written;
        while let Some(first) = rest.first()
            && begun >= first.len()
        {
            begun -= first.len();
            rest = &rest[1..];
        }
    }
    Ok(total)
}

/// As [`write()`], of one buffer, and whatever is not written is an error: all of it was, or this says why not.
///
/// # Errors
/// Those of [`write()`]; ENOSPC when something takes no bytes and gives no reason.
pub fn write_all(fd: BorrowedFd<'_>, bytes: &[u8], offset: Option<u64>) -> Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        let place = offset.map(|offset| offset.saturating_add(written as u64));
        match write(fd, &[WriteBuf::new(&bytes[written..])], place)? {
            0 => return Err(Errno::ENOSPC),
            count => written += count,
        }
    }
    Ok(())
}

fn write_one(fd: BorrowedFd<'_>, buf: &WriteBuf<'_>, begun: usize, place: Option<i64>) -> Result<usize> {
    let (number, bytes, len) = (fd.as_raw_fd(), buf.vec.iov_base.wrapping_byte_add(begun), buf.len() - begun);
    // SAFETY: the buffer has `len` bytes behind those that are written, and they are read only.
    let written = retry_c(|| unsafe {
        match place {
            None => libc::write(number, bytes, len),
            Some(place) => libc::pwrite64(number, bytes, len, place),
        }
    })?;
    Ok(written.unsigned_abs())
}

fn write_batch(fd: BorrowedFd<'_>, bufs: &[WriteBuf<'_>], place: Option<i64>) -> Result<usize> {
    let (number, vec, count) = (fd.as_raw_fd(), bufs.as_ptr().cast::<libc::iovec>(), bufs.len() as i32);
    // SAFETY: there are `count` buffers, at most `MAX_BUFFERS`, whose bytes are read only.
    let written = retry_c(|| unsafe {
        match place {
            None => libc::writev(number, vec, count),
            Some(place) => libc::pwritev64(number, vec, count, place),
        }
    });
    match written {
        // The system has no call for several buffers, or a filter refuses it. The rest follows as after any short write.
        Err(Errno::ENOSYS | Errno::EPERM) => match bufs.iter().find(|buf| buf.len() > 0) {
            Some(buf) => write_one(fd, buf, 0, place),
            None => Ok(0),
        },
        done => Ok(done?.unsigned_abs()),
    }
}
