//! The prompt, on a pseudo-terminal.

mod runner;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use runner::{program, run, scratch, wait};

/// Longer than anything takes on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program on a terminal.
struct Session {
    child: Child,
    terminal: File,
    said: Receiver<Vec<u8>>,
    /// What it has printed, without what only moves the cursor.
    text: String,
    /// How much of that was looked at.
    seen: usize,
}

impl Session {
    fn new(history: &std::path::Path, colours: bool) -> Session {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let end = || Stdio::from(open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap());
        let mut command = program();
        command.env("OXUV_HISTORY", history).env("TERM", "xterm").env_remove("NO_COLOR");
        if !colours {
            command.env("NO_COLOR", "1");
        }
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

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for this text behind what was seen before.
    fn expect(&mut self, wanted: &str) {
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

    /// Types a line at the prompt, and waits for an answer.
    fn ask(&mut self, line: &str, answer: &str) {
        self.expect("> ");
        self.press(&format!("{line}\r"));
        // The echo of the line itself.
        self.expect(line);
        self.expect(answer);
    }

    fn end(mut self) -> ExitStatus {
        wait(&mut self.child).expect("the prompt ends")
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

#[test]
fn lines_are_run_and_their_values_printed() {
    let history = scratch("history");
    let mut session = Session::new(&history, false);
    session.ask("1 + 1", "\n2\n");
    session.ask("_ * 21", "\n42\n");
    session.ask("({ a: 1, b: 'x' })", "\n{ a: 1, b: 'x' }\n");
    session.ask("{ c: 2 }", "\n{ c: 2 }\n");
    session.ask("let kept = [1]", "\nundefined\n");
    session.ask("kept", "\n[ 1 ]\n");
    session.ask("function f() {", "\n... ");
    session.press("return kept\r");
    session.expect("... ");
    session.press("}\r");
    session.expect("\nundefined\n");
    session.ask("f()", "\n[ 1 ]\n");
    session.ask("`one", "\n... ");
    session.press("two`\r");
    session.expect("\n'one\\ntwo'\n");
    session.ask("const later = await Promise.resolve('waited')", "\nundefined\n");
    session.ask("later", "\n'waited'\n");
    session.ask("util.format('%d', 5), require('util') === util", "\ntrue\n");
    session.ask(".help", "Ctrl+D");
    session.ask(".exit", "\n");
    assert_eq!(session.end().code(), Some(0));

    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.contains("1 + 1\n") && kept.contains("return kept\n"), "{kept}");
    let mut session = Session::new(&history, false);
    session.expect("> ");
    // The line before the last one, by two times the key up.
    session.press("\x1b[A\x1b[A\r");
    session.expect("Ctrl+D");
    session.expect("> ");
    session.press("\x04");
    assert_eq!(session.end().code(), Some(0));
    fs::remove_file(history).unwrap();
}

#[test]
fn errors_leave_the_prompt() {
    let history = scratch("history");
    let mut session = Session::new(&history, false);
    session.ask("throw new TypeError('bad')", "\nUncaught TypeError: bad\n    at REPL1:1:11\n");
    session.ask("let z = = 3", "\nUncaught SyntaxError: unexpected token in expression: '='\n    at REPL2:1:9\n");
    session.ask("_error.name", "\n'SyntaxError'\n");
    session.ask("throw 5", "\nUncaught 5\n");
    session.ask("await Promise.reject(new Error('waited'))", "\nUncaught Error: waited\n");
    session.ask("Promise.reject(new Error('rejected')); 0", "\nUncaught Error: rejected\n");
    session.ask("setTimeout(() => { throw new Error('late') }, 1); 0", "\n0\n");
    session.expect("Uncaught Error: late\n");
    session.press("'still here'\r");
    session.expect("\n'still here'\n");
    session.ask("process.exitCode = 3", "\n3\n");
    session.expect("> ");
    session.press("\x04");
    assert_eq!(session.end().code(), Some(3));
    let _ = fs::remove_file(history);
}

#[test]
fn timers_come_while_it_waits_and_keys_end_it() {
    let history = scratch("history");
    let mut session = Session::new(&history, false);
    session.ask("setTimeout(() => console.log('timer', 6 * 7), 5); 0", "\n0\n");
    session.expect("timer 42\n");
    session.press("[1,\r");
    session.expect("... ");
    // Forgets the line.
    session.press("\x03");
    session.expect("> ");
    session.press("7\r");
    session.expect("\n7\n");
    session.expect("> ");
    session.press("\x03");
    session.expect("(To exit, press Ctrl+C again or Ctrl+D or type .exit)\n");
    session.expect("> ");
    session.press("\x03");
    assert_eq!(session.end().code(), Some(0));
    let _ = fs::remove_file(history);
}

#[test]
fn colours_are_for_terminals() {
    let history = scratch("history");
    let mut session = Session::new(&history, true);
    session.ask("'green'", "<32>'green'<39>\n");
    session.expect("> ");
    session.press("\x04");
    assert_eq!(session.end().code(), Some(0));
    let _ = fs::remove_file(history);

    let ran = run(program().args(["-i"]).env("OXUV_HISTORY", ""), Some(b"'plain'\n1 +\n1\nprocess.exit(4)\n"));
    assert!(ran.out.contains("'plain'\n") && ran.out.contains("2\n"), "{}", ran.out);
    assert!(ran.text().ends_with("--- exit 4\n"), "{}{}", ran.out, ran.err);
}
