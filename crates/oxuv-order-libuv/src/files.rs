//! Operations on files.

use std::ffi::{CStr, c_char, c_int};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

use libuv_sys2::*;
use oxuv_order::{FileArguments, Operation, Outcome, What};

use crate::call::call;
use crate::callbacks::error_name;
use crate::driver::{Libuv, c_path, named};
use crate::library::Library;
use crate::requests::Request;

impl Libuv {
    /// As `Driver::operate`.
    pub(crate) fn operate_on_file(&self, name: &str, operation: &Operation<'_>) -> Outcome {
        let (lp, done) = (self.lp(), Some(on_file as unsafe extern "C" fn(_)));
        let submit = |request: *mut uv_fs_t, buffer: &uv_buf_t| match *operation {
            Operation::Open(path) => {
                call!(self.uv_fs_open(lp, request, c_path(path).as_ptr(), libc::O_RDONLY, 0, done))
            }
            Operation::Make(path) => {
                let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
                call!(self.uv_fs_open(lp, request, c_path(path).as_ptr(), flags, 0o666, done))
            }
            Operation::Stat(path) => call!(self.uv_fs_stat(lp, request, c_path(path).as_ptr(), done)),
            Operation::Read(file, _) => call!(self.uv_fs_read(lp, request, file.as_raw_fd(), buffer, 1, 0, done)),
            Operation::Write(file, _) => call!(self.uv_fs_write(lp, request, file.as_raw_fd(), buffer, 1, 0, done)),
            Operation::Unlink(path) => call!(self.uv_fs_unlink(lp, request, c_path(path).as_ptr(), done)),
            Operation::MakeDirectory(path) => {
                call!(self.uv_fs_mkdir(lp, request, c_path(path).as_ptr(), 0o777, done))
            }
            Operation::RemoveDirectory(path) => call!(self.uv_fs_rmdir(lp, request, c_path(path).as_ptr(), done)),
            Operation::Rename(path, new) => {
                call!(self.uv_fs_rename(lp, request, c_path(path).as_ptr(), c_path(new).as_ptr(), done))
            }
            Operation::Scan(path) => call!(self.uv_fs_scandir(lp, request, c_path(path).as_ptr(), 0, done)),
        };
        let bytes = match *operation {
            Operation::Read(_, count) | Operation::Write(_, count) => vec![b'x'; count],
            _ => Vec::new(),
        };
        let request = Request::make_kept(self.new_slot(name), bytes, submit)?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok(())
    }

    /// As `Driver::file_call`.
    pub(crate) fn call_on_file(&self, name: Option<&str>, what: &str, on: &FileArguments) -> Outcome<String> {
        let bytes = vec![b'x'; 8];
        let Some(name) = name else {
            // SAFETY: the request is made of numbers and pointers that may be null.
            let mut request: uv_fs_t = unsafe { std::mem::zeroed() };
            let buffer = crate::requests::buffer_of(&bytes);
            let status = self.submit_file_call(&raw mut request, &buffer, what, on, None);
            // SAFETY: the call is over, and its request holds what came of it.
            let text = unsafe { text_of(&raw mut request) };
            // What was returned is what the request says.
            let same = if status as isize == request.result { "" } else { "other " };
            return Ok(format!("{same}{text}"));
        };
        let submit = |request: *mut uv_fs_t, buffer: &uv_buf_t| {
            self.submit_file_call(request, buffer, what, on, Some(on_file_call))
        };
        let request = Request::make_kept(self.new_slot(name), bytes, submit)?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok("ok".to_owned())
    }

    fn submit_file_call(
        &self,
        request: *mut uv_fs_t,
        buffer: &uv_buf_t,
        what: &str,
        on: &FileArguments,
        done: uv_fs_cb,
    ) -> c_int {
        let (lp, fd) = (self.lp(), on.descriptor);
        let paths: Vec<_> = on.paths.iter().map(|path| c_path(path)).collect();
        let path = paths.first().map_or(c"".as_ptr(), |path| path.as_ptr());
        let new = paths.get(1).map_or(c"".as_ptr(), |path| path.as_ptr());
        let open = |flags| call!(self.uv_fs_open(lp, request, path, flags, 0o640, done));
        let read = |offset| call!(self.uv_fs_read(lp, request, fd, buffer, 1, offset, done));
        let write = |offset| call!(self.uv_fs_write(lp, request, fd, buffer, 1, offset, done));
        let copy = |flags| call!(self.uv_fs_copyfile(lp, request, path, new, flags, done));
        match what {
            "close" => call!(self.uv_fs_close(lp, request, fd, done)),
            "fstat" => call!(self.uv_fs_fstat(lp, request, fd, done)),
            "fsync" => call!(self.uv_fs_fsync(lp, request, fd, done)),
            "fdatasync" => call!(self.uv_fs_fdatasync(lp, request, fd, done)),
            "ftruncate" => call!(self.uv_fs_ftruncate(lp, request, fd, 5, done)),
            "ftruncate_below" => call!(self.uv_fs_ftruncate(lp, request, fd, -1, done)),
            "fchmod" => call!(self.uv_fs_fchmod(lp, request, fd, 0o600, done)),
            "fchown" => call!(self.uv_fs_fchown(lp, request, fd, u32::MAX, u32::MAX, done)),
            "futime" => call!(self.uv_fs_futime(lp, request, fd, 3.5, 7.25, done)),
            "futime_before" => call!(self.uv_fs_futime(lp, request, fd, -3.5, f64::NAN, done)),
            "read" => read(2),
            "read_on" => read(-1),
            "write" => write(2),
            "write_on" => write(-1),
            "read_nothing" => call!(self.uv_fs_read(lp, request, fd, buffer, 0, 0, done)),
            "write_nothing" => call!(self.uv_fs_write(lp, request, fd, buffer, 0, 0, done)),
            "sendfile" => call!(self.uv_fs_sendfile(lp, request, on.to, fd, 1, 4, done)),
            "stat" => call!(self.uv_fs_stat(lp, request, path, done)),
            "lstat" => call!(self.uv_fs_lstat(lp, request, path, done)),
            "statfs" => call!(self.uv_fs_statfs(lp, request, path, done)),
            "access" => call!(self.uv_fs_access(lp, request, path, libc::R_OK, done)),
            "access_oddly" => call!(self.uv_fs_access(lp, request, path, 0xff, done)),
            "chmod" => call!(self.uv_fs_chmod(lp, request, path, 0o700, done)),
            "chown" => call!(self.uv_fs_chown(lp, request, path, u32::MAX, u32::MAX, done)),
            "lchown" => call!(self.uv_fs_lchown(lp, request, path, u32::MAX, u32::MAX, done)),
            "utime" => call!(self.uv_fs_utime(lp, request, path, 1.5, 2.5, done)),
            "lutime" => call!(self.uv_fs_lutime(lp, request, path, f64::NAN, -2.5, done)),
            "readlink" => call!(self.uv_fs_readlink(lp, request, path, done)),
            "realpath" => call!(self.uv_fs_realpath(lp, request, path, done)),
            "mkdtemp" => call!(self.uv_fs_mkdtemp(lp, request, path, done)),
            "mkstemp" => call!(self.uv_fs_mkstemp(lp, request, path, done)),
            "opendir" => call!(self.uv_fs_opendir(lp, request, path, done)),
            "scandir" => call!(self.uv_fs_scandir(lp, request, path, 0, done)),
            "unlink" => call!(self.uv_fs_unlink(lp, request, path, done)),
            "rmdir" => call!(self.uv_fs_rmdir(lp, request, path, done)),
            "mkdir" => call!(self.uv_fs_mkdir(lp, request, path, 0o750, done)),
            "open" => open(libc::O_RDONLY),
            "open_write" => open(libc::O_WRONLY | libc::O_CREAT),
            "open_anew" => open(libc::O_RDWR | libc::O_CREAT | libc::O_EXCL),
            "open_directory" => open(libc::O_RDONLY | libc::O_DIRECTORY),
            "open_itself" => open(libc::O_RDONLY | libc::O_NOFOLLOW),
            "open_cut" => open(libc::O_RDWR | libc::O_TRUNC),
            "link" => call!(self.uv_fs_link(lp, request, path, new, done)),
            "symlink" => call!(self.uv_fs_symlink(lp, request, path, new, 0, done)),
            "rename" => call!(self.uv_fs_rename(lp, request, path, new, done)),
            "copyfile" => copy(0),
            "copyfile_anew" => copy(UV_FS_COPYFILE_EXCL as c_int),
            "copyfile_oddly" => copy(0x70),
            _ => panic!("no such call: {what}"),
        }
    }
}

#[allow(non_upper_case_globals)] // The names of the operations.
unsafe extern "C" fn on_file(request: *mut uv_fs_t) {
    // SAFETY: the library passes a request of ours, for the last time. Of a file that it has opened nobody else knows.
    unsafe {
        let (kind, count) = ((*request).fs_type, (*request).result);
        let text = match kind {
            _ if count < 0 => error_name(count as c_int),
            uv_fs_type_UV_FS_OPEN => {
                drop(OwnedFd::from_raw_fd(count as c_int));
                String::new()
            }
            uv_fs_type_UV_FS_STAT => (*request).statbuf.st_size.to_string(),
            uv_fs_type_UV_FS_READ | uv_fs_type_UV_FS_WRITE | uv_fs_type_UV_FS_SCANDIR => count.to_string(),
            _ => String::new(),
        };
        (Library::get().uv_fs_req_cleanup)(request);
        Request::told(request, What::File, text);
    }
}

unsafe extern "C" fn on_file_call(request: *mut uv_fs_t) {
    // SAFETY: the library passes a request of ours, for the last time.
    unsafe {
        let text = text_of(request);
        Request::told(request, What::File, text);
    }
}

/// All that a request says of what came of it. What was opened is closed.
#[allow(non_upper_case_globals)] // The names of the operations.
unsafe fn text_of(request: *mut uv_fs_t) -> String {
    // SAFETY: the caller has a request whose operation is over.
    unsafe {
        let (kind, result, told) = ((*request).fs_type, (*request).result, (*request).ptr);
        let text = match kind {
            _ if result < 0 => error_name(result as c_int),
            uv_fs_type_UV_FS_OPEN | uv_fs_type_UV_FS_MKSTEMP => {
                drop(OwnedFd::from_raw_fd(result as c_int));
                "opened".to_owned()
            }
            uv_fs_type_UV_FS_STAT | uv_fs_type_UV_FS_LSTAT | uv_fs_type_UV_FS_FSTAT => {
                let stat = &(*request).statbuf;
                // What was not set to a time long ago is of now.
                let then =
                    |time: &uv_timespec_t| (time.tv_sec < 1000).then(|| format!("{}.{}", time.tv_sec, time.tv_nsec));
                let times = [&stat.st_atim, &stat.st_mtim].map(|time| then(time).unwrap_or_else(|| "now".to_owned()));
                // That of a link is the length of its path, in which there is the number of the process.
                let size =
                    if stat.st_mode & u64::from(libc::S_IFMT) == u64::from(libc::S_IFLNK) { 0 } else { stat.st_size };
                format!("{:o} {} {size} {}", stat.st_mode, stat.st_nlink, times.join(" "))
            }
            uv_fs_type_UV_FS_STATFS => {
                format!("{}", told.cast::<uv_statfs_t>().as_ref().is_some_and(|fs| fs.f_bsize > 0))
            }
            uv_fs_type_UV_FS_READLINK | uv_fs_type_UV_FS_REALPATH => without_place(told.cast()),
            uv_fs_type_UV_FS_SCANDIR => format!("{result} {}", scanned(request)),
            uv_fs_type_UV_FS_OPENDIR => directory(told.cast()),
            _ => result.to_string(),
        };
        (Library::get().uv_fs_req_cleanup)(request);
        text
    }
}

/// The script's own directory has another name each time.
unsafe fn without_place(path: *const c_char) -> String {
    // SAFETY: the caller passes a C string.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    path.split('/')
        .map(|name| if name.starts_with("oxuv-order-") { "place" } else { name })
        .collect::<Vec<_>>()
        .join("/")
}

unsafe fn name_of(entry: &uv_dirent_t) -> String {
    // SAFETY: the name of an entry is a C string.
    let name = unsafe { CStr::from_ptr(entry.name) }.to_string_lossy();
    // Those of mkdtemp and mkstemp have any end.
    let name = if name.len() > 6 { "temporary" } else { &*name };
    format!("{name}:{}", entry.type_)
}

unsafe fn scanned(request: *mut uv_fs_t) -> String {
    // SAFETY: the caller passes a request of a scan that went well.
    let mut names = unsafe {
        let mut entry: uv_dirent_t = std::mem::zeroed();
        let next = || ((Library::get().uv_fs_scandir_next)(request, &raw mut entry) >= 0).then(|| name_of(&entry));
        std::iter::from_fn(next).collect::<Vec<_>>()
    };
    names.sort();
    names.join(" ")
}

/// What is in it, two by two.
unsafe fn directory(dir: *mut uv_dir_t) -> String {
    // SAFETY: the caller passes a directory that was opened, and nobody else has. The entries are there until the request is cleaned up.
    unsafe {
        let library = Library::get();
        let (mut request, mut entries): (uv_fs_t, [uv_dirent_t; 2]) = std::mem::zeroed();
        (*dir).dirents = entries.as_mut_ptr();
        (*dir).nentries = entries.len();
        let mut names = Vec::new();
        loop {
            let count = (library.uv_fs_readdir)(null_mut(), &raw mut request, dir, None);
            names.extend(entries.iter().take(usize::try_from(count).unwrap_or(0)).map(|entry| name_of(entry)));
            (library.uv_fs_req_cleanup)(&raw mut request);
            if count <= 0 {
                names.sort();
                names.push(count.to_string());
                break;
            }
        }
        let closed = named((library.uv_fs_closedir)(null_mut(), &raw mut request, dir, None));
        (library.uv_fs_req_cleanup)(&raw mut request);
        closed.map_or_else(|error| error, |()| names.join(" "))
    }
}
