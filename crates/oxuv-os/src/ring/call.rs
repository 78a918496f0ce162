//! What a safe front asks of files: it has all that it needs.

use std::ffi::CString;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::Operation;
use crate::Result;
use crate::fs::{self, Metadata, ReadBuf, WriteBuf};

/// Something to be done with files, by a ring or by the thread that runs it.
#[derive(Debug)]
pub enum Call {
    /// See [`fs::open`].
    Open {
        /// What is opened.
        path: CString,
        /// How.
        flags: i32,
        /// The permissions of what is made.
        mode: u32,
    },
    /// See [`fs::close`]. `None` is closed already.
    Close(Option<OwnedFd>),
    /// See [`fs::read_to_vec`].
    Read {
        /// What is read.
        file: Arc<OwnedFd>,
        /// What was read comes behind what is in it.
        room: Vec<u8>,
        /// Where; `None` is the file's position.
        offset: Option<u64>,
    },
    /// Writes all of the bytes.
    Write {
        /// To what.
        file: Arc<OwnedFd>,
        /// Those.
        bytes: Bytes,
        /// Where; `None` is the file's position.
        offset: Option<u64>,
    },
    /// See [`fs::sync_all`].
    SyncAll(Arc<OwnedFd>),
    /// See [`fs::sync_data`].
    SyncData(Arc<OwnedFd>),
    /// See [`fs::truncate`].
    Truncate(Arc<OwnedFd>, i64),
    /// See [`fs::metadata`].
    Metadata(CString),
    /// See [`fs::link_metadata`].
    LinkMetadata(CString),
    /// See [`fs::file_metadata`].
    FileMetadata(Arc<OwnedFd>),
    /// See [`fs::rename`].
    Rename(CString, CString),
    /// See [`fs::link`].
    Link(CString, CString),
    /// See [`fs::symlink`].
    Symlink(CString, CString),
    /// See [`fs::make_directory`].
    MakeDirectory(CString, u32),
    /// See [`fs::remove_file`].
    RemoveFile(CString),
    /// See [`fs::remove_directory`].
    RemoveDirectory(CString),
}

/// What became of it.
#[derive(Debug)]
pub enum Answer {
    /// It is done.
    Done,
    /// It was opened.
    File(OwnedFd),
    /// So many bytes were moved.
    Count(usize),
    /// This is known.
    Metadata(Metadata),
}

/// Bytes to be written, with their owner.
pub struct Bytes {
    /// Not to be touched while somebody may look at the bytes: they may be in it.
    _owner: Box<dyn AsRef<[u8]> + Send>,
    bytes: *const [u8],
    written: usize,
}

// SAFETY: the owner may go to another thread, and there it would show the same bytes, which are only read.
unsafe impl Send for Bytes {}

impl Bytes {
    /// What this shows. It is asked once.
    pub fn new(owner: Box<dyn AsRef<[u8]> + Send>) -> Bytes {
        let bytes: *const [u8] = (*owner).as_ref();
        Bytes { _owner: owner, bytes, written: 0 }
    }

    /// Those that are left to be written.
    fn rest(&self) -> &[u8] {
        // SAFETY: the owner lent them for as long as it is not changed or gone. It is in a box, so it stays where it is, and
        // nobody but us has it.
        unsafe { &(&*self.bytes)[self.written..] }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bytes").field("left", &self.rest().len()).finish_non_exhaustive()
    }
}

impl Call {
    /// Does it on this thread.
    ///
    /// # Errors
    /// Those of the function that the variant names; ENOSPC when something takes no bytes and gives no reason.
    pub fn run(&mut self) -> Result<Answer> {
        let done = match self {
            Call::Open { path, flags, mode } => return fs::open(path, *flags, *mode).map(Answer::File),
            Call::Close(file) => file.take().map_or(Ok(()), fs::close),
            Call::Read { file, room, offset } => {
                return fs::read_to_vec(file.as_fd(), room, *offset).map(Answer::Count);
            }
            Call::Write { file, bytes, offset } => {
                let place = offset.map(|offset| offset.saturating_add(bytes.written as u64));
                fs::write_all(file.as_fd(), bytes.rest(), place)
            }
            Call::SyncAll(file) => fs::sync_all(file.as_fd()),
            Call::SyncData(file) => fs::sync_data(file.as_fd()),
            Call::Truncate(file, length) => fs::truncate(file.as_fd(), *length),
            Call::Metadata(path) => return fs::metadata(path).map(Answer::Metadata),
            Call::LinkMetadata(path) => return fs::link_metadata(path).map(Answer::Metadata),
            Call::FileMetadata(file) => return fs::file_metadata(file.as_fd()).map(Answer::Metadata),
            Call::Rename(path, new_path) => fs::rename(path, new_path),
            Call::Link(path, new_path) => fs::link(path, new_path),
            Call::Symlink(path, new_path) => fs::symlink(path, new_path),
            Call::MakeDirectory(path, mode) => fs::make_directory(path, *mode),
            Call::RemoveFile(path) => fs::remove_file(path),
            Call::RemoveDirectory(path) => fs::remove_directory(path),
        };
        done.map(|()| Answer::Done)
    }

    /// Does it on this thread, if that takes but a moment.
    pub fn run_at_once(&self) -> Option<Result<Answer>> {
        let found = match self {
            Call::Metadata(path) => fs::metadata_at_once(path, false),
            Call::LinkMetadata(path) => fs::metadata_at_once(path, true),
            Call::FileMetadata(file) => fs::file_metadata_at_once(file.as_fd()),
            Call::Close(None) => return Some(Ok(Answer::Done)),
            _ => None,
        };
        Some(found?.map(Answer::Metadata))
    }

    /// False if it is nothing that is [quick](Operation::is_quick) as an operation.
    pub fn may_be_quick(&self) -> bool {
        matches!(self, Call::Open { .. } | Call::Close(_) | Call::Read { .. })
    }

    /// Makes it a ring's to do; the call is back where a thread is needed.
    ///
    /// # Errors
    /// That.
    pub fn put(mut self, place: &mut Operation) -> Result<(), Call> {
        // What was there may be about something that goes now.
        drop(place.take_call());
        // SAFETY: the texts, the memory and the bytes are on the heap, where they stay when the call moves into the
        // operation, which keeps it until it comes back. A ring that goes before then does not drop it.
        unsafe {
            match &mut self {
                Call::Open { path, flags, mode } => place.open(path, *flags, *mode),
                Call::Close(Some(file)) => place.close(file.as_fd()),
                Call::Close(None) => place.closed(),
                Call::Read { file, room, offset } => {
                    place.read(file.as_fd(), &[ReadBuf::new(room.spare_capacity_mut())], *offset);
                }
                Call::Write { file, bytes, offset } => {
                    let offset = offset.map(|offset| offset.saturating_add(bytes.written as u64));
                    place.write(file.as_fd(), &[WriteBuf::new(bytes.rest())], offset);
                }
                Call::SyncAll(file) => place.sync(file.as_fd(), false),
                Call::SyncData(file) => place.sync(file.as_fd(), true),
                Call::Truncate(file, length) => place.truncate(file.as_fd(), *length),
                Call::Metadata(path) => place.metadata(path),
                Call::LinkMetadata(path) => place.link_metadata(path),
                Call::FileMetadata(file) => place.file_metadata(file.as_fd()),
                Call::Rename(path, new_path) => place.rename(path, new_path),
                Call::Link(path, new_path) => place.link(path, new_path),
                Call::Symlink(path, new_path) => place.symlink(path, new_path),
                Call::MakeDirectory(path, mode) => place.make_directory(path, *mode),
                Call::RemoveFile(path) => place.remove_file(path),
                Call::RemoveDirectory(path) => place.remove_directory(path),
            }
        }
        if place.is_empty() {
            return Err(self);
        }
        place.call = Some(self);
        Ok(())
    }

    /// A ring has moved so many bytes.
    pub(super) fn moved(&mut self, count: usize) {
        match self {
            Call::Read { room, .. } => {
                debug_assert!(count <= room.capacity() - room.len());
                // SAFETY: the ring says that so many bytes were written behind the others, where there was room for them.
                unsafe { room.set_len(room.len() + count) }
            }
            Call::Write { bytes, .. } => bytes.written += count,
            _ => {}
        }
    }

    /// A ring is done with it. False if that is not all of it: a thread will find out why.
    pub(super) fn ended(&mut self, last: Result<usize>) -> bool {
        match (&mut *self, last) {
            // The number may be another file's by now.
            (Call::Close(file), _) => std::mem::forget(file.take()),
            (Call::Read { .. } | Call::Write { .. }, Ok(count)) => self.moved(count),
            _ => {}
        }
        let is_answered = |bytes: &Bytes| bytes.rest().is_empty() || (last.is_err() && bytes.written == 0);
        !matches!(self, Call::Write { bytes, .. } if !is_answered(bytes))
    }
}
