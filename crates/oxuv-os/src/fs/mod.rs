//! Files and directories. All of this may block; a loop has it done by another thread.
//!
//! Paths are C's texts, so a name need not be UTF-8, and none can have a zero inside. An interrupted call is made
//! again, but for [`read`].

mod bytes;
mod copy;
mod directory;
mod file;
mod links;
mod metadata;
mod names;
mod send;
mod temporary;
#[cfg(test)]
mod tests;
mod times;
mod volume;

pub use bytes::{MAX_BUFFERS, ReadBuf, WriteBuf, read, read_to_vec, write, write_all};
pub use copy::{CopyFlags, copy};
pub use directory::{Directory, Entry, EntryKind, Listing, list};
pub use file::{close, open, sync_all, sync_data, truncate};
pub use links::{canonical_path, link, read_link, symlink};
pub use metadata::{Metadata, Time, file_metadata, file_metadata_at_once, link_metadata, metadata, metadata_at_once};
pub use names::{
    access, make_directory, remove_directory, remove_file, rename, set_file_mode, set_file_owner, set_link_owner,
    set_mode, set_owner,
};
pub use send::{MAX_BYTES, send};
pub use temporary::{temporary_directory, temporary_file};
pub use times::{NewTime, set_file_times, set_link_times, set_times};
pub use volume::{Volume, volume};

/// How [`open`] opens a file, by the system's numbers.
pub use libc::{O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY};

use rustix::io::{Result, retry_on_intr};

use crate::Result as Done;

/// Makes a call that changes something, until it is not interrupted.
fn retry<T>(call: impl FnMut() -> Result<T>) -> Done<T> {
    Ok(retry_on_intr(call)?)
}

/// The same for a call of the C library's, which returns -1 and leaves the reason in `errno`.
fn retry_c<T: Copy + PartialEq + From<i8>>(mut call: impl FnMut() -> T) -> Done<T> {
    loop {
        let result = call();
        if result != T::from(-1) {
            return Ok(result);
        }
        let error = crate::Errno::from_raw(errno::errno().0);
        if error != crate::Errno::EINTR {
            return Err(error);
        }
    }
}
