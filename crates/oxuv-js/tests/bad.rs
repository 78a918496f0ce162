//! Scripts that are wrong, run wild or meet with misfortune: what is said, and the exit code. Never a crash.

mod runner;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use runner::{Ran, program, run, scratch, wait};

fn eval(code: &str) -> Ran {
    run(program().args(["-e", code]), None)
}

/// A script in a file, which stays as long as the test wants.
fn file(name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path
}

/// Runs a script from a file that is removed afterwards.
fn run_file(name: &str, text: impl AsRef<[u8]>) -> Ran {
    let path = file(name, text);
    let ran = run(program().arg(&path), None);
    fs::remove_file(path).unwrap();
    ran
}

/// It ended with this code, and said all of this on standard error, in this order.
#[track_caller]
fn check(ran: &Ran, code: i32, said: &[&str]) {
    assert_eq!(ran.status.code(), Some(code), "{}{}", ran.text(), ran.err);
    let mut rest = ran.err.as_str();
    for part in said {
        let Some((_, after)) = rest.split_once(part) else { panic!("{part:?} is not in its place in\n{}", ran.err) };
        rest = after;
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

/// Calls of `F` by everything that calls a script, with the exit code if it throws.
const CALLS: &[(&str, i32)] = &[
    ("F()", 1),
    ("setTimeout(F)", 1),
    ("setInterval(F, 1)", 1),
    ("setImmediate(F)", 1),
    ("process.nextTick(F)", 1),
    ("queueMicrotask(F)", 1),
    ("Promise.resolve().then(F)", 1),
    ("new Promise(F)", 1),
    ("(async () => F())()", 1),
    ("(async () => { await 1; F(); })()", 1),
    ("require('fs').stat('.', F)", 1),
    ("require('fs').readFile('/dev/null', F)", 1),
    ("require('fs').promises.stat('.').then(F)", 1),
    ("const e = new (require('events'))(); e.on('a', F); e.emit('a')", 1),
    ("const t = new EventTarget(); t.addEventListener('a', F); t.dispatchEvent(new Event('a'))", 1),
    ("const c = new AbortController(); c.signal.onabort = F; c.abort()", 1),
    ("process.on('exit', F)", 1),
    ("process.on('beforeExit', F)", 1),
    ("process.on('unhandledRejection', F); Promise.reject(1)", 1),
    ("process.on('uncaughtException', F); throw 1", 7),
    ("process.on('warning', F); process.emitWarning('w')", 1),
    ("JSON.stringify({ toJSON: F })", 1),
    ("`${{ toString: F }}`", 1),
    ("[1, 2].sort(F)", 1),
];

#[test]
fn syntax_errors_name_file_line_and_column() {
    let text = "let a = 1;\nlet b = = 2;\n";
    for name in ["wrong.js", "wrong.cjs", "wrong.mjs"] {
        check(&run_file(name, text), 1, &[name, ":2\nlet b = = 2;\n        ^\n\nSyntaxError: ", ":2:9"]);
    }
    check(&eval(text), 1, &["[eval]:2\nlet b = = 2;\n        ^\n\nSyntaxError: ", "[eval]:2:9"]);
    check(&run(program().args(["-p", "1 +"]), None), 1, &["[eval]:1\n1 +\n", "SyntaxError: "]);
    for args in [&["-"][..], &[]] {
        let ran = run(program().args(args), Some(text.as_bytes()));
        check(&ran, 1, &["[stdin]:2\nlet b = = 2;\n        ^\n\nSyntaxError: ", "[stdin]:2:9"]);
    }
    let wrong = file("wrong-required.js", text);
    let name = wrong.to_str().unwrap();
    check(&eval(&format!("require({name:?})")), 1, &[name, ":2\n", "SyntaxError: "]);
    check(&eval(&format!("import({name:?})")), 1, &["SyntaxError: "]);
    fs::remove_file(wrong).unwrap();
    check(&eval("JSON.parse('{')"), 1, &["SyntaxError: "]);
    check(&eval("new Function('(')"), 1, &["SyntaxError: "]);
    check(&eval("eval('1 +')"), 1, &["SyntaxError: "]);
}

#[test]
fn modules_that_are_not_there_are_named() {
    check(&eval("require('./nothing')"), 1, &["Error: Cannot find module './nothing'", "code: 'MODULE_NOT_FOUND'"]);
    check(&run_file("lost.mjs", "import './nothing.mjs'"), 1, &["ERR_MODULE_NOT_FOUND", "nothing.mjs'", "lost.mjs"]);
    check(&run_file("lost2.mjs", "import { nothing } from 'node:events'"), 1, &["SyntaxError: ", "'nothing'"]);
    check(&run(program().arg("/nowhere/script.js"), None), 1, &["Error: Cannot find module '/nowhere/script.js'"]);
}

#[test]
fn a_throw_from_any_call_ends_it_with_name_and_message() {
    for (call, code) in CALLS {
        let ran = eval(&format!("function F() {{ throw new RangeError('thrown') }} {call}"));
        check(&ran, *code, &["[eval]:1\n", "^\n\nRangeError: thrown\n    at F ([eval]:1:"]);
    }
}

#[test]
fn what_is_no_error_is_shown_too() {
    for (value, said) in [
        ("null", "null\n"),
        ("undefined", "undefined\n"),
        ("'text'", "text\n"),
        ("{ a: 1 }", "{ a: 1 }\n"),
        ("Object.create(null)", "[Object: null prototype] {}\n"),
        ("Symbol('s')", "Symbol(s)\n"),
        ("new Proxy({}, { get() { throw 1 } })", "\n"),
        ("{ [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } }", "\n"),
        ("Object.defineProperty(new Error('m'), 'stack', { get() { throw 1 } })", "\n"),
        ("Object.defineProperty(new Error('m'), 'name', { get() { throw 1 } })", "\n"),
    ] {
        check(&eval(&format!("throw {value}")), 1, &[said]);
    }
    let ran = run(program().args(["--max-memory", "64", "-e", "throw null"]), None);
    check(&ran, 1, &["Uncaught:\nnull\n"]);
    check(&eval("Promise.reject('reason')"), 1, &["\"reason\"", "ERR_UNHANDLED_REJECTION"]);
}

#[test]
fn endless_recursion_is_an_error() {
    let said = ["RangeError: Maximum call stack size exceeded"];
    for (call, code) in CALLS {
        check(&eval(&format!("function F() {{ return 1 + F() }} {call}")), *code, &said);
    }
    for code in [
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
        "JSON.parse('['.repeat(1e6))",
        "const o = { toString() { return '' + this } }; '' + o",
        "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)",
        "const a = []; a[0] = a; a.flat(Infinity)",
        "eval('('.repeat(1e5))",
        "new Function('return ' + '('.repeat(1e5) + ')'.repeat(1e5))",
        "class A { get x() { return this.x } } new A().x",
        "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
        "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
        "(async function f() { await f() })()",
    ] {
        check(&eval(code), 1, &said);
    }
    // It can be caught, and life goes on; nor does what is nested deep hurt when it goes.
    let ran = eval(
        "function f() { f() } try { f() } catch (e) { console.log(e.message) }
         let a = []; for (let i = 0; i < 1e6; i++) a = [a]; a = null;
         setTimeout(() => console.log('on'))",
    );
    check(&ran, 0, &[]);
    assert_eq!(ran.out, "Maximum call stack size exceeded\non\n");
}

#[test]
fn short_memory_is_an_error() {
    let said = ["out of memory"];
    let short = |code: &str| run(program().args(["--max-memory", "16", "-e", code]), None);
    for (call, code) in CALLS {
        let ran = short(&format!("function F() {{ const a = []; for (;;) a.push({{}}) }} {call}"));
        check(&ran, *code, &said);
    }
    for code in [
        "const a = []; for (;;) a.push(new Array(1000).fill(1))",
        "new ArrayBuffer(1e9)",
        "const b = []; for (;;) b.push(new Uint8Array(1e6))",
        "const b = []; for (;;) b.push(Buffer.alloc(1e6))",
        "for (;;) setTimeout(() => {}, 1)",
        "for (;;) setImmediate(() => {})",
        "for (;;) process.nextTick(() => {})",
        "for (;;) queueMicrotask(() => {})",
        "for (;;) Promise.reject(1)",
        "for (let i = 0; ; i++) process.on('e' + i, () => {})",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})",
        "'x'.repeat(2 ** 29)",
        "const a = []; function f() { for (;;) a.push({}) } try { f() } catch {} setTimeout(f)",
    ] {
        check(&short(code), 1, &said);
    }
    // It can be handled.
    let ran = short(
        "process.on('uncaughtException', (e) => console.log(e.message));
         setTimeout(() => { const a = []; for (;;) a.push({}) }); setTimeout(() => console.log('next'), 1)",
    );
    check(&ran, 0, &[]);
    assert_eq!(ran.out, "out of memory\nnext\n");
    // However little it is, there is no crash.
    for limit in 1..=4 {
        let ran = run(program().args(["--max-memory", &limit.to_string(), "-e", "console.log(require('fs'))"]), None);
        assert!([Some(0), Some(1)].contains(&ran.status.code()), "{limit}: {}{}", ran.text(), ran.err);
    }
}

#[test]
fn promises_that_are_never_settled_end_quietly() {
    check(&eval("new Promise(() => {})"), 0, &[]);
    check(&eval("(async () => { await new Promise(() => {}) })()"), 0, &[]);
    check(&run_file("never.mjs", "await new Promise(() => {})"), 13, &[]);
    let ran = run_file("never2.mjs", "setTimeout(() => console.log('timer'), 5); await new Promise(() => {})");
    check(&ran, 13, &[]);
    assert_eq!(ran.out, "timer\n");
    check(&run_file("late.mjs", "await 1; throw new Error('late')"), 1, &["late.mjs:1\n", "Error: late\n"]);
}

#[test]
fn a_script_may_be_deleted_while_it_runs() {
    let path = file("deleted.js", "setTimeout(() => { throw new Error('afterwards') }, 100); console.log('ready');\n");
    let mut child =
        program().arg(&path).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    fs::remove_file(&path).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("deleted.js:1\n") && said.contains("Error: afterwards\n"), "{said}");
}

#[test]
fn what_is_no_script_is_told() {
    check(&run_file("empty.js", ""), 0, &[]);
    check(&run_file("empty.mjs", ""), 0, &[]);
    check(&run(&mut program(), Some(b"")), 0, &[]);
    check(&run(program().args(["-e", ""]), None), 0, &[]);
    check(&run_file("binary.js", b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe"), 1, &["binary.js:1\n", "SyntaxError: "]);
    check(&run_file("nul.mjs", b"1;\nlet a = '\0';"), 1, &["nul.mjs:2\n", "SyntaxError: "]);
    check(&run(&mut program(), Some(b"\0\0")), 1, &["[stdin]:1\n", "SyntaxError: "]);
    check(&run_file("latin1.js", b"// caf\xe9\n"), 0, &[]);
    let folder = scratch("folder");
    fs::create_dir(&folder).unwrap();
    check(&run(program().arg(&folder), None), 1, &["Error: Cannot find module '", "folder'"]);
    fs::remove_dir(folder).unwrap();
}

#[test]
fn a_script_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let path = file("locked.js", "1");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Some users may read everything.
    if File::open(&path).is_err() {
        check(&run(program().arg(&path), None), 1, &["Error: EACCES: permission denied, open '", "locked.js'"]);
    }
    fs::remove_file(path).unwrap();
}

#[test]
fn output_that_nobody_reads_is_no_crash() {
    for code in ["console.log('x'.repeat(1e7))", "for (let i = 0; i < 1e4; i++) console.log('line ' + i)"] {
        let mut child = program().args(["-e", code]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let status = wait(&mut child).expect("it ends");
        assert_eq!(status.code(), Some(0), "{code}");
    }
    for args in [&["--help"][..], &["--version"]] {
        let mut child = program().args(args).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert!(wait(&mut child).is_some_and(|status| status.code().is_some()));
    }
    // Standard error with no reader, and full: the exit code tells all the same.
    let mut child = program().args(["-e", "throw new Error('m')"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(wait(&mut child).unwrap().code(), Some(1));
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for (code, expected) in [("console.log(1)", 0), ("console.log(1); throw 1", 1)] {
        let mut child = program().args(["-e", code]).stdout(full()).stderr(full()).spawn().unwrap();
        assert_eq!(wait(&mut child).unwrap().code(), Some(expected), "{code}");
    }
}

#[test]
fn standard_streams_may_be_closed() {
    for redirection in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        for (code, expected) in [("console.log(1); console.error(2)", 0), ("throw 1", 1)] {
            let line = format!("\"$0\" -e '{code}' {redirection}");
            let program = env!("CARGO_BIN_EXE_oxuv");
            let ran = run(std::process::Command::new("sh").args(["-c", &line, program]), None);
            assert_eq!(ran.status.code(), Some(expected), "{line}: {}{}", ran.text(), ran.err);
        }
    }
}

#[test]
fn bad_options_are_named() {
    for (args, said) in [
        (&["--nothing"][..], "'--nothing'"),
        (&["-x"], "'-x'"),
        (&["-e"], "'-e'"),
        (&["--max-memory"], "'--max-memory'"),
        (&["--max-memory", "many", "-e", "1"], "many"),
        (&["--max-memory", "0", "-e", "1"], "0"),
        (&["--max-memory=-1", "-e", "1"], "-1"),
        (&["--unhandled-rejections", "loud", "-e", "1"], "--unhandled-rejections"),
    ] {
        check(&run(program().args(args), None), 9, &["oxuv: ", said, "--help"]);
    }
}

/// Where an error was made says little if it was long ago: where it was emitted is told as well.
#[test]
fn an_error_event_without_a_listener_tells_both_places() {
    let ran = eval(
        "const { EventEmitter } = require('events');
        class Lamp extends EventEmitter {}
        const error = new Error('burnt out');
        error.code = 'EDARK';
        function later() { new Lamp().emit('error', error); }
        setTimeout(later, 1);",
    );
    check(
        &ran,
        1,
        &[
            "Error: burnt out\n    at [eval]:3:",
            "\nEmitted 'error' event on Lamp instance at:\n    at later ([eval]:5:",
            "{\n  code: 'EDARK'\n}",
        ],
    );
    let ran = eval("new (require('events'))().emit('error', new Error('at once'))");
    check(&ran, 1, &["Error: at once\n    at [eval]:1:", "\nEmitted 'error' event at:\n    at [eval]:1:"]);
}

/// Nobody listens to that: the program ends where the hook was called.
#[test]
fn a_hook_that_throws_is_the_end() {
    let ran = eval(
        "const { createHook, AsyncResource } = require('async_hooks');
        process.on('uncaughtException', () => console.log('listened'));
        process.on('exit', (code) => console.log('exit', code));
        createHook({ init() { throw new Error('in hook'); } }).enable();
        try { new AsyncResource('Mine'); } catch { console.log('caught'); }
        console.log('after');",
    );
    check(&ran, 1, &["Error: in hook\n    at init ([eval]:4:"]);
    assert_eq!(ran.out, "exit 1\n");
}
