//! Pipes: stream sockets of the Unix domain, FIFOs, and the ends of pipes.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use oxuv_core::One;
use oxuv_core::linux::{DescriptorKind, unix_pair};

use crate::handle::is_a_handle;
use crate::kept::Kept;
use crate::stream::{self, is_a_stream, listens};
use crate::{Errno, Handle, LoopRef, Result, Tcp, Udp};

/// A listener or connection of the Unix domain, a FIFO, or an end of a pipe.
///
/// ```
/// use oxuv::{Loop, Mode, Pipe};
///
/// let lp = Loop::new()?;
/// let (one, other) = Pipe::pair(&lp)?;
/// one.write("hello", |one, written| {
///     written.unwrap();
///     one.close().unwrap();
/// })?;
/// other.read_start(|other, read| match read {
///     Ok(bytes) => assert_eq!(bytes, b"hello"),
///     Err(_) => other.close().unwrap(),
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// # Passing handles
///
/// By a pipe made with [`Pipe::for_handles`] or [`Pipe::pair_for_handles`] other handles can be sent to a process, or to
/// another part of this one, that has the other end: [`Pipe::write_with_handle`]. There they wait to be taken with
/// [`Pipe::take_handle`], as soon as the first of the bytes is read that they were sent with.
#[doc(alias = "uv_pipe_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Pipe(pub(crate) Handle);

is_a_handle!(Pipe);
is_a_stream!(Pipe, pipe);
listens!(Pipe);

/// The name of a socket of the Unix domain. Whatever is a path, a string too, turns into one by `into`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipeName {
    /// None. To be bound to it gets an abstract name that the kernel chooses.
    Unnamed,
    /// The path of a file. It is made by a bind, and removed when the pipe that was bound is closed.
    Path(PathBuf),
    /// A name that is no file, of any bytes.
    Abstract(Vec<u8>),
}

impl<P: AsRef<Path>> From<P> for PipeName {
    fn from(path: P) -> Self {
        PipeName::Path(path.as_ref().to_owned())
    }
}

impl PipeName {
    fn from_bytes(name: &[u8]) -> PipeName {
        match name {
            [] => PipeName::Unnamed,
            [0, name @ ..] => PipeName::Abstract(name.to_vec()),
            path => PipeName::Path(OsString::from_vec(path.to_vec()).into()),
        }
    }

    fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            PipeName::Unnamed => Ok(Vec::new()),
            PipeName::Path(path) => match path.as_os_str().as_bytes() {
                [] | [0, ..] => Err(Errno::EINVAL),
                path => Ok(path.to_vec()),
            },
            PipeName::Abstract(mut name) => {
                name.insert(0, 0);
                Ok(name)
            }
        }
    }
}

/// A handle that has come along with the bytes of a pipe.
#[derive(Debug)]
pub enum Passed {
    /// A TCP connection, or a listener to be listened on.
    Tcp(Tcp),
    /// A UDP socket.
    Udp(Udp),
    /// A socket of the Unix domain, a FIFO, or an end of a pipe.
    Pipe(Pipe),
    /// Anything else that was sent, as a file.
    Other(OwnedFd),
}

/// What [`Pipe::write_with_handle`] can send.
pub trait Passable: AsRef<Handle> {}

impl Passable for Tcp {}
impl Passable for Udp {}
impl Passable for Pipe {}

impl AsRef<Handle> for Tcp {
    fn as_ref(&self) -> &Handle {
        self
    }
}

impl AsRef<Handle> for Udp {
    fn as_ref(&self) -> &Handle {
        self
    }
}

impl AsRef<Handle> for Pipe {
    fn as_ref(&self) -> &Handle {
        self
    }
}

impl Pipe {
    /// A new handle, without a descriptor: it gets one by [`Pipe::bind`], [`Pipe::connect`] or [`Pipe::open`].
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_pipe_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<Pipe> {
        Ok(Pipe(Handle::make(owner, |core| core.pipe_init(0, false))?))
    }

    /// As [`Pipe::new`], of a connection by which handles are passed.
    ///
    /// # Errors
    /// As [`Pipe::new`].
    #[doc(alias = "uv_pipe_init")]
    #[track_caller]
    pub fn for_handles(owner: &LoopRef) -> Result<Pipe> {
        Ok(Pipe(Handle::make(owner, |core| core.pipe_init(0, true))?))
    }

    /// Two pipes that are connected to each other.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_socketpair")]
    pub fn pair(owner: &LoopRef) -> Result<(Pipe, Pipe)> {
        Self::open_pair(Self::new, owner)
    }

    /// As [`Pipe::pair`], and handles are passed by them.
    ///
    /// # Errors
    /// As [`Pipe::pair`].
    #[doc(alias = "uv_socketpair")]
    pub fn pair_for_handles(owner: &LoopRef) -> Result<(Pipe, Pipe)> {
        Self::open_pair(Self::for_handles, owner)
    }

    fn open_pair(make: impl Fn(&LoopRef) -> Result<Pipe>, owner: &LoopRef) -> Result<(Pipe, Pipe)> {
        let (one, other) = unix_pair()?;
        let pipe = |end: OwnedFd| {
            let pipe = make(owner)?;
            match pipe.open(end) {
                Ok(()) => Ok(pipe),
                Err(error) => pipe.close().and(Err(error)),
            }
        };
        let first = pipe(one)?;
        match pipe(other) {
            Ok(second) => Ok((first, second)),
            Err(error) => first.close().and(Err(error)),
        }
    }

    /// Takes over a descriptor that was made elsewhere: a [`UnixStream`](std::os::unix::net::UnixStream), a
    /// [`UnixListener`](std::os::unix::net::UnixListener) to be listened on, an end of a [pipe](std::io::pipe), a FIFO, a
    /// process's standard stream. It is made non-blocking, and readable and writable as it was opened for that. A regular
    /// file can be written only: nobody can wait for one.
    ///
    /// # Errors
    /// EINVAL when closing, EBUSY when it has a descriptor. The descriptor is closed then.
    #[doc(alias = "uv_pipe_open")]
    pub fn open(&self, descriptor: impl Into<OwnedFd>) -> Result<()> {
        let descriptor = descriptor.into().into();
        self.with(|core, key| core.pipe_open(key, descriptor).map_err(|refused| refused.error))
    }

    /// Binds the pipe to a name, to be listened on. A path's file is removed when the pipe is closed.
    ///
    /// # Errors
    /// EADDRINUSE, also for a file that a process has left behind; ENAMETOOLONG beyond 108 bytes; EACCES, also where the
    /// path's directory does not exist; EINVAL when closing, when it has a descriptor, and for a path that is empty or has a
    /// zero byte; EMFILE, ENFILE, ENOMEM.
    #[doc(alias = "uv_pipe_bind2")]
    pub fn bind(&self, name: impl Into<PipeName>) -> Result<()> {
        let name = name.into().into_bytes()?;
        self.with(|core, key| core.pipe_bind(key, &name))
    }

    /// Connects to the listener of this name. `on_done` is called once, never inside this call: with `Ok` when connected,
    /// with an error such as ENOENT or ECONNREFUSED when that has failed, with ECANCELED when the handle is closed before.
    /// Phase: poll, pending or closing. What is written meanwhile is sent afterwards.
    ///
    /// Mostly the kernel knows at once that there is nobody of this name. That, too, `on_done` is told, in the pending phase;
    /// a write in between is refused, with EPIPE. After a failure the pipe may connect anew.
    ///
    /// # Errors
    /// EINVAL when closing, and for a name that is none; ENAMETOOLONG beyond 108 bytes; EALREADY while connecting. `on_done`
    /// is not called then.
    #[doc(alias = "uv_pipe_connect2")]
    pub fn connect(&self, name: impl Into<PipeName>, on_done: impl FnOnce(&Pipe, Result<()>) + 'static) -> Result<()> {
        let name = name.into().into_bytes()?;
        stream::request(self, on_done, |core, key, request| core.pipe_connect(key, request, &name))
    }

    /// Lets all users read, and write, through the file of a bound pipe, or neither.
    ///
    /// # Errors
    /// EBADF without a descriptor; ENOENT without a path, or when its file is gone; ENOTSOCK when something else is there
    /// now; EPERM; EINVAL when closed.
    #[doc(alias = "uv_pipe_chmod")]
    pub fn chmod(&self, readable: bool, writable: bool) -> Result<()> {
        self.with(|core, key| core.pipe_chmod(key, readable, writable))
    }

    /// The name the pipe is bound to.
    ///
    /// # Errors
    /// EBADF without a descriptor; ENOTSOCK when that is no socket; EINVAL when closed.
    #[doc(alias = "uv_pipe_getsockname")]
    pub fn local_name(&self) -> Result<PipeName> {
        let name = self.with(|core, key| core.pipe_local_name(key))?;
        Ok(PipeName::from_bytes(name.as_bytes()))
    }

    /// The name of the other end.
    ///
    /// # Errors
    /// ENOTCONN; as [`Pipe::local_name`].
    #[doc(alias = "uv_pipe_getpeername")]
    pub fn peer_name(&self) -> Result<PipeName> {
        let name = self.with(|core, key| core.pipe_peer_name(key))?;
        Ok(PipeName::from_bytes(name.as_bytes()))
    }

    /// As [`write`](Self::write), and sends `handle` along with the first byte: the receiver gets a handle of the same
    /// socket or pipe. `handle` stays open here, and must stay so until `on_done` is called; the write fails with EBADF
    /// otherwise.
    ///
    /// # Errors
    /// As [`write`](Self::write); EINVAL when no handles are passed by this pipe, or without a byte; EBADF when `handle` has
    /// no descriptor, or is of another loop.
    #[doc(alias = "uv_write2")]
    pub fn write_with_handle<T>(
        &self,
        bytes: T,
        handle: &impl Passable,
        on_done: impl FnOnce(&Pipe, Result<()>) + 'static,
    ) -> Result<()>
    where
        T: AsRef<[u8]> + 'static,
    {
        let handle = self.key_of(handle.as_ref())?;
        stream::write_by(self, on_done, |core, key, request| {
            core.write_with_handle(key, request, One(bytes), handle, Kept::one)
        })
    }

    /// As [`try_write`](Self::try_write), and sends `handle` along with the first byte.
    ///
    /// # Errors
    /// As [`try_write`](Self::try_write); as [`Pipe::write_with_handle`].
    #[doc(alias = "uv_try_write2")]
    pub fn try_write_with_handle(&self, bytes: &[u8], handle: &impl Passable) -> Result<usize> {
        let handle = self.key_of(handle.as_ref())?;
        self.with(|core, key| core.try_write_with_handle(key, &One(bytes), handle))
    }

    /// The key of a handle to be sent along.
    fn key_of(&self, handle: &Handle) -> Result<oxuv_core::Key> {
        if std::rc::Rc::ptr_eq(&self.owner().0, &handle.owner().0) { Ok(handle.key()) } else { Err(Errno::EBADF) }
    }

    /// How many handles have come along with what was read, and wait to be taken.
    #[doc(alias = "uv_pipe_pending_count")]
    pub fn pending_handles(&self) -> usize {
        self.with(|core, key| Ok(core.pending_handles(key))).unwrap_or(0)
    }

    /// Takes the handle that came first of those that have come along with what was read. Those that nobody takes are
    /// closed with the pipe.
    ///
    /// # Errors
    /// EAGAIN when there is none; EINVAL when closing; ENOMEM.
    #[doc(alias = "uv_accept")]
    #[doc(alias = "uv_pipe_pending_type")]
    pub fn take_handle(&self) -> Result<Passed> {
        if self.is_closing() {
            return Err(Errno::EINVAL);
        }
        let number =
            self.with(|core, key| core.next_pending_handle(key).map(AsRawFd::as_raw_fd).ok_or(Errno::EAGAIN))?;
        match DescriptorKind::of(number) {
            DescriptorKind::Tcp => self.take_into(Tcp::new(self.owner())?).map(Passed::Tcp),
            DescriptorKind::Udp => self.take_into(Udp::new(self.owner())?).map(Passed::Udp),
            DescriptorKind::Pipe => self.take_into(Pipe::new(self.owner())?).map(Passed::Pipe),
            _ => {
                let taken = self.with(|core, key| core.take_pending_handle(key))?;
                Ok(Passed::Other(taken.into()))
            }
        }
    }

    fn take_into<H: AsRef<Handle>>(&self, taker: H) -> Result<H> {
        let taken = taker.as_ref().with(|core, key| core.accept(self.key(), key));
        match taken {
            Ok(()) => Ok(taker),
            Err(error) => taker.as_ref().close().and(Err(error)),
        }
    }
}
