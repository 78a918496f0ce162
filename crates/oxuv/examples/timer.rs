//! A timer that fires once: the loop ends when nothing is left to wait for.
//!
//! `cargo run --example timer`

use std::time::{Duration, Instant};

use oxuv::{Loop, Mode, Result, Timer};

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let timer = Timer::new(&lp)?;
    let start = Instant::now();
    timer.start(Duration::from_millis(100), move |timer| {
        println!("fired after {} ms", start.elapsed().as_millis());
        timer.close().expect("it is open");
    })?;
    println!("waiting");
    lp.run(Mode::Default)?;
    println!("done");
    Ok(())
}
