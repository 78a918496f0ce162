//! What is done with paths.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path as StdPath;

use oxuv::fs::CopyFlags;
use oxuv::fs::blocking;
use oxuv::{Errno, Result as Done};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, Value};

use super::values::{Name, Names, Numbers, Path};
use super::{Callback, perform};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("statfs", Func::from(volume))?;
    object.set("access", Func::from(access))?;
    object.set("mkdir", Func::from(make_directory))?;
    object.set("mkdtemp", Func::from(temporary_directory))?;
    object.set("rmdir", Func::from(remove_directory))?;
    object.set("rm", Func::from(remove_all))?;
    object.set("list", Func::from(list))?;
    object.set("rename", Func::from(rename))?;
    object.set("unlink", Func::from(unlink))?;
    object.set("copyFile", Func::from(copy))?;
    object.set("link", Func::from(link))?;
    object.set("symlink", Func::from(symlink))?;
    object.set("readlink", Func::from(read_link))?;
    object.set("realpath", Func::from(real_path))
}

/// In the order of the constructor of `StatFs`.
fn volume<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, is_big: bool) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        let found = blocking::volume(&path.0)?;
        let all =
            [found.kind, found.block_size, found.blocks, found.free, found.available, found.files, found.free_files];
        Ok(Numbers { all: all.map(i128::from).to_vec(), is_big })
    })
}

fn access<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, mode: i32) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::access(&path.0, mode))
}

/// With `is_recursive` the first directory that was made, or `undefined`.
fn make_directory<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    path: Path,
    mode: u32,
    is_recursive: bool,
) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        if is_recursive {
            let first = make_directories(path.0.to_bytes(), mode)?;
            return Ok(first.map(|bytes| Name { bytes, raw: false }));
        }
        blocking::make_directory(&path.0, mode).map(|()| None)
    })
}

/// Makes a directory and those above it that are missing. The first of them.
fn make_directories(path: &[u8], mode: u32) -> Done<Option<Vec<u8>>> {
    let path = StdPath::new(OsStr::from_bytes(path));
    let mut missing = Vec::new();
    let mut first = None;
    let mut at = Some(path);
    while let Some(directory) = at {
        match make_one(directory, mode) {
            Ok(is_new) => {
                if is_new {
                    first = Some(directory);
                }
                break;
            }
            Err(Errno::ENOENT) => {
                missing.push(directory);
                at = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
                if at.is_none() {
                    return Err(Errno::ENOENT);
                }
            }
            // In the way is a file: at the end of the path that is EEXIST, above it the directory below cannot be.
            Err(Errno::EEXIST) if !missing.is_empty() => return Err(Errno::ENOTDIR),
            Err(errno) => return Err(errno),
        }
    }
    for directory in missing.into_iter().rev() {
        if make_one(directory, mode)? && first.is_none() {
            first = Some(directory);
        }
    }
    Ok(first.map(|first| first.as_os_str().as_bytes().to_vec()))
}

/// False if it was there.
fn make_one(path: &StdPath, mode: u32) -> Done<bool> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
    match blocking::make_directory(&path, mode) {
        Ok(()) => Ok(true),
        Err(error @ (Errno::ENOENT | Errno::EACCES | Errno::ENOTDIR | Errno::ENOSPC | Errno::EPERM)) => Err(error),
        // Other systems say all kinds of things about a directory that is there.
        Err(error) => match blocking::metadata(&path) {
            Ok(found) if found.is_dir() => Ok(false),
            _ => Err(error),
        },
    }
}

fn temporary_directory<'js>(ctx: Ctx<'js>, callback: Callback<'js>, prefix: Path, raw: bool) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        let mut template = prefix.0.into_bytes();
        template.extend_from_slice(b"XXXXXX\0");
        blocking::temporary_directory(&mut template)?;
        template.pop();
        Ok(Name { bytes: template, raw })
    })
}

fn remove_directory<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::remove_directory(&path.0))
}

/// Removes a file, or a directory with all that is in it. With `needs_directory` a file is ENOTDIR.
fn remove_all<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, needs_directory: bool) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        let is_directory = blocking::link_metadata(&path.0)?.is_dir();
        if needs_directory && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        let path = StdPath::new(OsStr::from_bytes(path.0.to_bytes()));
        let removed = if is_directory { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.map_err(|error: io::Error| Errno::from(error))
    })
}

fn list<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, raw: bool) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        let listing = blocking::list(&path.0)?;
        let mut names = Vec::new();
        names.try_reserve_exact(listing.len())?;
        names.extend(listing.iter().map(|entry| (Name { bytes: entry.name.to_bytes().to_vec(), raw }, entry.kind)));
        Ok(Names(names))
    })
}

fn rename<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, new_path: Path) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::rename(&path.0, &new_path.0))
}

fn unlink<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::remove_file(&path.0))
}

/// Flags are those of `fs.constants.COPYFILE_*`.
fn copy<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, new_path: Path, flags: u32) -> Result<Value<'js>> {
    let flags = CopyFlags { exclusive: flags & 1 != 0, clone: flags & 2 != 0, force_clone: flags & 4 != 0 };
    perform(ctx, callback, move || blocking::copy(&path.0, &new_path.0, flags))
}

fn link<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, new_path: Path) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::link(&path.0, &new_path.0))
}

fn symlink<'js>(ctx: Ctx<'js>, callback: Callback<'js>, target: Path, path: Path) -> Result<Value<'js>> {
    perform(ctx, callback, move || blocking::symlink(&target.0, &path.0))
}

fn read_link<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, raw: bool) -> Result<Value<'js>> {
    named(ctx, callback, path, raw, blocking::read_link)
}

fn real_path<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, raw: bool) -> Result<Value<'js>> {
    named(ctx, callback, path, raw, blocking::canonical_path)
}

fn named<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    path: Path,
    raw: bool,
    ask: impl FnOnce(&CStr) -> Done<std::ffi::CString> + Send + 'static,
) -> Result<Value<'js>> {
    perform(ctx, callback, move || ask(&path.0).map(|found| Name { bytes: found.into_bytes(), raw }))
}
