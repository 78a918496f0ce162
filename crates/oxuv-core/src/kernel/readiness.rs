//! What a wait tells of descriptors.

#[cfg(doc)]
use super::Kernel;

bitflags::bitflags! {
    /// What a descriptor is ready for, or is watched for (then neither `ERROR` nor `HANG_UP`, which come unasked).
    ///
    /// The bits are those of `poll` and `epoll`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Readiness: u16 {
        /// Bytes, a connection or the end of the stream can be read.
        const READ = 0x1;
        /// Out-of-band data is there.
        const PRIORITY = 0x2;
        /// Bytes can be written.
        const WRITE = 0x4;
        /// The descriptor has failed.
        const ERROR = 0x8;
        /// Both directions are closed.
        const HANG_UP = 0x10;
        /// The peer has closed its writing side.
        const READ_HANG_UP = 0x2000;
    }
}

impl Readiness {
    /// What a descriptor may be watched for.
    pub const INTERESTS: Readiness =
        Readiness::READ.union(Readiness::PRIORITY).union(Readiness::WRITE).union(Readiness::READ_HANG_UP);

    /// Beside what a descriptor is watched for: that is to be told when the watch begins or is changed, and whenever something new
    /// comes, but not as long as it lasts (`EPOLLET`).
    pub(crate) const EDGE: Readiness = Readiness::from_bits_retain(0x8000);
}

/// An event of a batch: the token that the descriptor was watched with, and what it is ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The token given to [`Kernel::watch`], or [`WAKE`].
    pub token: u64,
    /// What the descriptor is ready for.
    pub readiness: Readiness,
}

/// The token under which a wake-up is reported. No descriptor has it.
pub const WAKE: u64 = u64::MAX;

/// The token of the descriptor that tells of changes of files. No other has it.
pub(crate) const CHANGES: u64 = u64::MAX - 2;

/// The events that one wait returns at most.
pub const BATCH: usize = 1024;
