//! What tests leave behind: memory, descriptors, threads. `leaks.c` looks in the test's process, this reads what it says.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::about;
use crate::run::Run;

/// What the test program is linked with.
pub const SOURCE: &str = include_str!("leaks.c");

/// What LeakSanitizer's files begin with; the process's number follows.
pub const LOST: &str = "lost";

/// As many blocks of memory may be there at the end that were not at the start: the C library and Rust's keep some for good.
const FEW_BLOCKS: i64 = 40;

/// They open `/`, whose descriptor they do not close: on libuv's threads, which are all at work, they always take that back.
const OPENERS: [&str; 2] = ["threadpool_cancel_fs", "threadpool_cancel_fs_iouring"];

/// What a test has left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Descriptors, and what they are.
    pub descriptors: Vec<String>,
    /// Threads besides the one that ends the process, and their names.
    pub threads: Vec<String>,
    /// Blocks of memory more than at the start, whether somebody can reach them or not.
    pub blocks: i64,
    /// Bytes that nobody can reach.
    pub lost: u64,
    /// Where these came from, in LeakSanitizer's words.
    pub report: String,
    /// LeakSanitizer could not look: it stops the process from another one, which some sandboxes forbid.
    pub is_blind: bool,
}

impl Left {
    /// Reads what the process of the test has written into `folder`; nothing if it did not come to its end.
    pub fn read(folder: &Path) -> Result<Option<Left>, String> {
        let mut left = None;
        for entry in fs::read_dir(folder).map_err(about(folder.display()))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.parse::<u32>().is_ok() {
                let text = fs::read_to_string(entry.path()).map_err(about(entry.path().display()))?;
                let lost = fs::read_to_string(folder.join(format!("{LOST}.{name}"))).unwrap_or_default();
                left = Some(Left::parse(&text, &lost));
            }
        }
        Ok(left)
    }

    /// Reads the two files.
    pub fn parse(text: &str, lost: &str) -> Left {
        let is_blind = lost.contains("LeakSanitizer has encountered a fatal error");
        let mut left = Left { report: lost.to_owned(), is_blind, ..Left::default() };
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("blocks", count)) => left.blocks = count.parse().unwrap_or(i64::MAX),
                Some(("descriptor", what)) => left.descriptors.push(what.to_owned()),
                _ => left.threads.push(line.strip_prefix("thread ").unwrap_or(line).to_owned()),
            }
        }
        if !is_blind && !lost.is_empty() {
            let summary = lost.lines().find_map(|line| line.strip_prefix("SUMMARY: LeakSanitizer: "));
            left.lost = summary.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(1);
        }
        left
    }

    /// True if there is nothing to be looked into.
    pub fn is_clean(&self) -> bool {
        self.beyond(&Left::default()).is_empty()
    }

    /// What is more than another library leaves by the same test.
    pub fn beyond(&self, other: &Left) -> Vec<String> {
        let mut more = Vec::new();
        if self.descriptors.len() > other.descriptors.len() {
            more.push(format!("descriptors {}", self.descriptors.join(", ")));
        }
        if self.threads.len() > other.threads.len() {
            more.push(format!("threads {}", self.threads.join(", ")));
        }
        if self.blocks > other.blocks.max(0) + FEW_BLOCKS {
            more.push(format!("{} blocks of memory", self.blocks));
        }
        if self.lost > other.lost {
            more.push(format!("{} lost bytes", self.lost));
        }
        more
    }
}

/// The tests that have left something.
pub fn suspects(runs: &BTreeMap<String, Run>) -> Vec<&String> {
    let is_suspect = |run: &Run| run.left.as_ref().is_some_and(|left| !left.is_clean());
    runs.iter().filter(|(_, run)| is_suspect(run)).map(|(test, _)| test).collect()
}

/// What is printed, and how many tests leave more than they do on the other library.
pub fn report(runs: &BTreeMap<String, Run>, others: &BTreeMap<String, Run>) -> (String, usize) {
    let all: Vec<&Left> = runs.values().filter_map(|run| run.left.as_ref()).collect();
    let count = |has: fn(&Left) -> bool| all.iter().filter(|left| has(left)).count();
    let (descriptors, threads) = (count(|left| !left.descriptors.is_empty()), count(|left| !left.threads.is_empty()));
    let (lost, blocks) = (count(|left| left.lost > 0), count(|left| left.blocks > FEW_BLOCKS));
    let mut text = format!(
        "leaks: of {} tests {} came to the end of their process; left there: descriptors by {descriptors}, threads by \
         {threads}, memory out of reach by {lost}, more than {FEW_BLOCKS} blocks of memory by {blocks}\n",
        runs.len(),
        all.len(),
    );
    let unseen: Vec<_> = runs.iter().filter(|(_, run)| run.left.is_none()).map(|(test, _)| test.as_str()).collect();
    if !unseen.is_empty() {
        let _ = writeln!(text, "leaks: not to the end of their process came {}", unseen.join(", "));
    }
    if let Some(left) = all.iter().find(|left| left.is_blind) {
        let _ = writeln!(text, "leaks: memory out of reach was not looked for: {}", left.report.trim());
    }
    let mut wrong = 0;
    for test in suspects(runs) {
        let Some(left) = &runs[test].left else { continue };
        let mut left = left.clone();
        if OPENERS.contains(&test.as_str()) {
            left.descriptors.retain(|what| !what.ends_with(" /"));
        }
        let other = others.get(test).and_then(|run| run.left.clone()).unwrap_or_default();
        let more = left.beyond(&other);
        if !more.is_empty() {
            wrong += 1;
            let _ = writeln!(text, "{test} leaves {}\n{}", more.join("; "), left.report.trim());
        }
    }
    let _ = writeln!(text, "leaks: {wrong} tests leave more than on libuv itself");
    (text, wrong)
}
