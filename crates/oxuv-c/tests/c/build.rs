//! Compiles and runs C programs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which library a program is linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Static,
    Shared,
    /// Not linked with it: the program loads it itself.
    Nothing,
}

/// The directory of this crate.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The library file of this name. Cargo builds it with this test, and puts it above the test's own directory.
pub(crate) fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let found = test.ancestors().skip(1).take(2).map(|directory| directory.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("there is no {name} near {}", test.display()))
}

/// The directory of our headers.
pub(crate) fn include() -> PathBuf {
    Path::new(CRATE).join("include")
}

/// Whether C++ can be compiled here.
pub(crate) fn has_cplusplus() -> bool {
    Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles `tests/c/{source}`, or the source of that path in this crate; C++ if its name ends in `.cc`.
pub(crate) fn program(source: &str, link: Link) -> PathBuf {
    let directory = new_directory();
    let source = if source.contains('/') { Path::new(CRATE).join(source) } else { source_of(source) };
    let program = directory.join(source.file_stem().unwrap());
    let (compiler, standard) =
        if source.extension().is_some_and(|end| end == "cc") { ("c++", "-std=c++11") } else { ("cc", "-std=c99") };
    let mut cc = Command::new(compiler);
    cc.args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-g", "-O1", "-I"]);
    cc.arg(include()).arg("-o").arg(&program).arg(source);
    match link {
        Link::Static => cc.arg(library("libuv.a")).args(["-lpthread", "-ldl", "-lm"]),
        Link::Shared => {
            // Programs ask for the name that stands in the library.
            std::os::unix::fs::symlink(library("libuv.so"), directory.join("libuv.so.1")).unwrap();
            cc.arg(directory.join("libuv.so.1")).arg(format!("-Wl,-rpath,{}", directory.display()))
        }
        Link::Nothing => cc.arg("-ldl"),
    };
    succeed(cc.output().unwrap());
    program
}

pub(crate) fn source_of(name: &str) -> PathBuf {
    Path::new(CRATE).join("tests/c").join(name)
}

/// Removes what earlier tests have left, whose processes are gone: a program has the whole static library in it.
fn sweep() {
    let Ok(entries) = std::fs::read_dir(env!("CARGO_TARGET_TMPDIR")) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let of_a_test =
            name.split_once('-').filter(|(process, nth)| [process, nth].iter().all(|n| n.parse::<u32>().is_ok()));
        if of_a_test.is_some_and(|(process, _)| !Path::new("/proc").join(process).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Tests run side by side: each program gets a directory of its own.
pub(crate) fn new_directory() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static SWEPT: Once = Once::new();
    SWEPT.call_once(sweep);
    let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs a program that must succeed, within five minutes, and returns what it prints.
///
/// What it could not test here it says on its standard error; that is shown although the test passes.
pub(crate) fn run(program: &Path) -> String {
    let mut limited = Command::new("timeout");
    limited.args(["--foreground", "--verbose", "--signal=ABRT", "300"]).arg(program);
    let output = limited.stdin(Stdio::null()).output().unwrap();
    if output.status.success() && output.stderr.starts_with(b"not run:") {
        // The macros that print are silent in a test that passes.
        let _ = std::io::stderr().write_all(&output.stderr);
    }
    succeed(output)
}

/// What a process printed that must have succeeded.
pub(crate) fn succeed(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
