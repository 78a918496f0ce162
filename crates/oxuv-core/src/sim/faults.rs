//! What may go wrong, and how often.

/// Writes the faults down once: what each of them is, and how often [`Faults::all`] commits it.
macro_rules! faults {
    ($($(#[doc = $what:literal])* $field:ident, $fault:ident, $often:literal;)*) => {
        /// The faults that a simulated kernel commits, each so many times in a thousand chances. All of them are allowed by
        /// the [contract](crate::kernel) of a kernel.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Faults {
            $($(#[doc = $what])* pub $field: u16,)*
        }

        /// One of the [`Faults`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $what])* $fault,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: [Fault; [$(Fault::$fault),*].len()] = [$(Fault::$fault),*];

            /// Its name: that of the field.
            pub fn name(self) -> &'static str {
                match self {
                    $(Fault::$fault => stringify!($field),)*
                }
            }
        }

        impl Faults {
            /// A kernel without faults.
            pub const fn none() -> Faults {
                Faults { $($field: 0,)* }
            }

            /// A kernel that commits every fault now and then.
            pub const fn all() -> Faults {
                Faults { $($field: $often,)* }
            }

            /// How often this fault is committed.
            pub fn often(&mut self, fault: Fault) -> &mut u16 {
                match fault {
                    $(Fault::$fault => &mut self.$field,)*
                }
            }
        }
    };
}

faults! {
    /// A receive gives less than has come.
    short_read, ShortRead, 200;
    /// A send takes less than there is room for.
    short_write, ShortWrite, 200;
    /// A wait says EINTR, after a part of its time.
    interrupt, Interrupt, 100;
    /// A receive, send or accept says EAGAIN although the descriptor is ready.
    again, Again, 100;
    /// A socket or a connection cannot be had: EMFILE or ENFILE. Shedding the waiting connections fails as often.
    no_descriptor, NoDescriptor, 100;
    /// A descriptor cannot be watched: ENOMEM. A job cannot be queued.
    no_memory, NoMemory, 100;
    /// There is no thread for a job: EAGAIN.
    no_thread, NoThread, 50;
    /// A connection whose hang-up looks like that of a pipe: once the peer has closed, HANG_UP comes together with
    /// the bytes that are still there, and stands alone, without READ, when they have been read.
    hang_up, HangUp, 300;
    /// A descriptor that is ready (or a wake-up) is left out of a batch, and is in the next.
    late, Late, 100;
    /// A batch has an event for a descriptor that is not ready, or for one that is not watched any more.
    spurious, Spurious, 150;
    /// A batch comes in another order than that of the descriptors' numbers.
    shuffle, Shuffle, 500;
    /// The clock jumps forward, by up to 2 milliseconds, when it is read.
    clock_jump, ClockJump, 50;
    /// The clock leaps forward, by up to 49 days, when it is read: the machine has slept.
    clock_leap, ClockLeap, 5;
    /// A peer resets its connection, just as we receive or send.
    reset, Reset, 10;
    /// A connection is gone before it is accepted: ECONNABORTED.
    abort, Abort, 50;
    /// A connect is refused, at once or later, although somebody listens; a datagram is, and the next call tells it.
    refuse, Refuse, 100;
    /// A datagram does not arrive at our socket.
    lost, Lost, 50;
    /// The kernel is short of memory for a datagram: ENOBUFS.
    no_buffer, NoBuffer, 50;
    /// The ring has not done an operation, so that it is for a thread.
    ring_declines, RingDeclines, 150;
    /// A file cannot be watched: ENOSPC.
    no_watch, NoWatch, 50;
    /// The kernel does not keep a change of a file, but that something was lost.
    overflow, Overflow, 50;
}
