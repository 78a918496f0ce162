//! Runs libuv's tests on a library and compares with the list of expected results.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

use oxuv_conformance::expected::{Column, Difference, Expected, Kind, Results};
use oxuv_conformance::library::{Form, Library};
use oxuv_conformance::options::{Options, USAGE, list};
use oxuv_conformance::outcome::{Outcome, complaint};
use oxuv_conformance::place::Place;
use oxuv_conformance::program::Program;
use oxuv_conformance::run::{Run, Runner, User, can_isolate};
use oxuv_conformance::source::Source;
use oxuv_conformance::{about, compile, leaks, parallel, report};
use rustix::thread::{CpuSet, sched_setaffinity};

/// How often a test is tried that is marked as flaky.
const TRIES: u32 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match Options::read(words).and_then(|options| conform(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oxuv-conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Lets this process and its children run on every processor that the machine lends it, also if it was started on some of them: some
/// tests want the first one, or several.
fn use_every_processor() -> Result<(), String> {
    let mut every = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|processor| every.set(processor));
    sched_setaffinity(None, &every).map_err(about("the processors"))
}

/// Whether the results are those of the list.
fn conform(options: &Options) -> Result<bool, String> {
    let user = User::find(options.user.as_deref())?;
    let column = if user.id == 0 { Column::Root } else { Column::Other };
    let mut expected = read_list(&options.list(), options.update)?;
    let upstream = read_list(&list("upstream.tsv"), options.update)?;

    use_every_processor()?;
    let processors = available_parallelism().map_or(1, usize::from);
    let source = Source::find()?;
    let library = options.library.provide(options.form, &source, processors)?;
    let objects = compile::tests(&source, options.header, &options.cflags, processors)?;
    let place = Place::new(source.fixtures())?;
    let program = Program::link(&place.programs(), &objects, &library, options.form, options.leaks, &options.ldflags)?;

    let isolated = can_isolate(&place);
    if !isolated {
        eprintln!("oxuv-conformance: without root, or in this container, tests share the machine's network");
    }
    let jobs = match options.jobs {
        Some(jobs) if jobs > 1 && !isolated => return Err("more jobs than one need root, unshare and ip".into()),
        Some(jobs) => jobs,
        None if isolated => 2 * processors,
        None => 1,
    };
    let &Options { patience, time_limit, valgrind, leaks, .. } = options;
    let runner =
        Runner { program: &program.path, place: &place, user, isolated, patience, time_limit, valgrind, leaks };
    let runs = run(options, &runner, &program, &expected, jobs)?;
    let results: Results = runs.iter().map(|(test, run)| (test.clone(), run.outcome.clone())).collect();

    println!("{}", report::counts(&results));
    println!("{}", report::beside_upstream(&results, &upstream, column));
    if options.verbose {
        runs.iter().filter(|(_, run)| run.outcome.rank() == 0).for_each(|(test, run)| show(test, run));
    }
    if options.report {
        print!("{}", report::report(&results, &program, &upstream, column));
    }
    if leaks {
        // In the child of a process with threads LeakSanitizer may wait for ever: the results are not those of the list.
        return look_at_leaks(&runs, &runner, &source, &objects, options.form, jobs);
    }
    let all_run = options.filters.is_empty();
    let differences = expected.compare(&results, column, all_run);
    print_differences(&differences, &runs, &upstream, column);
    if options.update {
        let worse = differences.iter().any(|difference| difference.kind == Kind::Worse);
        if worse && !options.allow_worse {
            return Err("the list is not updated: some results are worse".into());
        }
        expected.update(&results, column, all_run);
        fs::write(options.list(), expected.to_string())
            .map_err(|error| format!("{}: {error}", options.list().display()))?;
        return Ok(true);
    }
    let wrong = differences.iter().filter(|difference| difference.kind.matters()).count();
    if wrong > 0 {
        println!(
            "{wrong} results are not those of {}; if they are right, --update writes them",
            options.list().display()
        );
    }
    Ok(wrong == 0)
}

/// Whether no test leaves more behind than it does on libuv itself.
fn look_at_leaks(
    runs: &BTreeMap<String, Run>,
    runner: &Runner<'_>,
    source: &Source,
    objects: &[PathBuf],
    form: Form,
    jobs: usize,
) -> Result<bool, String> {
    let suspects = leaks::suspects(runs);
    let mut others = BTreeMap::new();
    if !suspects.is_empty() {
        let library = Library::Upstream.provide(form, source, jobs)?;
        let place = Place::new(source.fixtures())?;
        let program = Program::link(&place.programs(), objects, &library, form, true, &[])?;
        let runner = Runner { program: &program.path, place: &place, user: runner.user.clone(), ..*runner };
        for (test, run) in suspects.iter().zip(parallel::map(jobs, &suspects, |test| runner.run_up_to(test, 1))) {
            others.insert((*test).clone(), run?);
        }
    }
    let (text, wrong) = leaks::report(runs, &others);
    print!("{text}");
    Ok(wrong == 0)
}

/// Reads a list, which `--update` may make anew.
fn read_list(path: &Path, may_lack: bool) -> Result<Expected, String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && may_lack => String::new(),
        text => text.map_err(|error| format!("{}: {error}", path.display()))?,
    };
    Expected::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs the tests as often as wanted, and gives the worst run of each.
fn run(
    options: &Options,
    runner: &Runner<'_>,
    program: &Program,
    expected: &Expected,
    jobs: usize,
) -> Result<BTreeMap<String, Run>, String> {
    let tests: Vec<&String> = program.tests.keys().filter(|test| options.wants(test)).collect();
    if tests.is_empty() {
        return Err("there is no such test".into());
    }
    let networks = if runner.isolated { ", each in a network of its own" } else { "" };
    println!("{} tests, {jobs} at a time{networks}, as user {}", tests.len(), runner.user.id);
    let mut worst: BTreeMap<String, Run> = BTreeMap::new();
    for _ in 0..options.repeat {
        let start = Instant::now();
        let runs = parallel::map(jobs, &tests, |test| {
            let tries = if expected.is_flaky(test) { TRIES } else { 1 };
            runner.run_up_to(test, tries)
        });
        println!("run in {:.0} seconds", start.elapsed().as_secs_f64());
        for (test, run) in tests.iter().zip(runs) {
            let run = run?;
            match worst.get(*test) {
                Some(before) if before.outcome.rank() <= run.outcome.rank() => {}
                _ => drop(worst.insert((*test).clone(), run)),
            }
        }
    }
    Ok(worst)
}

/// Prints what is unlike the list, with a reason for what fails. That a test now lacks another function is only counted.
fn print_differences(differences: &[Difference], runs: &BTreeMap<String, Run>, upstream: &Expected, column: Column) {
    let (lacking, rest): (Vec<&Difference>, Vec<&Difference>) = differences.iter().partition(|difference| {
        difference.kind == Kind::Changed && matches!(difference.found, Some(Outcome::Missing(_)))
    });
    for difference in rest {
        println!("{difference}{}", report::of_libuv(&difference.test, upstream, column));
        let run = runs.get(&difference.test).filter(|run| run.outcome.rank() == 0);
        if let Some(complaint) = run.and_then(|run| complaint(&run.output)) {
            println!("         {complaint}");
        }
    }
    if !lacking.is_empty() {
        println!("{} tests lack another function than listed", lacking.len());
    }
}

fn show(test: &str, run: &Run) {
    println!("\n== {test}: {} after {:.1} s", run.outcome, run.took.as_secs_f64());
    print!("{}", run.output);
}
