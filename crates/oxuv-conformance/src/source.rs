//! libuv's source: the copy that the package libuv-sys2 carries in the registry's folder. Nothing of it is ours.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{about, run_tool};

/// Test files that include source files of libuv's, so that they test those and not the library that they are linked
/// with.
pub const LEFT_OUT: [&str; 3] = ["test-idna.c", "test-strscpy.c", "test-strtok.c"];

/// Test files that include a private header for a constant. They are compiled against libuv's header in any case.
pub const PRIVATE: [&str; 1] = ["test-thread-name.c"];

/// Files of libuv's library on Linux that are not directly in `src`.
const UNIX: [&str; 23] = [
    "async",
    "core",
    "dl",
    "fs",
    "getaddrinfo",
    "getnameinfo",
    "linux",
    "loop",
    "loop-watcher",
    "pipe",
    "poll",
    "process",
    "procfs-exepath",
    "proctitle",
    "random-devurandom",
    "random-getrandom",
    "random-sysctl-linux",
    "signal",
    "stream",
    "tcp",
    "thread",
    "tty",
    "udp",
];

/// Where things are.
#[derive(Debug, Clone)]
pub struct Source {
    /// libuv's source.
    pub libuv: PathBuf,
    /// Where to build.
    pub target: PathBuf,
}

impl Source {
    /// Asks cargo.
    pub fn find() -> Result<Source, String> {
        let metadata = run_tool(Command::new(cargo()).current_dir(env!("CARGO_MANIFEST_DIR")).args([
            "metadata",
            "--format-version=1",
            "--locked",
        ]))?;
        let package = fields(&metadata, "manifest_path").find(|path| path.contains("/libuv-sys2-1.53."));
        let package = package.ok_or("cargo metadata tells of no libuv-sys2 1.53")?;
        let target = fields(&metadata, "target_directory").last().ok_or("cargo metadata tells no target directory")?;
        let libuv = Path::new(package).with_file_name("libuv");
        Ok(Source { libuv, target: Path::new(target).join("conformance") })
    }

    /// libuv's public headers.
    pub fn headers(&self) -> PathBuf {
        self.libuv.join("include")
    }

    /// The source files of the test program, sorted.
    pub fn tests(&self) -> Result<Vec<PathBuf>, String> {
        let others = ["runner.c", "runner-unix.c", "run-tests.c", "echo-server.c", "blackhole-server.c"];
        let folder = self.libuv.join("test");
        files(&folder, |name| {
            let is_test = name.starts_with("test-") && name.ends_with(".c") || others.contains(&name);
            is_test && !LEFT_OUT.contains(&name)
        })
    }

    /// Files that the tests read and write.
    pub fn fixtures(&self) -> PathBuf {
        self.libuv.join("test/fixtures")
    }

    /// The source files of libuv's own library.
    pub fn library(&self) -> Result<Vec<PathBuf>, String> {
        let mut sources = files(&self.libuv.join("src"), |name| name.ends_with(".c"))?;
        let unix = self.libuv.join("src/unix");
        sources.extend(UNIX.iter().map(|name| unix.join(name).with_extension("c")));
        Ok(sources)
    }
}

/// The cargo that has started us.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The values of a text field in cargo's JSON. Paths in it have nothing that JSON would escape.
pub(crate) fn fields<'a>(json: &'a str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let key = format!("\"{name}\":\"");
    let mut rest = json;
    std::iter::from_fn(move || {
        let start = rest.find(&key)? + key.len();
        let end = start + rest[start..].find('"')?;
        let value = &rest[start..end];
        rest = &rest[end..];
        Some(value)
    })
}

/// The files of a folder whose names are wanted, sorted.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(about(folder.display()))? {
        let path = entry.map_err(about(folder.display()))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if path.is_file() && name.is_some_and(&wanted) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
