//! From one descriptor to another, by the kernel where it can.

use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{copy_file_range, sendfile};
use rustix::io::{pread, read};

use super::retry;
use crate::{Errno, Result};

/// The most bytes that the system moves in one call.
pub const MAX_BYTES: usize = 0x7fff_f000;

/// Sends up to `length` bytes of a file, from an offset on, to where another descriptor's position is, and returns how
/// many that was: fewer at the file's end, and fewer as the kernel likes.
///
/// A source without positions, such as a pipe, is read from where it is. A destination that takes nothing now is waited
/// for, where it is not the kernel that sends.
///
/// # Errors
/// Those of reading, if nothing was sent; those of writing: what was read by then is lost if the source has no
/// positions. EINVAL for more than [`MAX_BYTES`], and EINVAL or EOVERFLOW for a negative offset.
#[doc(alias = "uv_fs_sendfile")]
pub fn send(to: BorrowedFd<'_>, from: BorrowedFd<'_>, offset: i64, length: usize) -> Result<usize> {
    if length > MAX_BYTES {
        return Err(Errno::EINVAL);
    }
    // The system takes it back for what it is, and has its own word for a negative one.
    let place = offset as u64;
    let mut copied = retry(|| copy_file_range(from, Some(&mut { place }), to, None, length));
    // Not in this kernel, not by this file system or not to this destination; another way may do. What is truly wrong
    // will be said again.
    if let Err(Errno::ENOSYS | Errno::ENOTSUP | Errno::EXDEV | Errno::EPERM | Errno::EACCES | Errno::EBADF) = copied {
        copied = retry(|| sendfile(to, from, Some(&mut { place }), length));
    }
    match copied {
        Err(Errno::EINVAL | Errno::EIO | Errno::ENOTSOCK | Errno::EXDEV | Errno::ENOSYS) => {
            send_by_hand(to, from, place, length)
        }
        done => done,
    }
}

/// As [`send`], by reading and writing.
pub(super) fn send_by_hand(to: BorrowedFd<'_>, from: BorrowedFd<'_>, offset: u64, length: usize) -> Result<usize> {
    let mut buf = [MaybeUninit::uninit(); 32 * 1024];
    let mut has_positions = true;
    let mut sent = 0;
    while sent < length {
        let size = buf.len().min(length - sent);
        let place = offset.saturating_add(sent as u64);
        let piece = retry(|| {
            let buf = &mut buf[..size];
            let (read, _) = if has_positions { pread(from, buf, place) } else { read(from, buf) }?;
            Ok(read.len())
        });
        match piece {
            Ok(0) => break,
            Ok(count) => {
                // SAFETY: so many bytes were read into it.
                write_all(to, unsafe { buf[..count].assume_init_ref() })?;
                sent += count;
            }
            Err(Errno::ESPIPE | Errno::EIO) if has_positions && sent == 0 => has_positions = false,
            Err(error) if sent == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(sent)
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match retry(|| rustix::io::write(to, bytes)) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::EAGAIN) => wait_until_writable(to)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_until_writable(fd: BorrowedFd<'_>) -> Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    retry(|| poll(&mut fds, None))?;
    if fds[0].revents() == PollFlags::OUT { Ok(()) } else { Err(Errno::EIO) }
}
