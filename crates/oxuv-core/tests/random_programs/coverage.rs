//! What programs have exercised: counted, printed, and looked through for what was not.

use std::collections::BTreeMap;
use std::fmt;

use oxuv_core::sim::Fault;
use oxuv_core::{CallbackKind, Kind, Lane};

use crate::draw::{GRAINS, STARTS};
use crate::jobs;
use crate::run::INSIDE;

/// The actions of programs, as [`Action`](crate::program::Action) has them.
const ACTIONS: [&str; 43] = [
    "Init",
    "Spawn",
    "StartTimer",
    "Again",
    "SetRepeat",
    "Start",
    "Stop",
    "Close",
    "Reference",
    "Unreference",
    "Open",
    "Pair",
    "Bind",
    "Connect",
    "CloseReset",
    "StartPoll",
    "Listen",
    "Accept",
    "Write",
    "TryWrite",
    "WriteHandle",
    "TryWriteHandle",
    "Shutdown",
    "Await",
    "TryRead",
    "SetMode",
    "Submit",
    "Cancel",
    "Watch",
    "Look",
    "Observe",
    "StartSignal",
    "Fork",
    "StopLoop",
    "UpdateTime",
    "Work",
    "Walk",
    "Leave",
    "Run(Default)",
    "Run(Once)",
    "Run(NoWait)",
    "Now",
    "Later",
];

/// What others do, as [`Outer`](crate::program::Outer) has it.
const OTHERS: [&str; 16] = [
    "SendAsync",
    "Connect",
    "PeerSend",
    "PeerReceive",
    "PeerShutdown",
    "PeerClose",
    "PeerReset",
    "Letter",
    "Raise",
    "TakeLetters",
    "Exit",
    "MakeFile",
    "MakeDirectory",
    "Write",
    "Remove",
    "Rename",
];

/// The kinds of handles.
const KINDS: [Kind; 14] = [
    Kind::Timer,
    Kind::Idle,
    Kind::Prepare,
    Kind::Check,
    Kind::Async,
    Kind::Poll,
    Kind::Tcp,
    Kind::Udp,
    Kind::Pipe,
    Kind::Tty,
    Kind::Signal,
    Kind::Process,
    Kind::FsEvent,
    Kind::FsPoll,
];

/// How often each thing of each group was exercised.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    groups: BTreeMap<&'static str, BTreeMap<String, u64>>,
}

impl Coverage {
    pub(crate) fn note(&mut self, group: &'static str, what: &str) {
        self.add(group, what, 1);
    }

    pub(crate) fn add(&mut self, group: &'static str, what: &str, count: u64) {
        let group = self.groups.entry(group).or_default();
        match group.get_mut(what) {
            Some(sum) => *sum += count,
            None => drop(group.insert(what.to_owned(), count)),
        }
    }

    pub(crate) fn join(&mut self, other: &Coverage) {
        for (group, counts) in &other.groups {
            counts.iter().for_each(|(what, &count)| self.add(group, what, count));
        }
    }

    /// How much of a group was exercised.
    pub(crate) fn sum(&self, group: &str) -> u64 {
        self.groups.get(group).map_or(0, |counts| counts.values().sum())
    }

    /// What was to be exercised and was not, or was and is not in the lists above.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let expected = expected();
        let is_there = |&(group, what): &(&str, &str)| {
            self.groups.get(group).and_then(|counts| counts.get(what)).is_some_and(|&count| count > 0)
        };
        let missing = expected.iter().filter(|it| !is_there(it)).map(|(group, what)| format!("{group}: no {what}"));
        let all = self.groups.iter().flat_map(|(&group, counts)| counts.keys().map(move |what| (group, what.as_str())));
        let unknown =
            all.filter(|it| !expected.contains(it)).map(|(group, what)| format!("{group}: {what} is not listed"));
        missing.chain(unknown).collect()
    }
}

/// All that has to be exercised.
fn expected() -> Vec<(&'static str, &'static str)> {
    // Of immediates and scripts only doors tell.
    let is_of_core =
        |kind: &CallbackKind| !matches!(kind, CallbackKind::Immediate | CallbackKind::Script | CallbackKind::Task);
    let callbacks = CallbackKind::ALL.into_iter().filter(is_of_core);
    let phases = ["pending", "idle", "prepare", "poll", "check", "closing", "timers"];
    let groups: [(&str, Vec<&str>); 9] = [
        ("kinds", KINDS.map(Kind::name).into_iter().chain(Lane::ALL.map(jobs::name)).collect()),
        ("jobs", vec!["run", "done by the ring", "cancelled"]),
        ("phases", phases.to_vec()),
        ("callbacks", callbacks.map(CallbackKind::name).chain(["ready"]).collect()),
        ("actions", ACTIONS.to_vec()),
        ("others", OTHERS.to_vec()),
        ("faults", Fault::ALL.map(Fault::name).to_vec()),
        ("clocks", STARTS.map(|(name, _)| name).to_vec()),
        (
            "loops",
            vec![
                grain(GRAINS[0]),
                grain(GRAINS[1]),
                ring(true),
                ring(false),
                gathering(true),
                gathering(false),
                INSIDE,
            ],
        ),
    ];
    groups.into_iter().flat_map(|(group, all)| all.into_iter().map(move |what| (group, what))).collect()
}

pub(crate) fn grain(grain: u64) -> &'static str {
    if grain == 1 { "exact" } else { "coarse" }
}

pub(crate) fn gathering(gathers: bool) -> &'static str {
    if gathers { "gathering" } else { "not gathering" }
}

pub(crate) fn ring(has_ring: bool) -> &'static str {
    if has_ring { "with a ring" } else { "without a ring" }
}

/// A line for each group, broken where it gets long.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, counts) in &self.groups {
            let mut line = format!("  {group:9}");
            for (what, count) in counts {
                let next = format!(" {what} {count},");
                if line.len() + next.len() > 130 {
                    writeln!(f, "{line}")?;
                    line = " ".repeat(11);
                }
                line += &next;
            }
            writeln!(f, "{}", line.trim_end_matches(','))?;
        }
        Ok(())
    }
}
