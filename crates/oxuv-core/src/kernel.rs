//! What the core needs of an operating system.
//!
//! # The contract
//!
//! * **Descriptors** are owned values: dropping one closes it. They are non-blocking and close-on-exec from birth.
//! * **Readiness is level-triggered** unless asked otherwise: as long as a descriptor is watched and ready, each [`Kernel::wait`] says so.
//!   A wait may report more than was asked for, too early, too late or in vain; the core masks every event by the
//!   interest of that moment. It must not stay silent for ever about a descriptor that is ready and watched.
//! * **Errors and hang-ups** are reported whatever the interest, as epoll does.
//! * **A batch** lives from one `wait` to the next: [`Kernel::ready`] reads it. Events for descriptors that were
//!   unwatched meanwhile may still be in it.
//! * **The clock** is monotonic, in nanoseconds, and `wait` does not return early without an event.
//! * **The waker** may be used from any thread and from signal handlers, also after the kernel itself is gone. Each
//!   wake-up makes a wait return with [`WAKE`]; several may be told as one.
//! * **Signals** that are watched are counted: [`Kernel::next_signal`] gives each as often as it has come, in the order in
//!   which they have. As long as one has come since [`Kernel::signals_have_come`] was asked, a wait returns with [`WAKE`].
//! * **Jobs** run on other threads, or the kernel does them, each once, and come back by [`Kernel::next_finished`] in the
//!   order in which they were finished or cancelled. As long as one has come back and was not taken, a wait returns with
//!   [`WAKE`], once. A kernel that goes takes its jobs with it: those that have not begun are dropped.
//! * **A child's descriptor** is ready to be read when its end can be waited for, or soon will. A child without one has
//!   ended, or SIGCHLD comes when it does.
//! * **Nothing blocks** but `wait`, nothing panics, and a failure is an [`Errno`] without effect.
//!   An interrupted system call is repeated inside, except for `wait`, which says EINTR.

mod job;
mod readiness;

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};

pub use oxuv_os::Room;
pub use oxuv_os::datagram::{Batch, Datagram, Ecn, Queue, Received, SendOptions};
pub use oxuv_os::fs::Listing;
pub use oxuv_os::inotify::Only;
pub use oxuv_os::net::{BindFlags, Keepalive};
pub use oxuv_os::process::Exit;
pub use oxuv_os::ring::{Answer, Bytes, Call, Operation};
pub use oxuv_os::signal::Watching;
pub use oxuv_os::spawn::{Command, Slot, TextList, Texts};
use oxuv_os::tty::{Modes, Opened, TtyMode, WindowSize};
pub use oxuv_os::udp::{Interface, UdpBindFlags, UdpOption};
pub use oxuv_os::unix::{Abilities, MAX_HANDLES, NAME_SIZE, Name, check_name};
use oxuv_os::{Errno, Result, Shared};

pub use job::{Finished, Job};
pub(crate) use readiness::CHANGES;
pub use readiness::{BATCH, Readiness, Ready, WAKE};

use crate::fs_poll::Look;
use crate::{Lane, Ticket};

/// What a stream's descriptor is, which says by what calls it is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Medium {
    /// A socket: [`Kernel::recv`], [`Kernel::send`].
    #[default]
    Socket,
    /// A FIFO, an end of a pipe: [`Kernel::read`], [`Kernel::write`].
    File,
    /// A Unix socket by which handles are passed: [`Kernel::recv_with_handles`], [`Kernel::send`],
    /// [`Kernel::send_with_handle`].
    Ipc,
    /// A terminal: as a file, but bytes may follow when it is hung up.
    Terminal,
}

/// Something that makes a [`Kernel::wait`] return, now or when it is next called.
pub trait Wake: Send + Sync + 'static {
    /// Wakes the loop. Callable from any thread and from signal handlers; `errno` is kept.
    fn wake(&self);
}

/// What became of bytes that were given to [`Kernel::gather`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathered<'a> {
    /// What they were given with.
    pub token: u64,
    /// All of them.
    pub bytes: &'a [u8],
    /// How many were sent, or why none: as [`Kernel::send`].
    pub result: Result<usize>,
}

/// An operating system as the core sees it; the contract stands at the top of this module.
pub trait Kernel {
    /// An owned descriptor.
    type Fd;
    /// What wakes this kernel's [`Kernel::wait`].
    type Waker: Wake + Clone;
    /// A child process.
    type Child;
    /// What runs on other threads: the front's jobs, and looks at files, which are the core's.
    type Job: Job + From<Shared<Look>>;

    /// The monotonic time in nanoseconds.
    fn now(&self) -> u64;

    /// A waker, to be handed to other threads.
    fn waker(&self) -> Self::Waker;

    /// From now on others may have a waker, and use it.
    #[inline]
    fn expect_wakes(&mut self) {}

    /// Leaves a descriptor open, for somebody else to close.
    fn let_go(fd: Self::Fd);

    /// The number of a descriptor, not negative.
    fn number(fd: &Self::Fd) -> i32;

    /// Watches a descriptor for `interest`, reporting it under `token` in each wait as long as it lasts, unless `interest` has `EDGE`.
    /// `known`: it is being watched, change that. By its number, since it may be somebody else's.
    ///
    /// # Errors
    /// EPERM when the descriptor cannot be watched; EBADF, ENOMEM, ENOSPC.
    fn watch(&mut self, number: i32, token: u64, interest: Readiness, known: bool) -> Result<()>;

    /// Stops watching a descriptor; nothing happens if it is not being watched.
    fn unwatch(&mut self, number: i32);

    /// Looks whether somebody else's descriptor can be watched, and makes it non-blocking.
    ///
    /// # Errors
    /// EPERM when it cannot be watched; EBADF.
    fn check_watchable(&mut self, number: i32) -> Result<()>;

    /// Waits up to `timeout` nanoseconds (`None`: for ever) and returns how many events the batch has, at most
    /// [`BATCH`]; 0 when the time is over.
    ///
    /// # Errors
    /// EINTR when a signal handler ran. Any other error is final: this kernel cannot wait any more.
    fn wait(&mut self, timeout: Option<u64>) -> Result<usize>;

    /// The loop does not wait for a while; whoever watches [`backend_fd`](crate::linux::Linux::backend_fd) or its like instead
    /// shall hear of what comes.
    #[inline]
    fn leave(&mut self) {}

    /// The event number `nth` of the last wait's batch.
    fn ready(&self, nth: usize) -> Ready;

    /// A new TCP socket for addresses of this family.
    ///
    /// # Errors
    /// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
    fn tcp_socket(&mut self, family: IpAddr) -> Result<Self::Fd>;

    /// Takes over a socket made elsewhere: makes it non-blocking.
    ///
    /// # Errors
    /// ENOTSOCK, EBADF.
    fn adopt(&mut self, fd: &Self::Fd) -> Result<()>;

    /// True if it is a socket of TCP: then a receive that brings less than there is room for has left nothing, unless the connection
    /// has ended or there is out-of-band data.
    fn is_tcp(&self, fd: &Self::Fd) -> bool;

    /// Binds a socket with `SO_REUSEADDR`.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, EACCES, EAFNOSUPPORT, EINVAL when bound already.
    fn bind(&mut self, fd: &Self::Fd, address: &SocketAddr, flags: BindFlags) -> Result<()>;

    /// Makes a socket a listener.
    ///
    /// # Errors
    /// EADDRINUSE, EOPNOTSUPP, EINVAL when it is connected.
    fn listen(&mut self, fd: &Self::Fd, backlog: i32) -> Result<()>;

    /// Begins to connect. The socket is ready to write when that has succeeded or failed; [`Kernel::take_error`] tells.
    ///
    /// # Errors
    /// EINPROGRESS when it goes on in the background, the usual case; ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EISCONN,
    /// EAFNOSUPPORT.
    fn connect(&mut self, fd: &Self::Fd, address: &SocketAddr) -> Result<()>;

    /// The error that a socket has kept, which is forgotten by this.
    ///
    /// # Errors
    /// That error.
    fn take_error(&mut self, fd: &Self::Fd) -> Result<()>;

    /// Whether small writes are sent at once.
    ///
    /// # Errors
    /// EOPNOTSUPP when it is no TCP socket.
    fn set_nodelay(&mut self, fd: &Self::Fd, on: bool) -> Result<()>;

    /// Whether an idle connection is probed, and when.
    ///
    /// # Errors
    /// EINVAL for times out of range; EOPNOTSUPP when it is no TCP socket.
    fn set_keepalive(&mut self, fd: &Self::Fd, keepalive: Option<Keepalive>) -> Result<()>;

    /// Makes closing the socket reset the connection.
    ///
    /// # Errors
    /// ENOTSOCK.
    fn set_reset_on_close(&mut self, fd: &Self::Fd) -> Result<()>;

    /// The next waiting connection.
    ///
    /// # Errors
    /// EAGAIN when none waits; EMFILE and ENFILE at the descriptor limit; ECONNABORTED.
    fn accept(&mut self, fd: &Self::Fd) -> Result<Self::Fd>;

    /// At the descriptor limit: drops the waiting connections, so that their peers know and the listener is not
    /// ready for ever. False when even that cannot be done.
    fn shed(&mut self, fd: &Self::Fd) -> bool;

    /// Receives what has come, as much as fits; an empty slice at the end of the stream.
    ///
    /// # Errors
    /// EAGAIN when nothing has come; ECONNRESET and other failures of the connection.
    fn recv<'a>(&mut self, fd: &Self::Fd, room: Room<'a>) -> Result<&'a mut [u8]>;

    /// Sends as much of `buf` as the socket takes.
    ///
    /// # Errors
    /// EAGAIN when it takes nothing now; EPIPE, ECONNRESET and other failures of the connection.
    fn send(&mut self, fd: &Self::Fd, buf: &[u8]) -> Result<usize>;

    /// Takes a copy of these bytes, to be sent to the socket by the next [`Kernel::send_gathered`]; those to one socket are one at a
    /// time. False if there is no room, or if this kernel does not do that.
    #[inline]
    fn gather(&mut self, fd: &Self::Fd, bytes: &[u8], token: u64) -> bool {
        let _ = (fd, bytes, token);
        false
    }

    /// Sends all that was gathered. The sockets are open still.
    #[inline]
    fn send_gathered(&mut self) {}

    /// The next of the results of that.
    #[inline]
    fn next_gathered(&mut self) -> Option<Gathered<'_>> {
        None
    }

    /// Sends as much of the buffers, at most 1024, as the socket takes.
    ///
    /// # Errors
    /// As [`Kernel::send`].
    fn send_vectored(&mut self, fd: &Self::Fd, bufs: &[IoSlice<'_>]) -> Result<usize>;

    /// As [`Kernel::recv`], of a descriptor that is no socket.
    ///
    /// # Errors
    /// EAGAIN when nothing has come; EIO for a terminal without a master.
    fn read<'a>(&mut self, fd: &Self::Fd, room: Room<'a>) -> Result<&'a mut [u8]>;

    /// As [`Kernel::send`], to a descriptor that is no socket.
    ///
    /// # Errors
    /// EAGAIN when it takes nothing now; EPIPE when nobody reads any more; EIO.
    fn write(&mut self, fd: &Self::Fd, buf: &[u8]) -> Result<usize>;

    /// As [`Kernel::send_vectored`], to a descriptor that is no socket.
    ///
    /// # Errors
    /// As [`Kernel::write`].
    fn write_vectored(&mut self, fd: &Self::Fd, bufs: &[IoSlice<'_>]) -> Result<usize>;

    /// A new stream socket of the Unix domain.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOBUFS, ENOMEM.
    fn unix_socket(&mut self) -> Result<Self::Fd>;

    /// Binds a Unix socket to a name that [`check_name`] has found good.
    ///
    /// # Errors
    /// EADDRINUSE, EACCES, ENOENT, ENOTDIR, EROFS; EINVAL when it is bound already.
    fn unix_bind(&mut self, fd: &Self::Fd, name: &[u8]) -> Result<()>;

    /// Connects a Unix socket to a name that [`check_name`] has found good.
    ///
    /// # Errors
    /// EINPROGRESS when it goes on in the background; ENOENT, ECONNREFUSED, EAGAIN when the listener's queue is full,
    /// EACCES, EPROTOTYPE, EISCONN.
    fn unix_connect(&mut self, fd: &Self::Fd, name: &[u8]) -> Result<()>;

    /// The name that a Unix socket is bound to, empty when it is not.
    ///
    /// # Errors
    /// ENOTSOCK; EAFNOSUPPORT for another family.
    fn unix_local_name(&self, fd: &Self::Fd) -> Result<Name>;

    /// The name of a Unix socket's other end, empty when that has none.
    ///
    /// # Errors
    /// ENOTCONN; as [`Kernel::unix_local_name`].
    fn unix_peer_name(&self, fd: &Self::Fd) -> Result<Name>;

    /// Removes the file that a bound socket has made, if it is there.
    fn unix_remove(&mut self, path: &CStr);

    /// Sets the permissions of the file that a bound socket has made.
    ///
    /// # Errors
    /// ENOENT, ENOTSOCK when something else is there, EPERM, EROFS.
    fn unix_set_mode(&mut self, path: &CStr, mode: u32) -> Result<()>;

    /// Takes over a descriptor made elsewhere: makes it non-blocking, and says what it can do.
    ///
    /// # Errors
    /// EBADF.
    fn adopt_pipe(&mut self, fd: &Self::Fd) -> Result<Abilities>;

    /// As [`Kernel::recv`]; and puts the handles that have come along into `handles`, which has room for [`MAX_HANDLES`]
    /// more.
    ///
    /// # Errors
    /// As [`Kernel::recv`].
    fn recv_with_handles<'a>(
        &mut self,
        fd: &Self::Fd,
        room: Room<'a>,
        handles: &mut VecDeque<Self::Fd>,
    ) -> Result<&'a mut [u8]>;

    /// As [`Kernel::send_vectored`], of at least one byte; and sends a copy of the descriptor of this number along with
    /// the first one.
    ///
    /// # Errors
    /// As [`Kernel::send`], and then the descriptor is not sent either; EBADF; ETOOMANYREFS when too many are under way.
    fn send_with_handle(&mut self, fd: &Self::Fd, bufs: &[IoSlice<'_>], handle: i32) -> Result<usize>;

    /// Makes a descriptor ready for a terminal handle: opens a terminal anew if that can be done, and with `replace` has
    /// its number stand for the new one, too.
    ///
    /// # Errors
    /// EINVAL when it is nothing that can be waited for.
    fn open_terminal(&mut self, fd: &Self::Fd, replace: bool) -> Result<Opened<Self::Fd>>;

    /// Changes the mode of a terminal.
    ///
    /// # Errors
    /// ENOTTY, EIO.
    fn set_terminal_mode(&mut self, fd: &Self::Fd, modes: &mut Modes, mode: TtyMode) -> Result<()>;

    /// The size of a terminal's window.
    ///
    /// # Errors
    /// ENOTTY, EIO.
    fn window_size(&self, fd: &Self::Fd) -> Result<WindowSize>;

    /// Ends the sending side.
    ///
    /// # Errors
    /// ENOTCONN.
    fn shutdown_write(&mut self, fd: &Self::Fd) -> Result<()>;

    /// The address a socket is bound to.
    ///
    /// # Errors
    /// EAFNOSUPPORT when it is not an internet address.
    fn local_address(&self, fd: &Self::Fd) -> Result<SocketAddr>;

    /// The address of a socket's other end.
    ///
    /// # Errors
    /// ENOTCONN; EAFNOSUPPORT when it is not an internet address.
    fn peer_address(&self, fd: &Self::Fd) -> Result<SocketAddr>;

    /// A new UDP socket for addresses of this family.
    ///
    /// # Errors
    /// As [`Kernel::tcp_socket`].
    fn udp_socket(&mut self, family: IpAddr) -> Result<Self::Fd>;

    /// Lets several sockets be bound to an address, in the ways of `flags` that are about that.
    ///
    /// # Errors
    /// EOPNOTSUPP when this kind of socket cannot.
    fn udp_reuse(&mut self, fd: &Self::Fd, flags: UdpBindFlags) -> Result<()>;

    /// Binds a UDP socket.
    ///
    /// # Errors
    /// As [`Kernel::bind`].
    fn udp_bind(&mut self, fd: &Self::Fd, address: &SocketAddr, flags: UdpBindFlags) -> Result<()>;

    /// Connects a UDP socket, or with `None` ends that.
    ///
    /// # Errors
    /// EAFNOSUPPORT, ENETUNREACH, EADDRNOTAVAIL, EACCES.
    fn udp_connect(&mut self, fd: &Self::Fd, address: Option<&SocketAddr>) -> Result<()>;

    /// Sets an option; `is_ipv6` says which family the socket is of.
    ///
    /// # Errors
    /// EADDRINUSE, EADDRNOTAVAIL, ENODEV, EINVAL.
    fn udp_set(&mut self, fd: &Self::Fd, is_ipv6: bool, option: UdpOption) -> Result<()>;

    /// True if datagrams that this socket sends are cut apart when their options say so. Else they may go as they are.
    fn udp_can_segment(&self, fd: &Self::Fd) -> bool;

    /// True if, beyond that, nobody can tell datagrams that went as one from others, unless the socket is connected.
    fn udp_can_join(&self, fd: &Self::Fd) -> bool;

    /// Sends datagrams, at most 20, in their order. Returns how many were sent: all before the first that was not. An
    /// error is that of the first. One with a size of segments is cut apart by the kernel, and counts as one.
    ///
    /// # Errors
    /// EINVAL, EIO, EMSGSIZE and others when it does not cut apart;
    /// EAGAIN, ENOBUFS when it takes none now; EMSGSIZE; EISCONN, EDESTADDRREQ, ENETUNREACH; ECONNREFUSED and others
    /// that one sent before has met with.
    fn send_datagrams(&mut self, fd: &Self::Fd, datagrams: &[Datagram<'_>]) -> Result<usize>;

    /// Receives one datagram into `buf`, of which `received` tells then; it was [`Received::none`].
    ///
    /// # Errors
    /// EAGAIN when there is none; ECONNREFUSED and others that one sent before has met with.
    fn receive_datagram<'a>(
        &mut self,
        fd: &Self::Fd,
        room: Room<'a>,
        queue: Queue,
        received: &mut Received<'a>,
    ) -> Result<()>;

    /// Receives datagrams, each into the next `size` bytes of `buf`: as many as have come and fit, at most 20. `batch` was
    /// empty.
    ///
    /// # Errors
    /// As [`Kernel::receive_datagram`]; EINVAL when there is no room for one.
    fn receive_datagrams<'a>(
        &mut self,
        fd: &Self::Fd,
        buf: &'a mut [MaybeUninit<u8>],
        size: usize,
        queue: Queue,
        batch: &mut Batch<'a>,
    ) -> Result<()>;

    /// A new descriptor that tells of changes of files. It is readable when there are any.
    ///
    /// # Errors
    /// EMFILE, also when the user has too many of them; ENFILE, ENOMEM.
    fn file_watcher(&mut self) -> Result<Self::Fd>;

    /// Has it tell of what happens to what is at a path, and directly in it if that is a directory. Returns the watch's
    /// number: of what is watched already, by whatever path, it is the same.
    ///
    /// # Errors
    /// ENOENT, EACCES, ELOOP, ENAMETOOLONG; ENOTDIR when it is not what it may be only; ENOSPC when the user has too many
    /// watches; ENOMEM.
    fn add_file_watch(&mut self, fd: &Self::Fd, path: &CStr, only: Only) -> Result<i32>;

    /// Ends a watch; nothing happens if it has ended by itself.
    fn remove_file_watch(&mut self, fd: &Self::Fd, watch: i32);

    /// Reads [events](oxuv_os::inotify::Event), whole ones, as many as have come and find room behind what is in `into`.
    ///
    /// # Errors
    /// EAGAIN when there are none.
    fn read_changes(&mut self, fd: &Self::Fd, into: &mut Vec<u8>) -> Result<()>;

    /// What is in a directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EACCES, EMFILE, ENOMEM.
    fn list_directory(&mut self, path: &CStr) -> Result<Listing>;

    /// A number, if there is a descriptor of it in this process.
    ///
    /// # Errors
    /// EBADF.
    fn check_open(&self, number: i32) -> Result<i32>;

    /// Two sockets that are connected to each other. The first is for us, the second for a child to have a copy of: it is
    /// blocking.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    fn connection(&mut self) -> Result<(Self::Fd, Self::Fd)>;

    /// Makes a child process whose program runs when this returns.
    ///
    /// # Errors
    /// What the child fails with: ENOENT, EACCES, ENOEXEC and others for the program or the directory; EBADF, EMFILE for
    /// descriptors; EPERM, EINVAL for user and group. EAGAIN, ENOMEM. No child is left then.
    fn spawn(&mut self, command: &Command<'_>, slots: &[Slot]) -> Result<Self::Child>;

    /// The number of a child's process.
    fn child_id(child: &Self::Child) -> i32;

    /// The number of the descriptor that tells the child's end.
    fn child_descriptor(child: &Self::Child) -> Option<i32>;

    /// How a child has ended, once; `None` while it has not.
    ///
    /// # Errors
    /// ECHILD when that cannot be known (any more).
    fn wait_child(&mut self, child: &Self::Child) -> Result<Option<Exit>>;

    /// Leaves children that have not ended to [`Kernel::wait_for_left`], of this kernel or another.
    fn leave_children(&mut self, children: Vec<Self::Child>);

    /// Waits for those of the children that were left which have ended by now.
    fn wait_for_left(&mut self);

    /// Sends a child a signal; 0 only looks whether it is there.
    ///
    /// # Errors
    /// ESRCH; EINVAL for a number that is no signal; EPERM.
    fn kill_child(&mut self, child: &Self::Child, signal: i32) -> Result<()>;

    /// Has a job done elsewhere: run on another thread, or by the kernel itself. `request` comes back with it.
    ///
    /// # Errors
    /// The error, and the job: EAGAIN when there is no room for a thread, ENOMEM.
    fn submit(&mut self, lane: Lane, request: u32, job: Self::Job) -> Result<Ticket, (Errno, Self::Job)>;

    /// Takes back a job that has not begun: it comes back with ECANCELED.
    ///
    /// # Errors
    /// EBUSY when it has begun or was cancelled. What the kernel itself does may be taken back for longer.
    fn cancel(&mut self, ticket: Ticket) -> Result<()>;

    /// Watches a signal like this from now on.
    ///
    /// # Errors
    /// EINVAL for a number that is no signal, and for one that cannot be caught; ENOMEM.
    fn watch_signal(&mut self, number: i32, how: Watching) -> Result<()>;

    /// True if signals have come since this was last asked.
    fn signals_have_come(&mut self) -> bool;

    /// The next signal that has come.
    fn next_signal(&mut self) -> Option<i32>;

    /// In a child of the process that this was made in: makes anew whatever is shared with that. Nothing is watched then
    /// but signals. What descriptors are for is not changed, and they keep their numbers, those of this kernel included.
    /// Returns whether it is a child: wake-ups and signals that have come are forgotten then, and the jobs that were
    /// submitted are lost. If it is none, the next wait returns with [`WAKE`].
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM, ENOSPC. The kernel is of no use until this succeeds.
    fn after_fork(&mut self) -> Result<bool>;

    /// Collects the jobs that have come back by now, for [`Kernel::next_finished`], and returns how many there are.
    fn collect_finished(&mut self) -> usize;

    /// True if something was submitted that is begun by the next [`Kernel::wait`] only.
    fn must_begin(&self) -> bool {
        false
    }

    /// Begins what was submitted and has not begun.
    #[inline]
    fn begin(&mut self) {}

    /// The next of the jobs that were collected.
    fn next_finished(&mut self) -> Option<Finished<Self::Job>>;

    /// Remembers from now on when jobs are queued, begun and finished, for [`Kernel::measured_jobs`].
    fn measure_jobs(&mut self) {}

    /// Tells of the jobs of this loop that were run since it was last asked, by threads or by the kernel. Of very many some are left
    /// out.
    fn measured_jobs(&mut self, tell: &mut dyn FnMut(crate::observe::Job)) {
        let _ = tell;
    }
}
