//! The environment, as C has it.
//!
//! The standard library guards it with a lock; but a C program that calls `setenv` does not know of that lock. So the
//! functions here take none, copy nothing, and say what their callers have to see to.

use std::ffi::{CStr, c_char};

use crate::{Errno, Result};

/// The value of a variable.
///
/// # Safety
/// No other thread changes the environment during the call, and nobody does as long as the value is in use.
#[doc(alias = "uv_os_getenv")]
pub unsafe fn get<'a>(name: &CStr) -> Option<&'a CStr> {
    // SAFETY: the caller sees to it that the environment stays as it is.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// A copy of a variable's value, at the beginning of `room`; `None` if there is no such variable, or no room for its value
/// and a zero behind it.
///
/// As with the standard library's own `std::env::var_os`, a C program that changes the environment while other threads
/// look at it is in the wrong, whoever calls this.
pub fn copy<'a>(name: &CStr, room: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the value is copied at once; for the rest see above.
    let value = unsafe { get(name) }?.to_bytes();
    let place = room.get_mut(..value.len() + 1)?;
    place[..value.len()].copy_from_slice(value);
    Some(&place[..value.len()])
}

/// Sets a variable, or replaces its value.
///
/// # Errors
/// EINVAL for a name that is empty or has a `=` in it; ENOMEM.
///
/// # Safety
/// No other thread uses the environment during the call, and no value is in use that [`get`] or [`all`] gave.
#[doc(alias = "uv_os_setenv")]
pub unsafe fn set(name: &CStr, value: &CStr) -> Result<()> {
    // SAFETY: the caller sees to it that nobody uses the environment. Both texts are copied.
    done(unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) })
}

/// Removes a variable, if there is one.
///
/// # Errors
/// EINVAL for a name that is empty or has a `=` in it.
///
/// # Safety
/// As [`set`].
#[doc(alias = "uv_os_unsetenv")]
pub unsafe fn remove(name: &CStr) -> Result<()> {
    // SAFETY: the caller sees to it that nobody uses the environment.
    done(unsafe { libc::unsetenv(name.as_ptr()) })
}

fn done(result: i32) -> Result<()> {
    if result == 0 { Ok(()) } else { Err(Errno::from(std::io::Error::last_os_error())) }
}

/// All variables, name and value. An entry without `=`, which is none, is left out.
///
/// # Safety
/// As [`get`], as long as the iterator or what it gave is in use.
#[doc(alias = "uv_os_environ")]
pub unsafe fn all<'a>() -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone {
    // SAFETY: the C library's variable, which the caller keeps from being changed.
    let mut next: *mut *mut c_char = unsafe { libc::environ };
    std::iter::from_fn(move || {
        // SAFETY: the list is null when all was cleared, else it ends with a null, beyond which nothing is read.
        let entry = unsafe { *next.as_ref()? };
        if entry.is_null() {
            return None;
        }
        next = next.wrapping_add(1);
        // SAFETY: an entry is a text, which stays as it is by the caller's word.
        Some(unsafe { CStr::from_ptr(entry) }.to_bytes())
    })
    .filter_map(|entry| super::text::split_once(entry, b'='))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    // Tests run side by side, so none may change the environment; the C programs do.
    #[test]
    fn variables_are_those_of_the_standard_library() {
        // SAFETY: no test changes the environment.
        let ours: Vec<_> = unsafe { all() }.map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        let standard: Vec<_> =
            std::env::vars_os().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect();
        assert_eq!(ours, standard);
        // SAFETY: as above.
        let value = unsafe { get(c"CARGO_PKG_NAME") };
        assert_eq!(value.map(CStr::to_bytes), std::env::var_os("CARGO_PKG_NAME").as_deref().map(OsStrExt::as_bytes));
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        for name in [c"", c"A=B"] {
            // SAFETY: with such a name nothing is changed.
            unsafe {
                assert_eq!(set(name, c"x"), Err(Errno::EINVAL));
                assert_eq!(remove(name), Err(Errno::EINVAL));
            }
        }
    }
}
