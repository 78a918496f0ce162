//! Running a loop until a future is ready.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::wakeup::Wakeup;
use crate::{Loop, LoopRef, Mode};

/// The loop is kept running as long as this lives.
struct Held<'a>(&'a LoopRef, Arc<Wakeup>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.1.end();
        let inner = &*self.0.0;
        // If the future has panicked, others are still to run.
        let _ = inner.tasks.take_main();
        inner.tasks.leave(inner);
        inner.tasks.end_main();
        inner.tasks.release();
    }
}

impl Loop {
    /// Runs the loop until `future` is ready, and returns what that gives. Everything else of the loop goes on meanwhile:
    /// callbacks, and tasks that were [spawned](LoopRef::spawn_local). The turn in which the future becomes ready is gone through to its
    /// end. What is unfinished then goes on when the loop is run again.
    ///
    /// [`LoopRef::stop`] ends the turn, and nothing more.
    ///
    /// ```
    /// use oxuv::{Loop, time};
    /// use std::time::Duration;
    ///
    /// let lp = Loop::new()?;
    /// let answer = lp.block_on(async {
    ///     time::sleep(Duration::from_millis(1)).await;
    ///     42
    /// });
    /// assert_eq!(answer, 42);
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    ///
    /// # Panics
    /// When `future` does, or a callback; the loop can be run again then. Inside of a callback or a task of any loop on this thread:
    /// that would have to wait for this. When the loop cannot be run: there is no memory for handles of its own, or
    /// foreign hands have closed its descriptor.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(
            LoopRef::current().is_none(),
            "block_on inside of a callback or a task: the loop that runs it would stand still. Await the future, or spawn it"
        );
        let lp: &LoopRef = self;
        let tasks = &lp.0.tasks;
        tasks.hold(lp).expect("the loop cannot run tasks");
        let site = Location::caller();
        let wakeup = tasks.queue_main(lp, site);
        let (id, waker) = (wakeup.id, Waker::from(Arc::clone(&wakeup)));
        let _held = Held(lp, wakeup);
        let mut future = pin!(future);
        let mut output = None;
        let ended = loop {
            let run = crate::drive::run_with(lp, Mode::Default, || {
                while tasks.take_main() {
                    if output.is_none()
                        && let Poll::Ready(ready) =
                            tasks.with_share(&lp.0, id, site, &waker, |context| future.as_mut().poll(context))
                    {
                        output = Some(ready);
                        lp.stop();
                    }
                    tasks.run(&lp.0);
                }
            });
            match (run, output.take()) {
                (_, Some(output)) => break Ok(output),
                (Err(error), None) => break Err(error),
                // Somebody has stopped the loop.
                (Ok(_), None) => {}
            }
        };
        match ended {
            Ok(output) => output,
            Err(error) => panic!("the loop cannot be run: {error}"),
        }
    }
}
