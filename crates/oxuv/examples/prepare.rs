//! A prepare handle alone: it runs once, right before the loop waits, and then there is nothing to wake it.
//!
//! `cargo run --example prepare`, and Ctrl-C. With a timer beside it, it runs again each time the timer ends the wait:
//! see `prepare_timer`.

use oxuv::{Loop, Mode, Prepare, Result};

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let prepare = Prepare::new(&lp)?;
    prepare.start(|_| println!("about to wait"))?;
    // An active handle keeps the loop running, so this waits for ever.
    lp.run(Mode::Default)?;
    Ok(())
}
