//! Scripts of `tests/scripts/base` and `tests/scripts/queues`: what they print, and the exit code. What they are to print was
//! compared with Node's.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of them takes on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a script; standard output with the exit code behind it, and standard error.
fn run(script: &Path, flags: &[&str]) -> (String, String) {
    let name = script.file_stem().unwrap().to_string_lossy().into_owned();
    let file = |ending: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("base-{name}-{}-{ending}", std::process::id()));
        (File::create(&path).unwrap(), path)
    };
    let ((out, out_path), (err, err_path)) = (file("out"), file("err"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_oxuv"))
        .args(flags)
        .arg(script)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{name} does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        text
    };
    (format!("{}--- exit {}\n", read(out_path), status.code().unwrap()), read(err_path))
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "js")).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    scripts
}

fn print_as_they_should(folder: &str) {
    for script in scripts(folder) {
        let expected = fs::read_to_string(script.with_extension("out")).unwrap();
        let (printed, said) = run(&script, &[]);
        assert_eq!(printed, expected, "{}\n{said}", script.display());
    }
}

#[test]
fn the_base_is_as_nodes() {
    print_as_they_should("base");
}

#[test]
fn queues_and_errors_are_in_nodes_order() {
    print_as_they_should("queues");
}

/// Writes a script, and runs it.
fn run_text(name: &str, text: &str, flags: &[&str]) -> (String, String) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.js", std::process::id()));
    fs::write(&path, text).unwrap();
    let result = run(&path, flags);
    fs::remove_file(path).unwrap();
    result
}

#[test]
fn warnings_go_to_standard_error() {
    let text = "process.emitWarning('some', { type: 'Kind', code: 'C1', detail: 'more' }); console.log(process.pid)";
    let (printed, said) = run_text("warning", text, &[]);
    let pid = printed.lines().next().unwrap();
    assert_eq!(said, format!("(oxuv:{pid}) [C1] Kind: some\nmore\n"));
    assert_eq!(run_text("warning-hidden", text, &["--no-warnings"]).1, "");
    let (_, said) = run_text("warning-traced", text, &["--trace-warnings"]);
    assert!(said.contains("Kind: some\n    at "), "{said}");
}

#[test]
fn rejections_have_modes() {
    let text = "process.on('exit', (code) => console.log('exit', code)); Promise.reject(new Error('no'))";
    for (mode, printed, says) in [
        ("throw", "exit 1\n--- exit 1\n", "Error: no\n"),
        ("strict", "exit 1\n--- exit 1\n", "Error: no\n"),
        ("none", "exit 0\n--- exit 0\n", ""),
        ("warn", "exit 0\n--- exit 0\n", "UnhandledPromiseRejectionWarning: "),
        ("warn-with-error-codes", "exit 1\n--- exit 1\n", "UnhandledPromiseRejectionWarning: "),
    ] {
        let (out, said) = run_text(&format!("mode-{mode}"), text, &[&format!("--unhandled-rejections={mode}")]);
        assert_eq!(out, printed, "{mode}");
        assert!(said.contains(says) && said.is_empty() == says.is_empty(), "{mode}: {said}");
    }
}

#[test]
fn the_process_can_abort() {
    use std::os::unix::process::ExitStatusExt;

    let mut program = Command::new(env!("CARGO_BIN_EXE_oxuv"));
    // No core file is wanted.
    let status = program.args(["-e", "process.abort()"]).current_dir(env!("CARGO_TARGET_TMPDIR")).status().unwrap();
    assert!(status.signal().is_some());
}
