//! Our loop inside of tokio's current-thread runtime: its tasks and ours take turns on one thread, and talk by a channel.

use std::time::Duration;

use oxuv::{Guest, Loop, time};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

/// Runs the guest for as long as something of it is alive.
async fn drive(guest: AsyncFd<Guest>) -> std::io::Result<()> {
    while guest.get_ref().is_alive() {
        let mut ready = guest.readable().await?;
        guest.get_ref().turn()?;
        // tokio hears of changes only, so the guest is asked whether that was all.
        if !guest.get_ref().is_ready()? {
            ready.clear_ready();
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// The guest's descriptor stays the same as long as it is there, which is what the newer way to register asks one to promise.
#[expect(deprecated)]
fn register(guest: Guest) -> std::io::Result<AsyncFd<Guest>> {
    AsyncFd::new(guest)
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let guest = Guest::new(Loop::new()?)?;
        let (sender, mut received) = mpsc::channel(1);
        guest.spawn_local(async move {
            for step in 1..=5 {
                time::sleep(Duration::from_millis(2)).await;
                sender.send(step).await.expect("it is received");
            }
        });
        // What was begun outside of a turn the descriptor does not know yet.
        guest.rearm()?;
        let prints = async {
            while let Some(step) = received.recv().await {
                println!("step {step} of our task, received by tokio's");
            }
        };
        tokio::join!(drive(register(guest)?), prints).0
    })
}
