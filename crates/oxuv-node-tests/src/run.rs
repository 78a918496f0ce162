//! Running tests, a few at a time, each in a process of its own and within a time.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::areas::{MODULES, SKIPPED};
use crate::tree::Tree;

pub(crate) enum Verdict {
    Passed,
    Failed { how: String, said: String },
    NotRun(String),
}

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(20);

/// The flags that `oxuv` understands.
const FLAGS: &[&str] = &[
    "--no-warnings",
    "--expose-gc",
    "--insecure-http-parser",
    "--max-http-header-size",
    "--unhandled-rejections",
    "--trace-warnings",
    "--trace-deprecation",
    "--throw-deprecation",
    "--no-deprecation",
];

/// A flag for which the tests find what they want in `internals/`.
const INTERNALS: &str = "--expose-internals";

/// The program that is judged.
pub(crate) struct Program {
    path: PathBuf,
    /// The modules of Node's that it has not.
    absent: Vec<&'static str>,
}

/// The program: a path, or a name to be looked up.
pub(crate) fn find(path: &Path) -> Result<Program, String> {
    let hint = |error| format!("{}: {error}; build it by `cargo build --release -p oxuv-js`", path.display());
    let path = if path.components().count() == 1 { path.to_owned() } else { path.canonicalize().map_err(hint)? };
    let said = Command::new(&path).args(["-p", "require('module').builtinModules.join(' ')"]).output().map_err(hint)?;
    let said = String::from_utf8_lossy(&said.stdout);
    let has = |module: &str| said.split_whitespace().any(|known| known == module);
    Ok(Program { absent: MODULES.iter().copied().filter(|module| !has(module)).collect(), path })
}

/// Runs them; the verdicts in the same order.
pub(crate) fn all(program: &Program, tree: &Tree, tests: &[&str]) -> Vec<(String, Verdict)> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut verdicts: Vec<_> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((test.to_string(), one(program, tree, test)));
            }
            done
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    verdicts.sort_by(|(one, _), (other, _)| one.cmp(other));
    verdicts
}

fn one(program: &Program, tree: &Tree, test: &str) -> Verdict {
    if let Some((_, why)) = SKIPPED.iter().find(|(part, _)| test.contains(part)) {
        return Verdict::NotRun(why.to_string());
    }
    let path = tree.root.join("test").join(test);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Verdict::NotRun(error.to_string()),
    };
    let flags: Vec<String> = flags(&text).filter(|flag| flag != INTERNALS).collect();
    if let Some(flag) = flags.iter().find(|flag| !FLAGS.contains(&flag.split('=').next().unwrap_or(""))) {
        return Verdict::NotRun(format!("it wants {flag}"));
    }
    if let Some(module) = program.absent.iter().find(|module| requires(&text, module)) {
        return Verdict::NotRun(format!("it requires `{module}`, which oxuv has not yet"));
    }
    match run(&program.path, &flags, &path) {
        Ok((Some(status), _)) if status.success() => Verdict::Passed,
        Ok((status, said)) => Verdict::Failed { how: how(status), said },
        Err(error) => Verdict::Failed { how: "could not be run".to_owned(), said: error.to_string() },
    }
}

fn how(status: Option<ExitStatus>) -> String {
    match status {
        None => format!("did not end within {} s", LIMIT.as_secs()),
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        },
    }
}

/// What the test's first lines ask for.
fn flags(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// Flags:"));
    lines.flat_map(str::split_whitespace).map(|flag| flag.replace('_', "-"))
}

fn requires(text: &str, module: &str) -> bool {
    let is_named =
        |how: &str| text.contains(&format!("{how}'{module}'")) || text.contains(&format!("{how}'node:{module}'"));
    ["require(", "from ", "import("].into_iter().any(is_named)
}

/// A port for a test that wants a certain one, with a few behind it, as no other that runs meanwhile: below those that the
/// system gives.
fn port() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    10_000 + (std::process::id() * 64 + NEXT.fetch_add(1, Ordering::Relaxed)) * 8 % 20_000
}

/// Runs the test, and ends it when it takes too long. Its output goes to a file, so that nobody has to read meanwhile.
fn run(program: &Path, flags: &[String], path: &Path) -> io::Result<(Option<ExitStatus>, String)> {
    let out = path.with_extension("out");
    let file = File::create(&out)?;
    let mut child = Command::new(program)
        .args(flags)
        .arg(path)
        // Where Node's own runner runs them: above the folder `test`.
        .current_dir(path.ancestors().nth(3).unwrap_or(path))
        .env("NODE_TEST_DIR", path.with_extension("tmp"))
        .env("NODE_COMMON_PORT", port().to_string())
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begin.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let said = String::from_utf8_lossy(&std::fs::read(&out)?).into_owned();
    Ok((status, said))
}
