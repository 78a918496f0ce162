//! Programs on a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::runner::wait;

/// Longer than anything takes on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program on a terminal.
pub(crate) struct Session {
    pub(crate) child: Child,
    pub(crate) terminal: File,
    said: Receiver<Vec<u8>>,
    /// What it has printed, without what only moves the cursor.
    text: String,
    /// How much of that was looked at.
    seen: usize,
}

impl Session {
    /// Runs it with all of its standard streams on a new terminal.
    pub(crate) fn new(command: &mut Command) -> Session {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let end = || Stdio::from(open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let terminal = File::from(master);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody has open any more gives an error.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Session { child, terminal, said, text: String::new(), seen: 0 }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for this text behind what was seen before.
    pub(crate) fn expect(&mut self, wanted: &str) {
        let started = Instant::now();
        loop {
            if let Some(at) = self.text[self.seen..].find(wanted) {
                self.seen += at + wanted.len();
                return;
            }
            match self.said.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
                Ok(bytes) => {
                    let text = plain(&String::from_utf8_lossy(&bytes));
                    self.text.push_str(&text);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let _ = self.child.kill();
                    panic!("no {wanted:?} in {:?}, after {:?}", &self.text[self.seen..], &self.text[..self.seen]);
                }
            }
        }
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        wait(&mut self.child).expect("the program ends")
    }
}

/// Without carriage returns, and without sequences that move the cursor or set modes; colours stay, as `<31>`.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {}
            '\x1b' => {
                let sequence: String = rest.by_ref().skip(1).take_while_inclusive();
                if let Some(colour) = sequence.strip_suffix('m') {
                    out.push_str(&format!("<{colour}>"));
                }
            }
            c => out.push(c),
        }
    }
    out
}

trait UpToLetter {
    fn take_while_inclusive(self) -> String;
}

impl<I: Iterator<Item = char>> UpToLetter for I {
    fn take_while_inclusive(self) -> String {
        let mut text = String::new();
        for c in self {
            text.push(c);
            if c.is_ascii_alphabetic() {
                break;
            }
        }
        text
    }
}
