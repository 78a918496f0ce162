//! Pipes: stream sockets of the Unix domain, FIFOs, and the ends of pipes.

use std::ffi::{CStr, CString};

use oxuv_os::{Errno, Result};

use crate::kernel::{Abilities, Kernel, Medium, Name, check_name};
use crate::stream::StreamFlags;
use crate::{Buffers, Core, Key, Kind, Refused};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new pipe handle, without a descriptor: bind, connect, open or accept give it one. With `ipc` handles can be
    /// sent along with its bytes; that is for connections, not for listeners.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_pipe_init")]
    pub fn pipe_init(&mut self, user: U, ipc: bool) -> Result<Key> {
        if ipc {
            self.extras.reserve()?;
        }
        let key = self.stream_init(Kind::Pipe, user)?;
        if ipc {
            self.extra_mut(key.index)?;
            self.streams[self.slots[key.index].state].flags |= StreamFlags::IPC;
        }
        Ok(key)
    }

    /// Gives the handle a descriptor that was made elsewhere: a socket, a FIFO, an end of a pipe. It is readable, and
    /// writable, as it was opened for that; what cannot be waited for, as a file, is never readable.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has another descriptor, EEXIST when a handle waits for the descriptor, EBADF.
    #[doc(alias = "uv_pipe_open")]
    pub fn pipe_open(&mut self, key: Key, fd: K::Fd) -> Result<(), Refused<K::Fd>> {
        let checked = self.open_handle(key, Kind::Pipe).and_then(|index| {
            self.check_free(K::number(&fd), None)?;
            let adopted = self.adopt_pipe(index, &fd)?;
            self.check_unused(index, &fd)?;
            Ok(adopted)
        });
        match checked {
            Ok((medium, flags)) => self.put_pipe(key.index, fd, medium, flags),
            Err(error) => return Err(Refused { error, given: fd }),
        }
        Ok(())
    }

    /// Lets a pipe be read whose descriptor was opened for writing only. Nothing comes of it until the other end is
    /// closed: then the read fails with EBADF. So a writer learns of that at once, and not by its next write.
    ///
    /// # Errors
    /// EINVAL when closing; EBADF without a descriptor.
    pub fn pipe_read_to_notice(&mut self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Pipe)?;
        let stream = &mut self.streams[self.slots[index].state];
        stream.descriptor()?;
        stream.flags |= StreamFlags::READABLE;
        Ok(())
    }

    /// Looks what a descriptor that was made elsewhere is, and what it can do.
    pub(crate) fn adopt_pipe(&mut self, index: u32, fd: &K::Fd) -> Result<(Medium, StreamFlags)> {
        self.prepare_descriptor(index, fd)?;
        let abilities = self.kernel.adopt_pipe(fd)?;
        let mut flags = StreamFlags::empty();
        flags.set(StreamFlags::READABLE, abilities.readable && abilities.is_pollable);
        flags.set(StreamFlags::WRITABLE, abilities.writable);
        let medium = match abilities {
            Abilities { is_socket: true, .. } => Medium::Socket,
            Abilities { is_terminal: true, .. } => Medium::Terminal,
            _ => Medium::File,
        };
        Ok((medium, flags))
    }

    pub(crate) fn put_pipe(&mut self, index: u32, fd: K::Fd, medium: Medium, flags: StreamFlags) {
        self.put_descriptor(index, fd, medium);
        self.streams[self.slots[index].state].flags |= flags;
    }

    /// Binds the handle to a name: the path of a file, which is removed when the handle is closed; or, with a zero byte
    /// in front, an abstract name, which may have more zero bytes; of no bytes, an abstract one that the kernel chooses.
    ///
    /// # Errors
    /// EINVAL when closing, when it has a descriptor, and for a path with a zero byte; ENAMETOOLONG beyond 108 bytes;
    /// EADDRINUSE; EACCES, also where the path's directory does not exist; ENOTDIR, EROFS; EMFILE, ENFILE, ENOMEM.
    #[doc(alias = "uv_pipe_bind")]
    #[doc(alias = "uv_pipe_bind2")]
    pub fn pipe_bind(&mut self, key: Key, name: &[u8]) -> Result<()> {
        let index = self.open_handle(key, Kind::Pipe)?;
        check_name(name)?;
        if self.streams[self.slots[index].state].fd.is_some() {
            return Err(Errno::EINVAL);
        }
        let path = path_of(name)?;
        self.extras.reserve()?;
        let fd = self.kernel.unix_socket()?;
        self.prepare_descriptor(index, &fd)?;
        match self.kernel.unix_bind(&fd, name) {
            Err(Errno::ENOENT) => return Err(Errno::EACCES),
            bound => bound?,
        }
        self.put_descriptor(index, fd, Medium::Socket);
        if path.is_some() {
            self.extra_mut(index)?.bound = path;
        }
        Ok(())
    }

    /// The path that the handle was bound to, and whose file it removes; `None` for an abstract name.
    pub fn pipe_path(&self, key: Key) -> Option<&CStr> {
        self.extras.get(self.stream(key).ok()?.extra)?.bound.as_deref()
    }

    /// Connects to the listener of this name. If that does not begin for any reason, [`Event::Connected`] tells, as it
    /// does in the end: later, never inside this call, exactly once. What is written until then waits.
    ///
    /// # Errors
    /// EINVAL when closing, for an empty name, and for a path with a zero byte; ENAMETOOLONG beyond 108 bytes; EALREADY
    /// while connecting; EEXIST when another handle waits for the descriptor.
    ///
    /// [`Event::Connected`]: crate::Event::Connected
    #[doc(alias = "uv_pipe_connect")]
    #[doc(alias = "uv_pipe_connect2")]
    pub fn pipe_connect(&mut self, key: Key, user: U, name: &[u8]) -> Result<()> {
        let index = self.check_pipe_connect(key)?;
        if name.is_empty() {
            return Err(Errno::EINVAL);
        }
        check_name(name)?;
        match self.start_pipe_connect(index, name) {
            Ok(()) => {
                let flags = StreamFlags::READABLE | StreamFlags::WRITABLE;
                self.streams[self.slots[index].state].flags |= flags;
            }
            Err(error) => self.streams[self.slots[index].state].delayed_error = Some(error),
        }
        self.begin_connect(key, user);
        Ok(())
    }

    /// As a [`Core::pipe_connect`] that does not begin, for this reason.
    ///
    /// # Errors
    /// EINVAL when closing; EALREADY while connecting.
    pub fn pipe_fail_to_connect(&mut self, key: Key, user: U, error: Errno) -> Result<()> {
        let index = self.check_pipe_connect(key)?;
        self.streams[self.slots[index].state].delayed_error = Some(error);
        self.begin_connect(key, user);
        Ok(())
    }

    fn check_pipe_connect(&self, key: Key) -> Result<u32> {
        let index = self.open_handle(key, Kind::Pipe)?;
        let stream = &self.streams[self.slots[index].state];
        if stream.is(StreamFlags::CONNECTING) {
            return Err(Errno::EALREADY);
        }
        self.check_free(stream.watch.number, Some(index))?;
        Ok(index)
    }

    fn start_pipe_connect(&mut self, index: u32, name: &[u8]) -> Result<()> {
        if self.streams[self.slots[index].state].fd.is_none() {
            let fd = self.kernel.unix_socket()?;
            self.prepare_descriptor(index, &fd)?;
            self.put_descriptor(index, fd, Medium::Socket);
        }
        let fd = self.streams[self.slots[index].state].descriptor()?;
        match self.kernel.unix_connect(fd, name) {
            Err(Errno::EINPROGRESS) => Ok(()),
            done => done,
        }
    }

    /// Lets everybody read from, or write to, the file of a bound pipe; with neither, nobody.
    ///
    /// # Errors
    /// EBADF without a descriptor; ENOENT without a path, or when its file is gone; ENOTSOCK when something else is there
    /// now; EPERM; EINVAL for a stale key.
    #[doc(alias = "uv_pipe_chmod")]
    pub fn pipe_chmod(&mut self, key: Key, readable: bool, writable: bool) -> Result<()> {
        let name = self.pipe_local_name(key)?;
        let path = path_of(name.as_bytes())?.ok_or(Errno::ENOENT)?;
        let mode = if readable { 0o444 } else { 0 } | if writable { 0o222 } else { 0 };
        self.kernel.unix_set_mode(&path, mode)
    }

    /// The name the handle is bound to, empty when it is not.
    ///
    /// # Errors
    /// EBADF without a descriptor; ENOTSOCK when that is no socket; EINVAL for a stale key.
    #[doc(alias = "uv_pipe_getsockname")]
    pub fn pipe_local_name(&self, key: Key) -> Result<Name> {
        self.kernel.unix_local_name(self.stream(key)?.descriptor()?)
    }

    /// The name of the other end, empty when it has none.
    ///
    /// # Errors
    /// ENOTCONN; as [`Core::pipe_local_name`].
    #[doc(alias = "uv_pipe_getpeername")]
    pub fn pipe_peer_name(&self, key: Key) -> Result<Name> {
        self.kernel.unix_peer_name(self.stream(key)?.descriptor()?)
    }
}

/// The path that a name is; `None` for an abstract one.
fn path_of(name: &[u8]) -> Result<Option<CString>> {
    if matches!(name, [] | [0, ..]) {
        return Ok(None);
    }
    let mut path = Vec::new();
    path.try_reserve_exact(name.len() + 1)?;
    path.extend_from_slice(name);
    path.push(0);
    CString::from_vec_with_nul(path).map(Some).map_err(|_| Errno::EINVAL)
}
