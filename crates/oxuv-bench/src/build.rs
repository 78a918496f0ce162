//! Building the C programs: the same source, with our library and with libuv's.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::contestant::Contestant;

pub(crate) struct Programs {
    pub(crate) rust: PathBuf,
    pub(crate) c: PathBuf,
    pub(crate) libuv: PathBuf,
    pub(crate) epoll: PathBuf,
    /// Where the files are that are looked at.
    pub(crate) tree: PathBuf,
    /// Who is told to use io_uring, and all others not to; `None`: it is left to each, and to the environment.
    pub(crate) ring: Option<Vec<Contestant>>,
    /// How everything was compiled, for the reader.
    pub(crate) how: String,
}

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");
const WORKLOADS: [&str; 9] =
    ["main.c", "workloads.c", "turn.c", "timer.c", "async.c", "echo.c", "socket.c", "pool.c", "spawn.c"];
/// What the libraries need of the system.
const SYSTEM: [&str; 4] = ["-lpthread", "-ldl", "-lrt", "-lm"];

pub(crate) fn build() -> Result<Programs, String> {
    let rust = env::current_exe().map_err(|error| format!("this program does not know where it is: {error}"))?;
    let folder = rust.with_file_name("oxuv-bench-c");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;

    let tree = folder.join("tree");
    crate::pool::make_tree(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    let (theirs, headers) = build_libuv()?;
    let ours = build_ours()?;
    let (c, libuv, epoll) = (folder.join("oxuv"), folder.join("libuv"), folder.join("epoll"));
    compile(&c, &WORKLOADS, Some((&ours, &headers)))?;
    compile(&libuv, &WORKLOADS, Some((&theirs, &headers)))?;
    compile(&epoll, &["main.c", "epoll.c"], None)?;
    // Where they are is this machine's affair.
    let how = [
        "oxuv (C):   libuv.a with link-time optimisation",
        "libuv 1.53: libuv.a of libuv-sys2, -O3 with its assertions",
        "programs:   cc -O2, linked statically",
    ]
    .join("\n");
    Ok(Programs { rust, c, libuv, epoll, tree, ring: None, how })
}

/// libuv's library and headers, of the crate that carries its source. It is built by now, or this program were not.
fn build_libuv() -> Result<(PathBuf, PathBuf), String> {
    let messages = cargo(&["build", "--package", "oxuv-bench"])?;
    let of_libuv = |reason: &str, name: &str| {
        let reason = format!("\"reason\":\"{reason}\"");
        let line = messages.lines().find(|line| line.contains(&reason) && line.contains("libuv-sys2"));
        line.and_then(|line| field(line, name)).ok_or_else(|| format!("cargo does not tell the {name} of libuv-sys2"))
    };
    let library = PathBuf::from(of_libuv("build-script-executed", "out_dir")?).join("libuv.a");
    let package = PathBuf::from(of_libuv("compiler-artifact", "manifest_path")?);
    Ok((library, package.with_file_name("libuv").join("include")))
}

/// Our libuv.a, with link-time optimisation, of which cargo knows nothing for a crate that is also a Rust library.
fn build_ours() -> Result<PathBuf, String> {
    let messages = cargo(&["rustc", "--package", "oxuv-c", "--lib", "--crate-type", "staticlib"])?;
    let path = messages.lines().filter(|line| line.contains("oxuv-c")).find_map(|line| {
        let end = line.find("libuv.a\"")? + "libuv.a".len();
        let start = line[..end].rfind('"')? + 1;
        Some(PathBuf::from(&line[start..end]))
    });
    path.ok_or_else(|| "cargo does not tell where our libuv.a is".into())
}

/// Runs cargo as this program was built, and returns its messages: a line of JSON each.
fn cargo(words: &[&str]) -> Result<String, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).arg("--message-format=json-render-diagnostics");
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {} has failed", words.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|_| "cargo's messages are no text".into())
}

/// The value of a text field in a line of cargo's messages.
fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn compile(program: &Path, sources: &[&str], library: Option<(&Path, &Path)>) -> Result<(), String> {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o"]).arg(program);
    cc.args(sources.iter().map(|source| Path::new(SOURCE).join(source)));
    if let Some((library, headers)) = library {
        cc.arg("-isystem").arg(headers).arg(library).args(SYSTEM);
    }
    let status = cc.status().map_err(|error| format!("cc does not start ({error}); Debian: apt install gcc"))?;
    if status.success() { Ok(()) } else { Err(format!("cc cannot make {}", program.display())) }
}
