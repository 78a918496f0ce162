//! What may go wrong, and how often.

/// The faults that a simulated kernel commits, each so many times in a thousand chances. All of them are allowed by
/// the [contract](crate::kernel) of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// A receive gives less than has come.
    pub short_read: u16,
    /// A send takes less than there is room for.
    pub short_write: u16,
    /// A wait says EINTR, after a part of its time.
    pub interrupt: u16,
    /// A receive, send or accept says EAGAIN although the descriptor is ready.
    pub again: u16,
    /// A socket or a connection cannot be had: EMFILE or ENFILE. Shedding the waiting connections fails as often.
    pub no_descriptor: u16,
    /// A descriptor cannot be watched: ENOMEM.
    pub no_memory: u16,
    /// A connection whose hang-up looks like that of a pipe: once the peer has closed, HANG_UP comes together with
    /// the bytes that are still there, and stands alone, without READ, when they have been read.
    pub hang_up: u16,
    /// A descriptor that is ready (or a wake-up) is left out of a batch, and is in the next.
    pub late: u16,
    /// A batch has an event for a descriptor that is not ready, or for one that is not watched any more.
    pub spurious: u16,
    /// A batch comes in another order than that of the descriptors' numbers.
    pub shuffle: u16,
    /// The clock jumps forward, by up to 2 milliseconds, when it is read.
    pub clock_jump: u16,
    /// A peer resets its connection, just as we receive or send.
    pub reset: u16,
    /// A connection is gone before it is accepted: ECONNABORTED.
    pub abort: u16,
    /// A connect is refused, at once or later, although somebody listens; a datagram is, and the next call tells it.
    pub refuse: u16,
    /// A datagram does not arrive at our socket.
    pub lost: u16,
    /// The kernel is short of memory for a datagram: ENOBUFS.
    pub no_buffer: u16,
}

impl Faults {
    /// A kernel without faults.
    pub const fn none() -> Faults {
        Faults {
            short_read: 0,
            short_write: 0,
            interrupt: 0,
            again: 0,
            no_descriptor: 0,
            no_memory: 0,
            hang_up: 0,
            late: 0,
            spurious: 0,
            shuffle: 0,
            clock_jump: 0,
            reset: 0,
            abort: 0,
            refuse: 0,
            lost: 0,
            no_buffer: 0,
        }
    }

    /// A kernel that commits every fault now and then.
    pub const fn all() -> Faults {
        Faults {
            short_read: 200,
            short_write: 200,
            interrupt: 100,
            again: 100,
            no_descriptor: 100,
            no_memory: 100,
            hang_up: 300,
            late: 100,
            spurious: 150,
            shuffle: 500,
            clock_jump: 50,
            reset: 10,
            abort: 50,
            refuse: 100,
            lost: 50,
            no_buffer: 50,
        }
    }
}
