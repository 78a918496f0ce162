//! What is in a directory.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;

use rustix::fs::{FileType, RawDir};

use super::{close, open};
use crate::{Errno, Result};

/// What kind of file a name stands for, as far as the directory knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// Not known here: [`link_metadata`](super::link_metadata) would say.
    Unknown,
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A device of bytes.
    CharacterDevice,
    /// A device of blocks.
    BlockDevice,
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> EntryKind {
        match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Symlink,
            FileType::Fifo => EntryKind::Fifo,
            FileType::Socket => EntryKind::Socket,
            FileType::CharacterDevice => EntryKind::CharacterDevice,
            FileType::BlockDevice => EntryKind::BlockDevice,
            FileType::Unknown => EntryKind::Unknown,
        }
    }
}

impl EntryKind {
    /// From the number that directories have for it.
    fn from_directory(number: u8) -> EntryKind {
        match number {
            libc::DT_REG => EntryKind::File,
            libc::DT_DIR => EntryKind::Directory,
            libc::DT_LNK => EntryKind::Symlink,
            libc::DT_FIFO => EntryKind::Fifo,
            libc::DT_SOCK => EntryKind::Socket,
            libc::DT_CHR => EntryKind::CharacterDevice,
            libc::DT_BLK => EntryKind::BlockDevice,
            _ => EntryKind::Unknown,
        }
    }
}

/// A name in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name, without the directory's.
    pub name: &'a CStr,
    /// What it stands for.
    pub kind: EntryKind,
}

/// All names in a directory but `.` and `..`, in the order of their bytes.
#[derive(Debug, Default)]
pub struct Listing {
    /// All names, each with its zero.
    names: Vec<u8>,
    /// Of each entry, where its name begins and behind which byte it ends.
    entries: Vec<(usize, usize, EntryKind)>,
}

impl Listing {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The `nth` of them. Its name stays where it is as long as the listing is there.
    pub fn get(&self, nth: usize) -> Option<Entry<'_>> {
        let &(begin, end, kind) = self.entries.get(nth)?;
        let name = CStr::from_bytes_with_nul(&self.names[begin..end]).ok()?;
        Some(Entry { name, kind })
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        (0..self.len()).map(|nth| self.get(nth).expect("below the length; each name has its zero"))
    }

    /// The entry of this name.
    pub fn find(&self, name: &[u8]) -> Option<Entry<'_>> {
        // A name without its zero compares as with it.
        let found = self.entries.binary_search_by(|&(begin, end, _)| self.names[begin..end - 1].cmp(name));
        found.ok().and_then(|nth| self.get(nth))
    }

    /// A listing of these.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn of<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Result<Listing> {
        let mut listing = Listing::default();
        entries.into_iter().try_for_each(|Entry { name, kind }| listing.push(name, kind))?;
        listing.sort();
        Ok(listing)
    }

    fn push(&mut self, name: &CStr, kind: EntryKind) -> Result<()> {
        let (name, begin) = (name.to_bytes_with_nul(), self.names.len());
        self.names.try_reserve(name.len())?;
        self.entries.try_reserve(1)?;
        self.names.extend_from_slice(name);
        self.entries.push((begin, self.names.len(), kind));
        Ok(())
    }

    fn sort(&mut self) {
        let Listing { names, entries } = self;
        // In place: sorting that keeps equal ones apart would need memory, and no name is there twice.
        entries.sort_unstable_by(|&(a, a_end, _), &(b, b_end, _)| names[a..a_end].cmp(&names[b..b_end]));
    }
}

/// Reads a whole directory.
///
/// # Errors
/// ENOENT, ENOTDIR, EACCES, EMFILE, ENOMEM.
#[doc(alias = "uv_fs_scandir")]
pub fn list(path: &CStr) -> Result<Listing> {
    let directory = open(path, libc::O_RDONLY | libc::O_DIRECTORY, 0)?;
    let listing = list_open(directory.as_fd());
    // Not by dropping it, which ends the process if foreign hands have closed it.
    let _ = close(directory);
    listing
}

fn list_open(directory: BorrowedFd<'_>) -> Result<Listing> {
    let mut listing = Listing::default();
    let mut buf = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(directory, &mut buf);
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if is_dots(entry.file_name()) => {}
            Ok(entry) => listing.push(entry.file_name(), entry.file_type().into())?,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    listing.sort();
    Ok(listing)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// An open directory, read entry by entry, in the file system's order.
#[derive(Debug)]
#[repr(transparent)]
pub struct Directory(NonNull<libc::DIR>);

// SAFETY: the C library binds a directory to no thread; it is used by one at a time, since reading needs `&mut`.
unsafe impl Send for Directory {}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EACCES, EMFILE, ENOMEM.
    #[doc(alias = "uv_fs_opendir")]
    pub fn open(path: &CStr) -> Result<Directory> {
        loop {
            // SAFETY: the path is a text.
            if let Some(directory) = NonNull::new(unsafe { libc::opendir(path.as_ptr()) }) {
                return Ok(Directory(directory));
            }
            match Errno::from_raw(errno::errno().0) {
                Errno::EINTR => {}
                error => return Err(error),
            }
        }
    }

    /// The next entry that is not `.` or `..`; `None` at the end.
    ///
    /// # Errors
    /// EIO, ENOENT when the directory was removed.
    #[doc(alias = "uv_fs_readdir")]
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>> {
        loop {
            // The end and an error look the same but for this.
            errno::set_errno(errno::Errno(0));
            // SAFETY: the directory is open, and ours alone. The entry is valid until the next call for it, which needs
            // `&mut self` again, and its name is a text.
            let entry = unsafe { libc::readdir64(self.0.as_ptr()) };
            if entry.is_null() {
                match errno::errno().0 {
                    0 => return Ok(None),
                    libc::EINTR => continue,
                    error => return Err(Errno::from_raw(error)),
                }
            }
            // SAFETY: as above. The entry may be shorter than its type says, so no reference to all of it is made.
            let (name, kind) = unsafe { (CStr::from_ptr((&raw const (*entry).d_name).cast()), (*entry).d_type) };
            if !is_dots(name) {
                return Ok(Some(Entry { name, kind: EntryKind::from_directory(kind) }));
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // SAFETY: it is open, and used no more. It fails only for a descriptor that foreign hands have closed.
        unsafe { libc::closedir(self.0.as_ptr()) };
    }
}
