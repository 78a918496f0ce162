//! Names that nobody else has.

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd};

use super::retry_c;
use crate::{Errno, Result};

/// Makes a directory whose name nobody had, for this user alone. `template` is a path that ends in `XXXXXX` and a zero;
/// the six letters become others.
///
/// # Errors
/// EINVAL for another ending; ENOENT, EACCES, ENOSPC; EEXIST when it does not find a name.
#[doc(alias = "uv_fs_mkdtemp")]
pub fn temporary_directory(template: &mut [u8]) -> Result<()> {
    check(template)?;
    loop {
        // SAFETY: the text has its zero, and is ours to change.
        let made = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
        if !made.is_null() {
            return Ok(());
        }
        match Errno::from_raw(errno::errno().0) {
            Errno::EINTR => {}
            error => return Err(error),
        }
    }
}

/// Makes and opens a file whose name nobody had, for this user alone, to be read and written. `template` as of
/// [`temporary_directory`].
///
/// # Errors
/// As [`temporary_directory`]; EMFILE.
#[doc(alias = "uv_fs_mkstemp")]
pub fn temporary_file(template: &mut [u8]) -> Result<OwnedFd> {
    check(template)?;
    // SAFETY: the text has its zero, and is ours to change.
    let number = retry_c(|| unsafe { libc::mkostemp(template.as_mut_ptr().cast(), libc::O_CLOEXEC) })?;
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn check(template: &[u8]) -> Result<()> {
    let text = CStr::from_bytes_with_nul(template).map_err(|_| Errno::EINVAL)?;
    if text.to_bytes().ends_with(b"XXXXXX") { Ok(()) } else { Err(Errno::EINVAL) }
}
