//! Measures oxuv beside libuv, tokio, mio, monoio and a bare epoll program. README.md says how to read it.

#![forbid(unsafe_code)]

mod baseline;
mod build;
mod callgrind;
mod client;
mod contestant;
mod front;
mod measure;
mod options;
mod peers;
mod pool;
mod profile;
mod program;
mod report;
mod results;
mod sleeps;
mod sockets;
mod spawn;
mod switches;
mod table;
mod tasks;
mod workload;

use std::process::{Command, ExitCode, Stdio};

use build::Programs;
use contestant::Contestant;
use measure::Measurement;
use options::Options;
use report::{Machine, Report};
use results::Figure;
use workload::Workload;

const USAGE: &str = "\
usage: oxuv-bench [--quick] [--rounds=N] [--only=CONTESTANT,...] [--at=WORKLOAD,...] [--ring=CONTESTANT,...] [--write] [GROUP ...]
       oxuv-bench profile CONTESTANT WORKLOAD
       oxuv-bench check [--update-baseline]

groups:      instructions (with allocations), syscalls, times, memory; all unless given
contestants: rust, futures, c, libuv, tokio, mio, monoio-ring, monoio-epoll, epoll
workloads:   README.md lists them
--write:     the results go into docs/comparison.md, .json and .svg, too";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", contestant, program, handles, operations] => match (handles.parse(), operations.parse()) {
            (Ok(handles), Ok(operations)) => program::run(contestant, program, handles, operations),
            _ => Err(format!("{handles:?} and {operations:?} are not both numbers")),
        },
        ["profile", contestant, workload] => profile(contestant, workload),
        ["check"] => check(false),
        ["check", "--update-baseline"] => check(true),
        _ => measure(&words),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oxuv-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn profile(contestant: &str, workload: &str) -> Result<(), String> {
    let (contestant, workload) = (Contestant::from_name(contestant)?, Workload::from_name(workload)?);
    needs("valgrind")?;
    let profile = callgrind::profile(contestant, &build::build()?, workload)?;
    profile::print(&profile);
    Ok(())
}

fn check(update: bool) -> Result<(), String> {
    if cfg!(debug_assertions) {
        return Err("the baseline is that of a release build".into());
    }
    needs("valgrind")?;
    needs("strace")?;
    baseline::check(&measurement(build::build()?, Options::parse(&[])?), update)
}

fn measurement(programs: Programs, options: Options) -> Measurement {
    let Options { contestants, workloads, groups, ring, rounds, is_quick, .. } = options;
    Measurement { programs: Programs { ring, ..programs }, contestants, workloads, groups, rounds, is_short: is_quick }
}

fn measure(words: &[&str]) -> Result<(), String> {
    let options = Options::parse(words).map_err(|error| format!("{error}\n{USAGE}"))?;
    options.groups.iter().filter_map(|group| group.tool()).try_for_each(needs)?;
    if cfg!(debug_assertions) {
        eprintln!("oxuv-bench: not a release build; the numbers mean little");
    }
    let is_written = options.is_written;
    let mut machine = Machine::look();
    let measurement = measurement(build::build()?, options);
    println!("{}", measurement.programs.how);
    let results = measurement.run()?;
    machine.look_again();
    for figure in Figure::ALL {
        if let Some(table) = table::markdown(&results, figure) {
            println!("\n{}\n\n{table}", figure.title());
        }
    }
    if is_written {
        let report =
            Report { results: &results, machine: &machine, how: &measurement.programs.how, rounds: measurement.rounds };
        report.write()?;
    }
    match &results.failures[..] {
        [] => Ok(()),
        failures => Err(format!("not everything could be measured:\n{}", failures.join("\n"))),
    }
}

/// A clear word before anything is built.
fn needs(tool: &str) -> Result<(), String> {
    match Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("{tool} is missing; Debian and Ubuntu: apt install {tool}")),
    }
}
