//! The loop's time as hyper has it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant as StdInstant};

use hyper::rt;
use send_wrapper::SendWrapper;

use super::{Instant, Sleep, sleep, sleep_until};

/// hyper's timer on the loop that runs on this thread: for its timeouts of headers, its keep-alive, and a pool's idle connections.
/// A [clock for tests](crate::Builder::test_clock) has them jump, too.
///
/// What waits by it has to stay on this thread, as the loop's streams do anyway: hyper asks for a future that may be sent to others,
/// and this one panics when it is polled or dropped there.
#[derive(Debug, Clone, Copy)]
pub struct HyperTimer {
    /// The same moment in the standard library's time, which is hyper's, and in the loop's.
    theirs: StdInstant,
    ours: Instant,
}

impl HyperTimer {
    /// A timer of the loop that runs on this thread.
    ///
    /// # Panics
    /// When no loop runs here.
    #[track_caller]
    pub fn new() -> HyperTimer {
        HyperTimer { theirs: StdInstant::now(), ours: Instant::now() }
    }

    fn deadline(&self, deadline: StdInstant) -> Instant {
        self.ours + deadline.saturating_duration_since(self.theirs)
    }
}

/// As [`HyperTimer::new`].
impl Default for HyperTimer {
    #[track_caller]
    fn default() -> HyperTimer {
        HyperTimer::new()
    }
}

/// # Panics
/// All methods, when no loop runs on this thread.
impl rt::Timer for HyperTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(SendWrapper::new(sleep(duration))))
    }

    fn sleep_until(&self, deadline: StdInstant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(SendWrapper::new(sleep_until(self.deadline(deadline)))))
    }

    fn now(&self) -> StdInstant {
        self.theirs + (Instant::now() - self.ours)
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: StdInstant) {
        match sleep.as_mut().downcast_mut_pin::<HyperSleep>() {
            Some(sleep) => sleep.get_mut().0.reset(self.deadline(deadline)),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

struct HyperSleep(SendWrapper<Sleep>);

impl Future for HyperSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut *self.0).poll(context)
    }
}

impl rt::Sleep for HyperSleep {}
