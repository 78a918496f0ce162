//! Reads a file, whose path is the argument, or else this example's own, while a timer ticks on: a thread does the reading.

use std::time::Duration;

use oxuv::{Loop, Mode, Timer, fs};

fn main() -> oxuv::Result<()> {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/examples/read_file.rs").to_string());
    let lp = Loop::new()?;

    let ticks = Timer::new(&lp)?;
    let mut count = 0;
    ticks.start_repeating(Duration::from_millis(10), Duration::from_millis(10), move |ticks| {
        count += 1;
        println!("tick {count}");
        if count == 3 {
            ticks.close().unwrap();
        }
    })?;

    fs::read(&lp, path.clone(), move |_, bytes| match bytes {
        Ok(bytes) => println!("{} bytes", bytes.len()),
        Err(error) => println!("{path}: {error}"),
    })?;

    lp.run(Mode::Default)?;
    Ok(())
}
