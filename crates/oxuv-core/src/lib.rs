//! The event loop beneath oxuv: it decides what is due and in which order, and never runs user code.
//!
//! A [`Core`] is driven by a *front*: [`Core::begin`] starts a run, and [`Core::next`] gives the next due [`Event`]
//! until the run is over. The front runs its user's callback between two calls, when nothing borrows the core, so a
//! callback may do anything to any handle, itself included.
//!
//! ```
//! use oxuv_core::{Config, Core, Event, Mode, One, linux::Linux};
//!
//! let mut core: Core<Linux, &str, One<Vec<u8>>> = Core::new(Linux::new(false)?, Config::default())?;
//! let timer = core.timer_init("tick")?;
//! core.timer_start(timer, 1_000_000, 0)?;
//! core.begin(Mode::Default);
//! while let Some(event) = core.next() {
//!     assert_eq!(event, Event::Timer { key: timer, user: "tick" });
//!     core.close(timer)?;
//! #   assert!(matches!(core.next(), Some(Event::Closed { .. })));
//! }
//! assert_eq!(core.end(), Ok(false));
//! # Ok::<(), oxuv_core::Errno>(())
//! ```
//!
//! The order of events is that of libuv 1.53; ARCHITECTURE.md has the picture of a turn.

#![forbid(unsafe_code)]

#[path = "async.rs"]
mod async_;
mod buffers;
mod closing;
mod connect;
mod core;
mod deadlines;
mod event;
mod fork;
mod fs_event;
#[cfg(test)]
mod fs_event_tests;
mod fs_event_told;
mod fs_event_tree;
mod fs_poll;
#[cfg(test)]
mod fs_poll_tests;
mod gather;
#[cfg(test)]
mod gather_tests;
mod handle;
mod heap;
mod job;
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod linux;
mod listen;
mod metrics;
mod observe;
#[cfg(test)]
mod observe_tests;
mod passing;
mod pending;
mod pipe;
#[cfg(test)]
mod pipe_tests;
mod poll;
mod poll_handle;
pub mod pool;
mod process;
#[cfg(test)]
mod process_tests;
mod queues;
mod read;
#[cfg(test)]
mod read_tests;
mod ready;
#[cfg(test)]
mod ready_tests;
#[cfg(target_os = "linux")]
mod ring;
mod signal;
#[cfg(test)]
mod signal_tests;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
mod slab;
mod slots;
mod stream;
mod tcp;
#[cfg(test)]
mod testing;
mod timer;
mod timer_queue;
mod tty;
mod turn;
mod udp;
mod udp_batch;
mod udp_queue;
#[cfg(test)]
mod udp_ready_tests;
mod udp_recv;
mod udp_segments;
mod udp_send;
mod watch;
mod watcher;
mod why_alive;
mod write;
mod written;

pub use async_::AsyncSender;
pub use buffers::{Buffers, Many, One};
pub use core::{Config, Core};
pub use deadlines::Deadlines;
pub use event::{Event, Mode};
pub use fs_event::FsEvents;
pub use fs_poll::{FsChange, Look};
pub use metrics::{IdleClock, IdleTime, Metrics};
pub use observe::{CallbackKind, Job as ObservedJob, Observer, Wait};
pub use oxuv_os::{Address, AddressRef, Errno, InternetAddress, Result, fs};
pub use pool::{Lane, Ticket};
pub use process::Stdio;
pub use slots::{AllHandles, Key, Kind};
pub use tty::NewTty;
pub use turn::{Ahead, Phase, Suspended};
pub use udp_recv::DATAGRAM_SIZE;
pub use udp_send::Target;
pub use why_alive::{Alive, Doing, Why};
pub use write::{Progress, Refused};
