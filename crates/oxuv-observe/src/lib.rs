//! What a loop does, for people to see.
//!
//! [`observer`] makes an [`Observer`](oxuv_core::Observer) of the core's. It writes a [`Trace`] that Perfetto and chrome://tracing
//! open, tells of slow callbacks, and counts; which of these, [`Settings`] say. A [`Watchdog`] is a thread of its own
//! that sees when a loop is stuck in a callback. [`view::write`] makes a trace into a page for any browser.

#![forbid(unsafe_code)]

mod alike;
mod distribution;
mod inquiry;
mod numbers;
mod prometheus;
mod recorder;
mod settings;
#[cfg(feature = "tracing")]
mod spans;
mod tally;
mod text;
mod trace;
pub mod view;
mod watchdog;

pub use alike::{group_alike, how_many_keepers};
pub use inquiry::Inquiry;
pub use numbers::{Delays, Numbers, OfKind};
pub use recorder::{NoOrigins, Origins, observer};
pub use settings::{OnSlow, Settings, SlowCallback, path_for_process};
pub use trace::Trace;
pub use watchdog::{Pulse, Stuck, Watchdog};
