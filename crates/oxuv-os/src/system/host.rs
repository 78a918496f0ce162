//! The names of the machine and of its system.

use std::ffi::{CStr, c_char};

pub use rustix::system::{Uname, uname};

use crate::{Errno, Result};

/// The longest host name, with its zero at the end.
pub const HOSTNAME_SIZE: usize = 65;

/// The host's name, written to `buffer`.
///
/// # Errors
/// ENAMETOOLONG if the C library says so.
#[doc(alias = "uv_os_gethostname")]
pub fn hostname(buffer: &mut [u8; HOSTNAME_SIZE]) -> Result<&CStr> {
    // SAFETY: the pointer and the size are those of one buffer. Asked is the C library and not uname, as some programs
    // are run under a library that puts another answer in its place.
    if unsafe { libc::gethostname(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // A name that is cut off may be without its zero.
    buffer[HOSTNAME_SIZE - 1] = 0;
    CStr::from_bytes_until_nul(buffer).map_err(|_| Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_the_name_that_the_kernel_gives() {
        let mut buffer = [b'x'; HOSTNAME_SIZE];
        assert_eq!(hostname(&mut buffer).unwrap(), uname().nodename());
    }
}
