//! Users and groups.

use std::ffi::{c_char, c_int, c_ulong};
use std::ptr::null_mut;

use libc::uid_t;
use oxuv_core::{Errno, Result};
use oxuv_os::system::users::{Group, User, effective_user_id};

use super::block::Block;
use crate::error::code;
use crate::memory::free;

/// A user.
#[repr(C)]
pub struct uv_passwd_t {
    /// The login name.
    pub username: *mut c_char,
    /// The user's number.
    pub uid: c_ulong,
    /// The number of the user's first group.
    pub gid: c_ulong,
    /// The program that a login starts.
    pub shell: *mut c_char,
    /// The home directory.
    pub homedir: *mut c_char,
}

/// A group.
#[repr(C)]
pub struct uv_group_t {
    /// The name.
    pub groupname: *mut c_char,
    /// The group's number.
    pub gid: c_ulong,
    /// The login names of those who belong to it besides their first group, and a null behind them.
    pub members: *mut *mut c_char,
}

/// Tells of the user whose rights this process has.
///
/// UV_ENOENT if the number has no entry, UV_EINVAL for null, UV_ENOMEM, and other errors of the user database.
///
/// # Safety
/// `pwd` is null or a place for the result, to be freed by [`uv_os_free_passwd`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_get_passwd(pwd: *mut uv_passwd_t) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { uv_os_get_passwd2(pwd, effective_user_id()) }
}

/// Tells of the user with this number. Errors are those of [`uv_os_get_passwd`].
///
/// # Safety
/// As [`uv_os_get_passwd`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_get_passwd2(pwd: *mut uv_passwd_t, uid: uid_t) -> c_int {
    if pwd.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the caller has a place for the result.
    code(user(uid).map(|user| unsafe { pwd.write(user) }))
}

fn user(id: uid_t) -> Result<uv_passwd_t> {
    let user = User::with_id(id)?;
    let texts = [user.name(), user.home(), user.shell()].map(|text| text.to_bytes());
    let mut block = Block::<c_char>::new(0, texts.into_iter().map(Block::<c_char>::room_of).sum())?;
    let [username, homedir, shell] = [block.text(texts[0])?, block.text(texts[1])?, block.text(texts[2])?];
    block.finish();
    Ok(uv_passwd_t { username, uid: user.id().into(), gid: user.group_id().into(), shell, homedir })
}

/// Frees what [`uv_os_get_passwd`] or [`uv_os_get_passwd2`] gave, and leaves null. Null is fine, and so is twice.
///
/// # Safety
/// `pwd` is null or came from there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_free_passwd(pwd: *mut uv_passwd_t) {
    // SAFETY: the name is the first text of its block, which has nothing else before it.
    unsafe {
        let Some(pwd) = pwd.as_mut() else { return };
        free(pwd.username.cast());
        (pwd.username, pwd.homedir, pwd.shell) = (null_mut(), null_mut(), null_mut());
    }
}

/// Tells of the group with this number. Errors are those of [`uv_os_get_passwd`].
///
/// # Safety
/// `grp` is null or a place for the result, to be freed by [`uv_os_free_group`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_get_group(grp: *mut uv_group_t, gid: uid_t) -> c_int {
    if grp.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: the caller has a place for the result.
    code(group(gid).map(|group| unsafe { grp.write(group) }))
}

fn group(id: uid_t) -> Result<uv_group_t> {
    let group = Group::with_id(id)?;
    let texts = group.members().chain([group.name()]).map(|text| text.to_bytes());
    let room = texts.map(Block::<*mut c_char>::room_of).sum();
    let mut block = Block::new(group.members().count() + 1, room)?;
    for member in group.members() {
        let member = block.text(member.to_bytes())?;
        block.push(member)?;
    }
    block.push(null_mut())?;
    let groupname = block.text(group.name().to_bytes())?;
    Ok(uv_group_t { groupname, gid: group.id().into(), members: block.finish() })
}

/// Frees what [`uv_os_get_group`] gave, and leaves null. Null is fine, and so is twice.
///
/// # Safety
/// `grp` is null or came from there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_os_free_group(grp: *mut uv_group_t) {
    // SAFETY: the array of members is what its block begins with.
    unsafe {
        let Some(grp) = grp.as_mut() else { return };
        free(grp.members.cast());
        (grp.groupname, grp.members) = (null_mut(), null_mut());
    }
}
