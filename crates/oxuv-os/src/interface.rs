//! Names and numbers of network interfaces.

use std::ffi::{CStr, c_char};
use std::io;

use crate::{Errno, Result};

/// The bytes of the longest name, its zero included.
pub const NAME_SIZE: usize = libc::IF_NAMESIZE;

/// The name of the interface with this number; it is put into `buffer`. A name is bytes: it need not be UTF-8.
///
/// # Errors
/// ENXIO when there is no such interface, EMFILE, ENFILE, ENOMEM.
#[doc(alias = "uv_if_indextoname")]
pub fn name(index: u32, buffer: &mut [u8; NAME_SIZE]) -> Result<&CStr> {
    // SAFETY: the buffer has the size that the function asks for.
    let name = unsafe { libc::if_indextoname(index, buffer.as_mut_ptr().cast::<c_char>()) };
    if name.is_null() {
        return Err(io::Error::last_os_error().into());
    }
    CStr::from_bytes_until_nul(buffer).map_err(|_| Errno::EIO)
}

/// The number of the interface with this name, or 0 if there is none.
pub fn index(name: &CStr) -> u32 {
    // SAFETY: the function reads the name up to its zero, and keeps nothing of it.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_leads_to_a_name_and_back() {
        let number = index(c"lo");
        if number == 0 {
            return; // A machine, or a container, without any network.
        }
        assert_eq!(name(number, &mut [0xff; NAME_SIZE]), Ok(c"lo"));
    }

    #[test]
    fn what_is_not_there_has_no_number_and_no_name() {
        let long = c"a-name-that-is-longer-than-any";
        assert_eq!((index(c""), index(c"no-such-device"), index(long)), (0, 0, 0));
        assert_eq!(name(0, &mut [0; NAME_SIZE]), Err(Errno::ENXIO));
        assert_eq!(name(u32::MAX, &mut [0; NAME_SIZE]), Err(Errno::ENXIO));
    }
}
