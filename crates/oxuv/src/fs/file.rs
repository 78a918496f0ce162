//! Open files.

use std::ffi::CStr;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use oxuv_core::fs as system;
use oxuv_core::kernel::{Answer, Bytes, Call};

use super::call::{self, call};
use super::{Metadata, NewTime, ask, c_path};
use crate::{Errno, LoopRef, Request, Result};

/// How a file is opened, as the standard library's.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    mode: u32,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions::new()
    }
}

impl OpenOptions {
    /// Nothing is allowed yet.
    pub fn new() -> OpenOptions {
        let no = false;
        OpenOptions { read: no, write: no, append: no, truncate: no, create: no, create_new: no, mode: 0o666 }
    }

    /// To be read.
    pub fn read(&mut self, on: bool) -> &mut Self {
        self.read = on;
        self
    }

    /// To be written.
    pub fn write(&mut self, on: bool) -> &mut Self {
        self.write = on;
        self
    }

    /// To be written at its end, wherever that is by then.
    pub fn append(&mut self, on: bool) -> &mut Self {
        self.append = on;
        self
    }

    /// What is in it is gone. Needs `write`.
    pub fn truncate(&mut self, on: bool) -> &mut Self {
        self.truncate = on;
        self
    }

    /// Made if it is not there. Needs `write` or `append`.
    pub fn create(&mut self, on: bool) -> &mut Self {
        self.create = on;
        self
    }

    /// Made, and EEXIST if it is there. Needs `write` or `append`.
    pub fn create_new(&mut self, on: bool) -> &mut Self {
        self.create_new = on;
        self
    }

    /// The permissions of one that is made, less the process's mask: `0o666` if nothing is said.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Opens a file.
    ///
    /// # Errors
    /// EINVAL for options that do not go together. To the closure: ENOENT, EACCES, EEXIST, EISDIR, EMFILE.
    #[doc(alias = "uv_fs_open")]
    #[track_caller]
    pub fn open(
        &self,
        owner: &LoopRef,
        path: impl AsRef<Path>,
        done: impl FnOnce(&LoopRef, Result<File>) + 'static,
    ) -> Result<Request> {
        let opening = Call::Open { path: c_path(path)?, flags: self.flags()?, mode: self.mode };
        call(owner, opening, call::file, |owner, opened| {
            let file = opened.map(|fd| File { owner: owner.clone(), fd: Arc::new(fd) });
            done(owner, file);
        })
    }

    /// The same on this thread.
    pub(super) fn open_now(&self, path: &CStr) -> Result<OwnedFd> {
        system::open(path, self.flags()?, self.mode)
    }

    fn flags(&self) -> Result<i32> {
        let writes = self.write || self.append;
        let changes = self.create || self.create_new || self.truncate;
        let is_nothing = !self.read && !writes;
        let empties_its_end = self.append && self.truncate && !self.create_new;
        if is_nothing || (changes && !writes) || empties_its_end {
            return Err(Errno::EINVAL);
        }
        let access = match (self.read, writes) {
            (true, true) => system::O_RDWR,
            (false, true) => system::O_WRONLY,
            _ => system::O_RDONLY,
        };
        let flag = |on: bool, flag: i32| if on { flag } else { 0 };
        Ok(access
            | flag(self.append, system::O_APPEND)
            | flag(self.truncate, system::O_TRUNC)
            | flag(self.create, system::O_CREAT)
            | flag(self.create_new, system::O_CREAT | system::O_EXCL))
    }
}

/// An open file of a loop's.
///
/// A cheap reference: clone it at will. The file is closed when the last one is gone and no request for it is under
/// way, or by [`File::close`], which also tells whether that went well.
///
/// ```
/// use oxuv::{Loop, Mode, fs::File};
///
/// let lp = Loop::new()?;
/// File::open(&lp, "/proc/self/comm", |_, file| {
///     let read = file.unwrap().read_at(Vec::with_capacity(100), 0, |_, bytes| {
///         println!("{}", String::from_utf8_lossy(&bytes.unwrap()));
///     });
///     read.unwrap();
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_file")]
#[derive(Clone)]
pub struct File {
    owner: LoopRef,
    fd: Arc<OwnedFd>,
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("fd", &self.fd).finish_non_exhaustive()
    }
}

impl File {
    /// Opens a file to be read.
    ///
    /// # Errors
    /// To the closure: ENOENT, EACCES, EMFILE.
    #[track_caller]
    pub fn open(
        owner: &LoopRef,
        path: impl AsRef<Path>,
        done: impl FnOnce(&LoopRef, Result<File>) + 'static,
    ) -> Result<Request> {
        OpenOptions::new().read(true).open(owner, path, done)
    }

    /// Makes a file to be written, or empties one.
    ///
    /// # Errors
    /// To the closure: ENOENT, EACCES, EISDIR, EMFILE, ENOSPC.
    #[track_caller]
    pub fn create(
        owner: &LoopRef,
        path: impl AsRef<Path>,
        done: impl FnOnce(&LoopRef, Result<File>) + 'static,
    ) -> Result<Request> {
        OpenOptions::new().write(true).create(true).truncate(true).open(owner, path, done)
    }

    /// Reads where the file's position is, and moves that on. `room` comes back with what was read, up to its capacity;
    /// what was in it is gone. It comes back empty at the end of the file.
    ///
    /// # Errors
    /// EINVAL for a `room` without capacity. To the closure: EISDIR, EBADF, EAGAIN, EIO.
    #[doc(alias = "uv_fs_read")]
    #[track_caller]
    pub fn read(&self, room: Vec<u8>, done: impl FnOnce(&File, Result<Vec<u8>>) + 'static) -> Result<Request> {
        self.read_somewhere(room, None, done)
    }

    /// As [`File::read`], at an offset.
    ///
    /// # Errors
    /// As [`File::read`]; to the closure ESPIPE where there is no position.
    #[doc(alias = "uv_fs_read")]
    #[track_caller]
    pub fn read_at(
        &self,
        room: Vec<u8>,
        offset: u64,
        done: impl FnOnce(&File, Result<Vec<u8>>) + 'static,
    ) -> Result<Request> {
        self.read_somewhere(room, Some(offset), done)
    }

    #[track_caller]
    fn read_somewhere(
        &self,
        mut room: Vec<u8>,
        offset: Option<u64>,
        done: impl FnOnce(&File, Result<Vec<u8>>) + 'static,
    ) -> Result<Request> {
        if room.capacity() == 0 {
            // What came back would look like the end of the file.
            return Err(Errno::EINVAL);
        }
        room.clear();
        self.call(Call::Read { file: Arc::clone(&self.fd), room, offset }, call::bytes, done)
    }

    /// Writes all of the bytes where the file's position is, and moves that on.
    ///
    /// # Errors
    /// To the closure: ENOSPC, EDQUOT, EFBIG, EBADF, EIO, EPIPE. A part may be written then.
    #[doc(alias = "uv_fs_write")]
    #[track_caller]
    pub fn write(
        &self,
        bytes: impl AsRef<[u8]> + Send + 'static,
        done: impl FnOnce(&File, Result<()>) + 'static,
    ) -> Result<Request> {
        self.write_somewhere(Box::new(bytes), None, done)
    }

    /// As [`File::write`], at an offset.
    ///
    /// # Errors
    /// As [`File::write`]; to the closure ESPIPE where there is no position.
    #[doc(alias = "uv_fs_write")]
    #[track_caller]
    pub fn write_at(
        &self,
        bytes: impl AsRef<[u8]> + Send + 'static,
        offset: u64,
        done: impl FnOnce(&File, Result<()>) + 'static,
    ) -> Result<Request> {
        self.write_somewhere(Box::new(bytes), Some(offset), done)
    }

    #[track_caller]
    fn write_somewhere(
        &self,
        bytes: Box<dyn AsRef<[u8]> + Send>,
        offset: Option<u64>,
        done: impl FnOnce(&File, Result<()>) + 'static,
    ) -> Result<Request> {
        let (file, bytes) = (Arc::clone(&self.fd), Bytes::new(bytes));
        self.call(Call::Write { file, bytes, offset }, call::nothing, done)
    }

    /// What is known of the file.
    ///
    /// # Errors
    /// To the closure: EBADF.
    #[doc(alias = "uv_fs_fstat")]
    #[track_caller]
    pub fn metadata(&self, done: impl FnOnce(&File, Result<Metadata>) + 'static) -> Result<Request> {
        self.call(Call::FileMetadata(Arc::clone(&self.fd)), call::metadata, done)
    }

    /// Makes the file so many bytes long, cutting off or adding zeros.
    ///
    /// # Errors
    /// EFBIG, also to the closure; to that EINVAL when it is not open to be written.
    #[doc(alias = "uv_fs_ftruncate")]
    #[track_caller]
    pub fn set_len(&self, length: u64, done: impl FnOnce(&File, Result<()>) + 'static) -> Result<Request> {
        let length = i64::try_from(length).map_err(|_| Errno::EFBIG)?;
        self.call(Call::Truncate(Arc::clone(&self.fd), length), call::nothing, done)
    }

    /// Sets the permissions.
    ///
    /// # Errors
    /// To the closure: EPERM, EROFS.
    #[doc(alias = "uv_fs_fchmod")]
    #[track_caller]
    pub fn set_permissions(&self, mode: u32, done: impl FnOnce(&File, Result<()>) + 'static) -> Result<Request> {
        self.ask(move |fd| system::set_file_mode(fd, mode), done)
    }

    /// Sets the times of last access and last change.
    ///
    /// # Errors
    /// To the closure: EPERM, EACCES, EROFS.
    #[doc(alias = "uv_fs_futime")]
    #[track_caller]
    pub fn set_times(
        &self,
        accessed: NewTime,
        modified: NewTime,
        done: impl FnOnce(&File, Result<()>) + 'static,
    ) -> Result<Request> {
        self.ask(move |fd| system::set_file_times(fd, accessed, modified), done)
    }

    /// Waits until all of the file is on the disk.
    ///
    /// # Errors
    /// To the closure: EIO, ENOSPC, EDQUOT; EINVAL for what is on no disk.
    #[doc(alias = "uv_fs_fsync")]
    #[track_caller]
    pub fn sync_all(&self, done: impl FnOnce(&File, Result<()>) + 'static) -> Result<Request> {
        self.call(Call::SyncAll(Arc::clone(&self.fd)), call::nothing, done)
    }

    /// As [`File::sync_all`], but for what is not needed to read the bytes again, as the times.
    ///
    /// # Errors
    /// As [`File::sync_all`].
    #[doc(alias = "uv_fs_fdatasync")]
    #[track_caller]
    pub fn sync_data(&self, done: impl FnOnce(&File, Result<()>) + 'static) -> Result<Request> {
        self.call(Call::SyncData(Arc::clone(&self.fd)), call::nothing, done)
    }

    /// Closes the file, and tells what dropping it would hide. If there are other references, or requests under way, it
    /// is closed when they are gone, and the closure hears of no error.
    ///
    /// # Errors
    /// To the closure: EIO, ENOSPC, EDQUOT when something written before is lost.
    #[doc(alias = "uv_fs_close")]
    #[track_caller]
    pub fn close(self, done: impl FnOnce(&LoopRef, Result<()>) + 'static) -> Result<Request> {
        let File { owner, fd } = self;
        call(&owner, Call::Close(Arc::into_inner(fd)), call::nothing, done)
    }

    #[track_caller]
    fn call<T: 'static>(
        &self,
        what: Call,
        find: impl FnOnce(&mut Answer, &mut Call) -> T + 'static,
        done: impl FnOnce(&File, Result<T>) + 'static,
    ) -> Result<Request> {
        let file = self.clone();
        call(&self.owner, what, find, move |_, answer| done(&file, answer))
    }

    #[track_caller]
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(BorrowedFd<'_>) -> Result<T> + Send + 'static,
        done: impl FnOnce(&File, Result<T>) + 'static,
    ) -> Result<Request> {
        let (file, fd) = (self.clone(), Arc::clone(&self.fd));
        ask(&self.owner, move || work(fd.as_fd()), move |_, result| done(&file, result))
    }
}
