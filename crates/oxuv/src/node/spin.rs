//! Node's outer loop.

use crate::{Loop, Mode, Result};

/// What an embedder adds to a loop in order to live as Node does: see [`Loop::spin`].
pub trait Platform {
    /// Whether the program is to end now: asked between any two steps.
    fn is_stopping(&self) -> bool {
        false
    }

    /// Runs what background work of the embedder has posted for the loop's thread, until there is no more of it.
    fn drain_tasks(&mut self) {}

    /// Nothing is left to do: the last occasion to start something. Node emits `beforeExit` here.
    fn before_exit(&mut self) {}

    /// Comes after [`before_exit`](Platform::before_exit), each time. Node serialises its start-up snapshot here.
    fn snapshot(&mut self) {}
}

/// How a [spin](Loop::spin) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is alive, and before-exit started nothing. Node emits `exit` then.
    Idle,
    /// The platform is stopping.
    Stopped,
}

impl Loop {
    /// Runs the loop as Node's main program does: until nothing is alive any more, even after the platform was asked.
    ///
    /// ```text
    /// run -> drain tasks -> alive? again : before-exit -> snapshot -> alive? again : over
    /// ```
    ///
    /// Whatever the platform does in one of its methods is its own affair: nothing borrows the loop.
    ///
    /// ```
    /// use oxuv::node::{End, Platform};
    /// use oxuv::{Loop, LoopRef, Timer};
    /// use std::time::Duration;
    ///
    /// struct Twice(LoopRef, u32);
    ///
    /// impl Platform for Twice {
    ///     fn before_exit(&mut self) {
    ///         self.1 += 1;
    ///         if self.1 < 2 {
    ///             let timer = Timer::new(&self.0).unwrap();
    ///             timer.start(Duration::from_millis(1), |timer| timer.close().unwrap()).unwrap();
    ///         }
    ///     }
    /// }
    ///
    /// let lp = Loop::new()?;
    /// let mut platform = Twice(lp.clone(), 0);
    /// assert_eq!(lp.spin(&mut platform)?, End::Idle);
    /// assert_eq!(platform.1, 2);
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Loop::run`].
    ///
    /// # Panics
    /// When a callback does, as [`Loop::run`].
    #[doc(alias = "node::SpinEventLoop")]
    pub fn spin(&self, platform: &mut impl Platform) -> Result<End> {
        while !platform.is_stopping() {
            self.run(Mode::Default)?;
            if platform.is_stopping() {
                break;
            }
            platform.drain_tasks();
            if self.is_alive() {
                continue;
            }
            if platform.is_stopping() {
                break;
            }
            platform.before_exit();
            if platform.is_stopping() {
                break;
            }
            platform.snapshot();
            if !self.is_alive() {
                return Ok(if platform.is_stopping() { End::Stopped } else { End::Idle });
            }
        }
        Ok(End::Stopped)
    }
}
