//! Timers.

use std::time::Duration;

use crate::callbacks::Callback;
use crate::handle::{is_a_handle, nanoseconds};
use crate::{Handle, LoopRef, Result};

/// Calls a closure later, once or repeatedly. Phase: timers.
///
/// Times count from [`LoopRef::now`], which is read once a turn, not from the call: after work that took long, call
/// [`LoopRef::update_time`] first. Counted so, a timer never comes early (on a loop with a grain: by no more than the
/// grain, and a repeat shorter than the grain comes in each turn); timers due at the same time come in the order in which they
/// were started.
///
/// ```
/// use oxuv::{Loop, Mode, Timer};
/// use std::time::Duration;
///
/// let lp = Loop::new()?;
/// let mut left = 3;
/// Timer::new(&lp)?.start_repeating(Duration::ZERO, Duration::from_millis(5), move |timer| {
///     println!("{left}");
///     left -= 1;
///     if left == 0 {
///         timer.close().unwrap();
///     }
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_timer_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Timer(pub(crate) Handle);

is_a_handle!(Timer);

impl Timer {
    /// A new timer, stopped.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_timer_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<Timer> {
        Ok(Timer(Handle::make(owner, |core| core.timer_init(0))?))
    }

    /// Calls `callback` once, `after` that time. If the timer was started before, this replaces time and closure.
    ///
    /// # Errors
    /// EINVAL when closing.
    #[doc(alias = "uv_timer_start")]
    pub fn start(&self, after: Duration, callback: impl FnMut(&Timer) + 'static) -> Result<()> {
        self.start_repeating(after, Duration::ZERO, callback)
    }

    /// Calls `callback` `after` that time, and then `every` so often. An `every` of zero is once.
    ///
    /// The timer is started anew before the closure is called, from the loop's time of then: time lost in callbacks is
    /// not caught up with.
    ///
    /// # Errors
    /// EINVAL when closing.
    #[doc(alias = "uv_timer_start")]
    pub fn start_repeating(
        &self,
        after: Duration,
        every: Duration,
        callback: impl FnMut(&Timer) + 'static,
    ) -> Result<()> {
        self.with(|core, key| core.timer_start(key, nanoseconds(after), nanoseconds(every)))?;
        self.set_callback(Callback::Timer(Box::new(callback)));
        Ok(())
    }

    /// Starts the timer anew, with the closure and the repeat that it has: due `after` that time. It may be running,
    /// stopped, or have come. This is the way to put a timer off again and again: nothing is allocated.
    ///
    /// # Errors
    /// EINVAL when it was never started, or is closing.
    #[doc(alias = "uv_timer_start")]
    pub fn restart(&self, after: Duration) -> Result<()> {
        self.with(|core, key| core.timer_restart(key, nanoseconds(after)))
    }

    /// Stops the timer. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_timer_stop")]
    pub fn stop(&self) -> Result<()> {
        self.with(|core, key| core.timer_stop(key))
    }

    /// Starts a repeating timer anew, with its repeat as the time and the closure that it has. Nothing happens if it
    /// does not repeat.
    ///
    /// # Errors
    /// EINVAL when it was never started, or is closing.
    #[doc(alias = "uv_timer_again")]
    pub fn again(&self) -> Result<()> {
        self.with(|core, key| core.timer_again(key))
    }

    /// The repeat, zero when it does not repeat.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_timer_get_repeat")]
    pub fn repeat(&self) -> Result<Duration> {
        self.with(|core, key| core.timer_repeat(key)).map(Duration::from_nanos)
    }

    /// Sets the repeat. It acts when the timer is next due, and does not start it.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_timer_set_repeat")]
    pub fn set_repeat(&self, every: Duration) -> Result<()> {
        self.with(|core, key| core.timer_set_repeat(key, nanoseconds(every)))
    }

    /// The time from [`LoopRef::now`] until the timer is due; zero when that is past.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_timer_get_due_in")]
    pub fn due_in(&self) -> Result<Duration> {
        self.with(|core, key| core.timer_due_in(key)).map(Duration::from_nanos)
    }
}
