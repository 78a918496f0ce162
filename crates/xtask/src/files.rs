//! Files put in place, with errors that say which one.
//!
//! What is there already is replaced by a rename: a program that runs with the old library keeps it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Says what was done to which file, should it fail.
pub(crate) fn at<T>(path: &Path, doing: &str, result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("cannot {doing} {}: {error}", path.display()))
}

/// Makes a directory and those above it.
pub(crate) fn directory(path: &Path) -> Result<(), String> {
    at(path, "make the directory", fs::create_dir_all(path))
}

/// Fails now if files cannot be made in a directory, before anything is built.
pub(crate) fn writable(directory: &Path) -> Result<(), String> {
    let probe = beside(&directory.join("probe"));
    at(directory, "write to", fs::write(&probe, ""))?;
    at(&probe, "remove", fs::remove_file(&probe))
}

/// Writes a file that all may read.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    replace(path, |new| {
        fs::write(new, bytes)?;
        fs::set_permissions(new, fs::Permissions::from_mode(0o644))
    })
}

/// Copies a file.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    write(to, at(from, "read", fs::read(from))?)
}

/// Copies the files of a directory and those below.
pub(crate) fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    directory(to)?;
    for entry in at(from, "list", fs::read_dir(from))? {
        let path = at(from, "list", entry)?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy_all(&path, &place)? } else { copy(&path, &place)? }
    }
    Ok(())
}

/// Makes a symbolic link.
pub(crate) fn link(target: &str, path: &Path) -> Result<(), String> {
    replace(path, |new| symlink(target, new))
}

fn replace(path: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), String> {
    let new = beside(path);
    // Of a run that was ended.
    let _ = fs::remove_file(&new);
    at(path, "write", make(&new).and_then(|()| fs::rename(&new, path)))
}

/// A name in the same directory that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}
