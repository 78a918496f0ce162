//! The scripts of `tests/order`: what Node prints of them, in Node's order, is what they must print here.
//!
//! Beside each script is its standard output with the exit code, in NAME.out, and where something is said on standard error,
//! that without stack traces in NAME.err; of this only the last line is compared, since the lines before show source and
//! place. `OXUV_JS_RUNS=50` runs each so many times, four of them to a processor.

mod runner;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use runner::{Ran, program, run};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/order");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "js")).collect();
    scripts.sort();
    scripts
}

/// What is wrong with it, if anything.
fn complaint(script: &Path, ran: &Ran) -> Option<String> {
    let name = script.file_name().unwrap().to_string_lossy();
    let expected = fs::read_to_string(script.with_extension("out")).unwrap();
    if ran.text() != expected {
        return Some(format!("{name} printed\n{}instead of\n{expected}and said\n{}", ran.text(), ran.err));
    }
    let wanted = fs::read_to_string(script.with_extension("err")).ok()?;
    let (wanted, said) = (last_line(&wanted), last_line(&ran.err));
    (said != wanted).then(|| format!("{name} said {said:?} instead of {wanted:?}"))
}

/// The last line that belongs to no trace.
fn last_line(text: &str) -> &str {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with("    at ");
    text.lines().rev().find(is_said).unwrap_or("").trim_end()
}

#[test]
fn scripts_run_in_nodes_order() {
    let runs: usize = std::env::var("OXUV_JS_RUNS").map_or(1, |runs| runs.parse().expect("OXUV_JS_RUNS is a number"));
    let scripts = scripts();
    assert!(scripts.len() >= 59);
    let (next, total) = (AtomicUsize::new(0), runs * scripts.len());
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let workers = if runs > 1 { 4 * processors } else { processors };
    let work = || {
        let mut complaints = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                return complaints;
            }
            let script = &scripts[number % scripts.len()];
            let ran = run(program().arg(script), None);
            complaints.extend(complaint(script, &ran));
        }
    };
    let complaints: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(complaints.is_empty(), "{} of {total} runs:\n{}", complaints.len(), complaints.join("\n"));
}
