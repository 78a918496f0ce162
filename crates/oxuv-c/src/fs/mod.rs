//! Files and directories.
//!
//! Each function does its work at once if `cb` is null: then loop and callback have no part in it, and what it returns
//! is the request's result. Else it returns 0, and a thread of the pool does the work, or the loop's ring; `cb` hears of
//! it in the poll phase, and the result is in the request. In both cases [`uv_fs_req_cleanup`] frees what the request
//! holds.

mod arguments;
mod copy;
mod directory;
mod file;
mod links;
mod names;
mod request;
mod ring;
mod stat;
mod temporary;
mod times;
mod types;

pub use copy::{UV_FS_COPYFILE_EXCL, UV_FS_COPYFILE_FICLONE, UV_FS_COPYFILE_FICLONE_FORCE, uv_fs_copyfile};
pub use directory::{
    uv_dir_t, uv_dirent_t, uv_dirent_type_t, uv_fs_closedir, uv_fs_opendir, uv_fs_readdir, uv_fs_scandir,
    uv_fs_scandir_next,
};
pub use file::{
    uv_fs_close, uv_fs_fdatasync, uv_fs_fsync, uv_fs_ftruncate, uv_fs_open, uv_fs_read, uv_fs_sendfile, uv_fs_write,
};
pub use links::{uv_fs_link, uv_fs_readlink, uv_fs_realpath, uv_fs_symlink};
pub use names::{
    uv_fs_access, uv_fs_chmod, uv_fs_chown, uv_fs_fchmod, uv_fs_fchown, uv_fs_lchown, uv_fs_mkdir, uv_fs_rename,
    uv_fs_rmdir, uv_fs_unlink,
};
pub(crate) use request::done;
pub use request::{
    uv_fs_get_path, uv_fs_get_ptr, uv_fs_get_result, uv_fs_get_statbuf, uv_fs_get_system_error, uv_fs_get_type,
    uv_fs_req_cleanup,
};
pub(crate) use ring::{answered, may_be_quick, put_operation, run_at_once};
pub use stat::{uv_fs_fstat, uv_fs_lstat, uv_fs_stat, uv_fs_statfs, uv_stat_t, uv_statfs_t, uv_timespec_t};
pub use temporary::{uv_fs_mkdtemp, uv_fs_mkstemp};
pub use times::{uv_fs_futime, uv_fs_lutime, uv_fs_utime};
pub use types::*;
