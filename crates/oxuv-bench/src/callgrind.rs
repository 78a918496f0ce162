//! What callgrind has counted: user instructions and calls, per function and per line of source.

use std::collections::HashMap;

use crate::build::Programs;
use crate::client;
use crate::contestant::Contestant;
use crate::workload::Workload;

/// The counts of a run, or of the difference of two, per operation.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) own: f64,
    pub(crate) with_callees: f64,
    pub(crate) calls: f64,
}

#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) functions: HashMap<String, Cost>,
    /// Own instructions by place: file, line, and the function that it was inlined into.
    pub(crate) lines: HashMap<(String, u32, String), f64>,
}

impl Profile {
    pub(crate) fn instructions(&self) -> f64 {
        self.functions.values().map(|cost| cost.own).sum()
    }

    /// Calls of the C library's functions that give memory.
    pub(crate) fn allocations(&self) -> f64 {
        let names = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];
        names.iter().filter_map(|&name| self.functions.get(name)).map(|cost| cost.calls).sum()
    }

    /// Reads callgrind's output, written with full names and line numbers.
    fn parse(text: &str) -> Profile {
        let mut profile = Profile::default();
        let (mut function, mut file, mut callee) = (String::new(), String::new(), String::new());
        let mut is_call = false;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("fn=") {
                function = plain(name);
            } else if let Some(name) = line.strip_prefix("cfn=") {
                callee = plain(name);
            } else if let Some(calls) = line.strip_prefix("calls=") {
                let calls: f64 = calls.split(' ').next().and_then(|calls| calls.parse().ok()).unwrap_or(0.0);
                profile.functions.entry(callee.clone()).or_default().calls += calls;
                is_call = true;
            } else if let Some(name) = ["fl=", "fi=", "fe="].iter().find_map(|prefix| line.strip_prefix(prefix)) {
                file = name.to_owned();
            } else if let Some((Ok(number), Ok(cost))) =
                line.split_once(' ').map(|(number, cost)| (number.parse::<u32>(), cost.parse::<f64>()))
            {
                let entry = profile.functions.entry(function.clone()).or_default();
                entry.with_callees += cost;
                if !std::mem::take(&mut is_call) {
                    entry.own += cost;
                    *profile.lines.entry((file.clone(), number, function.clone())).or_default() += cost;
                }
            }
        }
        profile
    }

    /// What the longer run has counted more than the shorter, per operation that it did more.
    fn per_operation(mut self, shorter: &Profile, operations: f64) -> Profile {
        for (name, cost) in &mut self.functions {
            let less = shorter.functions.get(name).copied().unwrap_or_default();
            cost.own = (cost.own - less.own) / operations;
            cost.with_callees = (cost.with_callees - less.with_callees) / operations;
            cost.calls = (cost.calls - less.calls) / operations;
        }
        for (place, cost) in &mut self.lines {
            *cost = (*cost - shorter.lines.get(place).copied().unwrap_or_default()) / operations;
        }
        self
    }
}

/// The name without the hash that Rust puts at its end, and without the number of a recursion's depth.
fn plain(name: &str) -> String {
    let name = name.split('\'').next().unwrap_or(name);
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 => path.to_owned(),
        _ => name.to_owned(),
    }
}

/// The counts per operation of a workload that can be counted.
pub(crate) fn profile(contestant: Contestant, programs: &Programs, workload: &Workload) -> Result<Profile, String> {
    let (short, long) = workload.counted.ok_or_else(|| format!("{} is only timed", workload.name))?;
    let shorter = count(contestant, programs, workload, short)?;
    let longer = count(contestant, programs, workload, long)?;
    Ok(longer.per_operation(&shorter, (long - short) as f64))
}

/// What is not in a section that the workload wants measured is not counted.
const SECTION: &str = "--toggle-collect=*timed_section*";

fn count(
    contestant: Contestant,
    programs: &Programs,
    workload: &Workload,
    operations: usize,
) -> Result<Profile, String> {
    let output = programs.c.with_file_name(format!("callgrind.{}.{}", contestant.name(), workload.name));
    let file = format!("--callgrind-out-file={}", output.display());
    let mut tool = vec!["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", &file];
    // Other threads never come to a section: there all is counted, and the rest falls out when the runs are subtracted.
    if workload.threads.is_none() {
        tool.push(SECTION);
    }
    let mut command = contestant.command(&tool, programs, workload, operations);
    // It warns of system calls that it does not know; they fail with ENOSYS, and we have another way.
    command.stderr(std::process::Stdio::null());
    client::run(command, workload, operations)?;
    let text = std::fs::read_to_string(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    Ok(Profile::parse(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_costs_calls_and_costs_with_callees_are_told_apart() {
        let text =
            "fl=a.rs\nfn=outer::h0123456789abcdef\n1 10\ncfn=malloc\ncalls=3 0\n2 30\nfi=b.rs\n7 5\nfn=malloc\n0 30\n";
        let profile = Profile::parse(text);
        assert_eq!(profile.functions["outer"], Cost { own: 15.0, with_callees: 45.0, calls: 0.0 });
        assert_eq!(profile.lines[&("b.rs".into(), 7, "outer".into())], 5.0);
        assert_eq!((profile.instructions(), profile.allocations()), (45.0, 3.0));
    }
}
