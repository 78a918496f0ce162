//! Streams, standard streams, terminals, lines and signals. Scripts of `tests/scripts/streams` print what Node prints of them.

#[path = "runner/compare.rs"]
mod compare;
mod runner;
#[path = "runner/terminal.rs"]
mod terminal;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use compare::compare;
use runner::{program, run, scratch, wait};
use terminal::Session;

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("streams", 4);
}

fn evaluate(code: &str) -> Command {
    let mut command = program();
    command.arg("-e").arg(code);
    command
}

/// Its exit code and standard error, when nobody reads its standard output.
fn with_closed_output(code: &str) -> (Option<i32>, String) {
    let said = scratch("err");
    // The script begins when there is no reader any more.
    let code = format!("require('fs').readSync(0, Buffer.alloc(1)); {code}");
    let mut child = evaluate(&code)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    let status = wait(&mut child).expect("it ends");
    let text = fs::read_to_string(&said).unwrap();
    fs::remove_file(said).unwrap();
    (status.code(), text)
}

#[test]
fn a_closed_output_is_an_error_event() {
    let listens = "process.stdout.on('error', (e) => { console.error(e.code, e.syscall); process.exitCode = 9 }); \
                   process.stdout.write('lost')";
    assert_eq!(with_closed_output(listens), (Some(9), "EPIPE write\n".to_owned()));
    let (code, said) = with_closed_output("process.stdout.write('lost'); setTimeout(() => {}, 10_000)");
    assert_eq!(code, Some(1));
    assert!(said.contains("Error: write EPIPE"), "{said}");
    // Whoever only prints is not disturbed.
    assert_eq!(with_closed_output("console.log('lost'); console.error('on')"), (Some(0), "on\n".to_owned()));
}

#[test]
fn a_full_pipe_loses_nothing() {
    // Of a pipe that somebody made non-blocking, and of a socket.
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let code = "const line = 'x'.repeat(999) + '\\n'; for (let i = 0; i < 3000; i++) process.stdout.write(line); \
                process.stdout.write('end', () => console.error('written'))";
    let mut child = evaluate(code).stdout(std::os::fd::OwnedFd::from(theirs)).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let mut got = Vec::new();
    ours.read_to_end(&mut got).unwrap();
    assert_eq!(got.len(), 3_000_003);
    assert!(wait(&mut child).expect("it ends").success());
}

#[test]
fn input_is_read_from_whatever_it_is() {
    let code = "let size = 0; process.stdin.on('data', (d) => { size += d.length }).on('end', () => console.log(size))";
    let text = vec![b'x'; 300_000];
    // A pipe.
    assert_eq!(run(&mut evaluate(code), Some(&text)).text(), "300000\n--- exit 0\n");
    assert_eq!(run(&mut evaluate(code), None).text(), "0\n--- exit 0\n");
    // A file, and a socket.
    let path = scratch("in");
    fs::write(&path, &text).unwrap();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let writer = std::thread::spawn(move || ours.write_all(&vec![b'x'; 300_000]).unwrap());
    for input in [Stdio::from(File::open(&path).unwrap()), Stdio::from(std::os::fd::OwnedFd::from(theirs))] {
        let out = evaluate(code).stdin(input).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), "300000\n");
    }
    writer.join().unwrap();
    // A folder has nothing in it.
    let out = evaluate(code).stdin(File::open("/").unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "0\n");
    assert!(out.status.success());
    fs::remove_file(path).unwrap();
}

#[test]
fn who_pauses_or_lets_go_of_the_input_can_leave() {
    for code in [
        "process.stdin.on('data', () => {}); setTimeout(() => process.stdin.pause(), 20)",
        "process.stdin.on('data', () => {}).unref()",
        "process.stdin.once('data', () => process.stdin.destroy())",
    ] {
        let mut child = evaluate(code).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        if code.contains("destroy") {
            input.write_all(b"x").unwrap();
        }
        assert!(wait(&mut child).expect(code).success());
        drop(input);
    }
}

/// A script on a terminal.
fn on_terminal(code: &str) -> Session {
    Session::new(evaluate(code).env("TERM", "xterm").env("NO_COLOR", "1"))
}

#[test]
fn keys_come_one_by_one_in_raw_mode() {
    let mut session = on_terminal(
        "process.stdin.setRawMode(true); process.stdin.setEncoding('utf8'); console.log('raw', process.stdin.isRaw); \
         process.stdin.on('data', (key) => { console.log('key', JSON.stringify(key)); if (key === 'q') process.exit(4) })",
    );
    session.expect("raw true");
    session.press("a");
    session.expect("key \"a\"");
    session.press("\x03");
    session.expect("key \"\\u0003\"");
    // The master's side has the modes, too; and gets them back.
    assert!(!tcgetattr(&session.terminal).unwrap().local_modes.contains(LocalModes::ICANON));
    session.press("q");
    let master = session.terminal.try_clone().unwrap();
    assert_eq!(session.end().code(), Some(4));
    assert!(tcgetattr(&master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
}

#[test]
fn a_signal_that_ends_the_program_leaves_the_terminal_as_it_was() {
    use rustix::process::{Pid, Signal, kill_process};
    for (code, signal) in [
        ("", Signal::TERM),
        ("", Signal::INT),
        (
            "const f = () => {}; process.on('SIGINT', f); process.stdin.setRawMode(true); process.off('SIGINT', f)",
            Signal::INT,
        ),
    ] {
        let mut session =
            on_terminal(&format!("{code}; process.stdin.setRawMode(true).resume(); console.log('ready')"));
        session.expect("ready");
        assert!(!tcgetattr(&session.terminal).unwrap().local_modes.contains(LocalModes::ICANON));
        let master = session.terminal.try_clone().unwrap();
        kill_process(Pid::from_child(&session.child), signal).unwrap();
        assert_eq!(session.end().signal(), Some(signal.as_raw()), "{code}");
        assert!(tcgetattr(&master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{code}");
    }
}

#[test]
fn a_terminal_has_a_size_and_tells_of_another() {
    let mut session = on_terminal(
        "const { stdout } = process; console.log(stdout.isTTY, process.stdin.isTTY, require('tty').isatty(1)); \
         stdout.on('resize', () => { console.log('size', stdout.columns, stdout.rows, stdout.getWindowSize()); process.exit() }); \
         console.log('ready'); setInterval(() => {}, 1000)",
    );
    session.expect("true true true");
    session.expect("ready");
    let size = Winsize { ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&session.terminal, size).unwrap();
    // It is nobody's controlling terminal, so that the signal must be sent.
    let id = rustix::process::Pid::from_child(&session.child);
    rustix::process::kill_process(id, rustix::process::Signal::WINCH).unwrap();
    session.expect("size 99 33 [ 99, 33 ]");
    assert!(session.end().success());
}

#[test]
fn lines_are_edited_on_a_terminal() {
    let mut session = on_terminal(
        "const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout, prompt: 'say> ' }); \
         rl.on('line', (line) => { console.log('<' + line + '>'); rl.prompt() }).on('close', () => console.log('closed')); \
         rl.on('SIGINT', () => { console.log('interrupted'); rl.close() }); rl.prompt()",
    );
    session.expect("say> ");
    session.press("wrld\x1b[D\x1b[D\x1b[Do\x01hello \r");
    session.expect("<hello world>");
    session.expect("say> ");
    session.press("\x1b[A!\r");
    session.expect("<hello world!>");
    session.press("\x03");
    session.expect("interrupted");
    session.expect("closed");
    assert!(session.end().success());
}

#[test]
fn a_question_is_answered_by_a_promise() {
    let mut session = on_terminal(
        "const rl = require('readline/promises').createInterface({ input: process.stdin, output: process.stdout }); \
         rl.question('name? ').then((name) => { console.log('hello,', name); rl.close() })",
    );
    session.expect("name? ");
    session.press("Ada\r");
    session.expect("hello, Ada");
    assert!(session.end().success());
}

#[test]
fn without_listeners_a_signal_has_its_default_effect() {
    for code in [
        "process.kill(process.pid, 'SIGTERM')",
        "const f = () => {}; process.on('SIGTERM', f); process.off('SIGTERM', f); process.kill(process.pid)",
        "process.once('SIGTERM', () => process.kill(process.pid)); process.kill(process.pid)",
        "process.on('SIGTERM', () => {}); process.removeAllListeners('SIGTERM'); process.kill(process.pid, 15)",
    ] {
        let ran = run(&mut evaluate(&format!("setTimeout(() => {{}}, 20_000); {code}")), None);
        assert_eq!(ran.status.signal(), Some(15), "{code}: {}{}", ran.text(), ran.err);
    }
}
