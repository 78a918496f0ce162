//! A prepare handle and a repeating timer: each time the timer ends the wait, a turn follows, and prepare runs again.
//!
//! `cargo run --example prepare_timer`

use std::time::Duration;

use oxuv::{Loop, Mode, Prepare, Result, Timer};

fn main() -> Result<()> {
    let lp = Loop::new()?;

    let prepare = Prepare::new(&lp)?;
    prepare.start(|_| println!("about to wait"))?;

    let timer = Timer::new(&lp)?;
    let mut ticks = 0;
    timer.start_repeating(Duration::from_millis(50), Duration::from_millis(50), move |timer| {
        ticks += 1;
        println!("tick {ticks}");
        if ticks == 3 {
            timer.close().expect("it is open");
            prepare.close().expect("it is open");
        }
    })?;

    lp.run(Mode::Default)?;
    Ok(())
}
