//! Directories and files that a process knows by itself.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::{CWD, readlinkat_raw};

use super::env;
use crate::Result;

/// Writes the working directory to `buffer`, with a zero at the end.
///
/// # Errors
/// ERANGE when the buffer is too small; ENOENT when the directory was removed; ENOMEM, EACCES.
#[doc(alias = "uv_cwd")]
pub fn working_directory(buffer: &mut [MaybeUninit<u8>]) -> Result<&CStr> {
    // The C library would allocate memory for an empty buffer.
    if buffer.is_empty() {
        return Err(crate::Errno::from_raw(libc::ERANGE));
    }
    // SAFETY: the pointer and the size are those of one buffer.
    let path = unsafe { libc::getcwd(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
    if path.is_null() {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: the C library has written a text there, which is the buffer's from now on.
    Ok(unsafe { CStr::from_ptr(path) })
}

/// Changes the working directory.
///
/// # Errors
/// Those of `chdir`.
#[doc(alias = "uv_chdir")]
pub fn set_working_directory(path: &CStr) -> Result<()> {
    Ok(rustix::process::chdir(path)?)
}

/// Writes the path of the running program to `buffer`, as much of it as fits, and returns that. A program whose file was
/// removed has ` (deleted)` behind its path.
///
/// # Errors
/// Those of reading the link /proc/self/exe.
#[doc(alias = "uv_exepath")]
pub fn program(buffer: &mut [MaybeUninit<u8>]) -> Result<&[u8]> {
    if buffer.is_empty() {
        return Ok(&[]);
    }
    let (path, _) = readlinkat_raw(CWD, Path::new("/proc/self/exe"), buffer)?;
    Ok(path)
}

/// The directory for temporary files, without a slash at its end: TMPDIR, TMP, TEMP or TEMPDIR, whichever is set first,
/// else `/tmp`.
///
/// # Safety
/// As [`env::get`].
#[doc(alias = "uv_os_tmpdir")]
pub unsafe fn temporary<'a>() -> &'a [u8] {
    let names = [c"TMPDIR", c"TMP", c"TEMP", c"TEMPDIR"];
    // SAFETY: passed on to our caller word for word.
    let path = names.into_iter().find_map(|name| unsafe { env::get(name) }).unwrap_or(c"/tmp");
    without_slash(path.to_bytes())
}

/// Takes one slash off, unless that is all there is.
fn without_slash(path: &[u8]) -> &[u8] {
    match path {
        [shorter @ .., b'/'] if !shorter.is_empty() => shorter,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn the_working_directory_is_written_whole_or_not_at_all() {
        let expected = std::env::current_dir().unwrap();
        let expected = expected.as_os_str().as_bytes();
        let mut buffer = vec![MaybeUninit::new(b'x'); expected.len() + 1];
        assert_eq!(working_directory(&mut buffer).unwrap().to_bytes(), expected);
        for size in [0, 1, expected.len()] {
            assert_eq!(working_directory(&mut buffer[..size]).unwrap_err().raw(), libc::ERANGE, "{size}");
        }
    }

    #[test]
    fn the_program_is_this_test() {
        let expected = std::fs::read_link("/proc/self/exe").unwrap();
        let expected = expected.as_os_str().as_bytes();
        let mut buffer = vec![MaybeUninit::new(b'x'); expected.len()];
        assert_eq!(program(&mut buffer).unwrap(), expected);
        assert_eq!(program(&mut buffer[..5]).unwrap(), &expected[..5]);
        assert_eq!(program(&mut []).unwrap(), b"");
    }

    #[test]
    fn one_slash_is_taken_off() {
        assert_eq!(without_slash(b"/tmp/"), b"/tmp");
        assert_eq!(without_slash(b"/tmp//"), b"/tmp/");
        assert_eq!(without_slash(b"/tmp"), b"/tmp");
        assert_eq!(without_slash(b"/"), b"/");
        assert_eq!(without_slash(b""), b"");
    }
}
