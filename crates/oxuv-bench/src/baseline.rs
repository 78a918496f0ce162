//! Counts that must not become worse: a file of them, and what the comparison with it says.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::contestant::Contestant;
use crate::measure::Measurement;
use crate::workload::Workload;

/// What is counted for one operation. Times are not among it: they differ from one machine, and one hour, to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counts {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
    pub(crate) system_calls: f64,
}

/// By workload and contestant.
type Baseline = BTreeMap<(String, String), Counts>;

/// The workloads that are checked: those whose counts are the same each time, and no two that say the same.
const WORKLOADS: [&str; 19] = [
    "turn",
    "idle-1000",
    "insert-10k",
    "fire-10k",
    "cancel-10k",
    "rearm-10k",
    "async",
    "async-coalesced",
    "echo-try",
    "echo-1",
    "echo-1-16",
    "echo-1-4k",
    "pipe-echo",
    "udp-flood",
    "udp-flood-try",
    "udp-transfer",
    "turn-observed",
    "fire-observed",
    "turn-traced",
];

const CONTESTANTS: [Contestant; 2] = [Contestant::Rust, Contestant::C];

/// Instructions may be more by this part: another release of the C library or of the compiler is no regression.
const TOLERANCE: f64 = 0.03;

/// What is left of the runs that are subtracted, and is no allocation or system call of an operation.
const REST: f64 = 0.02;

const HEADER: &str = "workload\tcontestant\tinstructions\tallocations\tsystem calls";

/// Measures, and fails if something has become worse than the committed file says; or writes the file anew.
pub(crate) fn check(measurement: &Measurement, update: bool) -> Result<(), String> {
    let mut measured = Baseline::new();
    for name in WORKLOADS {
        let workload = Workload::from_name(name)?;
        for contestant in CONTESTANTS {
            let counts = measurement.counts(contestant, workload)?;
            println!("{}", line(name, contestant.name(), &counts));
            measured.insert((name.into(), contestant.name().into()), counts);
        }
    }
    let allocating = allocating(&measured);
    if !allocating.is_empty() {
        return Err(format!("what goes on as long as a program runs must not allocate:\n{}", allocating.join("\n")));
    }
    let file = file();
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    if update {
        std::fs::write(&file, to_text(&measured)).map_err(failed)?;
        return Ok(());
    }
    let baseline = parse(&std::fs::read_to_string(&file).map_err(failed)?)?;
    for better in better(&baseline, &measured) {
        println!("better: {better}");
    }
    let worse = worse(&baseline, &measured);
    if worse.is_empty() { Ok(()) } else { Err(format!("worse than baseline.tsv says:\n{}", worse.join("\n"))) }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.tsv")
}

fn line(workload: &str, contestant: &str, counts: &Counts) -> String {
    // Minus nothing is nothing.
    let [instructions, allocations, system_calls] =
        [counts.instructions, counts.allocations, counts.system_calls].map(|count| count.max(0.0));
    format!("{workload}\t{contestant}\t{instructions:.1}\t{allocations:.2}\t{system_calls:.2}")
}

fn to_text(baseline: &Baseline) -> String {
    let mut text = format!("{HEADER}\n");
    for ((workload, contestant), counts) in baseline {
        let _ = writeln!(text, "{}", line(workload, contestant, counts));
    }
    text
}

fn parse(text: &str) -> Result<Baseline, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("the baseline does not begin with {HEADER:?}"));
    }
    let entry = |line: &str| {
        let [workload, contestant, instructions, allocations, system_calls] =
            line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let counts = Counts {
            instructions: instructions.parse().ok()?,
            allocations: allocations.parse().ok()?,
            system_calls: system_calls.parse().ok()?,
        };
        Some(((workload.to_owned(), contestant.to_owned()), counts))
    };
    lines.map(|line| entry(line).ok_or_else(|| format!("a line of the baseline makes no sense: {line:?}"))).collect()
}

/// What is worse than it was, or cannot be compared.
fn worse(baseline: &Baseline, measured: &Baseline) -> Vec<String> {
    let mut worse = Vec::new();
    for (key @ (workload, contestant), now) in measured {
        let Some(before) = baseline.get(key) else {
            worse.push(format!("{workload}, {contestant}: not in the baseline; --update-baseline puts it there"));
            continue;
        };
        let counts = [
            ("instructions", before.instructions, now.instructions, before.instructions * TOLERANCE),
            ("allocations", before.allocations, now.allocations, REST),
            ("system calls", before.system_calls, now.system_calls, REST),
        ];
        for (what, before, now, tolerance) in counts {
            if now > before + tolerance {
                worse.push(format!("{workload}, {contestant}: {now:.2} {what}, not {before:.2}"));
            }
        }
    }
    for (workload, contestant) in baseline.keys().filter(|key| !measured.contains_key(key)) {
        worse.push(format!("{workload}, {contestant}: in the baseline, but not measured"));
    }
    worse
}

/// What allocates. That is wrong whatever the baseline says, and cannot be written to it: of what is checked, all operations are
/// done again and again with what was made before.
fn allocating(measured: &Baseline) -> Vec<String> {
    let allocates = measured.iter().filter(|(_, counts)| counts.allocations > REST);
    let told = |((workload, contestant), counts): (&(String, String), &Counts)| {
        format!("{workload}, {contestant}: {:.2} allocations", counts.allocations)
    };
    allocates.map(told).collect()
}

/// What has become better by so much that the baseline should say it.
fn better(baseline: &Baseline, measured: &Baseline) -> Vec<String> {
    let better = |(key, now): (&(String, String), &Counts)| {
        let before = baseline.get(key)?.instructions;
        let (workload, contestant) = key;
        (now.instructions < before * (1.0 - TOLERANCE))
            .then(|| format!("{workload}, {contestant}: {:.1} instructions, not {before:.1}", now.instructions))
    };
    measured.iter().filter_map(better).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(instructions: f64, allocations: f64, system_calls: f64) -> Baseline {
        Baseline::from([(("turn".into(), "c".into()), Counts { instructions, allocations, system_calls })])
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let baseline = one(401.25, 0.0, 1.0);
        let text = to_text(&baseline);
        assert_eq!(text, format!("{HEADER}\nturn\tc\t401.2\t0.00\t1.00\n"));
        assert_eq!(parse(&text), Ok(one(401.2, 0.0, 1.0)));
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for text in ["", "turn\tc\t1\t2\t3\n"] {
            assert!(parse(text).unwrap_err().contains("does not begin"));
        }
        for line in ["turn\tc\t1\t2", "turn\tc\t1\t2\tthree", "turn\tc\t1\t2\t3\t4", ""] {
            assert!(parse(&format!("{HEADER}\n{line}\n")).is_err(), "{line:?}");
        }
    }

    #[test]
    fn the_same_and_the_tolerance_are_no_reason_to_fail() {
        for now in [one(400.0, 0.0, 1.0), one(411.9, 0.01, 1.01), one(100.0, 0.0, 0.0)] {
            assert_eq!(worse(&one(400.0, 0.0, 1.0), &now), [""; 0]);
        }
    }

    #[test]
    fn each_count_that_is_worse_is_told() {
        let baseline = one(400.0, 0.0, 1.0);
        assert_eq!(worse(&baseline, &one(413.0, 0.0, 1.0)), ["turn, c: 413.00 instructions, not 400.00"]);
        assert_eq!(worse(&baseline, &one(400.0, 0.5, 1.0)), ["turn, c: 0.50 allocations, not 0.00"]);
        assert_eq!(worse(&baseline, &one(400.0, 0.0, 1.1)), ["turn, c: 1.10 system calls, not 1.00"]);
        assert_eq!(worse(&baseline, &one(500.0, 1.0, 2.0)).len(), 3);
    }

    #[test]
    fn an_allocation_is_told_though_the_baseline_has_it() {
        let allocates = one(400.0, 1.0, 1.0);
        assert_eq!(worse(&allocates, &allocates), [""; 0]);
        assert_eq!(allocating(&allocates), ["turn, c: 1.00 allocations"]);
        assert_eq!(allocating(&one(400.0, 0.01, 1.0)), [""; 0]);
    }

    #[test]
    fn what_only_one_side_knows_is_told() {
        let (none, one) = (Baseline::new(), one(400.0, 0.0, 1.0));
        assert_eq!(worse(&none, &one), ["turn, c: not in the baseline; --update-baseline puts it there"]);
        assert_eq!(worse(&one, &none), ["turn, c: in the baseline, but not measured"]);
    }

    #[test]
    fn a_gain_is_told_where_it_is_more_than_the_tolerance() {
        let baseline = one(400.0, 0.0, 1.0);
        assert_eq!(better(&baseline, &one(389.0, 0.0, 1.0)), [""; 0]);
        assert_eq!(better(&baseline, &one(300.0, 0.0, 1.0)), ["turn, c: 300.0 instructions, not 400.0"]);
        assert_eq!(better(&Baseline::new(), &baseline), [""; 0]);
    }

    #[test]
    fn the_committed_file_has_a_line_for_all_that_is_checked() {
        let baseline = parse(include_str!("../baseline.tsv")).unwrap();
        let checked = WORKLOADS.iter().flat_map(|name| CONTESTANTS.map(|contestant| (name, contestant.name())));
        for (workload, contestant) in checked {
            assert!(Workload::from_name(workload).is_ok_and(|workload| workload.counted.is_some()), "{workload}");
            assert!(baseline.contains_key(&(workload.to_string(), contestant.into())), "{workload}, {contestant}");
        }
        assert_eq!(allocating(&baseline), [""; 0]);
        assert_eq!(baseline.len(), WORKLOADS.len() * CONTESTANTS.len());
    }

    #[test]
    fn an_observer_that_counts_costs_a_callback_150_instructions_at_most() {
        let baseline = parse(include_str!("../baseline.tsv")).unwrap();
        for contestant in CONTESTANTS.map(Contestant::name) {
            let instructions = |workload: &str| baseline[&(workload.to_string(), contestant.into())].instructions;
            let more = instructions("fire-observed") - instructions("fire-10k");
            assert!(more <= 150.0, "{contestant}: {more}");
        }
    }
}
