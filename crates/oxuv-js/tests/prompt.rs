//! The prompt, on a pseudo-terminal.

mod runner;
#[path = "runner/terminal.rs"]
mod terminal;

use std::fs;

use runner::{program, run, scratch};
use terminal::Session;

/// The prompt on a terminal.
fn prompt(history: &std::path::Path, colours: bool) -> Session {
    let mut command = program();
    command.env("OXUV_HISTORY", history).env("TERM", "xterm").env_remove("NO_COLOR");
    if !colours {
        command.env("NO_COLOR", "1");
    }
    Session::new(&mut command)
}

/// Types a line at the prompt, and waits for an answer.
fn ask(session: &mut Session, line: &str, answer: &str) {
    session.expect("> ");
    session.press(&format!("{line}\r"));
    // The echo of the line itself.
    session.expect(line);
    session.expect(answer);
}

#[test]
fn lines_are_run_and_their_values_printed() {
    let history = scratch("history");
    let mut session = prompt(&history, false);
    ask(&mut session, "1 + 1", "\n2\n");
    ask(&mut session, "_ * 21", "\n42\n");
    ask(&mut session, "({ a: 1, b: 'x' })", "\n{ a: 1, b: 'x' }\n");
    ask(&mut session, "{ c: 2 }", "\n{ c: 2 }\n");
    ask(&mut session, "let kept = [1]", "\nundefined\n");
    ask(&mut session, "kept", "\n[ 1 ]\n");
    ask(&mut session, "function f() {", "\n... ");
    session.press("return kept\r");
    session.expect("... ");
    session.press("}\r");
    session.expect("\nundefined\n");
    ask(&mut session, "f()", "\n[ 1 ]\n");
    ask(&mut session, "`one", "\n... ");
    session.press("two`\r");
    session.expect("\n'one\\ntwo'\n");
    ask(&mut session, "const later = await Promise.resolve('waited')", "\nundefined\n");
    ask(&mut session, "later", "\n'waited'\n");
    ask(&mut session, "util.format('%d', 5), require('util') === util", "\ntrue\n");
    ask(&mut session, ".help", "Ctrl+D");
    ask(&mut session, ".exit", "\n");
    assert_eq!(session.end().code(), Some(0));

    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.contains("1 + 1\n") && kept.contains("return kept\n"), "{kept}");
    let mut session = prompt(&history, false);
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
    let mut session = prompt(&history, false);
    ask(&mut session, "throw new TypeError('bad')", "\nUncaught TypeError: bad\n    at REPL1:1:11\n");
    ask(&mut session, "let z = = 3", "\nUncaught SyntaxError: unexpected token in expression: '='\n    at REPL2:1:9\n");
    ask(&mut session, "_error.name", "\n'SyntaxError'\n");
    ask(&mut session, "throw 5", "\nUncaught 5\n");
    ask(&mut session, "await Promise.reject(new Error('waited'))", "\nUncaught Error: waited\n");
    ask(&mut session, "Promise.reject(new Error('rejected')); 0", "\nUncaught Error: rejected\n");
    ask(&mut session, "setTimeout(() => { throw new Error('late') }, 1); 0", "\n0\n");
    session.expect("Uncaught Error: late\n");
    session.press("'still here'\r");
    session.expect("\n'still here'\n");
    ask(&mut session, "process.exitCode = 3", "\n3\n");
    session.expect("> ");
    session.press("\x04");
    assert_eq!(session.end().code(), Some(3));
    let _ = fs::remove_file(history);
}

#[test]
fn timers_come_while_it_waits_and_keys_end_it() {
    let history = scratch("history");
    let mut session = prompt(&history, false);
    ask(&mut session, "setTimeout(() => console.log('timer', 6 * 7), 5); 0", "\n0\n");
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
    let mut session = prompt(&history, true);
    ask(&mut session, "'green'", "<32>'green'<39>\n");
    session.expect("> ");
    session.press("\x04");
    assert_eq!(session.end().code(), Some(0));
    let _ = fs::remove_file(history);

    let ran = run(program().args(["-i"]).env("OXUV_HISTORY", ""), Some(b"'plain'\n1 +\n1\nprocess.exit(4)\n"));
    assert!(ran.out.contains("'plain'\n") && ran.out.contains("2\n"), "{}", ran.out);
    assert!(ran.text().ends_with("--- exit 4\n"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_endless_line_is_interrupted() {
    let history = scratch("history");
    let mut session = prompt(&history, false);
    session.expect("Welcome to oxuv");
    ask(&mut session, "console.log('begun'); for (;;);", "\nbegun\n");
    // What Ctrl+C does where the program has the terminal for its own.
    let id = rustix::process::Pid::from_child(&session.child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    session.expect("Uncaught Error: Script execution was interrupted by `SIGINT`");
    ask(&mut session, "Promise.reject(5); 0", "\nUncaught 5\n");
    ask(&mut session, "setTimeout(() => missing(), 1); 0", "is not defined\n    at REPL3:1:");
    session.press(".exit\r");
    assert_eq!(session.end().code(), Some(0));
    fs::remove_file(history).unwrap();
}

#[test]
fn all_lines_run_that_come_at_once() {
    let history = scratch("history");
    let mut session = prompt(&history, false);
    session.expect("> ");
    session.press("let x = 40\nlet y = 2\nfunction f() {\nreturn x + y\n}\nf() * 2\n");
    session.expect("\n84\n");
    ask(&mut session, "x", "\n40\n");
    session.press(".exit\r");
    assert_eq!(session.end().code(), Some(0));
    fs::remove_file(history).unwrap();
}
