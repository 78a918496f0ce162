//! Children.

use std::ffi::{CString, c_int};
use std::os::fd::RawFd;

use libuv_sys2::*;
use oxuv_order::{ChildOf, Outcome, Stdio};

use crate::call::call;
use crate::callbacks::on_exit;
use crate::driver::{Libuv, c_path, named};

impl Libuv {
    /// As `Driver::spawn_of`.
    pub(crate) fn spawn_child(&self, name: &str, of: &ChildOf<'_>) -> Outcome<i32> {
        let words: Vec<_> = of.words.iter().map(|word| CString::new(*word).expect("a word has no zero byte")).collect();
        let mut arguments: Vec<_> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        arguments.push(std::ptr::null_mut());
        let mut stdio: Vec<_> = of.stdio.iter().map(|stdio| self.container(stdio)).collect();
        let directory = of.directory.map(c_path);
        // SAFETY: it is made of numbers, pointers that may be null, and an optional function.
        let mut options: uv_process_options_t = unsafe { std::mem::zeroed() };
        options.exit_cb = Some(on_exit);
        (options.file, options.args) = (words[0].as_ptr(), arguments.as_mut_ptr());
        options.cwd = directory.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        (options.stdio_count, options.stdio) = (stdio.len() as c_int, stdio.as_mut_ptr());
        if let Some(user) = of.user {
            options.flags = uv_process_flags_UV_PROCESS_SETUID;
            options.uid = user;
        }
        let mut spawned = 0;
        // The handle is there also if the child is not.
        self.make(name, |handle| {
            spawned = call!(self.uv_spawn(self.lp(), handle, &raw const options));
            0
        })?;
        named(spawned)?;
        Ok(call!(self.uv_process_get_pid(self.get(name))))
    }

    fn container(&self, stdio: &Stdio<'_>) -> uv_stdio_container_t {
        // SAFETY: it is made of numbers and pointers that may be null.
        let mut container: uv_stdio_container_t = unsafe { std::mem::zeroed() };
        match *stdio {
            Stdio::Ignore => container.flags = uv_stdio_flags_UV_IGNORE,
            Stdio::Descriptor(number) => {
                container.flags = uv_stdio_flags_UV_INHERIT_FD;
                container.data.fd = RawFd::from(number);
            }
            Stdio::Stream(name) => {
                container.flags = uv_stdio_flags_UV_INHERIT_STREAM;
                container.data.stream = self.get(name);
            }
            Stdio::Pipe(name) => {
                let both = uv_stdio_flags_UV_READABLE_PIPE | uv_stdio_flags_UV_WRITABLE_PIPE;
                container.flags = uv_stdio_flags_UV_CREATE_PIPE | both;
                container.data.stream = self.get(name);
            }
        }
        container
    }
}
