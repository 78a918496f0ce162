//! The system calls beneath oxuv, on Linux.
//!
//! This crate is the only place where oxuv calls the operating system by unsafe means; everything it exports is
//! safe, but for what the whole program shares with C: its environment and its arguments. rustix does most of the
//! work; libc is used where rustix has nothing (`epoll_pwait2` with a fallback, `errno` kept across a wake-up).
//!
//! Every descriptor made here is close-on-exec and non-blocking from its first moment on.

#![cfg(target_os = "linux")]

mod address;
pub mod clock;
mod control;
pub mod datagram;
mod descriptor;
mod descriptor_kind;
pub mod epoll;
mod errno;
mod errno_names;
pub mod file;
pub mod fork;
pub mod fs;
pub mod gather;
pub mod inotify;
pub mod interface;
mod journal;
mod link_local;
pub mod names;
pub mod net;
pub mod process;
pub mod random;
pub mod ring;
mod room;
mod shared;
pub mod signal;
pub mod socket;
pub mod spawn;
pub mod stack;
#[cfg(not(loom))]
mod start;
pub mod symbol;
pub mod sync;
pub mod system;
pub mod thread;
mod timer_descriptor;
pub mod tty;
pub mod udp;
pub mod unix;
mod wake;

pub use address::{Address, AddressRef, AsAddress, InternetAddress};
pub use descriptor::{Descriptor, Spare, Standard, check_open, set_blocking, set_nonblocking, take_inherited};
pub use descriptor_kind::{DescriptorKind, is_listener};
pub use errno::{Errno, Result};
pub use journal::Journal;
pub use room::Room;
pub use shared::Shared;
#[cfg(not(loom))]
pub use start::Thread;
#[cfg(loom)]
pub use sync::Thread;
pub use timer_descriptor::{TimerClock, TimerDescriptor};
pub use wake::EventFd;
