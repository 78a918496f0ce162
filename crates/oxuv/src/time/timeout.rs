//! Futures that are given a time.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

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

async fn within<F: Future>(mut sleep: Sleep, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    poll_fn(|context| {
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut sleep).poll(context).map(|()| Err(Elapsed(())))
    })
    .await
}
