//! Changes of files, as the system tells of them.
//!
//! A descriptor has watches, each of a file or of a directory with what is directly in it, and is readable when something
//! has happened to any of them.

use std::ffi::CStr;

use rustix::buffer::spare_capacity;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::retry_on_intr;

use crate::{Descriptor, Errno, Result};

bitflags::bitflags! {
    /// What has happened, in the system's bits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Happened: u32 {
        /// Bytes were written, or cut off.
        const MODIFIED = libc::IN_MODIFY;
        /// Permissions, times, owners or links have changed.
        const ATTRIBUTES = libc::IN_ATTRIB;
        /// A name was taken away by renaming.
        const MOVED_FROM = libc::IN_MOVED_FROM;
        /// A name was given by renaming.
        const MOVED_TO = libc::IN_MOVED_TO;
        /// A name was made.
        const CREATED = libc::IN_CREATE;
        /// A name was removed.
        const DELETED = libc::IN_DELETE;
        /// What is watched was removed.
        const SELF_DELETED = libc::IN_DELETE_SELF;
        /// What is watched was renamed.
        const SELF_MOVED = libc::IN_MOVE_SELF;
        /// The file system is not there any more.
        const UNMOUNTED = libc::IN_UNMOUNT;
        /// Events are lost: there were too many. It belongs to no watch.
        const OVERFLOWED = libc::IN_Q_OVERFLOW;
        /// The watch is gone: it was removed, or what it was about.
        const IGNORED = libc::IN_IGNORED;
        /// The name is that of a directory.
        const DIRECTORY = libc::IN_ISDIR;
        const _ = !0;
    }
}

/// What a watch is to tell of.
const ALL: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO);

/// What a path may be, for it to be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Anything. Of a symbolic link, what it leads to is watched.
    Anything,
    /// A directory that no symbolic link leads to.
    Directory,
}

/// Something that has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The watch's number; -1 when it belongs to none.
    pub watch: i32,
    /// What it is.
    pub happened: Happened,
    /// To what in the directory that is watched; `None` when to what is watched itself.
    pub name: Option<&'a CStr>,
}

/// The size of an event without its name.
const HEADER: usize = size_of::<libc::inotify_event>();

/// The most that an event takes: the names of most file systems have 255 bytes at most. A read with less room may find
/// nothing.
pub const LONGEST: usize = HEADER + 256;

impl<'a> Event<'a> {
    /// Takes the first event out of what was read. `None` if there is none whole.
    pub fn parse(bytes: &'a [u8]) -> Option<(Event<'a>, &'a [u8])> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let word = |nth: usize| header.as_chunks::<4>().0[nth];
        let (name, rest) = rest.split_at_checked(u32::from_ne_bytes(word(3)) as usize)?;
        let happened = Happened::from_bits_retain(u32::from_ne_bytes(word(1)));
        // A name ends by one zero or more.
        let name = CStr::from_bytes_until_nul(name).ok();
        Some((Event { watch: i32::from_ne_bytes(word(0)), happened, name }, rest))
    }

    /// Appends the event as the system would write it.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        let name = self.name.map_or(&b""[..], CStr::to_bytes_with_nul);
        let len = name.len().next_multiple_of(HEADER);
        bytes.extend(self.watch.to_ne_bytes());
        bytes.extend(self.happened.bits().to_ne_bytes());
        bytes.extend(0_u32.to_ne_bytes());
        bytes.extend((len as u32).to_ne_bytes());
        bytes.extend(name);
        bytes.resize(bytes.len() + len - name.len(), 0);
    }
}

/// A new descriptor without watches.
///
/// # Errors
/// EMFILE, also when the user has as many of them as the system allows; ENFILE, ENOMEM.
pub fn open() -> Result<Descriptor> {
    Ok(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?.into())
}

/// Watches what is at a path, and returns the watch's number: of what is watched already, by whatever path, it is the same.
///
/// # Errors
/// ENOENT, EACCES, ENOTDIR, ELOOP, ENAMETOOLONG; ENOSPC when the user has as many watches as the system allows; ENOMEM.
pub fn add(fd: &Descriptor, path: &CStr, only: Only) -> Result<i32> {
    let flags = match only {
        Only::Anything => ALL,
        Only::Directory => ALL | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW,
    };
    Ok(retry_on_intr(|| inotify::add_watch(fd, path, flags))?)
}

/// Removes a watch; nothing happens if it is gone already.
pub fn remove(fd: &Descriptor, watch: i32) {
    let _ = inotify::remove_watch(fd, watch);
}

/// Reads events, whole ones, as many as have come and find room behind what is in `into`.
///
/// # Errors
/// EAGAIN when there are none; EINVAL without room for the first.
pub fn read(fd: &Descriptor, into: &mut Vec<u8>) -> Result<()> {
    if into.len() == into.capacity() {
        // As the system says; `spare_capacity` takes it for a mistake.
        return Err(Errno::EINVAL);
    }
    let read = retry_on_intr(|| rustix::io::read(fd, spare_capacity(into)));
    Ok(read.map(|_| ())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs;
    use std::ffi::CString;
    use std::os::fd::AsRawFd;

    fn directory() -> CString {
        let template = std::env::temp_dir().join("oxuv-inotify-XXXXXX");
        let mut path = CString::new(template.to_str().unwrap()).unwrap().into_bytes_with_nul();
        fs::temporary_directory(&mut path).unwrap();
        CString::from_vec_with_nul(path).unwrap()
    }

    #[test]
    fn events_are_read_and_taken_apart() {
        let (fd, at) = (open().unwrap(), directory());
        let mut bytes = Vec::with_capacity(4096);
        assert_eq!(read(&fd, &mut bytes), Err(Errno::EAGAIN));
        let watch = add(&fd, &at, Only::Directory).unwrap();
        assert_eq!(add(&fd, &at, Only::Anything), Ok(watch));
        let inside = std::path::Path::new(at.to_str().unwrap()).join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::remove_dir(&inside).unwrap();
        std::fs::remove_dir(at.to_str().unwrap()).unwrap();
        assert_eq!(read(&fd, &mut Vec::new()), Err(Errno::EINVAL));
        read(&fd, &mut bytes).unwrap();
        let mut rest = &bytes[..];
        let mut found = Vec::new();
        while let Some((event, after)) = Event::parse(rest) {
            assert_eq!(event.watch, watch);
            found.push((event.happened, event.name.map(CStr::to_bytes)));
            rest = after;
        }
        assert!(rest.is_empty());
        let inside = Some(&b"inside"[..]);
        let expected = [
            (Happened::CREATED | Happened::DIRECTORY, inside),
            (Happened::DELETED | Happened::DIRECTORY, inside),
            (Happened::SELF_DELETED, None),
            (Happened::IGNORED, None),
        ];
        assert_eq!(found, expected);
        remove(&fd, watch);
    }

    #[test]
    fn what_must_be_a_directory_is_not_followed_to_one() {
        let (fd, at) = (open().unwrap(), directory());
        let at = std::path::Path::new(at.to_str().unwrap());
        std::os::unix::fs::symlink(at, at.join("link")).unwrap();
        let link = CString::new(at.join("link").to_str().unwrap()).unwrap();
        assert_eq!(add(&fd, &link, Only::Directory), Err(Errno::ENOTDIR));
        assert!(add(&fd, &link, Only::Anything).is_ok());
        assert_eq!(add(&fd, c"/none", Only::Anything), Err(Errno::ENOENT));
        std::fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn an_event_is_written_as_it_is_read() {
        let events = [
            Event { watch: 7, happened: Happened::CREATED, name: Some(c"name") },
            Event { watch: -1, happened: Happened::OVERFLOWED, name: None },
            Event { watch: 1, happened: Happened::MODIFIED, name: Some(c"a name of exactly 31 bytes, yes") },
        ];
        let mut bytes = Vec::new();
        events.iter().for_each(|event| event.write_to(&mut bytes));
        let mut rest = &bytes[..];
        for event in events {
            let (found, after) = Event::parse(rest).unwrap();
            assert_eq!(found, event);
            rest = after;
        }
        assert!(rest.is_empty());
        for cut in 1..HEADER + 16 {
            assert_eq!(Event::parse(&bytes[..HEADER + 16 - cut]), None);
        }
    }

    #[test]
    fn the_descriptor_is_close_on_exec_and_non_blocking() {
        let fd = open().unwrap();
        assert!(rustix::io::fcntl_getfd(&fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        assert!(rustix::fs::fcntl_getfl(&fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
        assert!(fd.as_raw_fd() > 2);
    }
}
