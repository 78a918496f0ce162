//! The event loop that Node.js made famous, for Rust.
//!
//! A [`Loop`] runs handles: [`Timer`], [`Idle`], [`Prepare`], [`Check`], [`Async`], [`Poll`], [`Signal`], [`Tcp`],
//! [`Pipe`], [`Tty`], [`Udp`], [`Process`], [`FsEvent`] and [`FsPoll`]. Each is started with a
//! closure, and a turn of the loop calls what is due, phase by phase, in the order of libuv:
//!
//! ```text
//! timers -> { pending -> idle -> prepare -> poll -> pending -> check -> closing -> timers }
//! ```
//!
//! ```
//! use oxuv::{Loop, Mode, Timer};
//! use std::time::Duration;
//!
//! let lp = Loop::new()?;
//! let timer = Timer::new(&lp)?;
//! timer.start(Duration::from_millis(10), |timer| {
//!     println!("ten milliseconds later");
//!     timer.close().unwrap();
//! })?;
//! lp.run(Mode::Default)?;
//! # Ok::<(), oxuv::Errno>(())
//! ```
//!
//! # Callbacks
//!
//! All callbacks run on the thread that calls [`Loop::run`], one after the other, and never inside the call that causes
//! them. Everything is allowed in them: to start, stop and close any handle, their own included, to make new ones, and
//! to stop the loop; only running the loop again is refused with EBUSY. A panic in a callback leaves `run`, and the
//! loop can be run again: what was due and not called yet is called then.
//!
//! # Handles
//!
//! A value such as a [`Timer`] is a cheap reference to a handle of the loop: clone it at will. Dropping it changes
//! nothing. A handle lives, with its closures, until [`Handle::close`] is called and its close callback has run, or
//! until the [`Loop`] is dropped, which closes all handles and calls nobody. From then on its methods say EINVAL.
//!
//! An active handle keeps [`Loop::run`] from returning, unless it is unreferenced with [`Handle::unref`].
//!
//! # Futures
//!
//! [`Loop::block_on`] runs the loop until a future is ready, and [`LoopRef::spawn_local`] adds a [`task`]. The modules [`time`], [`net`], [`fs::task`],
//! [`process`], [`signal`] and [`io`] have what tasks wait for; the [`guide`] tells when to use which, and how to get from one to the other.
//! A loop lives inside of another one as a [`Guest`].
//!
//! # Other threads
//!
//! What would hold up the loop runs on a [`Pool`] of threads: [`LoopRef::work`] for closures, [`LoopRef::lookup`] for
//! names, the module [`fs`] for files, which the kernel does by io_uring where it can. The callback gets the result on the loop's thread. A [`Request`] keeps
//! [`Loop::run`] from returning until it is done; it can be cancelled until it has begun. [`Async`] is for threads of your
//! own.

#![forbid(unsafe_code)]

#[path = "async.rs"]
mod async_;
mod callbacks;
mod datagram;
mod drive;
pub mod fs;
mod fs_event;
mod fs_poll;
mod guest;
#[doc = include_str!("guide.md")]
pub mod guide {}
mod handle;
pub mod io;
mod kept;
#[path = "loop.rs"]
mod loop_;
mod names;
pub mod net;
pub mod node;
pub mod observe;
mod pipe;
mod poll;
pub mod process;
mod requests;
pub mod signal;
mod spare;
mod stream;
pub mod task;
mod tcp;
pub mod time;
mod timer;
mod tty;
mod udp;
mod watcher;
mod work;

pub use async_::{Async, Sender};
pub use datagram::{Datagram, Route};
pub use fs_event::{FsEvent, FsHappened};
pub use fs_poll::{FsChange, FsPoll};
pub use guest::Guest;
pub use handle::Handle;
pub use loop_::{Builder, Loop, LoopRef};
pub use oxuv_core::kernel::{BindFlags, Ecn, Interface, Keepalive, Readiness, UdpBindFlags, UdpOption};
pub use oxuv_core::linux::names::{Address, Found, Hints, LookupFlags, Name, NameFlags, SocketKind};
pub use oxuv_core::linux::{TtyMode, WindowSize};
pub use oxuv_core::pool::{Lane, LaneMetrics, PoolMetrics};
pub use oxuv_core::{Errno, FsEvents, IdleClock, Kind, Metrics, Mode, Result};
pub use pipe::{Passable, Passed, Pipe, PipeName};
pub use poll::Poll;
pub use process::{Command, Process, Stdio};
pub use signal::Signal;
pub use tcp::Tcp;
pub use timer::Timer;
pub use tty::Tty;
pub use udp::Udp;
pub use watcher::{Check, Idle, Prepare};
pub use work::{NotDone, Pool, Request};
