//! A file that is complete at each moment, however the program ends.

use std::ffi::c_void;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::{self, NonNull};

use crate::file::check_size;
use crate::{Errno, Result, fork};

/// So much of the file is in memory at a time: a multiple of every page's size.
const WINDOW: usize = 256 * 1024;

/// And so much is written to make room for it, again and again: a part of the window.
const BLOCK: usize = 64 * 1024;

/// The longest tail that there may be.
const LONGEST_TAIL: usize = 8;

/// A file of text records that is written by way of memory which it shares with the kernel: what was appended is in the
/// file although nobody has flushed it, also when the program is killed. System calls are needed six times in 256 KiB. Behind the last
/// record there is always the same tail, so that the whole is well-formed at each moment.
///
/// What is not written yet are spaces, to the end of the window of 256 KiB that is in memory; [`Journal::finish`] cuts them off.
/// The room is taken before it is written to, so a full disk is an error, and so is the limit of a file's size. Nobody else may make the file shorter meanwhile: to
/// write to what is gone ends the process by SIGBUS.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// What there is where nothing is written yet.
    spaces: Box<[u8]>,
    window: NonNull<u8>,
    /// Where in the file the window begins.
    begin: u64,
    /// What of the window is used. Behind it is the tail.
    used: usize,
    tail: &'static [u8],
    /// The process that it belongs to: a child shares the memory, and is to leave it alone.
    forks: u32,
}

// SAFETY: the memory is the journal's alone, and is no thread's in particular.
unsafe impl Send for Journal {}

impl Journal {
    /// A new file, or an old one made empty, that its owner may read and write and others read: with this head and, behind all
    /// that will be appended, this tail.
    ///
    /// # Errors
    /// Those of opening a file for writing; ENOSPC, ENOMEM; ENODEV for what cannot be mapped, such as a FIFO; EBUSY while it is somebody
    /// else's journal, such as that of a program that has started this one.
    pub fn create(path: &Path, head: &[u8], tail: &'static [u8]) -> Result<Journal> {
        if tail.len() > LONGEST_TAIL {
            return Err(Errno::EINVAL);
        }
        fork::count()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o644);
        let file = options.open(path).map_err(errno)?;
        // Before it is made shorter. The lock goes with the file.
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Errno::EBUSY,
            TryLockError::Error(error) => errno(error),
        })?;
        // What has no length is found out when it is mapped.
        let emptied = file.set_len(0).map_err(errno);
        if emptied != Err(Errno::EINVAL) {
            emptied?;
        }
        let spaces = vec![b' '; BLOCK].into_boxed_slice();
        let window = map(&file, 0, &spaces)?;
        let mut journal = Journal { file, spaces, window, begin: 0, used: 0, tail, forks: fork::forks() };
        journal.append(head)?;
        Ok(journal)
    }

    /// Appends a record, and returns where in the file it begins.
    ///
    /// # Errors
    /// ENOSPC, EFBIG, ENOMEM, EIO; EINVAL for a record of more than 64 KiB; ECHILD in a child of the process that has made the journal.
    pub fn append(&mut self, record: &[u8]) -> Result<u64> {
        if record.len() > WINDOW / 4 {
            return Err(Errno::EINVAL);
        }
        if self.forks != fork::forks() {
            return Err(Errno::ECHILD);
        }
        let (tail, old) = (self.tail, self.used);
        let is_full = record.len() + tail.len() > WINDOW - self.used;
        let before = if is_full { Some(self.turn_over()?) } else { None };
        self.put(self.used + record.len(), tail);
        self.put(self.used, record);
        if let Some(window) = before {
            // It ends elsewhere now.
            put(window, old, &[b' '; LONGEST_TAIL][..tail.len()]);
            unmap(window);
        }
        let at = self.begin + self.used as u64;
        self.used += record.len();
        Ok(at)
    }

    /// Writes over what was appended at this place.
    ///
    /// # Errors
    /// EIO, EFBIG; EINVAL where nothing was appended; ECHILD as above.
    pub fn amend(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        if self.forks != fork::forks() {
            return Err(Errno::ECHILD);
        }
        let end = at.checked_add(bytes.len() as u64).ok_or(Errno::EINVAL)?;
        if end > self.begin + self.used as u64 {
            return Err(Errno::EINVAL);
        }
        match at.checked_sub(self.begin) {
            Some(place) => {
                self.put(place as usize, bytes);
                Ok(())
            }
            // It is out of memory by now.
            None => write_at(&self.file, bytes, at),
        }
    }

    /// Cuts off what is not used: nothing more is to come.
    ///
    /// # Errors
    /// EIO; ECHILD as above.
    pub fn finish(self) -> Result<()> {
        if self.forks != fork::forks() {
            return Err(Errno::ECHILD);
        }
        let end = self.used + self.tail.len();
        self.file.set_len(self.begin + end as u64).map_err(errno)
    }

    fn put(&mut self, place: usize, bytes: &[u8]) {
        put(self.window, place, bytes);
    }

    /// Goes on to the next window; the one before is returned.
    fn turn_over(&mut self) -> Result<NonNull<u8>> {
        let begin = self.begin + WINDOW as u64;
        let window = map(&self.file, begin, &self.spaces)?;
        (self.begin, self.used) = (begin, 0);
        Ok(std::mem::replace(&mut self.window, window))
    }
}

fn put(window: NonNull<u8>, place: usize, bytes: &[u8]) {
    assert!(place + bytes.len() <= WINDOW);
    // SAFETY: a window is `WINDOW` bytes of writable memory, the bytes are elsewhere, and they fit, as was just seen.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), window.as_ptr().add(place), bytes.len()) };
}

impl Drop for Journal {
    fn drop(&mut self) {
        unmap(self.window);
    }
}

/// Makes room in the file, and maps it.
fn map(file: &File, begin: u64, spaces: &[u8]) -> Result<NonNull<u8>> {
    let mut blocks = (0..WINDOW).step_by(BLOCK);
    blocks.try_for_each(|at| write_at(file, spaces, begin + at as u64))?;
    let (access, offset) = (libc::PROT_READ | libc::PROT_WRITE, begin as libc::off_t);
    // SAFETY: a new mapping, where the kernel likes; nothing that is there is touched.
    let place = unsafe { libc::mmap(ptr::null_mut(), WINDOW, access, libc::MAP_SHARED, file.as_raw_fd(), offset) };
    if place == libc::MAP_FAILED {
        return Err(errno(io::Error::last_os_error()));
    }
    NonNull::new(place.cast()).ok_or(Errno::ENOMEM)
}

/// Writes to the file, unless that would be beyond the limit of its size.
fn write_at(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    check_size(at + bytes.len() as u64)?;
    file.write_all_at(bytes, at).map_err(errno)
}

fn unmap(window: NonNull<u8>) {
    // SAFETY: it is a mapping of this size, which nobody knows of any more.
    unsafe { libc::munmap(window.as_ptr().cast::<c_void>(), WINDOW) };
}

fn errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("oxuv-journal-{name}-{}", std::process::id()))
    }

    #[test]
    fn all_is_there_at_each_moment_and_places_can_be_amended() {
        let path = place("all");
        let mut journal = Journal::create(&path, b"[", b"\n]").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end(), "[\n]");
        let first = journal.append(b"one").unwrap();
        journal.append(b"two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end(), "[onetwo\n]");
        let record = [b'x'; 10_000];
        for _ in 0..100 {
            journal.append(&record).unwrap();
        }
        journal.amend(first, b"ONE").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("[ONEtwo") && text.trim_end().ends_with("x\n]"));
        assert_eq!((text.matches(']').count(), text.matches('x').count()), (1, 1_000_000));
        journal.finish().unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("x\n]"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn one_that_is_being_written_is_left_alone() {
        let path = place("locked");
        let mut journal = Journal::create(&path, b"[", b"]").unwrap();
        journal.append(b"record").unwrap();
        assert_eq!(Journal::create(&path, b"", b"").err(), Some(Errno::EBUSY));
        journal.append(b", another").unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("[record, another]"));
        drop(journal);
        Journal::create(&path, b"<", b">").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end(), "<>");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_too_long_or_not_there_is_refused() {
        let path = place("refused");
        let mut journal = Journal::create(&path, b"[", b"]").unwrap();
        assert_eq!(journal.append(&[0; WINDOW]), Err(Errno::EINVAL));
        assert_eq!(journal.amend(1, b"x"), Err(Errno::EINVAL));
        assert_eq!(journal.amend(u64::MAX, b"x"), Err(Errno::EINVAL));
        std::fs::remove_file(path).unwrap();
        assert_eq!(Journal::create(Path::new("/proc/nothing/x"), b"", b"").err(), Some(Errno::ENOENT));
    }
}
