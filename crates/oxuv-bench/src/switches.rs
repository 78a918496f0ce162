//! What it takes to have tasks and to go from one to the other, for whoever has such. No event is waited for.

use std::io;

use tokio::sync::mpsc;

use crate::program::{Spent, timed_section};

/// A loop with tasks.
pub(crate) trait Spawner {
    /// Runs the loop until that is ready.
    fn run(&self, future: impl Future<Output = ()>);
    /// A task, and a future of its end; inside of [`run`](Spawner::run).
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> impl Future<Output = ()>;
    fn yield_now() -> impl Future<Output = ()> + Send;
}

fn timed(spawner: &impl Spawner, future: impl Future<Output = ()>) -> io::Result<Spent> {
    timed_section(|| {
        spawner.run(future);
        Ok(())
    })
}

/// An operation is a task that does nothing: spawned, and waited for.
pub(crate) fn join(spawner: &impl Spawner, operations: usize) -> io::Result<Spent> {
    timed(spawner, async {
        for _ in 0..operations {
            spawner.spawn(async {}).await;
        }
    })
}

/// So many tasks give way to each other; an operation is one of them that does so once.
pub(crate) fn give_way<S: Spawner>(spawner: &S, tasks: usize, operations: usize) -> io::Result<Spent> {
    timed(spawner, async {
        let give_way = |_| {
            spawner.spawn(async move {
                for _ in 0..operations / tasks {
                    S::yield_now().await;
                }
            })
        };
        let all: Vec<_> = (0..tasks).map(give_way).collect();
        for task in all {
            task.await;
        }
    })
}

/// Two tasks with a channel each way; an operation is a message there and one back.
pub(crate) fn ping_pong(spawner: &impl Spawner, operations: usize) -> io::Result<Spent> {
    timed(spawner, async {
        let ((there, mut ours), (back, mut theirs)) = (mpsc::channel(1), mpsc::channel(1));
        let answers = spawner.spawn(async move {
            while let Some(number) = ours.recv().await {
                let _ = back.send(number).await;
            }
        });
        let asks = spawner.spawn(async move {
            for number in 0..operations {
                let _ = there.send(number).await;
                assert_eq!(theirs.recv().await, Some(number));
            }
        });
        asks.await;
        answers.await;
    })
}
