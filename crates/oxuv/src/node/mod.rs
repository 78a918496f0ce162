//! Node's way of driving the loop: its outer loop, its timers and its immediates, for any language.
//!
//! Node.js puts an order of its own on top of libuv's. [`Loop::spin`](crate::Loop::spin) is its outer loop; [`Timers`]
//! is `setTimeout` and `setInterval`; [`Immediates`] is `setImmediate`. What runs, and what is drained between two callbacks
//! (ticks and microtasks in JavaScript), is up to a [`Script`].
//!
//! ```
//! use oxuv::node::{Immediates, Outcome, Script, Timers};
//! use oxuv::{Loop, Mode};
//! use std::cell::RefCell;
//! use std::rc::Rc;
//!
//! /// Writes down what comes.
//! #[derive(Default)]
//! struct Words(RefCell<Vec<&'static str>>);
//!
//! impl Script for Words {
//!     type Task = &'static str;
//!
//!     fn call(&self, task: &'static str) -> Outcome {
//!         self.0.borrow_mut().push(task);
//!         Outcome::Done
//!     }
//!
//!     fn drain(&self) -> Outcome {
//!         Outcome::Done
//!     }
//! }
//!
//! let lp = Loop::new()?;
//! let words = Rc::new(Words::default());
//! let timers = Timers::new(&lp, words.clone())?;
//! let immediates = Immediates::new(&lp, words.clone())?;
//! timers.insert("20 ms", 20, true)?;
//! timers.insert("5 ms", 5, true)?;
//! immediates.add("immediate", true)?;
//! lp.run(Mode::Default)?;
//! assert_eq!(*words.0.borrow(), ["immediate", "5 ms", "20 ms"]);
//! # Ok::<(), oxuv::Errno>(())
//! ```

mod immediates;
mod spin;
mod timer_lists;
mod timers;

pub use immediates::{ImmediateKey, Immediates};
pub use spin::{End, Platform};
pub use timer_lists::{Pass, TimerKey, TimerLists};
pub use timers::Timers;

/// What [`Timers`] and [`Immediates`] call.
pub trait Script: 'static {
    /// What a timer or an immediate carries: a callback with its arguments, as a rule.
    type Task: 'static;

    /// Calls it. It may do whatever it likes with the loop, the timers and the immediates.
    fn call(&self, task: Self::Task) -> Outcome;

    /// Works off the script's queues: comes between any two callbacks and after the last.
    fn drain(&self) -> Outcome;

    /// Whether timers come by [`call_list`](Script::call_list), for which a script must do more by itself.
    const TAKES_LISTS: bool = false;

    /// Calls timers that are due one after the other, with the queues drained between any two, but not before the first nor
    /// after the last: of use where the way into the script is dear. They are no longer among the [`Timers`]: the script
    /// has to leave out those that are stopped or started anew before their turn comes. After one that threw the next
    /// comes at once; [`Outcome::Threw`] is for the last of them.
    fn call_list(&self, tasks: Vec<Self::Task>) -> Outcome {
        let mut last = Outcome::Threw;
        for task in tasks {
            let drained = if last == Outcome::Done { self.drain() } else { Outcome::Done };
            last = if drained == Outcome::Stop { Outcome::Stop } else { self.call(task) };
            if last == Outcome::Stop {
                break;
            }
        }
        last
    }

    /// Whether something is left in the queues because a callback, or the drain itself, threw. [`Immediates`] have it drained
    /// before the first of them.
    fn has_rest(&self) -> bool {
        false
    }
}

/// What became of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned.
    Done,
    /// It threw, and the script has dealt with that. The next callback comes before the queues are drained.
    Threw,
    /// The script has ended: nothing more is called.
    Stop,
}
