//! The measurements: row by row, all contestants at one workload after the other.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::baseline::Counts;
use crate::build::Programs;
use crate::callgrind;
use crate::client::{self, Outcome};
use crate::contestant::Contestant;
use crate::results::{Cell, Results, Row};
use crate::workload::{Medium, Traffic, Workload};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Instructions,
    SystemCalls,
    Times,
    Memory,
}

impl Group {
    pub(crate) const ALL: [Group; 4] = [Group::Instructions, Group::SystemCalls, Group::Times, Group::Memory];

    pub(crate) fn from_name(name: &str) -> Option<Group> {
        match name {
            "instructions" => Some(Group::Instructions),
            "syscalls" => Some(Group::SystemCalls),
            "times" => Some(Group::Times),
            "memory" => Some(Group::Memory),
            _ => None,
        }
    }

    /// The program that is needed for it.
    pub(crate) fn tool(self) -> Option<&'static str> {
        match self {
            Group::Instructions => Some("valgrind"),
            Group::SystemCalls => Some("strace"),
            Group::Times | Group::Memory => None,
        }
    }
}

pub(crate) struct Measurement {
    pub(crate) programs: Programs,
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) workloads: Vec<&'static Workload>,
    pub(crate) groups: Vec<Group>,
    /// How often each is timed, after one time that does not count.
    pub(crate) rounds: usize,
    /// With half of the operations.
    pub(crate) is_short: bool,
}

impl Measurement {
    pub(crate) fn run(&self) -> Result<Results, String> {
        let all_cores = sched_getaffinity(None).map_err(|error| format!("which cores are there? {error}"))?;
        let one_core = last_core(all_cores)?;
        allow_many_descriptors();
        let mut results = Results { contestants: self.contestants.clone(), rows: Vec::new(), failures: Vec::new() };
        for (nth, &workload) in self.workloads.iter().enumerate() {
            eprintln!("{} of {}: {}", nth + 1, self.workloads.len(), workload.name);
            let cores = if workload.threads.is_some() { all_cores } else { one_core };
            sched_setaffinity(None, &cores).map_err(|error| format!("cannot choose cores: {error}"))?;
            let mut row = Row { workload, cells: vec![Cell::default(); self.contestants.len()] };
            for &group in &self.groups {
                self.measure(group, &mut row, &mut results.failures);
            }
            results.rows.push(row);
        }
        Ok(results)
    }

    /// Fills in a row what belongs to a group. Whoever fails has no place in it, and the others go on.
    fn measure(&self, group: Group, row: &mut Row, failures: &mut Vec<String>) {
        let workload = row.workload;
        let mut of_each = |cells: &mut Vec<Cell>, what: &mut dyn FnMut(Contestant, &mut Cell) -> Result<(), String>| {
            let takes_part = |(each, cell): &(&Contestant, &mut Cell)| each.can(workload) && !cell.has_failed;
            for (&contestant, cell) in self.contestants.iter().zip(cells).filter(takes_part) {
                if let Err(error) = what(contestant, cell) {
                    eprintln!("{error}");
                    *cell = Cell { has_failed: true, ..Cell::default() };
                    failures.push(format!("{}, {}: {error}", contestant.title(), workload.title));
                }
            }
        };
        match (group, workload.counted, workload.with_fewer()) {
            (Group::Instructions, Some(_), _) => of_each(&mut row.cells, &mut |contestant, cell| {
                if contestant.runs_under_valgrind(workload) {
                    let profile = callgrind::profile(contestant, &self.programs, workload)?;
                    cell.instructions = Some(profile.instructions());
                    cell.allocations = Some(profile.allocations());
                }
                Ok(())
            }),
            (Group::SystemCalls, Some((short, long)), _) => of_each(&mut row.cells, &mut |contestant, cell| {
                cell.system_calls = Some(self.calls_per_operation(contestant, workload, short, long)?);
                Ok(())
            }),
            (Group::Times, _, None) => {
                for round in 0..=self.rounds {
                    of_each(&mut row.cells, &mut |contestant, cell| self.time(contestant, workload, round > 0, cell));
                }
            }
            (Group::Memory, _, Some(fewer)) => of_each(&mut row.cells, &mut |contestant, cell| {
                let peak = |workload: &Workload| {
                    let command = contestant.command(&[], &self.programs, workload, workload.handles);
                    client::run(command, workload, workload.handles).map(|run| run.peak as f64)
                };
                let more = peak(workload)? - peak(&fewer)?;
                // Pages come and go for other reasons: what needs less than these has nothing to show.
                cell.memory = Some(more.max(0.0) / (workload.handles - fewer.handles) as f64);
                Ok(())
            }),
            _ => {}
        }
    }

    /// All that is counted, for one contestant at one workload.
    pub(crate) fn counts(&self, contestant: Contestant, workload: &Workload) -> Result<Counts, String> {
        let (short, long) = workload.counted.ok_or_else(|| format!("{} is only timed", workload.name))?;
        let profile = callgrind::profile(contestant, &self.programs, workload)?;
        let system_calls = self.calls_per_operation(contestant, workload, short, long)?;
        Ok(Counts { instructions: profile.instructions(), allocations: profile.allocations(), system_calls })
    }

    fn calls_per_operation(
        &self,
        contestant: Contestant,
        workload: &Workload,
        short: usize,
        long: usize,
    ) -> Result<f64, String> {
        let more = self.count_calls(contestant, workload, long)?;
        let less = self.count_calls(contestant, workload, short)?;
        Ok((more - less) / (long - short) as f64)
    }

    fn count_calls(&self, contestant: Contestant, workload: &Workload, operations: usize) -> Result<f64, String> {
        let output = self.programs.c.with_file_name("strace.out");
        let file = output.display().to_string();
        let tool = ["strace", "-f", "-c", "-U", "calls,name", "-o", &file];
        let command = contestant.command(&tool, &self.programs, workload, operations);
        client::run(command, workload, operations)?;
        let text = std::fs::read_to_string(&output).map_err(|error| format!("{file}: {error}"))?;
        let total = text.lines().find_map(|line| line.trim().strip_suffix(" total"));
        total.and_then(|calls| calls.trim().parse().ok()).ok_or_else(|| format!("strace gives no total: {text}"))
    }

    /// CPU time per operation, and operations per second where that is something else.
    fn time(&self, contestant: Contestant, workload: &Workload, counts: bool, cell: &mut Cell) -> Result<(), String> {
        let operations = workload.operations(self.is_short);
        let command = contestant.command(&[], &self.programs, workload, operations);
        let Outcome { cpu, time, .. } = client::run(command, workload, operations)?;
        if counts {
            cell.cpu.push(cpu.as_nanos() as f64 / operations as f64);
            // A flood's end is not to be seen at the other end.
            let has_other_end = !matches!(workload.traffic, None | Some(Traffic::Drain(Medium::Udp)));
            if has_other_end || workload.threads.is_some() {
                cell.rate.push(operations as f64 / time.as_secs_f64());
            }
        }
        Ok(())
    }
}

/// As many as may be: two thousand connections need as many in the client and in the server.
fn allow_many_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Where that fails, the workload says which it has not got.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The last of these cores.
fn last_core(all: CpuSet) -> Result<CpuSet, String> {
    let core = (0..CpuSet::MAX_CPU).rev().find(|&core| all.is_set(core)).ok_or("there is no core to run on")?;
    let mut one = CpuSet::new();
    one.set(core);
    Ok(one)
}
