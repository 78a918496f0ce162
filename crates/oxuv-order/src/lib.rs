//! Order scripts: what is done to which handles, and the callbacks that must follow, in their order.
//!
//! The scripts are in `scripts/`, where a README describes their language. A [`Driver`] runs them on one front of the
//! loop; [`script_tests`] makes a test of each. Every front, and libuv itself, must pass the same scripts.

#![forbid(unsafe_code)]

mod actions;
mod actions_in_c;
mod driver;
mod outside;
mod record;
mod runner;
mod rust_front;
mod script;
mod watchdog;

pub use driver::{
    Call, Callback, ChildOf, Driver, FileArguments, Kind, Listener, Mode, Operation, Outcome, Stdio, What,
};
pub use record::{Entry, questions, record};
pub use runner::{check, run};
pub use rust_front::RustFront;
pub use script::{Line, Script, Side, Statement, Step, parse};

include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
