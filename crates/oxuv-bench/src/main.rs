//! Measures oxuv beside libuv and beside a bare epoll program. README.md says how to read it.

#![forbid(unsafe_code)]

mod baseline;
mod build;
mod callgrind;
mod client;
mod contestant;
mod front;
mod measure;
mod pool;
mod profile;
mod sockets;
mod spawn;
mod table;
mod workload;

use std::process::{Command, ExitCode, Stdio};

use build::Programs;
use contestant::Contestant;
use measure::Measurement;
use workload::Workload;

const USAGE: &str =
    "usage: oxuv-bench [--quick] [--only=CONTESTANT,...] [--at=WORKLOAD,...] [--ring=CONTESTANT,...] [GROUP ...]
       oxuv-bench profile CONTESTANT WORKLOAD
       oxuv-bench check [--update-baseline]

groups:      instructions (with allocations), syscalls, times; all unless given
contestants: rust, c, libuv, epoll
workloads:   README.md lists them";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", program, handles, operations] => match (handles.parse(), operations.parse()) {
            (Ok(handles), Ok(operations)) => front::run(program, handles, operations),
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
    let contestants = Contestant::ALL.to_vec();
    let measurement = Measurement { programs: build::build()?, contestants, workloads: Vec::new(), quick: true };
    baseline::check(&measurement, update)
}

fn measure(words: &[&str]) -> Result<(), String> {
    let (mut contestants, mut workloads) = (Contestant::ALL.to_vec(), Workload::ALL.iter().collect::<Vec<_>>());
    let (mut quick, mut groups, mut ring) = (false, Vec::new(), None);
    for &word in words {
        if let Some(names) = word.strip_prefix("--only=") {
            contestants = names.split(',').map(Contestant::from_name).collect::<Result<_, _>>()?;
        } else if let Some(names) = word.strip_prefix("--at=") {
            workloads = names.split(',').map(Workload::from_name).collect::<Result<_, _>>()?;
        } else if let Some(names) = word.strip_prefix("--ring=") {
            let names = names.split(',').filter(|&name| name != "none");
            ring = Some(names.map(Contestant::from_name).collect::<Result<_, _>>()?);
        } else {
            match word {
                "--quick" => quick = true,
                "instructions" | "syscalls" | "times" => groups.push(word),
                _ => return Err(format!("{word:?} is unknown\n{USAGE}")),
            }
        }
    }
    let wants = |group| groups.is_empty() || groups.contains(&group);
    for (group, tool) in [("instructions", "valgrind"), ("syscalls", "strace")] {
        if wants(group) {
            needs(tool)?;
        }
    }
    if cfg!(debug_assertions) {
        eprintln!("oxuv-bench: not a release build; the numbers mean little");
    }
    let programs = Programs { ring, ..build::build()? };
    let measurement = Measurement { programs, contestants, workloads, quick };
    println!("{}", measurement.programs.how);
    if wants("instructions") {
        measurement.instructions()?;
    }
    if wants("syscalls") {
        measurement.system_calls()?;
    }
    if wants("times") {
        measurement.times()?;
    }
    Ok(())
}

/// A clear word before anything is built.
fn needs(tool: &str) -> Result<(), String> {
    match Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("{tool} is missing; Debian and Ubuntu: apt install {tool}")),
    }
}
