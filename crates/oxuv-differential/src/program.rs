//! Random programs: order scripts that expect nothing, drawn from a seed.

use std::fmt;

use oxuv_core::sim::Random;

use crate::compare::{AFTER_POLL, BEFORE_POLL};

fn pick<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    random.pick(words).expect("there are some")
}

/// A line of a program: what it does in turn, or what a callback does at one of its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// `on a read 2`; none for what is done in turn.
    pub(crate) callback: Option<String>,
    pub(crate) steps: Vec<String>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) parts: Vec<Part>,
}

/// The handles of programs, by kind. Of each program some are used, and most are initialised first.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// As scripts initialise them.
const KINDS: [&str; 17] = [
    "timer",
    "timer",
    "idle",
    "prepare",
    "check",
    "async",
    "poll",
    "stream",
    "stream",
    "tcp",
    "tcp",
    "mailbox",
    "udp",
    "udp_several",
    "signal",
    "fs_event",
    "job",
];

/// No handle at all.
const JOB: &str = "job";

/// Rounds that a run without an end of its own may have, until the guard stops it.
const ROUNDS: usize = 5;

/// What every program begins with: a guard, which keeps runs from waiting and ends them, and two handles that tell the phases
/// apart. None of them keeps the loop alive for long.
fn frame() -> String {
    let mut text = "timer guard; prepare before; check after; start before; start after; unref before; unref after\n\
                    on guard: start guard 0\n"
        .to_owned();
    (1..40).for_each(|nth| text += &format!("on guard {}: stop_loop\n", nth * ROUNDS));
    text
}

/// Whether this is the call of a handle that every program has.
pub(crate) fn is_of_frame(call: &str) -> bool {
    ["guard", BEFORE_POLL, AFTER_POLL, "first", "second"].contains(&call)
}

/// Without somebody who waits for it, a signal would end the process.
const CATCHERS: &str = "signal first; signal second; start first one; start second two; unref first; unref second\n";

impl Program {
    /// The program of this seed.
    pub(crate) fn random(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let count = 2 + random.below(NAMES.len() - 1);
        // A few kinds of which there are several meet more often than one of each.
        let mut few: Vec<&str> = (0..1 + random.below(4)).map(|_| pick(&mut random, &KINDS)).collect();
        if few.contains(&"signal") {
            // They wake libuv's loop by another descriptor than these, and ours by the same.
            few.retain(|kind| !["async", JOB].contains(kind));
        }
        let handles: Vec<(&str, &str)> = NAMES[..count].iter().map(|&name| (name, pick(&mut random, &few))).collect();
        let mut parts = Vec::new();
        let mut outside = Vec::new();
        for &(name, kind) in handles.iter().filter(|(_, kind)| *kind != JOB) {
            if random.chance(850) {
                outside.push(format!("{kind} {name}"));
                if random.chance(700) {
                    outside.push(usual(&mut random, name, kind, &handles));
                }
            }
        }
        for _ in 0..8 + random.below(24) {
            if random.chance(330) {
                outside.push(run(&mut random));
            } else {
                outside.push(action(&mut random, &handles, None));
            }
        }
        outside.push(run(&mut random));
        outside.push("release".to_owned());
        outside.extend(handles.iter().map(|(name, _)| format!("close {name}")));
        outside.push("start guard 0; run default".to_owned());
        for own in &handles {
            for callback in callbacks(own.1) {
                for nth in 1..=random.below(3) {
                    let mut steps = Vec::new();
                    if *callback == " connection" && random.chance(800) {
                        steps.push(format!("accept {} {}", own.0, stream_of(&mut random, &handles)));
                    }
                    steps.extend((0..1 + random.below(3)).map(|_| action(&mut random, &handles, Some(own))));
                    parts.push(Part { callback: Some(format!("{}{callback} {nth}", own.0)), steps });
                }
            }
        }
        parts.push(Part { callback: None, steps: outside });
        Program { seed, parts }
    }

    /// The whole script.
    pub(crate) fn script(&self) -> String {
        let raises = self.parts.iter().flat_map(|part| &part.steps).any(|step| step.starts_with("raise"));
        format!("== program {}\n{}{}{self}", self.seed, frame(), if raises { CATCHERS } else { "" })
    }

    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|part| part.steps.len()).sum()
    }
}

/// What is its own.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Part { callback, steps } in self.parts.iter().filter(|part| !part.steps.is_empty()) {
            match callback {
                Some(callback) => writeln!(f, "on {callback}: {}", steps.join("; "))?,
                None => steps.iter().try_for_each(|step| writeln!(f, "{step}"))?,
            }
        }
        Ok(())
    }
}

/// The callbacks of a kind, behind the handle's name.
fn callbacks(kind: &str) -> &'static [&'static str] {
    match kind {
        "stream" | "tcp" => &[" read", " write", " connect", " connection", " shutdown", " close"],
        "mailbox" | "udp" | "udp_several" => &[" receive", " send", " close"],
        JOB => &[" work"],
        _ => &["", " close"],
    }
}

/// A run that does not wait, for the guard is due.
fn run(random: &mut Random) -> String {
    format!("start guard 0; run {}", pick(random, &["nowait", "nowait", "once", "default"]))
}

/// What is usually done first with a handle of this kind.
fn usual(random: &mut Random, name: &str, kind: &str, handles: &[(&str, &str)]) -> String {
    match kind {
        "timer" => format!("start {name} 0"),
        "poll" => format!("start {name} r"),
        "stream" => format!("read {name}"),
        "mailbox" | "udp" | "udp_several" => format!("receive {name}"),
        "fs_event" => format!("start {name} files"),
        "signal" => format!("{} {name} one", if is_once(name) { "start_once" } else { "start" }),
        "async" => format!("send {name}"),
        "tcp" if name == streams(handles)[0] || random.chance(100) => format!("listen {name}"),
        "tcp" if random.chance(300) => format!("pair {name} {}", stream_of(random, handles)),
        "tcp" => format!("connect {name} {}", streams(handles)[0]),
        _ => format!("start {name}"),
    }
}

/// Something with one of the handles, most likely with one's own.
fn action(random: &mut Random, handles: &[(&str, &str)], own: Option<&(&str, &str)>) -> String {
    let &(name, kind) = own.filter(|_| random.chance(400)).unwrap_or(&handles[random.below(handles.len())]);
    if kind == JOB && random.chance(900) {
        return match random.below(10) {
            0 | 1 => format!("hold {name}"),
            2 | 3 => "release".to_owned(),
            4..6 => format!("cancel {name}"),
            _ => format!("work {name}"),
        };
    }
    let is_datagram = kind.starts_with("udp") || kind == "mailbox";
    match random.below(100) {
        // What has been received with it is dropped, or told all the same.
        0..7 if own.is_some() && kind == "udp_several" => {}
        0..7 => return format!("close {name}"),
        7..16 if kind != JOB => return format!("{kind} {name}"),
        16..19 => return format!("unref {name}"),
        19..21 => return format!("ref {name}"),
        // Whether it is active while a send is to be told of.
        21..26 if is_datagram => return format!("closing {name}?"),
        21..26 => return format!("{} {name}?", pick(random, &["active", "closing", "ref"])),
        26..28 => return pick(random, &["alive?", "walk?", "update_time", "stop_loop"]).to_owned(),
        _ => {}
    }
    match kind {
        "timer" => match random.below(10) {
            0 => format!("again {name}"),
            1 => format!("set_repeat {name} {}", pick(random, &["0", "1000000"])),
            2 => format!("repeat {name}?"),
            3 => format!("start {name} 1000000"),
            4 => format!("start {name} 0 1000000"),
            5 => format!("stop {name}"),
            6 => format!("start {name}' 0"),
            _ => format!("start {name} 0"),
        },
        "async" => format!("send {name}"),
        "poll" => match random.below(8) {
            0 => format!("stop {name}"),
            1 => format!("hang_up {name}"),
            2 => format!("drain {name}"),
            3 => format!("take {name}"),
            4 => format!("feed {name} 3"),
            // To start another one that may be in the batch under way, is another thing in libuv.
            _ if own.is_some_and(|&(own, _)| own != name) => format!("feed {name} 3"),
            _ => format!("start {name} {}", pick(random, &["r", "r", "w", "rw", "rd", "d", "none"])),
        },
        "signal" => match random.below(8) {
            0 => format!("stop {name}"),
            1..4 if is_once(name) && own.is_some() => format!("stop {name}"),
            1..4 if is_once(name) => format!("start_once {name} one"),
            1..4 => format!("start {name} {}", pick(random, &["one", "two"])),
            // What comes while a batch is worked off, libuv may tell in the next one.
            _ if own.is_some() => format!("stop {name}"),
            _ => format!("raise {}", pick(random, &["one", "two"])),
        },
        "mailbox" => match random.below(8) {
            0 => format!("stop {name}"),
            1 | 2 => format!("receive {name}"),
            3 | 4 => format!("feed {name} {}", pick(random, &["0", "1", "40"])),
            5 => format!("try_send {name} peer {}", pick(random, &["1", "40"])),
            6 => format!("take {name}"),
            _ => format!("send_to {name} peer {}", pick(random, &["1", "40"])),
        },
        JOB => format!("work {name}"),
        "udp" | "udp_several" => datagram_action(random, name, handles, own.is_none()),
        "fs_event" => match random.below(6) {
            0 => format!("stop {name}"),
            1 | 2 => format!("start {name} files"),
            // It would be told in this turn, or in the next.
            _ if own.is_some() => format!("start {name} files"),
            _ => format!("make {}", pick(random, &["u", "v", "w", "x", "y", "z"])),
        },
        "stream" if random.chance(100) => format!("hear_alloc {name}"),
        "stream" if random.chance(350) => random_end(random, name),
        "stream" | "tcp" => tcp_action(random, name, handles),
        _ => format!("{} {name}", pick(random, &["start", "start", "stop"])),
    }
}

/// One-shot handles wait for one signal, and are not started in callbacks: what that does is another thing in libuv.
fn is_once(name: &str) -> bool {
    name == "a"
}

fn streams<'a>(handles: &[(&'a str, &str)]) -> Vec<&'a str> {
    handles.iter().filter(|(_, kind)| matches!(*kind, "stream" | "tcp")).map(|&(name, _)| name).collect()
}

/// One of the streams, of which there is one at least.
fn stream_of<'a>(random: &mut Random, handles: &[(&'a str, &str)]) -> &'a str {
    pick(random, &streams(handles))
}

/// What the other end of a stream does.
fn random_end(random: &mut Random, name: &str) -> String {
    match random.below(5) {
        0 => format!("hang_up {name}"),
        1 => format!("take {name}"),
        _ => format!("feed {name} {}", pick(random, &["1", "40", "400"])),
    }
}

fn datagram_action(random: &mut Random, name: &str, handles: &[(&str, &str)], is_outside: bool) -> String {
    let others: Vec<&str> = handles.iter().filter(|(_, kind)| kind.starts_with("udp")).map(|&(name, _)| name).collect();
    let other = pick(random, &others);
    match random.below(12) {
        0 if is_outside => format!("stop {name}"),
        1 => format!("bind {name}"),
        2 => format!("connect {name} {other}"),
        3 => format!("send_to {name} peer 7"),
        4 => format!("hear_alloc {name}"),
        5 => format!("try_send {name} {other} {}", pick(random, &["0", "1", "40"])),
        6..8 => format!("receive {name}"),
        _ => format!("send_to {name} {other} {}", pick(random, &["0", "1", "40"])),
    }
}

fn tcp_action(random: &mut Random, name: &str, handles: &[(&str, &str)]) -> String {
    let other = stream_of(random, handles);
    match random.below(24) {
        0 => format!("bind {name}"),
        1 | 2 => format!("listen {name}"),
        3..6 => format!("connect {name} {other}"),
        6 => format!("connect {name} nowhere"),
        7 | 8 => format!("pair {name} {other}"),
        9..11 => format!("accept {name} {other}"),
        11..14 => format!("read {name}"),
        14 => format!("stop {name}"),
        15 => format!("shutdown {name}"),
        16 => format!("try_write {name} {}", pick(random, &["1", "40"])),
        17 => format!("{} {name}?", pick(random, &["readable", "writable", "queued"])),
        18 => format!("open {name}"),
        19 if random.chance(300) => format!("close_reset {name}"),
        _ => format!("write {name} {}", pick(random, &["0", "1", "40", "4000"])),
    }
}
