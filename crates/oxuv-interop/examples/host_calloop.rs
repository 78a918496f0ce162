//! The other way round: calloop's loop is hosted by ours. Whatever has a descriptor that can be polled is: a loop of another kind, or the
//! socket of a library that does its own reading and writing.

use std::os::fd::AsFd;
use std::time::Duration;

use calloop::EventLoop;
use calloop::channel::{Event, channel};
use oxuv::io::AsyncFd;
use oxuv::task::spawn_local;
use oxuv::{Loop, time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut theirs: EventLoop<'_, bool> = EventLoop::try_new()?;
    let (sender, receiver) = channel();
    theirs.handle().insert_source(receiver, |event, _, is_over| match event {
        Event::Msg(text) => println!("calloop: {text}"),
        Event::Closed => *is_over = true,
    })?;
    std::thread::spawn(move || {
        for nth in 1..=3 {
            std::thread::sleep(Duration::from_millis(5));
            sender.send(format!("message {nth}")).expect("it is received");
        }
    });
    Loop::new()?.block_on(async {
        let ticks = spawn_local(async {
            let mut interval = time::interval(Duration::from_millis(1));
            let mut ticks = 0;
            loop {
                interval.tick().await;
                ticks += 1;
                if ticks == 10 {
                    println!("our task: {ticks} ticks");
                    return;
                }
            }
        });
        let descriptor = AsyncFd::new(theirs.as_fd().try_clone_to_owned()?)?;
        let mut is_over = false;
        while !is_over {
            descriptor.readable().await?;
            theirs.dispatch(Duration::ZERO, &mut is_over)?;
        }
        ticks.await?;
        Ok(())
    })
}
