//! Reads a file, whose path is the argument, or else this example's own, while a timer ticks on: a thread does the reading.

use std::cell::Cell;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use oxuv::{Loop, Mode, Result, Timer, fs};

fn main() -> ExitCode {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/examples/read_file.rs").to_string());
    if let Err(error) = read(&path) {
        eprintln!("{path}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn read(path: &str) -> Result<()> {
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

    let outcome = Rc::new(Cell::new(Ok(())));
    let told = Rc::clone(&outcome);
    fs::read(&lp, path, move |_, bytes| match bytes {
        Ok(bytes) => println!("{} bytes", bytes.len()),
        Err(error) => {
            told.set(Err(error));
            // It may be closed by then.
            let _ = ticks.close();
        }
    })?;

    lp.run(Mode::Default)?;
    outcome.get()
}
