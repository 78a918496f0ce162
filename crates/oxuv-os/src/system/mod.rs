//! What the system says of itself and of this process: memory, processors, interfaces, users, names, paths.
//!
//! Nothing here keeps anything, except [`title`]. What the kernel tells as text is read anew at each call, and every
//! reader of such text takes it as an argument, so that it can be tried with the text of another machine.

mod arm;
pub mod cgroup;
pub mod cpu;
pub mod env;
pub mod host;
pub mod interfaces;
pub mod load;
pub mod memory;
pub mod paths;
pub mod process;
mod text;
pub mod title;
pub mod users;

use std::mem::MaybeUninit;

use crate::Result;

/// The kernel's short account of itself, for where /proc is not there.
fn sysinfo() -> Result<libc::sysinfo> {
    let mut info = MaybeUninit::<libc::sysinfo>::zeroed();
    // SAFETY: there is room for the whole structure.
    if unsafe { libc::sysinfo(info.as_mut_ptr()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: the structure is numbers only, and zero before the call.
    Ok(unsafe { info.assume_init() })
}
