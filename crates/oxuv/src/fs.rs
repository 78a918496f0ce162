//! Files and directories, without making the loop wait.
//!
//! Each function has the work done elsewhere, by a thread of the loop's pool or by the kernel through io_uring (see
//! [`LoopRef::use_io_uring`]), and returns at once. The closure hears of the result
//! on the loop, in the poll phase. Several requests may be under way; they are done in any order, so what depends on
//! another is begun in that one's closure. The names are the standard library's.
//!
//! ```
//! use oxuv::{Loop, Mode, fs};
//!
//! let lp = Loop::new()?;
//! fs::read(&lp, "/proc/self/comm", |_, bytes| {
//!     println!("{}", String::from_utf8_lossy(&bytes.unwrap()));
//! })?;
//! lp.run(Mode::Default)?;
//! # Ok::<(), oxuv::Errno>(())
//! ```
//!
//! # Errors
//!
//! What the system says comes to the closure; ECANCELED comes to that of a request which was taken back. The functions
//! themselves fail, and call nobody, with EINVAL for a path with a zero byte inside and for a loop that is gone, with
//! ENOMEM, and with EAGAIN when there is no room for a thread.

mod call;
mod file;
mod paths;
pub mod task;

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use oxuv_core::Lane;
use oxuv_core::fs as system;

use crate::{Errno, LoopRef, Request, Result};

pub use file::{File, OpenOptions};
/// The same and more, on this thread, which waits: for the closure of [`work`], and for programs that have the time.
pub use oxuv_core::fs as blocking;
pub use oxuv_core::fs::{CopyFlags, EntryKind, Metadata, NewTime, Time};
pub use paths::{
    canonicalize, copy, create_dir, hard_link, metadata, read_link, remove_dir, remove_file, rename, set_permissions,
    set_times, symlink, symlink_metadata,
};

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    name: OsString,
    kind: EntryKind,
}

impl DirEntry {
    /// The name, without the directory's.
    pub fn file_name(&self) -> &OsStr {
        &self.name
    }

    /// What it stands for, as far as the directory knows.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }
}

/// Reads a whole file.
///
/// # Errors
/// To the closure: ENOENT, EACCES, EISDIR, ENOMEM.
#[track_caller]
pub fn read(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<Vec<u8>>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    ask(owner, move || with_open(&path, OpenOptions::new().read(true), read_all), done)
}

/// Writes a whole file: a new one, or in the place of what was in it.
///
/// # Errors
/// To the closure: ENOENT, EACCES, EISDIR, ENOSPC.
#[track_caller]
pub fn write(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    bytes: impl AsRef<[u8]> + Send + 'static,
    done: impl FnOnce(&LoopRef, Result<()>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    let work = move || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        with_open(&path, &options, |fd| system::write_all(fd, bytes.as_ref(), None))
    };
    ask(owner, work, done)
}

/// Reads a directory, but for `.` and `..`. The entries come in the order of the bytes of their names.
///
/// # Errors
/// To the closure: ENOENT, ENOTDIR, EACCES.
#[doc(alias = "uv_fs_scandir")]
#[track_caller]
pub fn read_dir(
    owner: &LoopRef,
    path: impl AsRef<Path>,
    done: impl FnOnce(&LoopRef, Result<Vec<DirEntry>>) + 'static,
) -> Result<Request> {
    let path = c_path(path)?;
    let work = move || {
        let listing = system::list(&path)?;
        let mut entries = Vec::new();
        entries.try_reserve_exact(listing.len())?;
        entries.extend(listing.iter().map(|entry| {
            let name = OsStr::from_bytes(entry.name.to_bytes()).to_os_string();
            DirEntry { name, kind: entry.kind }
        }));
        Ok(entries)
    };
    ask(owner, work, done)
}

/// Has a thread of the pool do something of one's own with files, in the lane of files: several steps at once, or a
/// function of [`blocking`] that has no other here. What `work` returns comes to `done` on the loop. Phase: poll.
///
/// ```
/// use oxuv::{Loop, Mode, fs};
///
/// let lp = Loop::new()?;
/// let volume = || fs::blocking::volume(c"/");
/// fs::work(&lp, volume, |_, volume| println!("{} bytes", volume.unwrap().block_size))?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// # Errors
/// To the closure: what `work` returns. It must not panic: a panic goes on in the loop.
#[track_caller]
pub fn work<T: Send + 'static>(
    owner: &LoopRef,
    work: impl FnOnce() -> Result<T> + Send + 'static,
    done: impl FnOnce(&LoopRef, Result<T>) + 'static,
) -> Result<Request> {
    ask(owner, work, done)
}

/// Submits what is quick as a rule.
#[track_caller]
fn ask<T: Send + 'static>(
    owner: &LoopRef,
    work: impl FnOnce() -> Result<T> + Send + 'static,
    done: impl FnOnce(&LoopRef, Result<T>) + 'static,
) -> Result<Request> {
    owner.ask(Lane::FastIo, Errno::ECANCELED, work, done)
}

/// A path as the system takes it. EINVAL if there is a zero byte inside.
pub(crate) fn c_path(path: impl AsRef<Path>) -> Result<CString> {
    CString::new(path.as_ref().as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)
}

/// A path as Rust has it.
pub(crate) fn path_buf(path: &CStr) -> PathBuf {
    OsStr::from_bytes(path.to_bytes()).into()
}

/// Opens a file for one thing to be done, and closes it; if the first is well, the error of the second counts.
fn with_open<T>(path: &CStr, options: &OpenOptions, act: impl FnOnce(BorrowedFd<'_>) -> Result<T>) -> Result<T> {
    let file = options.open_now(path)?;
    let acted = act(file.as_fd());
    let closed = system::close(file);
    let result = acted?;
    closed?;
    Ok(result)
}

fn read_all(fd: BorrowedFd<'_>) -> Result<Vec<u8>> {
    let size = system::file_metadata(fd)?.size;
    let mut bytes = Vec::new();
    // One more, so that the end is met without more room. A file may be larger than it says.
    bytes.try_reserve(usize::try_from(size).map_err(|_| Errno::ENOMEM)?.saturating_add(1))?;
    while system::read_to_vec(fd, &mut bytes, None)? > 0 {
        if bytes.len() == bytes.capacity() {
            bytes.try_reserve(32 * 1024)?;
        }
    }
    Ok(bytes)
}
