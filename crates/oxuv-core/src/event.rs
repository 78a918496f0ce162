//! What a front hears from the core.

use oxuv_os::Result;

use crate::fs_event::FsEvents;
use crate::kernel::{Exit, Readiness};
use crate::{Key, Kind};

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "uv_run_mode")]
pub enum Mode {
    /// Until nothing is alive, or until stopped.
    Default,
    /// One turn, waiting for an event if none is there.
    Once,
    /// One turn, without waiting.
    NoWait,
}

/// Something that is due: the front runs the callback that belongs to it, before it asks for the next one.
///
/// `key` is the handle's; `user` is the front's own value, of the handle or of the request.
// A tag of its own, not one hidden in a field: the driver looks at it for each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)] // `key` and `user` are the same in all of them, and said above.
pub enum Event<U> {
    /// A timer is due. A repeating one is started anew by now. Phase: timers.
    Timer { key: Key, user: U },
    /// Phase: idle.
    Idle { key: Key, user: U },
    /// Phase: prepare.
    Prepare { key: Key, user: U },
    /// Phase: check.
    Check { key: Key, user: U },
    /// Somebody sent to this async handle, once or several times. Phase: poll.
    Async { key: Key, user: U },
    /// The process has caught a signal. A one-shot handle is stopped when the front asks for the next event, unless it was
    /// started meanwhile. Phase: poll, after all else.
    Signal { key: Key, user: U, number: i32 },
    /// A poll handle's descriptor is ready, for what of it is wanted; or it has failed or was closed, with EBADF, and the
    /// handle is stopped. Phase: poll.
    Poll { key: Key, user: U, result: Result<Readiness> },
    /// A connection waits on this listener for [`Core::accept`](crate::Core::accept); or, with EMFILE or ENFILE,
    /// connections had to be turned away at the descriptor limit; or, with another error, the listener has failed and
    /// hears of no more connections. Phase: poll.
    Connection { key: Key, user: U, result: Result<()> },
    /// A stream has something to read: give it memory with [`Core::read_into`](crate::Core::read_into), whose result
    /// is for the read callback. Phase: poll.
    NeedBuffer { key: Key, user: U },
    /// A stream is ready for what [`Core::wait_ready`](crate::Core::wait_ready) has asked for, which is no longer waited for. Phase: poll.
    Ready { key: Key, user: U, readiness: Readiness },
    /// The peer has hung up: the end of the stream, without a buffer. Reading is stopped. Phase: poll.
    HungUp { key: Key, user: U },
    /// A connect is done, or has failed. Phase: poll, pending or closing.
    Connected { key: Key, user: U, result: Result<()> },
    /// A write is done, or has failed. Phase: poll (right after polling), pending or closing.
    Written { key: Key, user: U, result: Result<()> },
    /// A UDP handle has something to receive: give it memory with
    /// [`Core::udp_receive_into`](crate::Core::udp_receive_into), whose result is for the receive callback. Phase: poll.
    NeedDatagramBuffer { key: Key, user: U },
    /// A datagram was handed to the network, or could not be. Phase: pending, poll or closing.
    Sent { key: Key, user: U, result: Result<()> },
    /// A shutdown is done, or has failed. Phase: poll, pending or closing.
    ShutDown { key: Key, user: U, result: Result<()> },
    /// A job has come back from the pool: it has run, or it was cancelled, with ECANCELED.
    /// [`Core::take_job`](crate::Core::take_job) has it, unless it was lost in a fork. Phase: poll.
    Done { user: U, result: Result<()> },
    /// A child has ended; or, with ECHILD, it is gone, and how it has ended cannot be known. Its handle is inactive. Phase:
    /// poll, last in a batch.
    Exited { key: Key, user: U, result: Result<Exit> },
    /// Something has happened to what this handle watches, or to what is in it: [`Core::fs_event_name`](crate::Core::fs_event_name)
    /// has the name. Or, with an error, a directory at that name that has come to be under a recursive watch could not be
    /// watched: ENOSPC at the limit of watches, ENOMEM, ENAMETOOLONG, EMFILE; or, in a child of a fork and without a name, what
    /// the handle watches could not be watched anew, and it is stopped. Phase: poll.
    FsEvent { key: Key, user: U, result: Result<FsEvents> },
    /// A file that is looked at again and again has changed: [`Core::fs_poll_change`](crate::Core::fs_poll_change) has what
    /// it was and is. Or, with an error, it cannot be looked at: this is told once, until that changes. Phase: poll; timers
    /// when there is no thread to look at it, EAGAIN.
    FsPoll { key: Key, user: U, result: Result<()> },
    /// A handle is closed; its key is stale. Nothing will be heard of it again. Phase: closing.
    Closed { key: Key, user: U },
}

impl<U> Event<U> {
    /// That of an idle, prepare or check handle.
    #[inline]
    pub(crate) fn of_watcher(key: Key, kind: Kind, user: U) -> Event<U> {
        match kind {
            Kind::Idle => Event::Idle { key, user },
            Kind::Prepare => Event::Prepare { key, user },
            _ => Event::Check { key, user },
        }
    }
}
