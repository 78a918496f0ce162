//! Files for tasks: the functions of [`fs`](super) as futures, on the loop that runs on this thread.
//!
//! ```
//! use oxuv::{Loop, fs};
//!
//! let lp = Loop::new()?;
//! let name = lp.block_on(fs::task::read("/proc/self/comm"))?;
//! println!("{}", String::from_utf8_lossy(&name));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! An operation begins when its future is first polled. Dropped before it is ready, an operation that no thread has begun is taken
//! back; one that has begun goes on to its end, and nobody hears of that: a file that was opened is closed, what was read is
//! dropped, what was written is written.
//!
//! # Errors
//! Those of the functions in [`fs`](super), as [`std::io::Error`].
//!
//! # Panics
//! All functions, when they are polled and no loop runs on this thread.

use std::fmt;
use std::future::Future;
use std::io::{self, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{CopyFlags, DirEntry, Metadata, NewTime, OpenOptions};
use crate::task::{answer, here};

/// Functions of paths: each is the one of the same name in `fs`.
macro_rules! of_paths {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        #[doc = concat!("\n\nSee [`fs::", stringify!($name), "`](super::", stringify!($name), ").")]
        ///
        /// Cancel safety: if this is dropped, it is done whole, or not at all; see the [module](self).
        ///
        /// # Errors
        /// Those of that.
        #[track_caller]
        pub fn $name($($argument: $kind),*) -> impl Future<Output = io::Result<$result>> {
            answer(move |teller| {
                super::$name(&here::current(), $($argument,)* move |_, result| teller.tell(result)).map(Some)
            })
        }
    )*};
}

of_paths! {
    /// Reads a whole file.
    read(path: impl AsRef<Path>) -> Vec<u8>;
    /// Writes a whole file: a new one, or in the place of what was in it.
    write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]> + Send + 'static) -> ();
    /// Reads a directory.
    read_dir(path: impl AsRef<Path>) -> Vec<DirEntry>;
    /// What is known of a file.
    metadata(path: impl AsRef<Path>) -> Metadata;
    /// What is known of a file, or of the link that is there.
    symlink_metadata(path: impl AsRef<Path>) -> Metadata;
    /// Makes a directory.
    create_dir(path: impl AsRef<Path>) -> ();
    /// Removes an empty directory.
    remove_dir(path: impl AsRef<Path>) -> ();
    /// Removes a file, or a link.
    remove_file(path: impl AsRef<Path>) -> ();
    /// Gives a file another name.
    rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> ();
    /// Copies a file.
    copy(from: impl AsRef<Path>, to: impl AsRef<Path>, flags: CopyFlags) -> ();
    /// Gives a file one more name.
    hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> ();
    /// Makes a link to a path.
    symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> ();
    /// Where a link leads to.
    read_link(path: impl AsRef<Path>) -> PathBuf;
    /// The path without links.
    canonicalize(path: impl AsRef<Path>) -> PathBuf;
    /// Sets the permissions.
    set_permissions(path: impl AsRef<Path>, mode: u32) -> ();
    /// Sets the times of last access and last change.
    set_times(path: impl AsRef<Path>, accessed: NewTime, modified: NewTime) -> ();
}

/// Reads a whole file, which is text.
///
/// Cancel safety: what was read is dropped.
///
/// # Errors
/// As [`read`]; `InvalidData` when it is not UTF-8.
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> impl Future<Output = io::Result<String>> {
    let bytes = read(path);
    async move { String::from_utf8(bytes.await?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)) }
}

impl OpenOptions {
    /// Opens a file for tasks.
    ///
    /// Cancel safety: if this is dropped, a file that was opened is closed; that it was made or emptied is not undone.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    ///
    /// # Panics
    /// When it is polled and no loop runs on this thread.
    #[track_caller]
    pub fn open_async(&self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        open(self.clone(), path)
    }
}

#[track_caller]
fn open(options: OpenOptions, path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
    let file =
        answer(move |teller| options.open(&here::current(), path, move |_, opened| teller.tell(opened)).map(Some));
    async move { Ok(File { file: file.await?, at: 0, busy: None }) }
}

/// An open file. It has a place at which it is read and written as a stream ([`futures_io::AsyncRead`], [`futures_io::AsyncWrite`],
/// [`futures_io::AsyncSeek`]), and methods that say the place.
///
/// It is closed when it is dropped; [`File::close`] tells of errors.
pub struct File {
    file: super::File,
    /// The place in the file.
    at: u64,
    /// What was begun as a stream and is not done.
    busy: Option<Busy>,
}

/// An operation of a stream, which goes on if its future is dropped: the next call finds its result.
enum Busy {
    Read(Pin<Box<dyn Future<Output = io::Result<Vec<u8>>>>>),
    Write(Pin<Box<dyn Future<Output = io::Result<usize>>>>),
    Size(Pin<Box<dyn Future<Output = io::Result<Metadata>>>>),
    /// What was read and not taken yet.
    Have(Vec<u8>, usize),
}

/// So much is read and written at once as a stream.
const CHUNK: usize = 64 * 1024;

impl File {
    /// Opens a file to be read.
    ///
    /// Cancel safety: as [`OpenOptions::open_async`].
    ///
    /// # Errors
    /// ENOENT, EACCES, EMFILE.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        open(OpenOptions::new().read(true).clone(), path)
    }

    /// Opens a file to be written: a new one, or with nothing of what was in it.
    ///
    /// Cancel safety: as [`OpenOptions::open_async`].
    ///
    /// # Errors
    /// EACCES, EISDIR, EMFILE, ENOSPC.
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        open(OpenOptions::new().write(true).create(true).truncate(true).clone(), path)
    }

    /// Reads into the memory that `room` has, from that place on, and gives it back with what was read; nothing at the end of the file.
    ///
    /// Cancel safety: the memory is lost, and the place of the file is where it was.
    ///
    /// # Errors
    /// As [`fs::File::read_at`](super::File::read_at).
    #[track_caller]
    pub fn read_at(&self, room: Vec<u8>, offset: u64) -> impl Future<Output = io::Result<Vec<u8>>> {
        answer(move |teller| self.file.read_at(room, offset, move |_, read| teller.tell(read)).map(Some))
    }

    /// Writes all of `bytes` at that place.
    ///
    /// Cancel safety: what has begun is written to its end.
    ///
    /// # Errors
    /// As [`fs::File::write_at`](super::File::write_at).
    #[track_caller]
    pub fn write_at(
        &self,
        bytes: impl AsRef<[u8]> + Send + 'static,
        offset: u64,
    ) -> impl Future<Output = io::Result<()>> {
        answer(move |teller| self.file.write_at(bytes, offset, move |_, written| teller.tell(written)).map(Some))
    }

    /// What is known of it.
    ///
    /// Cancel safety: nothing is lost.
    ///
    /// # Errors
    /// EIO and such.
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> {
        answer(move |teller| self.file.metadata(move |_, found| teller.tell(found)).map(Some))
    }

    /// Makes it that long.
    ///
    /// Cancel safety: if this is dropped, it is done, or not at all.
    ///
    /// # Errors
    /// EINVAL when it is not open to be written, EFBIG.
    #[track_caller]
    pub fn set_len(&self, length: u64) -> impl Future<Output = io::Result<()>> {
        answer(move |teller| self.file.set_len(length, move |_, done| teller.tell(done)).map(Some))
    }

    /// Waits until all that was written is on the disk.
    ///
    /// Cancel safety: nothing is lost; an error that one has met with which was dropped may not be told again.
    ///
    /// # Errors
    /// EIO, ENOSPC.
    #[track_caller]
    pub fn sync_all(&self) -> impl Future<Output = io::Result<()>> {
        answer(move |teller| self.file.sync_all(move |_, done| teller.tell(done)).map(Some))
    }

    /// As [`File::sync_all`], without the times of the file.
    ///
    /// Cancel safety: as that.
    ///
    /// # Errors
    /// As that.
    #[track_caller]
    pub fn sync_data(&self) -> impl Future<Output = io::Result<()>> {
        answer(move |teller| self.file.sync_data(move |_, done| teller.tell(done)).map(Some))
    }

    /// Closes it.
    ///
    /// Cancel safety: it is closed all the same.
    ///
    /// # Errors
    /// What a write met with that had been told as done: EIO, ENOSPC, EDQUOT.
    #[track_caller]
    pub fn close(self) -> impl Future<Output = io::Result<()>> {
        answer(move |teller| self.file.close(move |_, closed| teller.tell(closed)).map(Some))
    }

    /// The file, for callbacks.
    pub fn into_inner(self) -> super::File {
        self.file
    }

    /// What a stream's write under way comes to.
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(Busy::Write(write)) = &mut self.busy else { return Poll::Ready(Ok(0)) };
        let written = ready!(write.as_mut().poll(context));
        self.busy = None;
        if let Ok(count) = &written {
            self.at += *count as u64;
        }
        Poll::Ready(written)
    }
}

impl futures_io::AsyncRead for File {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            match &mut self.busy {
                None => {
                    let (file, at) = (self.file.clone(), self.at);
                    let room = Vec::with_capacity(buf.len().min(CHUNK));
                    self.busy = Some(Busy::Read(Box::pin(async move {
                        answer(|teller| file.read_at(room, at, move |_, read| teller.tell(read)).map(Some)).await
                    })));
                }
                Some(Busy::Read(read)) => {
                    let read = ready!(read.as_mut().poll(context));
                    self.busy = None;
                    match read? {
                        bytes if bytes.is_empty() => return Poll::Ready(Ok(0)),
                        bytes => self.busy = Some(Busy::Have(bytes, 0)),
                    }
                }
                Some(Busy::Have(bytes, taken)) => {
                    let count = buf.len().min(bytes.len() - *taken);
                    buf[..count].copy_from_slice(&bytes[*taken..*taken + count]);
                    *taken += count;
                    if *taken == bytes.len() {
                        self.busy = None;
                    }
                    self.at += count as u64;
                    return Poll::Ready(Ok(count));
                }
                Some(Busy::Write(_)) => drop(ready!(self.poll_written(context))?),
                Some(Busy::Size(_)) => self.busy = None,
            }
        }
    }
}

impl futures_io::AsyncWrite for File {
    /// Copies up to 64 KiB, and has them written. An error comes with the next call.
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_written(context))?;
        let bytes = bytes[..bytes.len().min(CHUNK)].to_vec();
        let (file, at, count) = (self.file.clone(), self.at, bytes.len());
        self.busy = Some(Busy::Write(Box::pin(async move {
            // It is not taken back when the file is dropped: whoever wrote was told that it is done.
            answer(|teller| file.write_at(bytes, at, move |_, written| teller.tell(written)).map(|_| None)).await?;
            Ok(count)
        })));
        // It begins now, and whoever comes next waits for its end.
        match self.poll_written(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(count)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(context).map_ok(drop)
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

impl futures_io::AsyncSeek for File {
    fn poll_seek(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        ready!(self.poll_written(context))?;
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (ready!(self.poll_size(context))?, by),
        };
        self.busy = None;
        self.at = from.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Poll::Ready(Ok(self.at))
    }
}

impl File {
    fn poll_size(&mut self, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        loop {
            if let Some(Busy::Size(size)) = &mut self.busy {
                return size.as_mut().poll(context).map_ok(|found| found.size);
            }
            let file = self.file.clone();
            self.busy = Some(Busy::Size(Box::pin(async move {
                answer(|teller| file.metadata(move |_, found| teller.tell(found)).map(Some)).await
            })));
        }
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}
