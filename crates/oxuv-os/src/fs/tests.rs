//! Each function with a directory of its own.

use std::ffi::{CStr, CString};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::*;
use crate::Errno;

/// A directory that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        let mut template = b"/tmp/oxuv-os-XXXXXX\0".to_vec();
        temporary_directory(&mut template).unwrap();
        let path = CStr::from_bytes_with_nul(&template).unwrap();
        Place(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())).to_path_buf())
    }

    fn path(&self, name: &str) -> CString {
        CString::new(self.0.join(name).as_os_str().as_bytes()).unwrap()
    }

    fn write(&self, name: &str, text: &str) -> CString {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn bytes_are_written_and_read() {
    let place = Place::new();
    let file = open(&place.path("file"), libc::O_RDWR | libc::O_CREAT, 0o600).unwrap();
    let texts = [b"hello".as_slice(), b"", b" ", b"world"].map(WriteBuf::new);
    assert_eq!(write(file.as_fd(), &texts, None), Ok(11));
    assert_eq!(write(file.as_fd(), &[WriteBuf::new(b"W")], Some(6)), Ok(1));
    assert_eq!(place.read("file"), "hello World");
    assert_eq!(write(file.as_fd(), &[], None), Ok(0));

    let (mut first, mut second) = ([MaybeUninit::uninit(); 3], [MaybeUninit::uninit(); 20]);
    let bufs = [ReadBuf::new(&mut first), ReadBuf::new(&mut second)];
    assert_eq!(read(file.as_fd(), &bufs, Some(1)), Ok(10));
    // SAFETY: so many bytes were read.
    let read_first = unsafe { first.assume_init_ref() };
    assert_eq!(read_first, b"ell");
    assert_eq!(read(file.as_fd(), &[ReadBuf::new(&mut second)], None), Ok(0));
    assert_eq!(read(file.as_fd(), &[], None), Ok(0));
    assert_eq!(read(file.as_fd(), &[ReadBuf::new(&mut second)], Some(u64::MAX)), Err(Errno::EINVAL));
    assert_eq!(close(file), Ok(()));
}

#[test]
fn a_descriptor_that_others_have_closed_is_an_error() {
    let file = open(c"/", libc::O_RDONLY, 0).unwrap();
    let copy = file.as_raw_fd();
    // A number that nothing will be given meanwhile: far above what is in use.
    // SAFETY: both numbers are this test's.
    let far = unsafe { libc::dup3(copy, 900, libc::O_CLOEXEC) };
    assert_eq!(far, 900);
    // SAFETY: nobody else has it.
    let far = unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(far) };
    // SAFETY: as above; the foreign hands.
    unsafe { libc::close(900) };
    assert_eq!(close(far), Err(Errno::EBADF));
}

#[test]
fn more_buffers_than_the_system_takes_are_written() {
    let place = Place::new();
    let file = open(&place.path("file"), libc::O_RDWR | libc::O_CREAT, 0o600).unwrap();
    let bytes: Vec<u8> = (0..3000).map(|nth| (nth % 251) as u8).collect();
    let bufs: Vec<_> = bytes.chunks(1).map(WriteBuf::new).collect();
    assert_eq!(write(file.as_fd(), &bufs, Some(5)), Ok(3000));
    assert_eq!(std::fs::read(place.0.join("file")).unwrap()[5..], bytes);
    assert_eq!(truncate(file.as_fd(), 7), Ok(()));
    assert_eq!(truncate(file.as_fd(), -1), Err(Errno::EINVAL));
    assert_eq!((sync_all(file.as_fd()), sync_data(file.as_fd())), (Ok(()), Ok(())));
    assert_eq!(file_metadata(file.as_fd()).unwrap().size, 7);
}

#[test]
fn metadata_is_the_standard_librarys() {
    let place = Place::new();
    let path = place.write("file", "0123456789");
    let about = std::fs::metadata(place.0.join("file")).unwrap();
    let found = metadata(&path).unwrap();
    assert_eq!((found.dev, found.ino, found.mode, found.nlink), (about.dev(), about.ino(), about.mode(), 1));
    assert_eq!((found.uid, found.gid, found.size, found.blocks), (about.uid(), about.gid(), 10, about.blocks()));
    assert_eq!(SystemTime::from(found.modified), about.modified().unwrap());
    if let Ok(created) = about.created() {
        assert_eq!(SystemTime::from(found.created), created);
    }
    assert!(found.is_file() && !found.is_dir() && metadata(c"/").unwrap().is_dir());
    symlink(&path, &place.path("link")).unwrap();
    assert_eq!(metadata(&place.path("link")), Ok(found));
    assert!(link_metadata(&place.path("link")).unwrap().is_symlink());
    assert_eq!(metadata(&place.path("none")), Err(Errno::ENOENT));
}

#[test]
fn the_older_call_knows_the_same() {
    let found = metadata(c"/dev/null").unwrap();
    let older = Metadata::from(rustix::fs::stat(c"/dev/null").unwrap());
    assert_eq!(Metadata { created: older.changed, ..found }, older);
}

#[test]
fn times_before_1970_are_times() {
    let half_before = Time { seconds: -2, nanoseconds: 500_000_000 };
    let expected = SystemTime::UNIX_EPOCH - std::time::Duration::from_millis(1500);
    assert_eq!(SystemTime::from(half_before), expected);
    let place = Place::new();
    let path = place.write("file", "");
    set_times(&path, NewTime::At(-2, 500_000_000), NewTime::At(5_000_000_000, 1)).unwrap();
    let found = metadata(&path).unwrap();
    assert_eq!(found.accessed, half_before);
    assert_eq!(found.modified, Time { seconds: 5_000_000_000, nanoseconds: 1 });
    assert_eq!(set_times(&path, NewTime::At(0, 1_000_000_000), NewTime::Now), Err(Errno::EINVAL));
}

#[test]
fn directories_are_listed_in_order_and_read_in_any() {
    let place = Place::new();
    for name in ["b", "a", "C", "ab"] {
        place.write(name, "");
    }
    make_directory(&place.path("d"), 0o700).unwrap();
    let here = place.path("");
    let listing = list(&here).unwrap();
    let names: Vec<_> = listing.iter().map(|entry| entry.name.to_str().unwrap()).collect();
    assert_eq!(names, ["C", "a", "ab", "b", "d"]);
    assert_eq!(listing.get(4).unwrap().kind, EntryKind::Directory);
    assert_eq!((listing.get(5), listing.len(), listing.is_empty()), (None, 5, false));

    let mut directory = Directory::open(&here).unwrap();
    let mut read = Vec::new();
    while let Some(entry) = directory.next_entry().unwrap() {
        read.push(entry.name.to_str().unwrap().to_string());
    }
    read.sort();
    assert_eq!(read, names);
    assert_eq!(directory.next_entry(), Ok(None));
    assert!(list(&place.path("d")).unwrap().is_empty());
    assert_eq!(list(&place.path("a")).unwrap_err(), Errno::from_raw(libc::ENOTDIR));
    assert_eq!(Directory::open(&place.path("none")).unwrap_err(), Errno::ENOENT);
}

#[test]
fn a_copy_is_whole_or_gone() {
    let place = Place::new();
    let (from, to) = (place.write("from", "hello"), place.path("to"));
    set_mode(&from, 0o640).unwrap();
    copy(&from, &to, CopyFlags::default()).unwrap();
    assert_eq!((place.read("to").as_str(), metadata(&to).unwrap().mode & 0o777), ("hello", 0o640));
    let exclusive = CopyFlags { exclusive: true, ..CopyFlags::default() };
    assert_eq!(copy(&from, &to, exclusive), Err(Errno::EEXIST));
    assert_eq!(copy(&to, &to, CopyFlags::default()), Ok(()));
    assert_eq!(place.read("to"), "hello");
    // A directory is opened, and cannot be read.
    assert_eq!(copy(&place.path(""), &place.path("third"), CopyFlags::default()), Err(Errno::from_raw(libc::EISDIR)));
    assert_eq!(metadata(&place.path("third")), Err(Errno::ENOENT));
}

#[test]
fn bytes_are_sent_by_hand_where_the_kernel_cannot() {
    let place = Place::new();
    let from = open(&place.write("from", "0123456789"), libc::O_RDONLY, 0).unwrap();
    let to = open(&place.path("to"), libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND, 0o600).unwrap();
    assert_eq!(send(to.as_fd(), from.as_fd(), 2, 3), Ok(3));
    assert_eq!(send::send_by_hand(to.as_fd(), from.as_fd(), 8, 100), Ok(2));
    assert_eq!(place.read("to"), "23489");
    assert!(send(to.as_fd(), from.as_fd(), -1, 3).is_err());
    assert_eq!(send(to.as_fd(), from.as_fd(), 0, MAX_BYTES + 1), Err(Errno::EINVAL));
}

#[test]
fn a_destination_that_takes_nothing_now_is_waited_for() {
    let place = Place::new();
    let size = 300_000;
    let from = open(&place.write("from", &"x".repeat(size)), libc::O_RDONLY, 0).unwrap();
    let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut theirs, &mut std::io::sink()).unwrap());
    assert_eq!(send::send_by_hand(ours.as_fd(), from.as_fd(), 0, size), Ok(size));
    drop(ours);
    assert_eq!(reader.join().unwrap(), size as u64);
}

#[test]
fn links_and_paths_are_followed() {
    let place = Place::new();
    let path = place.write("file", "x");
    symlink(c"file", &place.path("link")).unwrap();
    link(&path, &place.path("second")).unwrap();
    assert_eq!(read_link(&place.path("link")).unwrap().as_c_str(), c"file");
    assert_eq!(read_link(&path), Err(Errno::EINVAL));
    let found = canonical_path(&place.path("./../././link"));
    assert_eq!(found, Err(Errno::ENOENT));
    let expected = std::fs::canonicalize(place.0.join("file")).unwrap();
    assert_eq!(canonical_path(&place.path("link")).unwrap().as_bytes(), expected.as_os_str().as_bytes());
}

#[test]
fn templates_end_in_six_letters_and_a_zero() {
    for wrong in [b"".as_slice(), b"\0", b"XXXXXX", b"XXXXX\0", b"XXXXXXa\0", b"a\0XXXXXX\0"] {
        assert_eq!(temporary_directory(&mut wrong.to_vec()), Err(Errno::EINVAL));
        assert_eq!(temporary_file(&mut wrong.to_vec()).unwrap_err(), Errno::EINVAL);
    }
    let place = Place::new();
    let mut template = place.path("XXXXXX").into_bytes_with_nul();
    let file = temporary_file(&mut template).unwrap();
    assert!(rustix::io::fcntl_getfd(&file).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    std::fs::File::from(file).write_all(b"mine").unwrap();
    let path = CStr::from_bytes_with_nul(&template).unwrap();
    assert_eq!(std::fs::read(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()))).unwrap(), b"mine");
}

#[test]
fn a_volume_has_room() {
    let found = volume(c"/tmp").unwrap();
    assert!(found.blocks >= found.free && found.free >= found.available && found.fragment_size > 0);
    assert_eq!(volume(c"/none"), Err(Errno::ENOENT));
}
