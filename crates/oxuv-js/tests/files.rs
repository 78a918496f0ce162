//! Files, bytes, paths and URLs: scripts of `tests/scripts/files` print what Node prints of them. And what standard input and
//! output do as file, pipe, and nothing.

#[path = "runner/compare.rs"]
mod compare;
#[path = "runner/folder.rs"]
mod folder;
mod runner;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use compare::compare;
use folder::Folder;
use runner::{program, run, scratch, wait};

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("files", 6);
}

#[test]
fn names_may_be_no_utf8() {
    let folder = Folder::new();
    fs::write(folder.0.join(OsStr::from_bytes(b"a\xffb")), "text").unwrap();
    let script = "const fs = require('fs'); const [name] = fs.readdirSync('.', 'buffer');
        console.log(name, fs.readFileSync(name, 'utf8'), fs.readdirSync('.').join() === 'a\\ufffdb');
        fs.renameSync(name, Buffer.from([0xfe])); fs.promises.readdir('.', { encoding: 'hex' }).then(console.log);";
    let ran = run(program().args(["-e", script]).current_dir(&folder.0), None);
    assert_eq!(ran.text(), "<Buffer 61 ff 62> text true\n[ 'fe' ]\n--- exit 0\n", "{}", ran.err);
    assert!(folder.0.join(OsStr::from_bytes(b"\xfe")).exists());
}

#[test]
fn a_file_that_is_closed_while_it_is_read_stays_itself() {
    // The number may come again at once, and must not lead a request that is under way to another file.
    let script = "const fs = require('fs'); fs.writeFileSync('one', 'one'); fs.writeFileSync('two', 'two');
        let left = 200;
        for (let i = 0; i < 200; i++) {
          const fd = fs.openSync('one');
          fs.read(fd, Buffer.alloc(3), 0, 3, 0, (error, count, buffer) => {
            if (error || buffer.toString() !== 'one') { console.log(error, buffer); process.exit(1); }
            if (--left === 0) console.log('well');
          });
          fs.closeSync(fd);
          fs.closeSync(fs.openSync('two'));
        }";
    let folder = Folder::new();
    let ran = run(program().args(["-e", script]).current_dir(&folder.0), None);
    assert_eq!(ran.text(), "well\n--- exit 0\n", "{}", ran.err);
}

const READS: &str = "process.stdin.setEncoding('utf8'); let text = '';
    process.stdin.on('data', (chunk) => { text += chunk; }).on('end', () => console.log(text.length, text.slice(-4)));";

#[test]
fn standard_input_is_read_from_pipes_files_and_nothing() {
    let long = "é".repeat(100_000) + "last";
    assert_eq!(run(program().args(["-e", READS]), Some(long.as_bytes())).text(), "100004 last\n--- exit 0\n");
    assert_eq!(run(program().args(["-e", READS]), None).text(), "0 \n--- exit 0\n");
    let path = scratch("input");
    fs::write(&path, &long).unwrap();
    let child = program().args(["-e", READS]).stdin(File::open(&path).unwrap()).stdout(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    fs::remove_file(path).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "100004 last\n");
    let iterates = "(async () => { let count = 0; for await (const chunk of process.stdin) count += chunk.length; console.log(count); })()";
    assert_eq!(run(program().args(["-e", iterates]), Some(b"some")).text(), "4\n--- exit 0\n");
    let pulls = "process.stdin.on('readable', () => { for (let c; (c = process.stdin.read()) !== null;) console.log(`${c}`); })";
    assert_eq!(run(program().args(["-e", pulls]), Some(b"some")).text(), "some\n--- exit 0\n");
}

#[test]
fn who_does_not_read_does_not_wait() {
    // The other end stays open all the time.
    for script in ["process.stdin", "process.stdin.on('data', () => {}).pause()", "process.stdin.on('end', () => {})"] {
        let mut child = program().args(["-e", script]).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        assert!(wait(&mut child).is_some_and(|status| status.success()), "{script}");
        drop(input);
    }
}

#[test]
fn a_reader_that_goes_is_told_of() {
    let script =
        "process.stdout.on('error', (error) => { console.error(error.code, error.syscall); process.exit(3); });
        setInterval(() => process.stdout.write('x'.repeat(1000)), 1)";
    let mut child = program().args(["-e", script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(3), &b"EPIPE write\n"[..]));
}

#[test]
fn output_is_written_as_it_is() {
    let script = "process.stdout.write(Buffer.from([0xff, 0, 10])); process.stdout.write('616\\n', 'latin1', () => console.log('done'));
        process.stdout.write('6263', 'hex'); process.stdout.write('\\ud800\\n')";
    let output = program().args(["-e", script]).output().unwrap();
    assert_eq!(output.stdout, b"\xff\0\n616\nbc\xef\xbf\xbd\ndone\n");
}
