//! Small pieces for reading the kernel's texts, which are bytes: a path or a model's name need not be UTF-8.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::Result;

/// The whole of a file of /proc or /sys. Memory that is short is an error like any other.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    // These files say that their size is 0 or a page; so much is enough for most.
    text.try_reserve(4096)?;
    File::open(path)?.read_to_end(&mut text)?;
    Ok(text)
}

/// The parts of a path, one behind the other. Unlike `Path::join`, a part that begins with a slash begins nothing anew.
pub(super) fn path(parts: &[&[u8]]) -> Result<PathBuf> {
    let mut path = PathBuf::new();
    // Room for a file's name, which some callers put behind it.
    path.try_reserve_exact(parts.iter().map(|part| part.len()).sum::<usize>() + 64)?;
    let text = path.as_mut_os_string();
    for part in parts {
        text.push(OsStr::from_bytes(part));
    }
    Ok(path)
}

/// The lines, without their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// The words, however many spaces and tabs are between them.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// What stands before the first such byte, and behind it.
pub(super) fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().position(|&byte| byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

/// A number with nothing but space around it.
pub(super) fn number<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(number::<u64>(b" 42\n"), Some(42));
        assert_eq!(number::<u64>(b"42 kB"), None);
        assert_eq!(number::<u64>(b"-1"), None);
        assert_eq!(number::<u64>(b"18446744073709551616"), None);
        assert_eq!(number::<u64>(b"\xff"), None);
        assert_eq!(number::<f64>(b"0.52"), Some(0.52));
    }

    #[test]
    fn paths_are_put_together_as_they_are() {
        assert_eq!(path(&[b"/sys", b"/a/b"]).unwrap(), Path::new("/sys/a/b"));
        assert_eq!(path(&[b"/sys", b"/"]).unwrap(), Path::new("/sys"));
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert_eq!(read(Path::new("/proc/self/no-such-file")), Err(crate::Errno::ENOENT));
        assert!(read(Path::new("/proc/self/status")).unwrap().starts_with(b"Name:"));
    }
}
