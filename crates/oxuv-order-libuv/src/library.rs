//! The library's functions: libuv's, which is linked, or those of a shared library.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use libuv_sys2::*;

/// The environment variable with the path of a library that is used in place of libuv.
pub const VARIABLE: &str = "OXUV_ORDER_LIBRARY";

macro_rules! functions {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// A table of the functions that the scripts need.
        pub(crate) struct Library {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn linked() -> Library {
                Library { $($name: libuv_sys2::$name,)* }
            }

            fn open(path: &str) -> Library {
                let object = open(path);
                // SAFETY: a function of this name in a library with libuv's interface has the type that libuv's header
                // says, from which the type in the table was made, and `find` has made sure that it is there.
                Library { $($name: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(find(object, stringify!($name))) },)* }
            }
        }
    };
}

functions! {
    fn uv_version_string() -> *const c_char;
    fn uv_err_name(c_int) -> *const c_char;
    fn uv_loop_init(*mut uv_loop_t) -> c_int;
    fn uv_loop_close(*mut uv_loop_t) -> c_int;
    fn uv_loop_alive(*const uv_loop_t) -> c_int;
    fn uv_run(*mut uv_loop_t, uv_run_mode) -> c_int;
    fn uv_stop(*mut uv_loop_t);
    fn uv_update_time(*mut uv_loop_t);
    fn uv_backend_timeout(*const uv_loop_t) -> c_int;
    fn uv_walk(*mut uv_loop_t, uv_walk_cb, *mut c_void);
    fn uv_close(*mut uv_handle_t, uv_close_cb);
    fn uv_is_active(*const uv_handle_t) -> c_int;
    fn uv_is_closing(*const uv_handle_t) -> c_int;
    fn uv_has_ref(*const uv_handle_t) -> c_int;
    fn uv_fileno(*const uv_handle_t, *mut c_int) -> c_int;
    fn uv_ref(*mut uv_handle_t);
    fn uv_unref(*mut uv_handle_t);
    fn uv_timer_init(*mut uv_loop_t, *mut uv_timer_t) -> c_int;
    fn uv_timer_start(*mut uv_timer_t, uv_timer_cb, u64, u64) -> c_int;
    fn uv_timer_stop(*mut uv_timer_t) -> c_int;
    fn uv_timer_again(*mut uv_timer_t) -> c_int;
    fn uv_timer_set_repeat(*mut uv_timer_t, u64);
    fn uv_timer_get_repeat(*const uv_timer_t) -> u64;
    fn uv_timer_get_due_in(*const uv_timer_t) -> u64;
    fn uv_idle_init(*mut uv_loop_t, *mut uv_idle_t) -> c_int;
    fn uv_idle_start(*mut uv_idle_t, uv_idle_cb) -> c_int;
    fn uv_idle_stop(*mut uv_idle_t) -> c_int;
    fn uv_prepare_init(*mut uv_loop_t, *mut uv_prepare_t) -> c_int;
    fn uv_prepare_start(*mut uv_prepare_t, uv_prepare_cb) -> c_int;
    fn uv_prepare_stop(*mut uv_prepare_t) -> c_int;
    fn uv_check_init(*mut uv_loop_t, *mut uv_check_t) -> c_int;
    fn uv_check_start(*mut uv_check_t, uv_check_cb) -> c_int;
    fn uv_check_stop(*mut uv_check_t) -> c_int;
    fn uv_async_init(*mut uv_loop_t, *mut uv_async_t, uv_async_cb) -> c_int;
    fn uv_async_send(*mut uv_async_t) -> c_int;
    fn uv_poll_init(*mut uv_loop_t, *mut uv_poll_t, c_int) -> c_int;
    fn uv_poll_start(*mut uv_poll_t, c_int, uv_poll_cb) -> c_int;
    fn uv_poll_stop(*mut uv_poll_t) -> c_int;
    fn uv_signal_init(*mut uv_loop_t, *mut uv_signal_t) -> c_int;
    fn uv_signal_start(*mut uv_signal_t, uv_signal_cb, c_int) -> c_int;
    fn uv_signal_start_oneshot(*mut uv_signal_t, uv_signal_cb, c_int) -> c_int;
    fn uv_signal_stop(*mut uv_signal_t) -> c_int;
    fn uv_fs_event_init(*mut uv_loop_t, *mut uv_fs_event_t) -> c_int;
    fn uv_fs_event_start(*mut uv_fs_event_t, uv_fs_event_cb, *const c_char, c_uint) -> c_int;
    fn uv_fs_event_stop(*mut uv_fs_event_t) -> c_int;
    fn uv_fs_poll_init(*mut uv_loop_t, *mut uv_fs_poll_t) -> c_int;
    fn uv_fs_poll_start(*mut uv_fs_poll_t, uv_fs_poll_cb, *const c_char, c_uint) -> c_int;
    fn uv_fs_poll_stop(*mut uv_fs_poll_t) -> c_int;
    fn uv_tcp_init(*mut uv_loop_t, *mut uv_tcp_t) -> c_int;
    fn uv_tcp_open(*mut uv_tcp_t, c_int) -> c_int;
    fn uv_tcp_bind(*mut uv_tcp_t, *const sockaddr, c_uint) -> c_int;
    fn uv_tcp_getsockname(*const uv_tcp_t, *mut sockaddr, *mut c_int) -> c_int;
    fn uv_tcp_connect(*mut uv_connect_t, *mut uv_tcp_t, *const sockaddr, uv_connect_cb) -> c_int;
    fn uv_tcp_close_reset(*mut uv_tcp_t, uv_close_cb) -> c_int;
    fn uv_pipe_init(*mut uv_loop_t, *mut uv_pipe_t, c_int) -> c_int;
    fn uv_pipe_open(*mut uv_pipe_t, c_int) -> c_int;
    fn uv_pipe_bind(*mut uv_pipe_t, *const c_char) -> c_int;
    fn uv_pipe_connect(*mut uv_connect_t, *mut uv_pipe_t, *const c_char, uv_connect_cb);
    fn uv_pipe_pending_count(*mut uv_pipe_t) -> c_int;
    fn uv_pipe_pending_type(*mut uv_pipe_t) -> uv_handle_type;
    fn uv_write2(*mut uv_write_t, *mut uv_stream_t, *const uv_buf_t, c_uint, *mut uv_stream_t, uv_write_cb) -> c_int;
    fn uv_tty_init(*mut uv_loop_t, *mut uv_tty_t, c_int, c_int) -> c_int;
    fn uv_spawn(*mut uv_loop_t, *mut uv_process_t, *const uv_process_options_t) -> c_int;
    fn uv_process_get_pid(*const uv_process_t) -> c_int;
    fn uv_process_kill(*mut uv_process_t, c_int) -> c_int;
    fn uv_listen(*mut uv_stream_t, c_int, uv_connection_cb) -> c_int;
    fn uv_accept(*mut uv_stream_t, *mut uv_stream_t) -> c_int;
    fn uv_read_start(*mut uv_stream_t, uv_alloc_cb, uv_read_cb) -> c_int;
    fn uv_read_stop(*mut uv_stream_t) -> c_int;
    fn uv_write(*mut uv_write_t, *mut uv_stream_t, *const uv_buf_t, c_uint, uv_write_cb) -> c_int;
    fn uv_try_write2(*mut uv_stream_t, *const uv_buf_t, c_uint, *mut uv_stream_t) -> c_int;
    fn uv_try_write(*mut uv_stream_t, *const uv_buf_t, c_uint) -> c_int;
    fn uv_shutdown(*mut uv_shutdown_t, *mut uv_stream_t, uv_shutdown_cb) -> c_int;
    fn uv_stream_get_write_queue_size(*const uv_stream_t) -> usize;
    fn uv_is_readable(*const uv_stream_t) -> c_int;
    fn uv_is_writable(*const uv_stream_t) -> c_int;
    fn uv_queue_work(*mut uv_loop_t, *mut uv_work_t, uv_work_cb, uv_after_work_cb) -> c_int;
    fn uv_fs_open(*mut uv_loop_t, *mut uv_fs_t, *const c_char, c_int, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_stat(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_read(*mut uv_loop_t, *mut uv_fs_t, c_int, *const uv_buf_t, c_uint, i64, uv_fs_cb) -> c_int;
    fn uv_fs_write(*mut uv_loop_t, *mut uv_fs_t, c_int, *const uv_buf_t, c_uint, i64, uv_fs_cb) -> c_int;
    fn uv_fs_unlink(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_mkdir(*mut uv_loop_t, *mut uv_fs_t, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_rmdir(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_rename(*mut uv_loop_t, *mut uv_fs_t, *const c_char, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_scandir(*mut uv_loop_t, *mut uv_fs_t, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_close(*mut uv_loop_t, *mut uv_fs_t, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_fstat(*mut uv_loop_t, *mut uv_fs_t, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_fsync(*mut uv_loop_t, *mut uv_fs_t, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_fdatasync(*mut uv_loop_t, *mut uv_fs_t, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_ftruncate(*mut uv_loop_t, *mut uv_fs_t, c_int, i64, uv_fs_cb) -> c_int;
    fn uv_fs_fchmod(*mut uv_loop_t, *mut uv_fs_t, c_int, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_fchown(*mut uv_loop_t, *mut uv_fs_t, c_int, u32, u32, uv_fs_cb) -> c_int;
    fn uv_fs_futime(*mut uv_loop_t, *mut uv_fs_t, c_int, f64, f64, uv_fs_cb) -> c_int;
    fn uv_fs_sendfile(*mut uv_loop_t, *mut uv_fs_t, c_int, c_int, i64, usize, uv_fs_cb) -> c_int;
    fn uv_fs_lstat(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_statfs(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_access(*mut uv_loop_t, *mut uv_fs_t, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_chmod(*mut uv_loop_t, *mut uv_fs_t, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_chown(*mut uv_loop_t, *mut uv_fs_t, *const c_char, u32, u32, uv_fs_cb) -> c_int;
    fn uv_fs_lchown(*mut uv_loop_t, *mut uv_fs_t, *const c_char, u32, u32, uv_fs_cb) -> c_int;
    fn uv_fs_utime(*mut uv_loop_t, *mut uv_fs_t, *const c_char, f64, f64, uv_fs_cb) -> c_int;
    fn uv_fs_lutime(*mut uv_loop_t, *mut uv_fs_t, *const c_char, f64, f64, uv_fs_cb) -> c_int;
    fn uv_fs_readlink(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_realpath(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_mkdtemp(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_mkstemp(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_opendir(*mut uv_loop_t, *mut uv_fs_t, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_readdir(*mut uv_loop_t, *mut uv_fs_t, *mut uv_dir_t, uv_fs_cb) -> c_int;
    fn uv_fs_closedir(*mut uv_loop_t, *mut uv_fs_t, *mut uv_dir_t, uv_fs_cb) -> c_int;
    fn uv_fs_scandir_next(*mut uv_fs_t, *mut uv_dirent_t) -> c_int;
    fn uv_fs_link(*mut uv_loop_t, *mut uv_fs_t, *const c_char, *const c_char, uv_fs_cb) -> c_int;
    fn uv_fs_symlink(*mut uv_loop_t, *mut uv_fs_t, *const c_char, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_fs_copyfile(*mut uv_loop_t, *mut uv_fs_t, *const c_char, *const c_char, c_int, uv_fs_cb) -> c_int;
    fn uv_send_buffer_size(*mut uv_handle_t, *mut c_int) -> c_int;
    fn uv_recv_buffer_size(*mut uv_handle_t, *mut c_int) -> c_int;
    fn uv_tcp_nodelay(*mut uv_tcp_t, c_int) -> c_int;
    fn uv_tcp_keepalive(*mut uv_tcp_t, c_int, c_uint) -> c_int;
    fn uv_tcp_simultaneous_accepts(*mut uv_tcp_t, c_int) -> c_int;
    fn uv_tcp_getpeername(*const uv_tcp_t, *mut sockaddr, *mut c_int) -> c_int;
    fn uv_pipe_getpeername(*const uv_pipe_t, *mut c_char, *mut usize) -> c_int;
    fn uv_pipe_getsockname(*const uv_pipe_t, *mut c_char, *mut usize) -> c_int;
    fn uv_pipe_chmod(*mut uv_pipe_t, c_int) -> c_int;
    fn uv_stream_set_blocking(*mut uv_stream_t, c_int) -> c_int;
    fn uv_tty_set_mode(*mut uv_tty_t, uv_tty_mode_t) -> c_int;
    fn uv_tty_get_winsize(*mut uv_tty_t, *mut c_int, *mut c_int) -> c_int;
    fn uv_udp_getpeername(*const uv_udp_t, *mut sockaddr, *mut c_int) -> c_int;
    fn uv_udp_set_broadcast(*mut uv_udp_t, c_int) -> c_int;
    fn uv_udp_set_ttl(*mut uv_udp_t, c_int) -> c_int;
    fn uv_udp_set_multicast_ttl(*mut uv_udp_t, c_int) -> c_int;
    fn uv_udp_set_multicast_loop(*mut uv_udp_t, c_int) -> c_int;
    fn uv_udp_set_multicast_interface(*mut uv_udp_t, *const c_char) -> c_int;
    fn uv_udp_set_membership(*mut uv_udp_t, *const c_char, *const c_char, uv_membership) -> c_int;
    fn uv_fs_event_getpath(*mut uv_fs_event_t, *mut c_char, *mut usize) -> c_int;
    fn uv_fs_poll_getpath(*mut uv_fs_poll_t, *mut c_char, *mut usize) -> c_int;
    fn uv_getnameinfo(*mut uv_loop_t, *mut uv_getnameinfo_t, uv_getnameinfo_cb, *const sockaddr, c_int) -> c_int;
    fn uv_random(*mut uv_loop_t, *mut uv_random_t, *mut c_void, usize, c_uint, uv_random_cb) -> c_int;
    fn uv_fs_req_cleanup(*mut uv_fs_t);
    fn uv_getaddrinfo(*mut uv_loop_t, *mut uv_getaddrinfo_t, uv_getaddrinfo_cb, *const c_char, *const c_char, *const addrinfo) -> c_int;
    fn uv_freeaddrinfo(*mut addrinfo);
    fn uv_cancel(*mut uv_req_t) -> c_int;
    fn uv_udp_init_ex(*mut uv_loop_t, *mut uv_udp_t, c_uint) -> c_int;
    fn uv_udp_open(*mut uv_udp_t, c_int) -> c_int;
    fn uv_udp_bind(*mut uv_udp_t, *const sockaddr, c_uint) -> c_int;
    fn uv_udp_connect(*mut uv_udp_t, *const sockaddr) -> c_int;
    fn uv_udp_getsockname(*const uv_udp_t, *mut sockaddr, *mut c_int) -> c_int;
    fn uv_udp_send(*mut uv_udp_send_t, *mut uv_udp_t, *const uv_buf_t, c_uint, *const sockaddr, uv_udp_send_cb) -> c_int;
    fn uv_udp_try_send(*mut uv_udp_t, *const uv_buf_t, c_uint, *const sockaddr) -> c_int;
    fn uv_udp_recv_start(*mut uv_udp_t, uv_alloc_cb, uv_udp_recv_cb) -> c_int;
    fn uv_udp_recv_stop(*mut uv_udp_t) -> c_int;
    fn uv_udp_using_recvmmsg(*const uv_udp_t) -> c_int;
    fn uv_udp_get_send_queue_size(*const uv_udp_t) -> usize;
}

/// Where the functions that the scripts call are from: the file, and the version that it says.
pub fn in_use() -> (PathBuf, String) {
    let library = Library::get();
    // SAFETY: numbers and pointers, which may be null.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: it is asked for any address, and there is room for the answer.
    let known = unsafe { libc::dladdr(library.uv_run as *const c_void, &raw mut found) };
    assert!(known != 0 && !found.dli_fname.is_null(), "nobody knows where uv_run is from");
    // SAFETY: these are C strings, of the dynamic linker and of the library, which stay as they are.
    let (file, version) = unsafe { (CStr::from_ptr(found.dli_fname), CStr::from_ptr((library.uv_version_string)())) };
    let path = PathBuf::from(OsStr::from_bytes(file.to_bytes()));
    (path.canonicalize().expect("a loaded file is there"), version.to_string_lossy().into_owned())
}

impl Library {
    /// Whether it is libuv's own.
    pub(crate) fn is_libuv() -> bool {
        std::env::var_os(VARIABLE).is_none()
    }

    pub(crate) fn get() -> &'static Library {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(|| match std::env::var(VARIABLE) {
            Ok(path) => Library::open(&path),
            Err(_) => Library::linked(),
        })
    }
}

fn open(path: &str) -> *mut c_void {
    let name = CString::new(path).expect("a path has no zero byte");
    // SAFETY: the name is a C string. What the library does when it is loaded is the business of who names it.
    let object = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!object.is_null(), "{path} cannot be loaded");
    object
}

fn find(object: *mut c_void, function: &str) -> *mut c_void {
    let name = CString::new(function).expect("a function's name has no zero byte");
    // SAFETY: `open` has returned the object, and nobody closes it; the name is a C string.
    let address = unsafe { libc::dlsym(object, name.as_ptr()) };
    assert!(!address.is_null(), "the library has no {function}");
    address
}
