//! Child processes, and signals to processes.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::slice;

use oxuv_core::kernel::{Command, Exit, TextList};
use oxuv_core::{Errno, Key, Result, Stdio};

use crate::error::{code, ignored};
use crate::handle::{self, key, with_unclosed};
use crate::loop_::{User, with};
use crate::stream;
use crate::types::{UV_NAMED_PIPE, UV_TCP, UV_TTY, uv_handle_t, uv_handle_type, uv_loop_t, uv_stream_t};
use crate::udp::{UV_UDP, uv_udp_t};

/// Called when a child has ended: with its exit code, and the signal that has ended it, or 0. A negative code is an error:
/// how it has ended cannot be known.
pub type uv_exit_cb = Option<unsafe extern "C-unwind" fn(*mut uv_process_t, i64, c_int)>;

/// A child process.
pub const UV_PROCESS: uv_handle_type = 10;

/// What a child has as a descriptor: nothing, or `/dev/null` as one of the first three.
pub const UV_IGNORE: c_uint = 0;
/// One end of a connection, whose other end the pipe `stream` gets, which was initialised.
pub const UV_CREATE_PIPE: c_uint = 1;
/// A copy of the descriptor `fd`.
pub const UV_INHERIT_FD: c_uint = 2;
/// A copy of the descriptor of the handle `stream`.
pub const UV_INHERIT_STREAM: c_uint = 4;
/// With `UV_CREATE_PIPE`: the child can read.
pub const UV_READABLE_PIPE: c_uint = 0x10;
/// With `UV_CREATE_PIPE`: the child can write.
pub const UV_WRITABLE_PIPE: c_uint = 0x20;

/// Flag of `uv_spawn`: the child becomes the user `uid`.
pub const UV_PROCESS_SETUID: c_uint = 1;
/// Flag of `uv_spawn`: the child gets the group `gid`.
pub const UV_PROCESS_SETGID: c_uint = 2;
/// Flag of `uv_spawn`: the child leads a session of its own.
pub const UV_PROCESS_DETACHED: c_uint = 8;
/// All flags, those for Windows included.
const FLAGS: c_uint = 0xff;

/// Flag of a handle whose child could not be made. The core does not know it, and it is closed all the same.
pub(crate) const CHILDLESS: c_uint = 0x10;

/// A child process.
#[repr(C)]
pub struct uv_process_t {
    /// What all handles have.
    pub handle: uv_handle_t,
    /// Private in libuv too, but declared with its name.
    pub exit_cb: uv_exit_cb,
    /// The number of its process; 0 if it could not be made.
    pub pid: c_int,
    _queue: [usize; 2],
    /// How it has ended, as `waitpid` has it. Private in libuv too, but programs read it.
    pub status: c_int,
}

/// What a child has as a descriptor.
#[repr(C)]
pub struct uv_stdio_container_t {
    /// One of `UV_IGNORE`, `UV_CREATE_PIPE`, `UV_INHERIT_FD` and `UV_INHERIT_STREAM`, and what goes with it.
    pub flags: c_uint,
    /// A handle or a number, as the flags say.
    pub data: stdio_data,
}

/// A handle or a number.
#[repr(C)]
pub union stdio_data {
    /// A handle.
    pub stream: *mut uv_stream_t,
    /// The number of a descriptor.
    pub fd: c_int,
}

/// What a child is to run, and how.
#[repr(C)]
pub struct uv_process_options_t {
    /// Called when it has ended; may be null.
    pub exit_cb: uv_exit_cb,
    /// The program, looked for in the child's `PATH` if there is no slash in it.
    pub file: *const c_char,
    /// The arguments, beginning with the program's name; null behind the last.
    pub args: *const *const c_char,
    /// The environment, null behind the last; null for this process's own.
    pub env: *const *const c_char,
    /// The directory to work in; null for this process's own.
    pub cwd: *const c_char,
    /// `UV_PROCESS_SETUID` and others.
    pub flags: c_uint,
    /// How many there are in `stdio`.
    pub stdio_count: c_int,
    /// The child's descriptors, from 0 on.
    pub stdio: *const uv_stdio_container_t,
    /// The user, with `UV_PROCESS_SETUID`.
    pub uid: libc::uid_t,
    /// The group, with `UV_PROCESS_SETGID`.
    pub gid: libc::gid_t,
}

/// Makes a child process. When this returns 0, its program runs; `exit_cb` is called when it has ended, last in a batch of
/// the poll phase. In any case the handle can be closed, but it need not be if this fails: the loop does not know it then.
///
/// What keeps the program from running: UV_ENOENT, UV_EACCES, UV_EPERM and others, UV_EBADF for a descriptor. The pipes are
/// connected nonetheless, to nobody. UV_EINVAL without a file, arguments or a loop, for unknown flags, for a pipe that is
/// none or closing, and for a handle without a descriptor; UV_EBUSY for a pipe that has one; UV_EAGAIN, UV_EMFILE, UV_ENOMEM.
///
/// # Safety
/// `loop_` was initialised; `process` points to memory for a process handle, which holds no open handle. The options and
/// what they refer to are valid during the call; nobody changes the environment during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_spawn(
    loop_: *mut uv_loop_t,
    process: *mut uv_process_t,
    options: *const uv_process_options_t,
) -> c_int {
    // SAFETY: `process` is memory for all the fields written; the options are valid, or null.
    unsafe {
        handle::init(process.cast(), loop_, UV_PROCESS, Key::default());
        (*process).handle.flags = CHILDLESS;
        (*process).exit_cb = None;
        (*process).pid = 0;
        (*process).status = 0;
        let Some(options) = options.as_ref() else { return Errno::EINVAL.code() };
        let spawned = spawn(loop_, User::of(process), options);
        if let Ok((key, pid)) = spawned {
            (*process).handle.key = key.to_u64();
            (*process).handle.flags = 0;
            (*process).exit_cb = options.exit_cb;
            (*process).pid = pid;
        }
        code(spawned.map(|_| ()))
    }
}

/// # Safety
/// As for [`uv_spawn`].
unsafe fn spawn(loop_: *mut uv_loop_t, user: User, options: &uv_process_options_t) -> Result<(Key, c_int)> {
    if options.file.is_null() || options.args.is_null() || options.flags & !FLAGS != 0 {
        return Err(Errno::EINVAL);
    }
    // SAFETY: texts and lists that are valid during this call, and the loop was initialised.
    unsafe {
        let containers = containers(options)?;
        let command = Command {
            file: CStr::from_ptr(options.file),
            args: TextList::from_ptr(options.args),
            env: (!options.env.is_null()).then(|| TextList::from_ptr(options.env)),
            directory: (!options.cwd.is_null()).then(|| CStr::from_ptr(options.cwd)),
            user: (options.flags & UV_PROCESS_SETUID != 0).then_some(options.uid),
            group: (options.flags & UV_PROCESS_SETGID != 0).then_some(options.gid),
            detached: options.flags & UV_PROCESS_DETACHED != 0,
        };
        let mut stdio = Vec::new();
        stdio.try_reserve_exact(containers.len())?;
        for container in containers {
            stdio.push(stdio_of(loop_, container)?);
        }
        let spawned = with(loop_, |core| {
            let key = core.process_spawn(user, &command, &stdio)?;
            Ok((key, core.process_id(key)?))
        });
        for (container, stdio) in containers.iter().zip(&stdio) {
            if matches!(stdio, Stdio::Pipe { .. }) {
                stream::show_descriptor(container.data.stream);
            }
        }
        spawned
    }
}

/// # Safety
/// There are as many as the options say.
unsafe fn containers(options: &uv_process_options_t) -> Result<&[uv_stdio_container_t]> {
    match usize::try_from(options.stdio_count) {
        Ok(0) | Err(_) => Ok(&[]),
        Ok(_) if options.stdio.is_null() => Err(Errno::EINVAL),
        // SAFETY: says the caller.
        Ok(count) => Ok(unsafe { slice::from_raw_parts(options.stdio, count) }),
    }
}

/// # Safety
/// The handle was initialised, or is zero, or null, if the flags say that there is one.
unsafe fn stdio_of(loop_: *mut uv_loop_t, container: &uv_stdio_container_t) -> Result<Stdio> {
    let uv_stdio_container_t { flags, ref data } = *container;
    // SAFETY: the flags say what there is; a handle's type says what kind of structure it is.
    unsafe {
        match flags & (UV_CREATE_PIPE | UV_INHERIT_FD | UV_INHERIT_STREAM) {
            UV_IGNORE => Ok(Stdio::Ignore),
            UV_CREATE_PIPE => match data.stream.as_ref() {
                Some(pipe) if pipe.handle.r#type == UV_NAMED_PIPE && pipe.handle.r#loop == loop_ => Ok(Stdio::Pipe {
                    key: key(data.stream.cast()),
                    readable: flags & UV_WRITABLE_PIPE != 0,
                    writable: flags & UV_READABLE_PIPE != 0,
                }),
                _ => Err(Errno::EINVAL),
            },
            UV_INHERIT_FD if data.fd >= 0 => Ok(Stdio::Descriptor(data.fd)),
            UV_INHERIT_STREAM if !data.stream.is_null() => {
                let number = match (*data.stream).handle.r#type {
                    UV_NAMED_PIPE | UV_TCP | UV_TTY => (*data.stream).io_watcher.fd,
                    UV_UDP => (*data.stream.cast::<uv_udp_t>()).io_watcher.fd,
                    _ => -1,
                };
                if number < 0 { Err(Errno::EINVAL) } else { Ok(Stdio::Descriptor(number)) }
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Makes a handle without a child known to the core, so that it can be closed.
///
/// # Safety
/// `handle` was left by a [`uv_spawn`] that has failed, and its loop is there.
#[cold]
pub(crate) unsafe fn make_closable(handle: *mut uv_handle_t) {
    // SAFETY: says the caller.
    unsafe {
        match with((*handle).r#loop, |core| core.process_without_child(User::of(handle))) {
            Ok(key) => {
                (*handle).key = key.to_u64();
                (*handle).flags &= !CHILDLESS;
            }
            Err(_) => ignored("uv_close", "there is no loop, or no memory"),
        }
    }
}

/// # Safety
/// `process` is a valid process handle, the last event was about its end, and nothing has happened since.
#[inline(never)] // Its caller is for all that happens.
pub(crate) unsafe fn exited(process: *mut uv_process_t, result: Result<Exit>) {
    // SAFETY: the handle is valid; it is not touched after the callback.
    unsafe {
        let (exit_status, signal) = match result {
            Ok(exit) => {
                (*process).status = exit.raw();
                (exit.code(), exit.signal())
            }
            Err(error) => (error.code(), 0),
        };
        if let Some(cb) = (*process).exit_cb {
            cb(process, exit_status.into(), signal);
        }
    }
}

/// Sends a child a signal; 0 only looks whether it is there.
///
/// UV_ESRCH when it has ended, or could not be made; UV_EINVAL for a number that is no signal, and for a closed handle;
/// UV_EPERM.
///
/// # Safety
/// `process` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_process_kill(process: *mut uv_process_t, signum: c_int) -> c_int {
    // SAFETY: the same is asked of our caller.
    unsafe {
        if (*process).handle.flags & CHILDLESS != 0 {
            return Errno::ESRCH.code();
        }
        code(with_unclosed(process.cast(), |core, key| core.process_kill(key, signum)))
    }
}

/// The number of a child's process, also after its end; 0 if it could not be made.
///
/// # Safety
/// `process` was initialised, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_process_get_pid(process: *const uv_process_t) -> c_int {
    // SAFETY: the caller says that the field has a value.
    unsafe { (*process).pid }
}

/// Sends a signal to a process; for `pid` 0 to those of the caller's group, for -1 to all that it may send to, for another
/// negative one to those of that group. Signal 0 only looks whether somebody is there.
///
/// UV_ESRCH; UV_EINVAL for a number that is no signal; UV_EPERM.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_kill(pid: c_int, signum: c_int) -> c_int {
    code(oxuv_os::process::kill(pid, signum))
}

/// Makes all descriptors that the process has close-on-exec, so that children do not get what it was given itself.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_disable_stdio_inheritance() {
    oxuv_os::process::disable_inheritance();
}
