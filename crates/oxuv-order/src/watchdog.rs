//! A loop that waits for ever waits inside the library, where nothing but the end of the process helps.

use std::io::{Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// No script takes this long.
const DEADLINE: Duration = Duration::from_secs(20);

/// Ends the process with a message unless it is dropped in time.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub(crate) fn new(script: &str) -> Watchdog {
        let (alive, dropped) = channel();
        let script = script.to_owned();
        thread::spawn(move || {
            if dropped.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                // Not `eprintln`, whose output the test's harness keeps, and loses here.
                let _ = writeln!(stderr(), "{script}: this does not end");
                std::process::exit(101);
            }
        });
        Watchdog { _alive: alive }
    }
}
