//! The request, and what kinds of it there are.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::request::Operation;
use super::stat::uv_stat_t;
use crate::job::Place;
use crate::types::{uv_buf_t, uv_loop_t, uv_req_t};

/// Called when a file request is done; its memory is the caller's again.
pub type uv_fs_cb = Option<unsafe extern "C-unwind" fn(*mut uv_fs_t)>;

/// A descriptor.
pub type uv_file = c_int;
/// A user's number.
pub type uv_uid_t = c_uint;
/// A group's number.
pub type uv_gid_t = c_uint;

/// `uv_fs_type`: what a file request is about.
pub type uv_fs_type = c_int;

macro_rules! kinds {
    ($($name:ident = $number:literal of $function:literal;)*) => {$(
        #[doc = concat!("A request of `", $function, "`.")]
        pub const $name: uv_fs_type = $number;
    )*};
}

kinds! {
    UV_FS_OPEN = 1 of "uv_fs_open";
    UV_FS_CLOSE = 2 of "uv_fs_close";
    UV_FS_READ = 3 of "uv_fs_read";
    UV_FS_WRITE = 4 of "uv_fs_write";
    UV_FS_SENDFILE = 5 of "uv_fs_sendfile";
    UV_FS_STAT = 6 of "uv_fs_stat";
    UV_FS_LSTAT = 7 of "uv_fs_lstat";
    UV_FS_FSTAT = 8 of "uv_fs_fstat";
    UV_FS_FTRUNCATE = 9 of "uv_fs_ftruncate";
    UV_FS_UTIME = 10 of "uv_fs_utime";
    UV_FS_FUTIME = 11 of "uv_fs_futime";
    UV_FS_ACCESS = 12 of "uv_fs_access";
    UV_FS_CHMOD = 13 of "uv_fs_chmod";
    UV_FS_FCHMOD = 14 of "uv_fs_fchmod";
    UV_FS_FSYNC = 15 of "uv_fs_fsync";
    UV_FS_FDATASYNC = 16 of "uv_fs_fdatasync";
    UV_FS_UNLINK = 17 of "uv_fs_unlink";
    UV_FS_RMDIR = 18 of "uv_fs_rmdir";
    UV_FS_MKDIR = 19 of "uv_fs_mkdir";
    UV_FS_MKDTEMP = 20 of "uv_fs_mkdtemp";
    UV_FS_RENAME = 21 of "uv_fs_rename";
    UV_FS_SCANDIR = 22 of "uv_fs_scandir";
    UV_FS_LINK = 23 of "uv_fs_link";
    UV_FS_SYMLINK = 24 of "uv_fs_symlink";
    UV_FS_READLINK = 25 of "uv_fs_readlink";
    UV_FS_CHOWN = 26 of "uv_fs_chown";
    UV_FS_FCHOWN = 27 of "uv_fs_fchown";
    UV_FS_REALPATH = 28 of "uv_fs_realpath";
    UV_FS_COPYFILE = 29 of "uv_fs_copyfile";
    UV_FS_LCHOWN = 30 of "uv_fs_lchown";
    UV_FS_OPENDIR = 31 of "uv_fs_opendir";
    UV_FS_READDIR = 32 of "uv_fs_readdir";
    UV_FS_CLOSEDIR = 33 of "uv_fs_closedir";
    UV_FS_STATFS = 34 of "uv_fs_statfs";
    UV_FS_MKSTEMP = 35 of "uv_fs_mkstemp";
    UV_FS_LUTIME = 36 of "uv_fs_lutime";
}

/// The most buffers whose array fits into a request.
pub(super) const BUFSML: c_uint = 4;

/// What is to be done, and what is private of its result.
#[repr(C)]
pub(crate) struct Task {
    /// 0 while the request is a ring's. libuv keeps a pointer here, by which its tests tell the one from the other.
    pub(super) is_for_thread: usize,
    pub(super) operation: Option<Operation>,
    /// The names that a read directory's entries point to, or null.
    pub(super) names: *mut c_char,
    _rest: usize,
}

/// A file request.
#[repr(C)]
pub struct uv_fs_t {
    /// What all requests have.
    pub req: uv_req_t,
    /// What it is about.
    pub fs_type: uv_fs_type,
    /// The loop it was made on, or null.
    pub r#loop: *mut uv_loop_t,
    pub(crate) cb: uv_fs_cb,
    /// What the call returned, or a negative error.
    pub result: isize,
    /// Of some calls, what they found.
    pub ptr: *mut c_void,
    /// The path: the caller's own text if there is no callback, else a copy, until the request is cleaned up.
    pub path: *const c_char,
    /// What `uv_fs_stat` and its like have found.
    pub statbuf: uv_stat_t,
    /// The second path, or null. Private in libuv too, but programs look. A copy is one piece of memory with `path`'s.
    pub new_path: *const c_char,
    pub(super) file: uv_file,
    pub(super) flags: c_int,
    pub(super) mode: c_uint,
    /// The buffers; of a listed directory, the entry that is next.
    pub(super) nbufs: c_uint,
    /// Null but while it reads or writes. Private in libuv too, but programs look.
    pub bufs: *mut uv_buf_t,
    pub(super) off: i64,
    pub(super) uid: uv_uid_t,
    pub(super) gid: uv_gid_t,
    pub(super) atime: f64,
    pub(super) mtime: f64,
    pub(crate) job: Place<Task>,
    pub(super) bufsml: [uv_buf_t; BUFSML as usize],
}
