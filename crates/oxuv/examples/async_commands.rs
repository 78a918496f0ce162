//! Commands that run side by side, each with half a second: `async_commands COMMAND...`.

use std::io;
use std::time::Duration;

use oxuv::task::spawn_local;
use oxuv::{Command, Loop, time};

fn main() -> io::Result<()> {
    let lp = Loop::new()?;
    lp.block_on(async {
        let begin = time::Instant::now();
        let run = |command: String| {
            spawn_local(async move {
                let half_a_second = Duration::from_millis(500);
                let result = time::timeout(half_a_second, Command::new("sh").arg("-c").arg(&command).output()).await;
                match result {
                    Ok(Ok(output)) => println!("{command}: {}", String::from_utf8_lossy(&output.stdout).trim_end()),
                    Ok(Err(error)) => println!("{command}: {error}"),
                    Err(elapsed) => println!("{command}: {elapsed}"),
                }
            })
        };
        let tasks: Vec<_> = std::env::args().skip(1).map(run).collect();
        for task in tasks {
            task.await?;
        }
        eprintln!("all in {:?}", begin.elapsed());
        Ok(())
    })
}
