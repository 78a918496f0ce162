//! Runs Node's own tests on the program `oxuv`.

#![forbid(unsafe_code)]

mod areas;
mod run;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

use areas::AREAS;
use lexopt::{Arg, ValueExt};
use run::Verdict;

struct Options {
    tests: PathBuf,
    program: PathBuf,
    area: Option<String>,
    filter: String,
    is_verbose: bool,
    /// The least percentage that must pass, in every area.
    at_least: u32,
}

fn main() -> ExitCode {
    match options().map_err(|error| error.to_string()).and_then(|options| judge(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oxuv-node-tests: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options {
        tests: std::env::var_os("OXUV_NODE_TESTS").map(PathBuf::from).unwrap_or_default(),
        program: PathBuf::from("target/release/oxuv"),
        area: None,
        filter: String::new(),
        is_verbose: false,
        at_least: 0,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("tests") => options.tests = parser.value()?.into(),
            Arg::Long("oxuv") => options.program = parser.value()?.into(),
            Arg::Long("area") => options.area = Some(parser.value()?.string()?),
            Arg::Long("filter") => options.filter = parser.value()?.string()?,
            Arg::Long("verbose") => options.is_verbose = true,
            Arg::Long("at-least") => options.at_least = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

/// Runs the areas asked for, and prints a line for each. True if enough has passed.
fn judge(options: &Options) -> Result<bool, String> {
    let tree = tree::make(&options.tests)?;
    let program = run::find(&options.program)?;
    let mut is_enough = true;
    let mut failed = Vec::new();
    for area in AREAS.iter().filter(|area| options.area.as_ref().is_none_or(|wanted| wanted == area.name)) {
        let tests: Vec<_> = tree.tests().filter(|test| area.has(test) && test.contains(&options.filter)).collect();
        let outcomes = run::all(&program, &tree, &tests);
        let count = |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|(_, verdict)| wanted(verdict)).count();
        let (passed, not_run) = (count(|v| matches!(v, Verdict::Passed)), count(|v| matches!(v, Verdict::NotRun(_))));
        let run = outcomes.len() - not_run;
        let percent = (passed * 100).checked_div(run).unwrap_or(100);
        println!("{:<14} {passed:>4} of {run:>4} pass ({percent} %), {not_run} not run", area.name);
        is_enough &= percent >= options.at_least as usize;
        failed.extend(outcomes.into_iter().filter(|(_, verdict)| !matches!(verdict, Verdict::Passed)));
    }
    for (test, verdict) in failed {
        match verdict {
            Verdict::Failed { how, said } => {
                println!("FAILED  {test}: {how}: {}", first_error(&said));
                if options.is_verbose {
                    println!("{}\n", said.trim_end());
                }
            }
            Verdict::NotRun(why) => println!("not run {test}: {why}"),
            Verdict::Passed => {}
        }
    }
    Ok(is_enough)
}

/// The line that tells most.
fn first_error(said: &str) -> &str {
    let is_error = |line: &&str| line.contains("Error") && !line.trim_start().starts_with("at ");
    said.lines().find(is_error).or_else(|| said.lines().last()).unwrap_or("")
}
