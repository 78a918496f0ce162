//! What hyper needs of a runtime besides streams.

use std::future::Future;

use super::spawn_local;

/// Spawns hyper's tasks on the loop that runs on this thread: for HTTP/2, and for servers that need an executor.
#[derive(Debug, Clone, Copy, Default)]
pub struct HyperExecutor;

impl<F: Future + 'static> hyper::rt::Executor<F> for HyperExecutor {
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    fn execute(&self, future: F) {
        drop(spawn_local(future));
    }
}
