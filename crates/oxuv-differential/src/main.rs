//! Random programs on libuv 1.53 and on another library with its interface, over the real kernel: the README says how they are
//! drawn and what of their traces may differ.
//!
//!     oxuv-differential path/to/libuv.so.1
//!
//! `OXUV_PROGRAMS` is how many programs are run, 3000 unless set, and `OXUV_SEED` is the first one's seed, 1 unless set.

#![forbid(unsafe_code)]

mod compare;
mod draw;
mod program;
mod shrink;
mod side;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use compare::{Verdict, compare};
use oxuv_order::Entry;
use program::Program;
use side::Side;

/// A difference counts if it comes each time: what time or the kernel has to do with is not the same each time.
const TRIES: usize = 4;

/// libuv, and the other library.
struct Both {
    libuv: Side,
    other: Side,
    /// The other one, with a ring for files.
    other_by_ring: Side,
}

/// What has come of a program.
struct Outcome {
    verdict: Verdict,
    libuv: Vec<Entry>,
    other: Vec<Entry>,
}

impl Both {
    fn run_once(&mut self, program: &Program) -> Outcome {
        let text = program.script();
        let other = if program.is_by_ring { &mut self.other_by_ring } else { &mut self.other };
        self.libuv.begin(&text);
        other.begin(&text);
        let libuv = self.libuv.end();
        let libuv = libuv.unwrap_or_else(|error| panic!("libuv: {error}\nprogram {}:\n{program}", program.seed));
        let other = other.end().unwrap_or_else(|error| vec![Entry::Did(error)]);
        Outcome { verdict: compare(&libuv, &other), libuv, other }
    }

    /// Runs a program, and again where it differs: nothing is told of what does not differ each time.
    fn run(&mut self, program: &Program) -> (Outcome, usize) {
        let mut tries = 0;
        loop {
            let outcome = self.run_once(program);
            tries += 1;
            if !matches!(outcome.verdict, Verdict::Different(_)) || tries == TRIES {
                return (outcome, tries);
            }
        }
    }

    fn differs(&mut self, program: &Program) -> bool {
        matches!(self.run(program).0.verdict, Verdict::Different(_))
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// What poll handles are told.
const POLLED: [&str; 7] = ["r", "w", "d", "rw", "rd", "wd", "rwd"];

/// What was run, counted.
#[derive(Default)]
struct Counts {
    entries: usize,
    callbacks: BTreeMap<String, usize>,
    reordered: usize,
    retried: usize,
}

impl Counts {
    fn add(&mut self, outcome: &Outcome, tries: usize) {
        let compared = match outcome.verdict {
            Verdict::Same => outcome.libuv.len(),
            Verdict::Reordered(at) | Verdict::Different(at) => at,
        };
        self.entries += compared;
        self.reordered += usize::from(matches!(outcome.verdict, Verdict::Reordered(_)));
        self.retried += tries - 1;
        for entry in &outcome.libuv[..compared] {
            if let Entry::Called(call) = entry
                && !program::is_of_frame(call)
            {
                // A poll handle's callback tells for what it is ready.
                let what = call.split(' ').nth(1).filter(|word| !POLLED.contains(word)).unwrap_or("itself");
                *self.callbacks.entry(what.to_owned()).or_default() += 1;
            }
        }
    }
}

/// The comparison has to see that something is missing, or the rest means nothing.
fn prove(both: &mut Both) {
    let outcome = both.run_once(&draw::program(1));
    let last = outcome.libuv.len().checked_sub(1).expect("a program has a trace");
    assert_eq!(compare(&outcome.libuv, &outcome.libuv[..last]), Verdict::Different(last), "a planted difference");
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some(side::ARGUMENT) {
        side::serve();
        return ExitCode::SUCCESS;
    }
    let Some(library) = argument.map(PathBuf::from).and_then(|path| path.canonicalize().ok()) else {
        eprintln!("which library? oxuv-differential path/to/libuv.so.1");
        return ExitCode::FAILURE;
    };
    let mut both = Both {
        libuv: Side::new(None, false),
        other: Side::new(Some(library.clone()), false),
        other_by_ring: Side::new(Some(library), true),
    };
    prove(&mut both);
    let (first, count) = (number("OXUV_SEED", 1), number("OXUV_PROGRAMS", 3000));
    let (begun, mut counts, mut failures) = (Instant::now(), Counts::default(), 0);
    for seed in first..first + count {
        let program = draw::program(seed);
        let (outcome, tries) = both.run(&program);
        counts.add(&outcome, tries);
        if let Verdict::Different(_) = outcome.verdict {
            failures += 1;
            let small = shrink::shrink(program, |program| both.differs(program));
            tell(&small, &both.run(&small).0);
        }
    }
    let Counts { entries, callbacks, reordered, retried } = counts;
    let callbacks: Vec<String> = callbacks.iter().map(|(what, count)| format!("{what} {count}")).collect();
    println!(
        "{count} programs on both, {failures} differ; {entries} actions and callbacks compared ({}); {reordered} programs only up to \
         another order of ready descriptors, {retried} runs again; {:.0} seconds",
        callbacks.join(", "),
        begun.elapsed().as_secs_f64()
    );
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(program: &Program, outcome: &Outcome) {
    println!("program {}, made small:\n{program}", program.seed);
    let Verdict::Different(at) = outcome.verdict else { return println!("(once small, it differs no more)\n") };
    for (who, trace) in [("libuv", &outcome.libuv), ("other", &outcome.other)] {
        let text = |entry: &Entry| match entry {
            Entry::Called(call) => call.clone(),
            Entry::Did(did) => format!("  {did}"),
        };
        let shown: Vec<String> = trace.iter().skip(at.saturating_sub(6)).take(12).map(text).collect();
        println!("-- {who}, from {}:\n{}", at.saturating_sub(6), shown.join("\n"));
    }
    println!("again: OXUV_SEED={} OXUV_PROGRAMS=1 scripts/differential\n", program.seed);
}
