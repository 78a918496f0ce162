//! Work on other threads, while the loop goes on: a timer ticks until the sums are there.
//!
//! `cargo run --example work`

use std::cell::Cell;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Duration;

use oxuv::{Loop, Mode, Result, Timer};

/// Something that takes its time.
fn sum_up_to(last: u64) -> u64 {
    sleep(Duration::from_millis(200));
    (1..=last).sum()
}

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let ticker = Timer::new(&lp)?;
    let ticks = Rc::new(Cell::new(0));
    let seen = ticks.clone();
    ticker
        .start_repeating(Duration::from_millis(20), Duration::from_millis(20), move |_| ticks.set(ticks.get() + 1))?;

    let left = Rc::new(Cell::new(2));
    for last in [1000, 2000] {
        let (ticker, left) = (ticker.clone(), left.clone());
        lp.work(
            move || sum_up_to(last),
            move |_, sum| {
                println!("the sum up to {last} is {}", sum.expect("it was neither cancelled nor did it panic"));
                left.set(left.get() - 1);
                if left.get() == 0 {
                    ticker.close().expect("it is open");
                }
            },
        )?;
    }
    lp.run(Mode::Default)?;
    println!("the loop went on meanwhile: {}", seen.get() > 2);
    Ok(())
}
