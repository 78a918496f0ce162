//! Futures that are given a time.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::{Clock, Instant, Sleep, sleep, sleep_on};
use crate::task::here;

/// The time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// Waits for `future`, but no longer than that, from the call on. When the time is over, `future` is dropped. If both come at once,
/// it is the future's result.
///
/// ```
/// use oxuv::{Loop, time};
/// use std::time::Duration;
///
/// let lp = Loop::new()?;
/// lp.block_on(async {
///     let never = std::future::pending::<()>();
///     assert!(time::timeout(Duration::from_millis(1), never).await.is_err());
///     assert_eq!(time::timeout(Duration::from_millis(1), async { 42 }).await, Ok(42));
/// });
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// Cancel safety: that of `future`, which is dropped with this.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn timeout<F: Future>(time: Duration, future: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
    within(sleep(time), future)
}

/// As [`timeout`], until a point in time.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn timeout_at<F: Future>(deadline: Instant, future: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
    within(Sleep::new(here::current(), Clock::Monotonic, deadline), future)
}

/// As [`timeout`], by this clock.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn timeout_on<F: Future>(
    clock: Clock,
    time: Duration,
    future: F,
) -> impl Future<Output = Result<F::Output, Elapsed>> {
    within(sleep_on(clock, time), future)
}

fn within<F: Future>(sleep: Sleep, future: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
    Timeout { future: Some(future), sleep }
}

pin_project! {
    /// An `async` function would have room for the future twice.
    struct Timeout<F> {
        // `None` once it is over.
        #[pin]
        future: Option<F>,
        sleep: Sleep,
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut timeout = self.project();
        let future = timeout.future.as_mut().as_pin_mut().expect("a timeout was polled after it was over");
        let result = match future.poll(context) {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => {
                ready!(Pin::new(&mut *timeout.sleep).poll(context));
                Err(Elapsed(()))
            }
        };
        timeout.future.set(None);
        timeout.sleep.stop();
        Poll::Ready(result)
    }
}
