//! Signals for tasks.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::Signal;
use crate::Errno;
use crate::task::{here, remember};

/// Catches a signal for tasks, from the call on.
///
/// ```
/// use oxuv::signal::{Signal, signals};
///
/// let lp = oxuv::Loop::new()?;
/// lp.block_on(async {
///     let mut usr1 = signals(Signal::USR1)?;
///     Signal::raise(Signal::USR1)?;
///     assert!(usr1.recv().await.is_some());
///     std::io::Result::Ok(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// EINVAL for a number that is no signal, and for those that cannot be caught; ENOMEM.
///
/// # Panics
/// When no loop runs on this thread.
#[track_caller]
pub fn signals(number: i32) -> io::Result<Signals> {
    let handle = Signal::new(&here::current())?;
    let caught: Rc<RefCell<Caught>> = Rc::default();
    let counts = Rc::clone(&caught);
    // It is closed if it cannot be started.
    let signals = Signals { handle, caught };
    signals.handle.start(number, move |_, _| {
        let waker = {
            let mut caught = counts.borrow_mut();
            caught.count += 1;
            caught.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    })?;
    Ok(signals)
}

/// Waits for one Ctrl+C. Until then, and from the first poll on, it does not end the process.
///
/// Cancel safety: if this is dropped, Ctrl+C ends the process again. One that came meanwhile is lost; [`signals`] loses none.
///
/// # Errors
/// EINVAL when the loop is gone; ENOMEM.
///
/// # Panics
/// When it is polled and no loop runs on this thread.
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
    let site = Location::caller();
    async move {
        let caught = here::made_at(site, || signals(Signal::INT))?.recv().await;
        Ok(caught.ok_or(Errno::EINVAL)?)
    }
}

/// A signal that tasks wait for: made by [`signals`]. It is a [`Stream`], too, which ends with the loop. When it is dropped, the action from
/// before is put back, unless others wait for the signal.
#[derive(Debug)]
pub struct Signals {
    handle: Signal,
    caught: Rc<RefCell<Caught>>,
}

#[derive(Debug, Default)]
struct Caught {
    count: u64,
    waker: Option<Waker>,
}

impl Signals {
    /// Waits until the process has caught the signal. Each time that it was is told once, also if nobody waited then.
    /// `None` when the loop is gone: nobody catches it then.
    ///
    /// Cancel safety: if this is dropped, nothing is lost.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// As [`recv`](Signals::recv), for those who write futures by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<()>> {
        let mut caught = self.caught.borrow_mut();
        if caught.count > 0 {
            caught.count -= 1;
            return Poll::Ready(Some(()));
        }
        if !self.handle.is_active() {
            return Poll::Ready(None);
        }
        let old = remember(&mut caught.waker, context);
        drop(caught);
        drop(old);
        Poll::Pending
    }
}

impl Stream for Signals {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(context)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.handle.close();
    }
}
