//! What tests of tasks share.

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use oxuv::Loop;

/// Miri knows no waits to the nanosecond, which a loop with a clock for tests does without.
pub(crate) fn new_loop() -> Loop {
    if cfg!(miri) { Loop::builder().test_clock().build().unwrap() } else { Loop::new().unwrap() }
}

/// A future that gives its waker away, and is ready when it was told so.
pub(crate) fn gives_its_waker(
    waker: &Arc<Mutex<Option<Waker>>>,
    is_ready: &Arc<AtomicBool>,
) -> impl Future<Output = ()> + use<> {
    let (waker, is_ready) = (Arc::clone(waker), Arc::clone(is_ready));
    poll_fn(move |context| {
        *waker.lock().unwrap() = Some(context.waker().clone());
        if is_ready.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    })
}
