//! The groups of measurements, a table each.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::baseline::Counts;
use crate::build::Programs;
use crate::callgrind;
use crate::client::{self, Outcome};
use crate::contestant::Contestant;
use crate::table::Table;
use crate::workload::{Medium, Traffic, Workload};

pub(crate) struct Measurement {
    pub(crate) programs: Programs,
    pub(crate) contestants: Vec<Contestant>,
    pub(crate) workloads: Vec<&'static Workload>,
    pub(crate) quick: bool,
}

impl Measurement {
    /// Counts that do not wobble: instructions and allocations, from the same runs.
    pub(crate) fn instructions(&self) -> Result<(), String> {
        let mut instructions =
            Table::new("User instructions per operation (and as a part of libuv's)", &self.contestants);
        let mut allocations = Table::new("Allocations per operation", &self.contestants);
        for &workload in self.workloads.iter().filter(|workload| workload.counted.is_some()) {
            let profiles =
                self.of_each(workload, |contestant| callgrind::profile(contestant, &self.programs, workload))?;
            let values = |count: fn(&callgrind::Profile) -> f64| -> Vec<Option<f64>> {
                profiles.iter().map(|profile| profile.as_ref().map(count)).collect()
            };
            instructions.numbers(workload.title, &values(callgrind::Profile::instructions));
            allocations.numbers(workload.title, &values(callgrind::Profile::allocations));
        }
        instructions.print();
        allocations.print();
        Ok(())
    }

    pub(crate) fn system_calls(&self) -> Result<(), String> {
        let mut table = Table::new("System calls per operation", &self.contestants);
        for &workload in &self.workloads {
            let Some((short, long)) = workload.counted else { continue };
            let counts =
                self.of_each(workload, |contestant| self.calls_per_operation(contestant, workload, short, long))?;
            table.numbers(workload.title, &counts);
        }
        table.print();
        Ok(())
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

    /// CPU time per operation, and operations per second where that is something else, round by round. All are on one core,
    /// but for what is about threads.
    pub(crate) fn times(&self) -> Result<(), String> {
        let all_cores = sched_getaffinity(None).map_err(|error| format!("which cores are there? {error}"))?;
        let one_core = last_core(all_cores)?;
        let mut cpu =
            Table::new("CPU time per operation in nanoseconds: median, ratio to libuv [quartiles]", &self.contestants);
        let mut wall = Table::new(
            "Requests, or pieces, or operations, per second: median, ratio to libuv [quartiles]",
            &self.contestants,
        );
        for &workload in &self.workloads {
            let operations = workload.timed;
            let cores = if workload.threads.is_some() { all_cores } else { one_core };
            sched_setaffinity(None, &cores).map_err(|error| format!("cannot choose cores: {error}"))?;
            let mut rounds = Vec::new();
            for _ in 0..if self.quick { 3 } else { 15 } {
                rounds.push(self.of_each(workload, |contestant| {
                    let command = contestant.command(&[], &self.programs, workload, operations);
                    client::run(command, workload, operations)
                })?);
            }
            cpu.texts(workload.title, self.ratios(&rounds, |run| run.cpu.as_nanos() as f64 / operations as f64));
            // A flood's end is not to be seen at the other end.
            let has_other_end = !matches!(workload.traffic, None | Some(Traffic::Drain(Medium::Udp)));
            if has_other_end || workload.threads.is_some() {
                let rate = |run: &Outcome| operations as f64 / run.time.as_secs_f64();
                wall.texts(workload.title, self.ratios(&rounds, rate));
            }
        }
        cpu.print();
        wall.print();
        Ok(())
    }

    /// For each contestant the median of a value, and the ratio to libuv's of the same round: median and quartiles.
    fn ratios(&self, rounds: &[Vec<Option<Outcome>>], value: impl Fn(&Outcome) -> f64) -> Vec<String> {
        let of = |round: &[Option<Outcome>], at: usize| round[at].as_ref().map(&value);
        let libuv = self.contestants.iter().position(|&contestant| contestant == Contestant::Libuv);
        let cell = |at: usize| {
            let values: Vec<f64> = rounds.iter().filter_map(|round| of(round, at)).collect();
            let ratio = |round: &Vec<Option<Outcome>>| Some(of(round, at)? / of(round, libuv?)?);
            let ratios: Vec<f64> = rounds.iter().filter_map(ratio).collect();
            if values.is_empty() {
                return "-".to_owned();
            }
            let median = quantile(values, 0.5);
            if Some(at) == libuv || ratios.is_empty() {
                return format!("{median:.1}");
            }
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|part| quantile(ratios.clone(), part));
            format!("{median:.1} ({middle:.2} [{low:.2}, {high:.2}])")
        };
        (0..self.contestants.len()).map(cell).collect()
    }

    /// Measures all contestants; `None` for those that do not take part.
    fn of_each<T>(
        &self,
        workload: &Workload,
        mut measure: impl FnMut(Contestant) -> Result<T, String>,
    ) -> Result<Vec<Option<T>>, String> {
        let measure = |&contestant: &Contestant| contestant.can(workload).then(|| measure(contestant)).transpose();
        self.contestants.iter().map(measure).collect()
    }
}

fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part).round() as usize]
}

/// The last of these cores.
fn last_core(all: CpuSet) -> Result<CpuSet, String> {
    let core = (0..CpuSet::MAX_CPU).rev().find(|&core| all.is_set(core)).ok_or("there is no core to run on")?;
    let mut one = CpuSet::new();
    one.set(core);
    Ok(one)
}
