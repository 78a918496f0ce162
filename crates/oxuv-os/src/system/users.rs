//! Users and groups, from wherever the C library knows them.

use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use crate::{Errno, Result};

/// The user whose rights this process has.
pub fn effective_user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// An entry of the user database, and the memory that its texts lie in.
#[derive(Debug)]
pub struct User {
    entry: libc::passwd,
    _texts: Vec<u8>,
}

impl User {
    /// The user with this number.
    ///
    /// # Errors
    /// ENOENT when there is none; ENOMEM, EMFILE and other errors of the database.
    #[doc(alias = "uv_os_get_passwd2")]
    pub fn with_id(id: u32) -> Result<User> {
        // SAFETY: `look_up` gives places to write to, and their size.
        let (entry, texts) =
            look_up(|entry, texts, size, found| unsafe { libc::getpwuid_r(id, entry, texts, size, found) })?;
        Ok(User { entry, _texts: texts })
    }

    /// The user with this login name.
    ///
    /// # Errors
    /// As [`User::with_id`].
    pub fn with_name(name: &CStr) -> Result<User> {
        let name = name.as_ptr();
        // SAFETY: the name is a text that outlives the call; `look_up` gives places to write to, and their size.
        let (entry, texts) =
            look_up(|entry, texts, size, found| unsafe { libc::getpwnam_r(name, entry, texts, size, found) })?;
        Ok(User { entry, _texts: texts })
    }

    /// The login name.
    pub fn name(&self) -> &CStr {
        text(self, self.entry.pw_name)
    }

    /// The home directory.
    pub fn home(&self) -> &CStr {
        text(self, self.entry.pw_dir)
    }

    /// The program that a login starts.
    pub fn shell(&self) -> &CStr {
        text(self, self.entry.pw_shell)
    }

    /// The user's number.
    pub fn id(&self) -> u32 {
        self.entry.pw_uid
    }

    /// The number of the user's first group.
    pub fn group_id(&self) -> u32 {
        self.entry.pw_gid
    }
}

/// An entry of the group database, and the memory that its texts lie in.
#[derive(Debug)]
pub struct Group {
    entry: libc::group,
    _texts: Vec<u8>,
}

impl Group {
    /// The group with this number.
    ///
    /// # Errors
    /// As [`User::with_id`].
    #[doc(alias = "uv_os_get_group")]
    pub fn with_id(id: u32) -> Result<Group> {
        // SAFETY: `look_up` gives places to write to, and their size.
        let (entry, texts) =
            look_up(|entry, texts, size, found| unsafe { libc::getgrgid_r(id, entry, texts, size, found) })?;
        Ok(Group { entry, _texts: texts })
    }

    /// The group with this name.
    ///
    /// # Errors
    /// As [`User::with_id`].
    pub fn with_name(name: &CStr) -> Result<Group> {
        let name = name.as_ptr();
        // SAFETY: the name is a text that outlives the call; `look_up` gives places to write to, and their size.
        let (entry, texts) =
            look_up(|entry, texts, size, found| unsafe { libc::getgrnam_r(name, entry, texts, size, found) })?;
        Ok(Group { entry, _texts: texts })
    }

    /// The name.
    pub fn name(&self) -> &CStr {
        text(self, self.entry.gr_name)
    }

    /// The group's number.
    pub fn id(&self) -> u32 {
        self.entry.gr_gid
    }

    /// The login names of its members, other than those whose first group it is.
    pub fn members(&self) -> impl Iterator<Item = &CStr> {
        let mut next = self.entry.gr_mem;
        std::iter::from_fn(move || {
            // SAFETY: the list, which lies in the texts, is null or ends with a null, beyond which nothing is read.
            let member = unsafe { *next.as_ref()? };
            if member.is_null() {
                return None;
            }
            next = next.wrapping_add(1);
            Some(text(self, member))
        })
    }
}

/// A text of an entry, for as long as its owner lives.
fn text<T>(_owner: &T, text: *const c_char) -> &CStr {
    // A database of the program's own may leave something out.
    // SAFETY: the C library has put it into the memory that the owner keeps.
    if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } }
}

/// Which of the numbers of a process is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The user; for who may become any, for good.
    User,
    /// The user whose rights count.
    EffectiveUser,
    /// The group, likewise.
    Group,
    /// The group whose rights count.
    EffectiveGroup,
}

/// Makes this process, with all its threads, another user's or group's.
///
/// # Errors
/// EPERM for who may not; EAGAIN and EINVAL.
pub fn become_other(identity: Identity, id: u32) -> Result<()> {
    // SAFETY: only numbers are given.
    done(unsafe {
        match identity {
            Identity::User => libc::setuid(id),
            Identity::EffectiveUser => libc::seteuid(id),
            Identity::Group => libc::setgid(id),
            Identity::EffectiveGroup => libc::setegid(id),
        }
    })
}

/// Sets the further groups of this process, with all its threads.
///
/// # Errors
/// As [`become_other`].
pub fn set_groups(groups: &[u32]) -> Result<()> {
    // SAFETY: so many numbers are there.
    done(unsafe { libc::setgroups(groups.len() as _, groups.as_ptr()) })
}

/// Sets the further groups of this process to those of a user and this one.
///
/// # Errors
/// As [`become_other`].
pub fn set_groups_of(user: &CStr, group: u32) -> Result<()> {
    // SAFETY: the name is a text that outlives the call.
    done(unsafe { libc::initgroups(user.as_ptr(), group as _) })
}

fn done(result: c_int) -> Result<()> {
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}

/// Looks an entry up, with as much memory for its texts as it takes.
fn look_up<T>(mut function: impl FnMut(*mut T, *mut c_char, usize, *mut *mut T) -> c_int) -> Result<(T, Vec<u8>)> {
    let mut entry = MaybeUninit::<T>::uninit();
    let mut found = null_mut();
    let mut texts: Vec<u8> = Vec::new();
    let mut size = 2048;
    loop {
        texts.try_reserve_exact(size)?;
        // The entry and the texts have the room that is said, and are kept together from now on.
        let error = function(entry.as_mut_ptr(), texts.as_mut_ptr().cast(), texts.capacity(), &mut found);
        match error {
            libc::EINTR => {}
            libc::ERANGE => size = size.checked_mul(2).ok_or(Errno::ENOMEM)?,
            0 if found.is_null() => return Err(Errno::ENOENT),
            // SAFETY: it was found, and `found` points to it.
            0 => return Ok((unsafe { entry.assume_init() }, texts)),
            error => return Err(Errno::from_raw(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known() {
        let root = User::with_id(0).unwrap();
        assert_eq!((root.id(), root.name().to_bytes()), (0, b"root".as_slice()));
        assert_eq!(User::with_name(c"root").unwrap().id(), 0);
        assert_eq!(User::with_name(c"no such user").unwrap_err(), Errno::ENOENT);
        assert!(root.home().to_bytes().starts_with(b"/"));
        let group = Group::with_id(root.group_id()).unwrap();
        assert_eq!(group.id(), root.group_id());
        assert!(!group.name().is_empty());
        assert!(group.members().all(|member| !member.is_empty()));
    }

    #[test]
    fn the_unknown_are_not_found() {
        assert_eq!(User::with_id(u32::MAX - 1).unwrap_err(), Errno::ENOENT);
        assert_eq!(Group::with_id(u32::MAX - 1).unwrap_err(), Errno::ENOENT);
    }

    #[test]
    fn large_entries_get_more_memory_and_errors_are_passed_on() {
        // Wants more memory than is offered at first, is interrupted once, and then finds the entry.
        let mut is_interrupted = false;
        let stubborn = |entry: *mut u32, _: *mut c_char, size: usize, found: *mut *mut u32| {
            if size < 100_000 {
                return libc::ERANGE;
            }
            if !std::mem::replace(&mut is_interrupted, true) {
                return libc::EINTR;
            }
            // SAFETY: `look_up` has room for both.
            unsafe {
                entry.write(7);
                found.write(entry);
            }
            0
        };
        let (id, texts) = look_up(stubborn).unwrap();
        assert_eq!(id, 7);
        assert!(texts.capacity() >= 100_000);
        let broken = |_: *mut u32, _: *mut c_char, _: usize, _: *mut *mut u32| libc::EMFILE;
        assert_eq!(look_up(broken).unwrap_err(), Errno::EMFILE);
    }
}
