//! What is printed about the results.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::expected::{Column, Expected, Results};
use crate::outcome::Outcome;
use crate::program::Program;

/// One line: how many of each kind.
pub fn counts(results: &Results) -> String {
    let of = |word: &&str| results.values().filter(|outcome| outcome.word() == *word).count();
    let words = ["pass", "skip", "missing", "fail", "crash", "timeout"];
    let counts: Vec<String> = words.iter().map(|word| format!("{} {word}", of(word))).collect();
    format!("{} tests: {}", results.len(), counts.join(", "))
}

/// One line: how the results are beside libuv's own on the same machine.
pub fn beside_upstream(results: &Results, upstream: &Expected, column: Column) -> String {
    let of_libuv = |test: &String| upstream.outcome(test, column);
    let passes = |outcome: Option<&Outcome>| outcome == Some(&Outcome::Pass);
    let asked: Vec<&String> = results.keys().filter(|test| passes(of_libuv(test))).collect();
    let reached = asked.iter().filter(|test| passes(results.get(**test))).count();
    format!("libuv itself passes {} of them; of these, this library passes {reached}", asked.len())
}

/// Groups what does not pass.
pub fn report(results: &Results, program: &Program, upstream: &Expected, column: Column) -> String {
    let mut text = by_area(results, program, upstream, column);
    text.push_str(&by_function(results, program));
    text
}

fn by_area(results: &Results, program: &Program, upstream: &Expected, column: Column) -> String {
    let mut areas: BTreeMap<&str, Vec<(&String, &Outcome)>> = BTreeMap::new();
    for (test, outcome) in results {
        let file = program.tests.get(test).and_then(Option::as_deref).unwrap_or("left out");
        areas.entry(area(file)).or_default().push((test, outcome));
    }
    // What the tests' common header uses would fill every line.
    let files: BTreeSet<&String> = program.tests.values().flatten().collect();
    let common = |users: &BTreeSet<String>| 2 * users.len() > files.len();
    let mut text = String::from("\nby area: tests passed of all; functions that are missing; other failures\n");
    for (name, tests) in areas {
        let passed = tests.iter().filter(|(_, outcome)| **outcome == Outcome::Pass).count();
        let of =
            |(_, users): &(&String, &BTreeSet<String>)| !common(users) && users.iter().any(|file| area(file) == name);
        let lacks: Vec<&str> = program.missing.iter().filter(of).map(|(function, _)| function.as_str()).collect();
        text.push_str(
            &format!("{name:12} {passed:3} of {:3}  {}\n", tests.len(), lacks.join(" ")).replace("  \n", "\n"),
        );
        for (test, outcome) in tests {
            if outcome.rank() == 0 && !matches!(outcome, Outcome::Missing(_)) {
                text.push_str(&format!("    {test}: {outcome}{}\n", of_libuv(test, upstream, column)));
            }
        }
    }
    text
}

/// A remark on a test that libuv itself fails.
pub fn of_libuv(test: &str, upstream: &Expected, column: Column) -> String {
    match upstream.outcome(test, column) {
        Some(theirs) if theirs.rank() == 0 => format!(" (libuv: {theirs})"),
        _ => String::new(),
    }
}

/// The first word of a file's name.
fn area(file: &str) -> &str {
    file.split('-').next().unwrap_or(file)
}

fn by_function(results: &Results, program: &Program) -> String {
    let mut stopped: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in results.values() {
        if let Outcome::Missing(name) = outcome {
            *stopped.entry(name).or_default() += 1;
        }
    }
    let nowhere = BTreeSet::new();
    let users = |name: &str| program.missing.get(name).unwrap_or(&nowhere).len();
    let names: BTreeSet<&str> = program.missing.keys().map(String::as_str).chain(stopped.keys().copied()).collect();
    let mut rows: Vec<(usize, usize, &str)> =
        names.into_iter().map(|name| (stopped.get(name).copied().unwrap_or(0), users(name), name)).collect();
    rows.sort_by_key(|&(tests, files, name)| (Reverse((tests, files)), name));
    let mut text = String::from("\nmissing functions (tests that stopped there first, files that use it)\n");
    for (tests, files, name) in rows {
        text.push_str(&format!("{tests:4} {files:4}  {name}\n"));
    }
    text
}
