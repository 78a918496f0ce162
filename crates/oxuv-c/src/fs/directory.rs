//! What is in a directory.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance};

use oxuv_core::{Errno, Result};
use oxuv_os::fs::{self, Directory, Entry, EntryKind, Listing};

use super::arguments::{Request, keep_path};
use super::request::begin;
use super::types::{UV_FS_CLOSEDIR, UV_FS_OPENDIR, UV_FS_READDIR, UV_FS_SCANDIR, uv_fs_cb, uv_fs_t};
use crate::memory::{free, malloc};
use crate::types::uv_loop_t;

/// `uv_dirent_type_t`: what a name stands for.
pub type uv_dirent_type_t = c_uint;

/// A name in a directory.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_dirent_t {
    /// The name, without the directory's.
    pub name: *const c_char,
    /// What it stands for, as far as the directory knows.
    pub r#type: uv_dirent_type_t,
}

/// An open directory.
#[derive(Debug)]
#[repr(C)]
pub struct uv_dir_t {
    /// The program's array, which [`uv_fs_readdir`] fills.
    pub dirents: *mut uv_dirent_t,
    /// How many entries it has room for.
    pub nentries: usize,
    _reserved: [usize; 4],
    dir: Option<Directory>,
}

/// The numbers of `uv_dirent_type_t`.
fn type_of(kind: EntryKind) -> uv_dirent_type_t {
    match kind {
        EntryKind::Unknown => 0,
        EntryKind::File => 1,
        EntryKind::Directory => 2,
        EntryKind::Symlink => 3,
        EntryKind::Fifo => 4,
        EntryKind::Socket => 5,
        EntryKind::CharacterDevice => 6,
        EntryKind::BlockDevice => 7,
    }
}

/// Reads a whole directory but `.` and `..`: the result is the number of entries, which [`uv_fs_scandir_next`] gives,
/// in the order of the bytes of their names. The flags mean nothing.
///
/// UV_ENOENT, UV_ENOTDIR, UV_EACCES, UV_EMFILE, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_scandir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    flags: c_int,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller. The memory is large enough, and aligned as `malloc` promises.
    unsafe {
        let keep = |req: *mut uv_fs_t| {
            (*req).flags = flags;
            keep_path(req, path)
        };
        begin(loop_, req, UV_FS_SCANDIR, cb, keep).run(|request| {
            let listing = fs::list(request.path())?;
            // As an index, as the program has it.
            let count = c_int::try_from(listing.len()).map_err(|_| Errno::ENOMEM)?;
            if count > 0 {
                let place: *mut Listing = malloc(size_of::<Listing>()).cast();
                if place.is_null() {
                    return Err(Errno::ENOMEM);
                }
                place.write(listing);
                request.set_ptr(place.cast());
            }
            Ok(count as isize)
        })
    }
}

/// The next entry that [`uv_fs_scandir`] has found. Its name is there until the end, or until the request is cleaned
/// up.
///
/// UV_EOF at the end; the request's error if it has failed; UV_EINVAL for another kind of request.
///
/// # Safety
/// `req` is a request that is done; `ent` is a place for an entry.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_scandir_next(req: *mut uv_fs_t, ent: *mut uv_dirent_t) -> c_int {
    // SAFETY: of such a request `ptr` is the listing, or null; the number of the next entry is in `nbufs`.
    unsafe {
        if (*req).fs_type != UV_FS_SCANDIR {
            return Errno::EINVAL.code();
        }
        if (*req).result < 0 {
            return (*req).result as c_int;
        }
        let listing: *const Listing = (*req).ptr.cast();
        let Some(Entry { name, kind }) = listing.as_ref().and_then(|listing| listing.get((*req).nbufs as usize)) else {
            free_listing((&raw mut (*req).ptr).replace(null_mut()));
            return Errno::EOF.code();
        };
        (*req).nbufs += 1;
        ent.write(uv_dirent_t { name: name.as_ptr(), r#type: type_of(kind) });
        0
    }
}

/// Frees what [`uv_fs_scandir`] has found.
///
/// # Safety
/// `ptr` is null or a listing that was not freed, and is used no more.
pub(super) unsafe fn free_listing(ptr: *mut c_void) {
    // SAFETY: the listing was written to memory of `malloc`.
    unsafe {
        let listing: *mut Listing = ptr.cast();
        if !listing.is_null() {
            listing.drop_in_place();
            free(ptr);
        }
    }
}

/// Opens a directory: `ptr` points to a `uv_dir_t` then, which [`uv_fs_closedir`] frees.
///
/// UV_ENOENT, UV_ENOTDIR, UV_EACCES, UV_EMFILE, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_opendir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    path: *const c_char,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller. The memory is large enough, and aligned as `malloc` promises.
    unsafe {
        begin(loop_, req, UV_FS_OPENDIR, cb, |req| keep_path(req, path)).run(|request| {
            let dir = Some(Directory::open(request.path())?);
            let place: *mut uv_dir_t = malloc(size_of::<uv_dir_t>()).cast();
            if place.is_null() {
                return Err(Errno::ENOMEM);
            }
            place.write(uv_dir_t { dirents: null_mut(), nentries: 0, _reserved: [0; 4], dir });
            request.set_ptr(place.cast());
            Ok(0)
        })
    }
}

/// Fills the program's array `dirents`, of `nentries` entries, with what comes next in a directory, in the file
/// system's order: the result is their number, 0 at the end. Their names are there until the request is cleaned up.
///
/// UV_EINVAL when there is no directory or no array; UV_EIO, UV_ENOMEM.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat). `dir` is null or from [`uv_fs_opendir`], not closed, and no other
/// request's at this time; its array has as many entries as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_readdir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    dir: *mut uv_dir_t,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        let keep = |req: *mut uv_fs_t| {
            if dir.is_null() || (*dir).dir.is_none() || (*dir).dirents.is_null() {
                return Err(Errno::EINVAL);
            }
            (*req).ptr = dir.cast();
            Ok(())
        };
        begin(loop_, req, UV_FS_READDIR, cb, keep).run(read_entries)
    }
}

/// The names are one piece of memory, and the request's own: neither the directory nor the array need be there any more
/// when it is cleaned up.
fn read_entries(request: Request) -> Result<isize> {
    let dir: *mut uv_dir_t = request.ptr().cast();
    let mut names = Vec::new();
    let mut count = 0;
    // SAFETY: `uv_fs_readdir`'s caller has said that the directory and its array are this request's until it is done.
    unsafe {
        let directory = (*dir).dir.as_mut().ok_or(Errno::EINVAL)?;
        while count < (*dir).nentries {
            match read_entry(directory, &mut names) {
                Ok(Some(entry)) => (*dir).dirents.add(count).write(entry),
                Ok(None) => break,
                // What is read by now is not lost for it; the error comes again.
                Err(_) if count > 0 => break,
                Err(error) => return Err(error),
            }
            count += 1;
        }
        let names: *mut c_char = if count > 0 { names.leak().as_mut_ptr().cast() } else { null_mut() };
        for nth in 0..count {
            let entry = (*dir).dirents.add(nth);
            (*entry).name = names.add((*entry).name.addr());
        }
        request.set_names(names);
    }
    Ok(count as isize)
}

/// The next entry. Its name is put behind the others, and is said by where it begins there.
fn read_entry(directory: &mut Directory, names: &mut Vec<u8>) -> Result<Option<uv_dirent_t>> {
    // Beforehand: when memory is short, the entry is still to come.
    names.try_reserve(NAME_SIZE)?;
    let Some(Entry { name, kind }) = directory.next_entry()? else { return Ok(None) };
    let (name, begin): (&CStr, _) = (name, names.len());
    names.try_reserve(name.count_bytes() + 1)?;
    names.extend_from_slice(name.to_bytes_with_nul());
    Ok(Some(uv_dirent_t { name: without_provenance(begin), r#type: type_of(kind) }))
}

/// A name on nearly all file systems, with its zero.
const NAME_SIZE: usize = 256;

/// Closes a directory, and frees it.
///
/// UV_EINVAL when there is none.
///
/// # Safety
/// As for [`uv_fs_stat`](crate::uv_fs_stat). `dir` is null or from [`uv_fs_opendir`], and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_fs_closedir(
    loop_: *mut uv_loop_t,
    req: *mut uv_fs_t,
    dir: *mut uv_dir_t,
    cb: uv_fs_cb,
) -> c_int {
    // SAFETY: the same is asked of our caller. The directory was written to memory of `malloc`.
    unsafe {
        let keep = |req: *mut uv_fs_t| {
            (*req).ptr = dir.cast();
            if dir.is_null() { Err(Errno::EINVAL) } else { Ok(()) }
        };
        begin(loop_, req, UV_FS_CLOSEDIR, cb, keep).run(|request| {
            let dir: *mut uv_dir_t = request.ptr().cast();
            dir.drop_in_place();
            free(dir.cast());
            request.set_ptr(null_mut());
            Ok(0)
        })
    }
}
