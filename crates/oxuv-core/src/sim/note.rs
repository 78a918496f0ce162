//! The trace of what the kernel was asked and what it answered.

use oxuv_os::{Errno, Result};

use crate::kernel::{Readiness, Ready};

/// One line of the trace. Descriptors appear by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The fields bear the names of the calls' arguments.
pub enum Note {
    /// A descriptor came to be: a socket, or one made by the test.
    Opened {
        fd: i32,
    },
    Closed {
        fd: i32,
    },
    Watched {
        fd: i32,
        token: u64,
        interest: Readiness,
        result: Result<()>,
    },
    Unwatched {
        fd: i32,
    },
    /// A wait returned, at this time, with so many events.
    Waited {
        timeout: Option<u64>,
        now: u64,
        result: Result<usize>,
    },
    /// An event of the batch.
    Reported(Ready),
    Listened {
        fd: i32,
        result: Result<()>,
    },
    Connected {
        fd: i32,
        result: Result<()>,
    },
    Accepted {
        listener: i32,
        result: Result<i32>,
    },
    Shed {
        listener: i32,
        count: usize,
        done: bool,
    },
    Received {
        fd: i32,
        result: Result<usize>,
    },
    Sent {
        fd: i32,
        result: Result<usize>,
    },
    ShutDown {
        fd: i32,
        result: Result<()>,
    },
    /// The clock jumped forward.
    ClockJumped {
        by: u64,
    },
    /// The kernel was used in a way that Linux would refuse.
    Misused {
        fd: i32,
        error: Errno,
    },
}
