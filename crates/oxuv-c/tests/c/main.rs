//! C programs against `uv.h` and the libraries.

// The loop of a build under Miri has no real kernel, and Miri runs no compiler.
#![cfg(not(miri))]

mod behaviour;
mod build;
mod echo;
mod examples;
mod exports;
mod facts;
mod header;
mod layout;
mod loading;
mod observing;
mod peers;
mod programs;
mod trace;
