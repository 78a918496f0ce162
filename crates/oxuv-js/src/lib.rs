//! JavaScript on the oxuv event loop, in Node's exact order: the program `oxuv`.
//!
//! [`Program`] is a script with its loop and its engine. The engine is QuickJS; Node's outer loop, timers and immediates are
//! those of [`oxuv::node`]; the modules that scripts use are the files of `lib/`, on top of the functions of `bindings`.

#![forbid(unsafe_code)]

mod bindings;
mod host;
mod library;
mod observing;
mod program;
mod prompt;
mod queues;

/// What fuzzing needs of the inside.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use crate::bindings::{Http, tell_http};
}

pub use observing::{Observing, WhyAlive};
pub use program::{Options, Program, Source};
