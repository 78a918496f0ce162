//! The order scripts on libuv 1.53, the reference: what they expect must be what it does.
//!
//! With `OXUV_ORDER_LIBRARY=/path/to/libuv.so.1` they run on another library with its interface instead, which is held
//! to what the fronts of this project are held to.

mod call;
mod callbacks;
mod children;
mod driver;
mod files;
mod library;
mod options;
mod requests;

pub use driver::Libuv;
pub use library::{VARIABLE, in_use};
