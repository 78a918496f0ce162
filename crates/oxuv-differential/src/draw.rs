//! How programs are drawn from a seed.

use oxuv_core::sim::Random;
use oxuv_order::questions;

use crate::program::{Part, Program};
use crate::words::{DESCRIPTORS, HOW, IN_TWO, ON_DESCRIPTORS, ON_PATHS, PATHS, PIPES};

/// The handles of programs. Of each program some are used, and most are initialised first.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// As scripts initialise them.
const KINDS: [&str; 25] = [
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
    "pipe",
    "pipe",
    "ipc",
    "tty",
    "mailbox",
    "udp",
    "udp_several",
    "signal",
    CHILD,
    "fs_event",
    "fs_poll",
    JOB,
    FILE,
    FILE,
];

/// A handle of a child.
const CHILD: &str = "spawn";

/// No handles at all, but what the pool does.
const JOB: &str = "job";
const FILE: &str = "file";

/// What is done in the second loop.
fn in_second(step: &str) -> String {
    format!("loop 1; {step}; loop 0")
}

fn is_request(kind: &str) -> bool {
    [JOB, FILE].contains(&kind)
}

fn is_stream(kind: &str) -> bool {
    ["stream", "tcp", "pipe", "ipc", "tty"].contains(&kind)
}

fn is_datagram(kind: &str) -> bool {
    kind.starts_with("udp") || kind == "mailbox"
}

/// The callbacks of a kind, behind the handle's name.
fn callbacks(kind: &str) -> &'static [&'static str] {
    match kind {
        _ if is_stream(kind) => &[" read", " write", " connect", " connection", " shutdown", " close"],
        _ if is_datagram(kind) => &[" receive", " send", " close"],
        CHILD => &[" exit", " close"],
        JOB => &[" work"],
        FILE => &[" fs", " found"],
        _ => &["", " close"],
    }
}

/// Kinds in whose callbacks a run may begin another one. What the outer run has still before it in a phase, is another thing in
/// libuv, so there is one handle of the kind.
const NESTING: [&str; 2] = ["idle", "poll"];

/// Kinds that a loop learns of by a wake-up.
const WOKEN: [&str; 4] = ["async", JOB, FILE, "fs_poll"];

/// A handle that does something, and where.
#[derive(Clone, Copy)]
struct Own<'a> {
    name: &'a str,
    kind: &'a str,
    /// A run may begin here.
    nests: bool,
}

struct Draw<'a> {
    random: Random,
    /// Names and kinds.
    handles: Vec<(&'a str, &'a str)>,
    /// Much goes wrong: others hang up, refuse, reset.
    is_harsh: bool,
    /// Some handles are of another loop.
    has_second: bool,
    /// Jobs that tell when the pool is done.
    last_job: usize,
}

/// The program of this seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let count = 2 + random.below(NAMES.len() - 1);
    // A few kinds of which there are several meet more often than one of each.
    let mut few: Vec<&str> = (0..1 + random.below(4)).map(|_| *random.pick(&KINDS).expect("there are some")).collect();
    if random.chance(250) {
        // Connections have the most to get wrong.
        few = vec![*random.pick(&["tcp", "tcp", "pipe", "pipe", "ipc", "stream", "udp"]).expect("there are some")];
    } else if random.chance(100) {
        few = random
            .pick(&[
                ["ipc", "udp"],
                [CHILD, "pipe"],
                ["ipc", CHILD],
                [FILE, FILE],
                ["signal", "signal"],
                [CHILD, "signal"],
            ])
            .expect("there are some")
            .to_vec();
    }
    if few.contains(&"signal") {
        // They wake libuv's loop by another descriptor than these, and ours by the same.
        few.retain(|kind| !WOKEN.contains(kind));
    }
    if random.chance(50) {
        return Draw { random, handles: vec![(NAMES[0], FILE)], is_harsh: false, has_second: false, last_job: 0 }
            .by_ring(seed);
    }
    let handles = NAMES[..count].iter().map(|&name| (name, *random.pick(&few).expect("there are some"))).collect();
    let is_harsh = random.chance(300);
    let has_second = few.iter().all(|kind| IN_TWO.contains(kind)) && random.chance(700);
    Draw { random, handles, is_harsh, has_second, last_job: 0 }.program(seed)
}

impl<'a> Draw<'a> {
    fn program(mut self, seed: u64) -> Program {
        let (mut parts, mut outside) = (Vec::new(), Vec::new());
        let handles = self.handles.clone();
        for &(name, kind) in handles.iter().filter(|(_, kind)| !is_request(kind)) {
            if self.random.chance(850) {
                let init = format!("{kind} {name}");
                // What a callback initialises is of the loop that calls it.
                outside.push(if self.has_second && self.random.chance(500) { in_second(&init) } else { init });
                if self.random.chance(700) {
                    outside.push(self.usual(name, kind));
                }
            }
        }
        for _ in 0..8 + self.random.below(24) {
            let is_run = self.random.chance(330);
            outside.push(if is_run { self.run() } else { self.action(None) });
        }
        outside.push(self.run());
        outside.push("release".to_owned());
        outside.extend(handles.iter().map(|(name, _)| format!("close {name}")));
        outside.push("start guard 0; run default".to_owned());
        if self.has_second {
            outside.extend([in_second("run nowait"), in_second("run nowait")]);
        }
        outside.push("close guard; close before; close after; run nowait; run nowait; loop_close".to_owned());
        for &(name, kind) in &handles {
            for callback in callbacks(kind) {
                let is_alone = handles.iter().filter(|(_, other)| *other == kind).count() == 1;
                // A wake-up in the outer run's batch waits for that in libuv.
                let has_wake_ups = kind == "poll" && handles.iter().any(|(_, other)| WOKEN.contains(other));
                let nests = callback.is_empty() && is_alone && !has_wake_ups && NESTING.contains(&kind);
                let own = Own { name, kind, nests };
                for nth in 1..=self.random.below(3) {
                    let mut steps = Vec::new();
                    if *callback == " connection" && self.random.chance(800) {
                        steps.push(format!("accept {name} {}", self.stream()));
                    }
                    steps.extend((0..1 + self.random.below(3)).map(|_| self.action(Some(own))));
                    parts.push(Part { callback: Some(format!("{name}{callback} {nth}")), steps });
                }
            }
        }
        parts.push(Part { callback: None, steps: outside });
        Program { seed, is_by_ring: false, parts }
    }

    /// Operations on files, one after the other.
    fn by_ring(mut self, seed: u64) -> Program {
        let steps = (0..8 + self.random.below(24))
            .map(|_| {
                let name = self.handles[0].0;
                let asked =
                    if self.random.chance(600) { format!("call {name} {}", self.file_call()) } else { self.file(name) };
                format!("{asked}; await {name}")
            })
            .collect();
        Program { seed, is_by_ring: true, parts: vec![Part { callback: None, steps }] }
    }

    fn pick<'b>(&mut self, words: &[&'b str]) -> &'b str {
        self.random.pick(words).expect("there are some")
    }

    /// A run that does not wait, for the guard is due.
    fn run(&mut self) -> String {
        if self.has_second && self.random.chance(400) {
            return in_second("run nowait");
        }
        format!("start guard 0; run {}", self.pick(&["nowait", "nowait", "once", "default"]))
    }

    /// One of the handles for which this holds, of which there is one at least.
    fn one(&mut self, is_it: impl Fn(&str) -> bool) -> &'a str {
        let all: Vec<_> = self.handles.iter().filter(|(_, kind)| is_it(kind)).map(|&(name, _)| name).collect();
        self.pick(&all)
    }

    /// One that can be passed.
    fn passed(&mut self) -> &'a str {
        self.one(|kind| is_stream(kind) || is_datagram(kind))
    }

    fn stream(&mut self) -> &'a str {
        self.one(is_stream)
    }

    /// The first stream of a kind, to which the others connect.
    fn first(&self, of: &str) -> &'a str {
        self.handles.iter().find(|(_, kind)| *kind == of).expect("there is one").0
    }

    /// What is asked of the pool, and a job behind it: when that has run, all is done, unless something is held.
    fn asked(&mut self, what: &str) -> String {
        self.last_job += 1;
        format!("{what}; work w{}", self.last_job)
    }

    /// What is usually done first with a handle of this kind.
    fn usual(&mut self, name: &str, kind: &str) -> String {
        match kind {
            "timer" => format!("start {name} 0"),
            "poll" => format!("start {name} r"),
            "stream" | "tty" => format!("read {name}"),
            _ if is_datagram(kind) => format!("receive {name}"),
            "fs_event" => format!("start {name} files"),
            "fs_poll" => self.asked(&format!("start {name} u 1000000")),
            "signal" => format!("{} {name} one", if is_once(name) { "start_once" } else { "start" }),
            "async" => format!("send {name}"),
            CHILD => format!("end {name} {}", self.pick(&["0", "3"])),
            "tcp" if name == self.first(kind) || self.random.chance(100) => format!("listen {name}"),
            "pipe" if name == self.first(kind) || self.random.chance(100) => format!("bind {name}; listen {name}"),
            "ipc" => {
                let other = self.one(|kind| kind == "ipc");
                format!("ipc {other}; pair {name} {other}; read {name}; read {other}")
            }
            "tcp" | "pipe" if self.random.chance(300) => format!("pair {name} {}", self.one(|it| it == kind)),
            "tcp" | "pipe" => format!("connect {name} {}", self.first(kind)),
            _ => format!("start {name}"),
        }
    }

    /// Something with one of the handles, most likely with one's own.
    fn action(&mut self, own: Option<Own<'a>>) -> String {
        let own_one = own.map(|own| (own.name, own.kind)).filter(|_| self.random.chance(400));
        let (name, kind) = own_one.unwrap_or_else(|| self.handles[self.random.below(self.handles.len())]);
        if own.is_some_and(|own| own.nests) && self.random.chance(100) {
            return format!("run {}", self.pick(&["nowait", "once"]));
        }
        match self.random.below(100) {
            // What has been received with it is dropped, or told all the same.
            0..7 if own.is_some() && kind == "udp_several" => {}
            // So it is with its end.
            0..7 if own.is_some_and(|own| own.kind == CHILD && own.name != name) && kind == CHILD => {}
            _ if is_request(kind) => return self.request_action(name, kind),
            0..7 => return format!("close {name}"),
            7..16 if kind == CHILD => return self.child(name),
            7..16 => return format!("{kind} {name}"),
            16..19 => return format!("unref {name}"),
            19..21 => return format!("ref {name}"),
            // Whether it is active while a send is to be told of.
            21..26 if is_datagram(kind) => return format!("closing {name}?"),
            21..26 => return format!("{} {name}?", self.pick(&["active", "closing", "ref"])),
            26..28 => return self.pick(&["alive?", "walk?", "update_time", "stop_loop", "loop_close"]).to_owned(),
            28..32 => return format!("ask {name} {}", self.pick(questions(kind))),
            _ => {}
        }
        self.own_action(name, kind, own)
    }

    /// What is of this kind of handles alone.
    fn own_action(&mut self, name: &'a str, kind: &str, own: Option<Own<'a>>) -> String {
        match kind {
            "timer" => match self.random.below(12) {
                0 => format!("again {name}"),
                1 => format!("set_repeat {name} {}", self.pick(&["0", "1000000"])),
                2 => format!("repeat {name}?"),
                3 => format!("start {name} 1000000"),
                4 => format!("start {name} 0 1000000"),
                5 => format!("stop {name}"),
                6 => format!("start {name}' 0"),
                // It is due as soon as the loop looks at the clock.
                7 => format!("start {name} {}; sleep 4", self.pick(&["1", "2", "3"])),
                _ => format!("start {name} 0"),
            },
            "async" => format!("send {name}"),
            "poll" => match self.random.below(9) {
                8 => {
                    let other = self.handles[self.random.below(self.handles.len())].0;
                    format!("poll_on {name} {}", self.pick(&["bad", "below", "reading", &format!("={other}")]))
                }
                0 => format!("stop {name}"),
                1 => format!("hang_up {name}"),
                2 => format!("drain {name}"),
                3 => format!("take {name}"),
                4 => format!("feed {name} 3"),
                // To start another one that may be in the batch under way, is another thing in libuv.
                _ if own.is_some_and(|own| own.name != name) => format!("feed {name} 3"),
                _ => format!("start {name} {}", self.pick(&["r", "r", "w", "rw", "rd", "d", "none"])),
            },
            "signal" => match self.random.below(8) {
                0 => format!("stop {name}"),
                1..4 if is_once(name) && own.is_some() => format!("stop {name}"),
                1..4 if is_once(name) => format!("start_once {name} one"),
                1..4 => format!("start {name} {}", self.pick(&["one", "two"])),
                // What comes while a batch is worked off, libuv may tell in the next one.
                _ if own.is_some() => format!("stop {name}"),
                _ => format!("raise {}", self.pick(&["one", "two"])),
            },
            // What ends while a batch is worked off, libuv may tell in this one.
            CHILD if own.is_some() && self.handles.iter().filter(|(_, kind)| *kind == CHILD).count() > 1 => {
                format!("kill {name} 0")
            }
            CHILD => match self.random.below(4) {
                0 | 1 => format!("end {name} {}", self.pick(&["0", "3"])),
                _ => format!("kill {name} {}", self.pick(&["0", "9", "15"])),
            },
            "mailbox" => self.mailbox_action(name),
            "udp" | "udp_several" | "tcp" | "pipe" if self.random.chance(30) => {
                format!("open_on {name} {}", self.pick(&["bad", "below"]))
            }
            "udp" | "udp_several" | "tcp" if self.random.chance(30) => {
                let other = self.one(|it| it == kind);
                format!("bind {name} {}", self.pick(&["elsewhere", "sixth", other]))
            }
            "udp" | "udp_several" => self.datagram_action(name, own.is_none()),
            "fs_event" => match self.random.below(6) {
                0 if self.random.chance(300) => format!("start {name} missing"),
                0 => format!("stop {name}"),
                1 | 2 => format!("start {name} files"),
                // It would be told in this turn, or in the next.
                _ if own.is_some() => format!("start {name} files"),
                _ => format!("make {}", self.pick(&["u", "v", "w", "x", "y", "z"])),
            },
            "fs_poll" if self.random.chance(500) => format!("stop {name}"),
            "fs_poll" => {
                let file = self.pick(&["u", "v"]);
                self.asked(&format!("start {name} {file} 1000000"))
            }
            "ipc" if self.random.chance(300) => match self.random.below(8) {
                0 => format!("handles {name}?"),
                1..4 => format!("accept {name} {}", self.passed()),
                4 => format!("try_write {name} {} {}", self.pick(&["1", "40"]), self.passed()),
                _ => format!("write {name} {} {}", self.pick(&["1", "40"]), self.passed()),
            },
            "stream" | "tty" if self.random.chance(100) => format!("hear_alloc {name}"),
            "stream" | "tty" if self.random.chance(350) => self.end_action(name),
            _ if is_stream(kind) && self.is_harsh && self.random.chance(300) => self.harsh_action(name, kind),
            _ if is_stream(kind) => self.stream_action(name, kind),
            _ => format!("{} {name}", self.pick(&["start", "start", "stop"])),
        }
    }

    /// A child, or none: its program is not there, or what it is to have is not.
    fn child(&mut self, name: &str) -> String {
        if self.random.chance(400) {
            return format!("{CHILD} {name}");
        }
        let how = self.pick(&HOW);
        let mut text = format!("{CHILD} {name} {how}");
        for _ in 0..self.random.below(3) {
            let pipes: Vec<_> =
                self.handles.iter().filter(|(_, kind)| PIPES.contains(kind)).map(|(name, _)| *name).collect();
            // Each is one child's, and one of its streams.
            let pipe = self.random.pick(&pipes).copied().filter(|pipe| !text.split(' ').any(|word| word == *pipe));
            // A stream that the child is given waits when it is written to.
            let streams = self.handles.iter().filter(|(_, kind)| *kind == "stream" && !self.is_harsh);
            let streams: Vec<_> = streams.map(|(name, _)| format!("={name}")).collect();
            let stream = self.random.pick(&streams).map_or("none", String::as_str);
            text += &format!(" {}", pipe.unwrap_or(stream));
        }
        text
    }

    /// An operation on a file that is most likely to fail.
    fn file_call(&mut self) -> String {
        if self.random.chance(400) {
            let call = self.pick(&ON_DESCRIPTORS);
            // Not to one that appends, which works here.
            let to = if call == "sendfile" { self.pick(&["writing", "both", "path", "bad", "below"]) } else { "" };
            // Any other would be closed twice.
            let descriptor = if call == "close" { self.pick(&["bad", "below"]) } else { self.pick(&DESCRIPTORS) };
            return format!("{call} {descriptor} {to}");
        }
        let (call, path) = (self.pick(&ON_PATHS), self.pick(&PATHS));
        match call {
            "link" | "symlink" | "rename" | "copyfile" | "copyfile_anew" | "copyfile_oddly" => {
                format!("{call} {path} {}", self.pick(&PATHS))
            }
            "mkdtemp" | "mkstemp" if self.random.chance(600) => format!("{call} xXXXXXX"),
            _ => format!("{call} {path}"),
        }
    }

    fn request_action(&mut self, name: &str, kind: &str) -> String {
        match self.random.below(10) {
            0 => return self.pick(&["alive?", "walk?", "update_time", "stop_loop", "loop_close"]).to_owned(),
            1 => return format!("hold {name}"),
            2 | 3 => return "release".to_owned(),
            4 | 5 => return format!("cancel {name}"),
            _ if kind == JOB => return format!("work {name}"),
            _ => {}
        }
        if self.random.chance(500) {
            let call = self.file_call();
            return if self.random.chance(300) {
                format!("call_now {call}")
            } else {
                self.asked(&format!("call {name} {call}"))
            };
        }
        let asked = self.file(name);
        self.asked(&asked)
    }

    /// An operation on a file, or something else that a thread does.
    fn file(&mut self, name: &str) -> String {
        let (file, other) = (self.pick(&["x", "y", "z"]), self.pick(&["x", "y", "z"]));
        let what = match self.random.below(16) {
            0 => format!("open {file}"),
            1 | 2 => format!("make {file}"),
            3 | 4 => format!("stat {file}"),
            5 => format!("read {file} {}", self.pick(&["1", "40"])),
            6 => format!("write {file} {}", self.pick(&["1", "40"])),
            7 | 8 => format!("unlink {file}"),
            9 => format!("mkdir {file}"),
            10 => format!("rmdir {file}"),
            11 => format!("rename {file} {other}"),
            12 => format!("scandir {}", self.pick(&[".", "x"])),
            13 => {
                let (count, flags) = (self.pick(&["0", "1", "400"]), self.pick(&["0", "0", "1"]));
                return format!("random {name} {count} {flags}");
            }
            14 => {
                let host = self.pick(&["127.0.0.1", "224.0.0.1", "0.0.0.0"]);
                return format!("name_of {name} {host}");
            }
            _ => {
                let host = self.pick(&["127.0.0.1", "::1", "nobody"]);
                return format!("look_up {name} {host}");
            }
        };
        format!("fs {name} {what}")
    }

    /// What the other end of a stream does.
    fn end_action(&mut self, name: &str) -> String {
        match self.random.below(if self.is_harsh { 2 } else { 5 }) {
            0 => format!("hang_up {name}"),
            1 => format!("take {name}"),
            _ => format!("feed {name} {}", self.pick(&["1", "40", "400"])),
        }
    }

    /// What makes others fail.
    fn harsh_action(&mut self, name: &str, kind: &str) -> String {
        match self.random.below(9) {
            0 => format!("connect {name} nowhere"),
            8 => format!(
                "connect {name} {}",
                if kind == "tcp" { self.pick(&["unreachable", "sixth"]) } else { "nowhere" }
            ),
            1 => format!("close_reset {name}"),
            2 => format!("close {name}"),
            3 => format!("shutdown {name}"),
            4 => format!("hang_up {name}"),
            // Through a terminal it would take its time.
            5 if kind != "tty" => format!("write {name} 300000"),
            6 => format!("write {name} 0"),
            _ => format!("try_write {name} 40"),
        }
    }

    fn mailbox_action(&mut self, name: &str) -> String {
        match self.random.below(8) {
            0 => format!("stop {name}"),
            1 | 2 => format!("receive {name}"),
            3 | 4 => format!("feed {name} {}", self.pick(&["0", "1", "40"])),
            5 => format!("try_send {name} peer {}", self.pick(&["1", "40"])),
            6 if self.is_harsh => format!("hang_up {name}"),
            6 => format!("take {name}"),
            _ => format!("send_to {name} peer {}", self.pick(&["1", "40"])),
        }
    }

    fn datagram_action(&mut self, name: &str, is_outside: bool) -> String {
        let other = self.one(|kind| kind.starts_with("udp"));
        match self.random.below(12) {
            0 if is_outside => format!("stop {name}"),
            1 => format!("bind {name}"),
            2 if self.is_harsh => format!("connect {name} nowhere"),
            3 if self.is_harsh => format!("send_to {name} {} 7", self.pick(&["unreachable", "everybody", "sixth"])),
            5 if self.is_harsh => format!("try_send {name} {} 7", self.pick(&["unreachable", "everybody", "sixth"])),
            6 if self.is_harsh => format!("send_to {name} {other} 70000"),
            2 => format!("connect {name} {other}"),
            3 => format!("send_to {name} peer 7"),
            4 => format!("hear_alloc {name}"),
            5 => format!("try_send {name} {other} {}", self.pick(&["0", "1", "40"])),
            6..8 => format!("receive {name}"),
            _ => format!("send_to {name} {other} {}", self.pick(&["0", "1", "40"])),
        }
    }

    fn stream_action(&mut self, name: &str, kind: &str) -> String {
        let other = self.one(|other| other == kind);
        match self.random.below(24) {
            0 => format!("bind {name}"),
            1 => format!("listen {name}"),
            2 => format!("bind {name}; listen {name}"),
            3..6 => format!("connect {name} {other}"),
            6 => format!("connect {name} nowhere"),
            7 | 8 => format!("pair {name} {other}"),
            9..11 => format!("accept {name} {other}"),
            11..14 => format!("read {name}"),
            14 => format!("stop {name}"),
            15 => format!("shutdown {name}"),
            16 => format!("try_write {name} {}", self.pick(&["1", "40"])),
            17 => format!("{} {name}?", self.pick(&["readable", "writable", "queued"])),
            18 => format!("open {name}"),
            20 if self.random.chance(300) => {
                format!("write_parts {name} {}", self.pick(&["0", "3", "1023", "1024", "1025", "2500"]))
            }
            19 if self.random.chance(300) => format!("close_reset {name}"),
            _ => format!("write {name} {}", self.pick(&["0", "1", "40", "4000"])),
        }
    }
}

/// One-shot handles wait for one signal, and are not started in callbacks: what that does is another thing in libuv.
fn is_once(name: &str) -> bool {
    name == "a"
}
