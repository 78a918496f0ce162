//! The module `fs`: scripts of `tests/scripts/fs` print what Node prints of them. And files of odd kinds, many files, none left
//! to open, and names that are no text.

#[path = "runner/compare.rs"]
mod compare;
#[path = "runner/folder.rs"]
mod folder;
mod runner;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use compare::compare;
use folder::Folder;
use runner::{program, run};

#[test]
fn scripts_print_what_they_print_in_node() {
    compare("fs", 5);
}

/// Runs a script in a folder of its own.
fn run_in(folder: &Folder, script: &str) -> String {
    let ran = run(program().args(["-e", script]).current_dir(&folder.0), None);
    assert!(ran.err.is_empty(), "{}", ran.err);
    ran.text()
}

#[test]
fn names_that_are_no_text_are_copied_and_removed() {
    let folder = Folder::new();
    let odd = |names: &[&[u8]]| names.iter().fold(folder.0.clone(), |path, name| path.join(OsStr::from_bytes(name)));
    fs::create_dir_all(odd(&[b"from", b"\xfe"])).unwrap();
    fs::write(odd(&[b"from", b"\xfe", b"\xffx"]), "text").unwrap();
    let script = "const fs = require('fs'); fs.cpSync('from', 'to', { recursive: true });
        fs.cp('from', 'too', { recursive: true }, async (error) => {
          for await (const entry of await fs.promises.opendir('too', { encoding: 'buffer' })) console.log(error, entry.name);
          fs.rmSync('from', { recursive: true });
        });";
    assert_eq!(run_in(&folder, script), "null <Buffer fe>\n--- exit 0\n");
    for copy in [b"to" as &[u8], b"too"] {
        assert_eq!(fs::read(odd(&[copy, b"\xfe", b"\xffx"])).unwrap(), b"text");
    }
    assert!(!odd(&[b"from"]).exists());
}

#[test]
fn a_fifo_is_read_and_written_by_streams() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.0.join("fifo")).status().unwrap().success());
    let script = "const fs = require('fs'); let got = '';
        fs.createReadStream('fifo', 'utf8').on('data', (data) => { got += data; }).on('close', () => console.log(got));
        const writer = fs.createWriteStream('fifo'); writer.write('one '); setTimeout(() => writer.end('two'), 20);
        fs.cp('fifo', 'copy', (error) => console.log(error.code));";
    let text = run_in(&folder, script);
    assert_eq!(text, "ERR_FS_CP_FIFO_PIPE\none two\n--- exit 0\n");
}

#[test]
fn places_may_be_beyond_4_gib() {
    let script = "const fs = require('fs'), far = 2 ** 32 + 10;
        (async () => {
          const file = await fs.promises.open('big', 'w+');
          await file.write('tail', far);
          console.log((await file.stat()).size - far, `${(await file.read(Buffer.alloc(4), 0, 4, far)).buffer}`);
          await file.readFile().catch((error) => console.log(error.code));
          await file.close();
          const more = fs.createWriteStream('big', { flags: 'r+', start: far + 4 });
          await new Promise((resolve) => more.end('more', resolve));
          let text = '';
          for await (const chunk of fs.createReadStream('big', { start: far })) text += chunk;
          console.log(text);
        })();";
    assert_eq!(run_in(&Folder::new(), script), "4 tail\nERR_FS_FILE_TOO_LARGE\ntailmore\n--- exit 0\n");
}

#[test]
fn a_file_without_end_meets_the_limit_of_memory() {
    let script = "const fs = require('fs'); const short = (error) => /memory/.test(error.message);
        try { fs.readFileSync('/dev/zero'); } catch (error) { console.log(short(error)); }
        fs.readFile('/dev/zero', (error) => {
          console.log(short(error));
          fs.promises.readFile('/dev/zero').catch((wrong) => {
            console.log(short(wrong));
            let count = 0;
            fs.createReadStream('/dev/zero', { end: 99_999_999 }).on('data', (chunk) => { count += chunk.length; })
              .on('close', () => console.log(count));
          });
        });";
    let ran = run(program().args(["--max-memory", "64", "-e", script]), None);
    assert_eq!(ran.text(), "true\ntrue\ntrue\n100000000\n--- exit 0\n", "{}", ran.err);
}

#[test]
fn thousands_of_files_are_read_at_once() {
    // What is read is given back: at the end there is not much more than at the beginning.
    let script = "const fs = require('fs'); fs.writeFileSync('file', Buffer.alloc(100_000, 1));
        (async () => {
          let total = 0;
          const read = async () => { const { length } = await fs.promises.readFile('file'); total += length; };
          for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 1000 }, read));
          console.log(total, process.memoryUsage().rss < 400e6);
        })();";
    let folder = Folder::new();
    let ran = Command::new("sh")
        .args(["-c", "ulimit -n 4096 2>/dev/null; exec \"$0\" -e \"$1\"", env!("CARGO_BIN_EXE_oxuv"), script])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "500000000 true\n", "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn without_descriptors_all_say_so_and_removing_tries_again() {
    let script = "const fs = require('fs'); fs.mkdirSync('folder/below', { recursive: true });
        const open = [], codes = [];
        try { for (;;) open.push(fs.openSync('/dev/null')); } catch (error) { codes.push(error.code); }
        fs.readFile('/etc/passwd', (error) => {
          codes.push(error.code);
          fs.createReadStream('/etc/passwd').on('error', (error) => {
            codes.push(error.code);
            fs.opendir('/', (error) => {
              codes.push(error.code);
              try { fs.rmSync('folder', { recursive: true, maxRetries: 1, retryDelay: 5 }); } catch (error) { codes.push(error.code); }
              setTimeout(() => open.forEach((fd) => fs.closeSync(fd)), 30);
              fs.rm('folder', { recursive: true, maxRetries: 100, retryDelay: 2 }, (error) => {
                console.log(codes.join(), error, fs.existsSync('folder'), fs.readFileSync('/etc/passwd').length > 0);
              });
            });
          });
        });";
    let folder = Folder::new();
    let ran = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" -e \"$1\"", env!("CARGO_BIN_EXE_oxuv"), script])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let expected = "EMFILE,EMFILE,EMFILE,EMFILE,EMFILE null false true\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_as_it_is() {
    let script = "const fs = require('fs'); fs.writeFileSync('file', 'a'.repeat(2_000_000));
        (async () => {
          const shrinks = fs.promises.readFile('file'); fs.truncateSync('file', 10);
          console.log((await shrinks).length <= 2_000_000);
          const grows = fs.promises.readFile('file', 'utf8'); fs.appendFileSync('file', 'b'.repeat(100));
          console.log((await grows).startsWith('aaaaaaaaaa'));
          const gone = fs.promises.readFile('file', 'utf8'); fs.unlinkSync('file');
          console.log(await gone.then((text) => text.length >= 10, (error) => error.code === 'ENOENT'));
        })();";
    assert_eq!(run_in(&Folder::new(), script), "true\ntrue\ntrue\n--- exit 0\n");
}

#[test]
fn what_is_forgotten_is_closed() {
    let script = "const fs = require('fs'); const count = () => fs.readdirSync('/proc/self/fd').length;
        (async () => {
          await (await fs.promises.open('/dev/null')).close();
          const before = count();
          for (let i = 0; i < 10; i++) await fs.promises.open('/dev/null');
          for (let i = 0; i < 10; i++) fs.opendirSync('/');
          gc();
          await new Promise((resolve) => setTimeout(resolve, 50));
          console.log(count() - before);
        })();";
    let ran = run(program().args(["--expose-gc", "--no-warnings", "-e", script]), None);
    assert_eq!(ran.text(), "0\n--- exit 0\n", "{}", ran.err);
}
