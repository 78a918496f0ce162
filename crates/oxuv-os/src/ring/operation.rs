//! What a ring is asked to do.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use io_uring::{opcode, squeue, types};
use libc::iovec;
use rustix::fs::{AtFlags, FileType, OFlags, Statx, StatxFlags, fcntl_getfl, statx};

use super::{Answer, Call};
use crate::Errno;
use crate::fs::{MAX_BUFFERS, MAX_BYTES, ReadBuf, WriteBuf};

/// A place for one thing to be done with files, and for what it needs and finds. It stays where it is from before the thing is
/// submitted until it has been told of.
///
/// What is needed it either owns, see [`Call::put`], or somebody has promised that it stays.
#[derive(Default)]
pub struct Operation {
    pub(super) what: What,
    pub(super) call: Option<Call>,
    /// What was opened. A FIFO may have been too early: until it is open for good, who waits for a reader shall have one.
    pub(super) file: Option<OwnedFd>,
    /// Where metadata goes: room for one, as soon as that was needed.
    pub(super) found: Vec<MaybeUninit<Statx>>,
    /// The kernel has written it.
    pub(super) is_found: bool,
}

// SAFETY: what the addresses point to is the operation's own, or somebody has promised that it stays as it is, whoever
// looks.
unsafe impl Send for Operation {}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("what", &self.what).finish_non_exhaustive()
    }
}

/// The code of no operation.
pub(super) const NO_CODE: u8 = 63;

/// A text that somebody keeps.
type Text = *const c_char;

#[derive(Debug, Clone, Copy, Default)]
pub(super) enum What {
    #[default]
    Nothing,
    Open {
        path: Text,
        flags: i32,
        mode: u32,
        /// It is known to be something whose opening may have to wait, so it must not be tried without.
        may_wait: bool,
    },
    Close {
        file: RawFd,
    },
    /// It is closed already.
    Closed,
    Read(Transfer),
    Write(Transfer),
    Sync {
        file: RawFd,
        data_only: bool,
    },
    Truncate {
        file: RawFd,
        length: u64,
    },
    Metadata {
        directory: RawFd,
        path: Text,
        flags: i32,
    },
    Rename {
        path: Text,
        new_path: Text,
    },
    Link {
        path: Text,
        new_path: Text,
    },
    Symlink {
        path: Text,
        new_path: Text,
    },
    MakeDirectory {
        path: Text,
        mode: u32,
    },
    Remove {
        path: Text,
        flags: i32,
    },
}

/// Bytes that go from a file to memory, or back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    file: RawFd,
    bufs: Bufs,
    place: Place,
    /// What earlier attempts have moved.
    pub(super) moved: usize,
}

#[derive(Debug, Clone, Copy)]
enum Bufs {
    One(iovec),
    Many(*const iovec, usize),
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    At(u64),
    /// At the file's position.
    Position,
    /// There is no position.
    Stream,
}

impl Operation {
    /// True if nothing is to be done: what was to be put here is for a thread.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self.what, What::Nothing)
    }

    /// Takes out what it was made of, if it has its own.
    pub fn take_call(&mut self) -> Option<Call> {
        self.what = What::Nothing;
        self.call.take()
    }

    /// What it has found out, if the ring's answer is this number. What was opened is given once.
    #[inline]
    pub fn answer(&mut self, number: usize) -> Answer {
        match self.what {
            What::Read(_) | What::Write(_) => Answer::Count(number),
            What::Open { .. } => self.file.take().map_or(Answer::Done, Answer::File),
            What::Metadata { .. } if self.is_found => {
                // SAFETY: the kernel has written all of it, where `Ring::reserve` had made room.
                let found = unsafe { self.found.as_ptr().read().assume_init() };
                Answer::Metadata(found.into())
            }
            _ => Answer::Done,
        }
    }

    /// Makes it one like [`fs::open`](crate::fs::open).
    ///
    /// # Safety
    /// As for all that follow: what it is given stays as it is until the operation has come back, or is dropped. If the
    /// ring is dropped before, it may be until the end of the process.
    pub unsafe fn open(&mut self, path: &CStr, flags: i32, mode: u32) {
        let path = path.as_ptr();
        self.what = What::Open { path, flags: flags | libc::O_CLOEXEC, mode, may_wait: false };
    }

    /// As [`fs::close`](crate::fs::close). It stays empty where that may take long.
    ///
    /// # Safety
    /// As for [`Operation::open`]; the descriptor is the operation's to close.
    pub unsafe fn close(&mut self, file: BorrowedFd<'_>) {
        if is_quick_to_close(file) {
            self.what = What::Close { file: file.as_raw_fd() };
        }
    }

    /// Makes it one for what is closed already.
    pub fn closed(&mut self) {
        self.what = What::Closed;
    }

    /// As [`fs::read`](crate::fs::read); never interrupted. It stays empty where a ring does something else.
    ///
    /// # Safety
    /// As for [`Operation::open`]; the array stays as well as the memory, and this is for nobody else to touch.
    #[inline]
    pub unsafe fn read(&mut self, file: BorrowedFd<'_>, bufs: &[ReadBuf<'_>], offset: Option<u64>) {
        if let Some(transfer) = Transfer::new(file, bufs.as_ptr().cast(), bufs.len().min(MAX_BUFFERS), offset) {
            self.what = What::Read(transfer);
        }
    }

    /// As [`fs::write`](crate::fs::write). It stays empty where a ring does something else.
    ///
    /// # Safety
    /// As for [`Operation::open`]; the array stays as well as the bytes.
    pub unsafe fn write(&mut self, file: BorrowedFd<'_>, bufs: &[WriteBuf<'_>], offset: Option<u64>) {
        if let Some(transfer) = Transfer::new(file, bufs.as_ptr().cast(), bufs.len(), offset) {
            self.what = What::Write(transfer);
        }
    }

    /// As [`fs::sync_all`](crate::fs::sync_all), or [`fs::sync_data`](crate::fs::sync_data).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn sync(&mut self, file: BorrowedFd<'_>, data_only: bool) {
        self.what = What::Sync { file: file.as_raw_fd(), data_only };
    }

    /// As [`fs::truncate`](crate::fs::truncate). It stays empty for a negative length.
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn truncate(&mut self, file: BorrowedFd<'_>, length: i64) {
        if let Ok(length) = u64::try_from(length) {
            self.what = What::Truncate { file: file.as_raw_fd(), length };
        }
    }

    /// As [`fs::metadata`](crate::fs::metadata).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn metadata(&mut self, path: &CStr) {
        self.what = What::Metadata { directory: libc::AT_FDCWD, path: path.as_ptr(), flags: 0 };
    }

    /// As [`fs::link_metadata`](crate::fs::link_metadata).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn link_metadata(&mut self, path: &CStr) {
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        self.what = What::Metadata { directory: libc::AT_FDCWD, path: path.as_ptr(), flags };
    }

    /// As [`fs::file_metadata`](crate::fs::file_metadata).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn file_metadata(&mut self, file: BorrowedFd<'_>) {
        let (directory, path) = (file.as_raw_fd(), c"".as_ptr());
        self.what = What::Metadata { directory, path, flags: libc::AT_EMPTY_PATH };
    }

    /// As [`fs::rename`](crate::fs::rename). It stays empty where a ring would tell of the other path.
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn rename(&mut self, path: &CStr, new_path: &CStr) {
        if let Some((path, new_path)) = two_paths(path, new_path) {
            self.what = What::Rename { path, new_path };
        }
    }

    /// As [`fs::link`](crate::fs::link). It stays empty where a ring would tell of the other path.
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn link(&mut self, path: &CStr, new_path: &CStr) {
        if let Some((path, new_path)) = two_paths(path, new_path) {
            self.what = What::Link { path, new_path };
        }
    }

    /// As [`fs::symlink`](crate::fs::symlink).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn symlink(&mut self, path: &CStr, new_path: &CStr) {
        self.what = What::Symlink { path: path.as_ptr(), new_path: new_path.as_ptr() };
    }

    /// As [`fs::make_directory`](crate::fs::make_directory).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn make_directory(&mut self, path: &CStr, mode: u32) {
        self.what = What::MakeDirectory { path: path.as_ptr(), mode };
    }

    /// As [`fs::remove_file`](crate::fs::remove_file).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn remove_file(&mut self, path: &CStr) {
        self.what = What::Remove { path: path.as_ptr(), flags: 0 };
    }

    /// As [`fs::remove_directory`](crate::fs::remove_directory).
    ///
    /// # Safety
    /// As for [`Operation::open`].
    pub unsafe fn remove_directory(&mut self, path: &CStr) {
        self.what = What::Remove { path: path.as_ptr(), flags: libc::AT_REMOVEDIR };
    }
}

impl Operation {
    /// The ring's entry for it.
    #[inline]
    pub(super) fn entry(&mut self) -> squeue::Entry {
        match &self.what {
            What::Read(transfer) => transfer.read_entry(),
            what => what.entry(self.found.as_mut_ptr().cast()),
        }
    }

    /// Whether a kernel does this itself where nothing has to be waited for. All else its rings leave to threads of its own, which
    /// is slower than one of ours.
    #[inline]
    pub fn is_quick(&self) -> bool {
        match self.what {
            What::Open { flags, .. } => {
                flags & (libc::O_CREAT | libc::O_TRUNC) == 0 && flags & libc::O_TMPFILE != libc::O_TMPFILE
            }
            What::Close { .. } | What::Closed | What::Read(_) => true,
            _ => false,
        }
    }
}

impl What {
    /// The number by which a kernel says whether its rings do this.
    #[inline]
    pub(super) fn code(&self) -> u8 {
        match self {
            What::Nothing => NO_CODE,
            What::Closed => opcode::Nop::CODE,
            What::Open { .. } => opcode::OpenAt::CODE,
            What::Close { .. } => opcode::Close::CODE,
            What::Read(Transfer { bufs: Bufs::One(_), .. }) => opcode::Read::CODE,
            What::Read(_) => opcode::Readv::CODE,
            What::Write(Transfer { bufs: Bufs::One(_), .. }) => opcode::Write::CODE,
            // What is left of several buffers may be written from one.
            What::Write(_) => opcode::Writev::CODE.max(opcode::Write::CODE),
            What::Sync { .. } => opcode::Fsync::CODE,
            What::Truncate { .. } => opcode::Ftruncate::CODE,
            What::Metadata { .. } => opcode::Statx::CODE,
            What::Rename { .. } => opcode::RenameAt::CODE,
            What::Link { .. } => opcode::LinkAt::CODE,
            What::Symlink { .. } => opcode::SymlinkAt::CODE,
            What::MakeDirectory { .. } => opcode::MkDirAt::CODE,
            What::Remove { .. } => opcode::UnlinkAt::CODE,
        }
    }

    fn entry(&self, found: *mut Statx) -> squeue::Entry {
        const HERE: types::Fd = types::Fd(libc::AT_FDCWD);
        match *self {
            What::Nothing | What::Closed => opcode::Nop::new().build(),
            What::Open { path, flags, mode, may_wait } => {
                let entry = opcode::OpenAt::new(HERE, path).flags(flags).mode(mode).build();
                if may_wait { entry.flags(squeue::Flags::ASYNC) } else { entry }
            }
            What::Close { file } => opcode::Close::new(types::Fd(file)).build(),
            What::Read(ref transfer) => transfer.read_entry(),
            What::Write(ref transfer) => transfer.write_entry(),
            What::Sync { file, data_only } => {
                let flags = if data_only { types::FsyncFlags::DATASYNC } else { types::FsyncFlags::empty() };
                opcode::Fsync::new(types::Fd(file)).flags(flags).build()
            }
            What::Truncate { file, length } => opcode::Ftruncate::new(types::Fd(file), length).build(),
            What::Metadata { directory, path, flags } => opcode::Statx::new(types::Fd(directory), path, found.cast())
                .flags(flags)
                .mask(libc::STATX_BASIC_STATS | libc::STATX_BTIME)
                .build(),
            What::Rename { path, new_path } => opcode::RenameAt::new(HERE, path, HERE, new_path).build(),
            What::Link { path, new_path } => opcode::LinkAt::new(HERE, path, HERE, new_path).build(),
            What::Symlink { path, new_path } => opcode::SymlinkAt::new(HERE, path, new_path).build(),
            What::MakeDirectory { path, mode } => opcode::MkDirAt::new(HERE, path).mode(mode).build(),
            What::Remove { path, flags } => opcode::UnlinkAt::new(HERE, path).flags(flags).build(),
        }
    }

    /// The file whose position it uses and moves. A ring does not lock that: two at a time would use the same.
    #[inline]
    pub(super) fn position(&self) -> Option<RawFd> {
        match self {
            What::Read(transfer) | What::Write(transfer) if transfer.place == Place::Position => Some(transfer.file),
            _ => None,
        }
    }

    /// Whether memory is needed for it.
    #[inline]
    pub(super) fn needs_room(&self) -> bool {
        matches!(self, What::Metadata { .. }) || self.position().is_some()
    }

    /// Whether an error may be the ring's alone. Nothing has happened then, and a thread may do better.
    pub(super) fn may_be_the_rings(&self, error: Errno) -> bool {
        match error {
            Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EAGAIN | Errno::EINTR => true,
            Errno::EPERM => matches!(self, What::Metadata { .. }),
            _ => false,
        }
    }
}

impl Transfer {
    fn new(file: BorrowedFd<'_>, bufs: *const iovec, count: usize, offset: Option<u64>) -> Option<Transfer> {
        let place = place(file, offset)?;
        // SAFETY: with a count of one there is one.
        let bufs = if count == 1 { Bufs::One(unsafe { *bufs }) } else { Bufs::Many(bufs, count) };
        Some(Transfer { file: file.as_raw_fd(), bufs, place, moved: 0 })
    }

    fn bufs(&self) -> &[iovec] {
        match &self.bufs {
            Bufs::One(buf) => std::slice::from_ref(buf),
            // SAFETY: `Operation::read` and `write` had such an array, which stays.
            Bufs::Many(bufs, count) => unsafe { std::slice::from_raw_parts(*bufs, *count) },
        }
    }

    /// The bytes that there is memory for.
    pub(super) fn total(&self) -> usize {
        self.bufs().iter().fold(0, |total, buf| total.saturating_add(buf.iov_len))
    }

    fn offset(&self) -> u64 {
        match self.place {
            Place::At(offset) => offset.saturating_add(self.moved as u64),
            // What a ring takes for none.
            Place::Position | Place::Stream => u64::MAX,
        }
    }

    fn read_entry(&self) -> squeue::Entry {
        let (file, offset) = (types::Fd(self.file), self.offset());
        match self.bufs {
            Bufs::One(buf) => opcode::Read::new(file, buf.iov_base.cast(), size(buf.iov_len)).offset(offset).build(),
            Bufs::Many(bufs, count) => opcode::Readv::new(file, bufs, count as u32).offset(offset).build(),
        }
    }

    /// Writes what is left, or as much of that as goes into one entry.
    fn write_entry(&self) -> squeue::Entry {
        let (file, offset) = (types::Fd(self.file), self.offset());
        let (mut rest, mut begun) = (self.bufs(), self.moved);
        while let [first, others @ ..] = rest
            && begun >= first.iov_len
            && !others.is_empty()
        {
            begun -= first.iov_len;
            rest = others;
        }
        match rest {
            [only] => Transfer::write_one(file, only, begun, offset),
            [first, ..] if begun > 0 => Transfer::write_one(file, first, begun, offset),
            _ => opcode::Writev::new(file, rest.as_ptr(), rest.len().min(MAX_BUFFERS) as u32).offset(offset).build(),
        }
    }

    fn write_one(file: types::Fd, buf: &iovec, begun: usize, offset: u64) -> squeue::Entry {
        let bytes = buf.iov_base.wrapping_byte_add(begun).cast_const();
        opcode::Write::new(file, bytes.cast(), size(buf.iov_len - begun)).offset(offset).build()
    }
}

/// Whether closing it is a matter of a moment: nothing was written by it, and it is no socket whose last bytes may be
/// waited for, nor a file without a name, whose blocks are to be freed.
fn is_quick_to_close(file: BorrowedFd<'_>) -> bool {
    let is_read_only = fcntl_getfl(file).is_ok_and(|flags| flags.intersection(OFlags::RWMODE) == OFlags::RDONLY);
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    is_read_only
        && statx(file, c"", flags, StatxFlags::TYPE | StatxFlags::NLINK).is_ok_and(|found| {
            let kind = FileType::from_raw_mode(found.stx_mode.into());
            found.stx_nlink > 0 && (kind.is_file() || kind.is_dir())
        })
}

/// What the system moves in one call.
fn size(bytes: usize) -> u32 {
    bytes.min(MAX_BYTES) as u32
}

/// Where a transfer goes. `None` where a ring does not do what the system's calls do: where a file has no position, it
/// takes no notice of an offset, nor of the wish not to wait.
fn place(file: BorrowedFd<'_>, offset: Option<u64>) -> Option<Place> {
    match (has_place(file), offset) {
        (Ok(()), Some(offset)) => i64::try_from(offset).is_ok().then_some(Place::At(offset)),
        (Ok(()), None) => Some(Place::Position),
        (Err(Errno::ESPIPE), None) => {
            let may_wait = fcntl_getfl(file).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK));
            may_wait.then_some(Place::Stream)
        }
        _ => None,
    }
}

/// Whether it is a file, a directory or a block device. This does not wait for anything.
///
/// # Errors
/// ESPIPE when it is something else; EBADF.
pub(super) fn has_place(file: BorrowedFd<'_>) -> crate::Result<()> {
    // SAFETY: numbers only. Without flags the call does nothing but to look at the descriptor, and is the one that does so
    // with the least effort.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(Errno::from_raw(errno::errno().0)),
    }
}

/// A ring says what is wrong with the new path before it looks at the old one; a thread says it after that. So this is for paths that
/// are neither empty nor too long.
fn two_paths(path: &CStr, new_path: &CStr) -> Option<(*const c_char, *const c_char)> {
    let lengths = 1..libc::PATH_MAX as usize;
    lengths.contains(&new_path.count_bytes()).then_some((path.as_ptr(), new_path.as_ptr()))
}
