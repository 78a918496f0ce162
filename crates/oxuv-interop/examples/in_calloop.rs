//! Our loop as a source of calloop's: a task of ours and a timer of calloop's take turns on one thread.

use std::time::Duration;

use calloop::generic::Generic;
use calloop::timer::{TimeoutAction, Timer};
use calloop::{EventLoop, Interest, Mode, PostAction};
use oxuv::{Guest, Loop, time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guest = Guest::new(Loop::new()?)?;
    guest.spawn_local(async {
        for step in 1..=5 {
            time::sleep(Duration::from_millis(5)).await;
            println!("our task: step {step}");
        }
    });
    // What was begun outside of a turn the descriptor does not know yet.
    guest.rearm()?;

    let mut host: EventLoop<'_, u32> = EventLoop::try_new()?;
    let signal = host.get_signal();
    // It is readable whenever our loop has something to do, and a turn never waits.
    let ours = Generic::new(guest, Interest::READ, Mode::Level);
    host.handle().insert_source(ours, move |_, guest, _| {
        if !guest.turn()? {
            signal.stop();
        }
        Ok(PostAction::Continue)
    })?;
    let tick = Duration::from_millis(1);
    host.handle().insert_source(Timer::from_duration(tick), move |_, _, ticks| {
        *ticks += 1;
        TimeoutAction::ToDuration(tick)
    })?;
    let mut ticks = 0;
    host.run(None, &mut ticks, |_| ())?;
    println!("calloop's timer: {ticks} ticks");
    Ok(())
}
