//! What is measured: each workload is a program that all contestants have, at a size.

/// A program at a size.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The program's name for it, the same in `front.rs` and in `c/`.
    pub(crate) program: &'static str,
    /// The handles that it has.
    pub(crate) handles: usize,
    /// What its client does, if it has one.
    pub(crate) traffic: Option<Traffic>,
    /// The threads of its pool, if it is about that; then it is timed on all cores, not on one.
    pub(crate) threads: Option<usize>,
    /// Somebody looks on.
    pub(crate) observed: Option<Observed>,
    /// The operations of the shorter and the longer of two runs whose counts are subtracted; `None`: it takes too long
    /// under callgrind, and the same at a smaller size says it.
    pub(crate) counted: Option<(usize, usize)>,
    /// The operations of a run that is timed; those of a short one are half as many.
    pub(crate) timed: usize,
    /// Only its memory is measured: what a run with so many handles needs is subtracted from what one with all of them does.
    pub(crate) fewer: Option<usize>,
}

/// What an observer does of a contestant's loops; libuv has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Observed {
    /// It counts.
    Numbers,
    /// It writes a trace.
    Trace,
}

/// What a contestant's client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// It connects to the contestant's server. Each of the connections sends `depth` requests of `size` bytes at a time.
    Connections { connections: usize, size: usize, depth: usize },
    /// It connects to the contestant's server, so many times before it waits for the server to hang up.
    Visits { at_once: usize },
    /// The contestant's standard input is the end of a pair of sockets. At the other a request of 64 bytes is sent, and
    /// its answer awaited, again and again.
    PingPong(Medium),
    /// The same, but the client reads whatever comes.
    Drain(Medium),
}

/// What the sockets of a pair are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Pipe,
    Tcp,
    Udp,
}

const fn plain(name: &'static str, title: &'static str, short: usize, long: usize, timed: usize) -> Workload {
    Workload {
        name,
        title,
        program: name,
        handles: 1,
        traffic: None,
        threads: None,
        observed: None,
        counted: Some((short, long)),
        timed,
        fewer: None,
    }
}

/// The same with somebody who looks on.
const fn observed(name: &'static str, title: &'static str, observed: Observed, of: Workload) -> Workload {
    Workload { name, title, observed: Some(observed), ..of }
}

const fn timers(name: &'static str, title: &'static str, program: &'static str, handles: usize) -> Workload {
    let counted = if handles > 10_000 { None } else { Some((handles, 3 * handles)) };
    let timed = if handles > 10_000 { handles } else { 20 * handles };
    Workload { program, handles, counted, ..plain(name, title, 0, 0, timed) }
}

const fn echo(
    name: &'static str,
    title: &'static str,
    program: &'static str,
    connections: usize,
    size: usize,
    depth: usize,
) -> Workload {
    let step = connections * depth;
    let rounds = if step < 500 { 500 } else { step };
    let traffic = Some(Traffic::Connections { connections, size, depth });
    let counted = Some((rounds / step * step, rounds / step * step + 5_000usize.div_ceil(step) * step));
    // So often that what it costs to come and to go is little beside it.
    let (timed_rounds, least) = (40_000usize.div_ceil(step), if depth == 1 { 60 } else { 20 });
    let timed = if timed_rounds < least { least } else { timed_rounds } * step;
    Workload { program, handles: connections, traffic, counted, ..plain(name, title, 0, 0, timed) }
}

const fn socket(name: &'static str, title: &'static str, traffic: Traffic, timed: usize) -> Workload {
    Workload { traffic: Some(traffic), ..plain(name, title, 500, 5_500, timed) }
}

/// So many requests under way all the time.
const fn pool(
    name: &'static str,
    title: &'static str,
    program: &'static str,
    depth: usize,
    threads: usize,
    timed: usize,
) -> Workload {
    let counted = Some((1_000, 11_000));
    Workload { program, handles: depth, threads: Some(threads), counted, ..plain(name, title, 0, 0, timed) }
}

/// Children of a parent with so many megabytes in use. Valgrind gives a child memory of its own, so there are no counts.
const fn spawn(name: &'static str, title: &'static str, megabytes: usize) -> Workload {
    Workload { program: "spawn", handles: megabytes, threads: Some(1), counted: None, ..plain(name, title, 0, 0, 300) }
}

/// Two runs that do the least, with few handles and with many.
const fn memory(
    name: &'static str,
    title: &'static str,
    program: &'static str,
    few: usize,
    many: usize,
    traffic: Option<Traffic>,
) -> Workload {
    Workload { program, handles: many, traffic, counted: None, fewer: Some(few), ..plain(name, title, 0, 0, 0) }
}

const TURN: Workload = plain("turn", "turn: one idle, one prepare, one check", 500, 5_500, 200_000);
const ECHO: Workload = echo("echo-1", "echo: 1 x 64 B", "echo-write", 1, 64, 1);

impl Workload {
    pub(crate) const ALL: &[Workload] = &[
        TURN,
        Workload { program: "idle", ..plain("idle-1", "idle callback, alone", 500, 5_500, 200_000) },
        Workload {
            program: "idle",
            handles: 1000,
            ..plain("idle-1000", "idle callback, 1000 handles", 10_000, 110_000, 20_000_000)
        },
        timers("insert-10k", "timer started, 10,000", "timer-insert", 10_000),
        timers("fire-10k", "timer fired, 10,000", "timer-fire", 10_000),
        timers("cancel-10k", "timer stopped, 10,000", "timer-cancel", 10_000),
        timers("rearm-10k", "timer put off, 10,000", "timer-rearm", 10_000),
        timers("insert-1m", "timer started, 1 million", "timer-insert", 1_000_000),
        timers("fire-1m", "timer fired, 1 million", "timer-fire", 1_000_000),
        timers("cancel-1m", "timer stopped, 1 million", "timer-cancel", 1_000_000),
        timers("rearm-1m", "timer put off, 1 million", "timer-rearm", 1_000_000),
        plain("task-join", "task spawned and joined", 1_000, 11_000, 400_000),
        Workload { handles: 100, ..plain("task-yield", "task gives way, 100 tasks", 10_000, 110_000, 4_000_000) },
        plain("task-channel", "channels, ping-pong of two tasks", 1_000, 11_000, 400_000),
        echo("task-echo", "echo, tasks with 64 KiB each: 500 x 64 B", "task-echo", 500, 64, 1),
        plain("async", "async send and its callback", 500, 5_500, 200_000),
        plain("async-coalesced", "async send that finds one pending", 10_000, 110_000, 20_000_000),
        echo("echo-try", "echo, try_write: 1 x 64 B", "echo-try", 1, 64, 1),
        ECHO,
        echo("echo-1-16", "echo: 1 x 64 B, 16 at a time", "echo-write", 1, 64, 16),
        echo("echo-1-4k", "echo: 1 x 4 KiB", "echo-write", 1, 4096, 1),
        echo("echo-1-4k-16", "echo: 1 x 4 KiB, 16 at a time", "echo-write", 1, 4096, 16),
        echo("echo-50", "echo: 50 x 64 B", "echo-write", 50, 64, 1),
        echo("echo-50-gathered", "echo: 50 x 64 B, in Rust gathered", "echo-gathered", 50, 64, 1),
        echo("echo-50-16", "echo: 50 x 64 B, 16 at a time", "echo-write", 50, 64, 16),
        echo("echo-50-4k", "echo: 50 x 4 KiB", "echo-write", 50, 4096, 1),
        echo("echo-50-4k-16", "echo: 50 x 4 KiB, 16 at a time", "echo-write", 50, 4096, 16),
        echo("echo-500", "echo: 500 x 64 B", "echo-write", 500, 64, 1),
        echo("echo-500-gathered", "echo: 500 x 64 B, in Rust gathered", "echo-gathered", 500, 64, 1),
        echo("echo-500-16", "echo: 500 x 64 B, 16 at a time", "echo-write", 500, 64, 16),
        echo("echo-500-4k", "echo: 500 x 4 KiB", "echo-write", 500, 4096, 1),
        echo("echo-500-4k-16", "echo: 500 x 4 KiB, 16 at a time", "echo-write", 500, 4096, 16),
        echo("echo-2000", "echo: 2000 x 64 B", "echo-write", 2000, 64, 1),
        echo("echo-2000-16", "echo: 2000 x 64 B, 16 at a time", "echo-write", 2000, 64, 16),
        echo("echo-2000-4k", "echo: 2000 x 4 KiB", "echo-write", 2000, 4096, 1),
        echo("echo-2000-4k-16", "echo: 2000 x 4 KiB, 16 at a time", "echo-write", 2000, 4096, 16),
        socket("accept", "connection accepted and closed", Traffic::Visits { at_once: 50 }, 20_000),
        socket("pipe-echo", "pipe, ping-pong: 64 B", Traffic::PingPong(Medium::Pipe), 40_000),
        socket("pipe-pump", "pipe, pump: 64 KiB", Traffic::Drain(Medium::Pipe), 16_384),
        socket("tcp-pump", "TCP, pump: 64 KiB", Traffic::Drain(Medium::Tcp), 16_384),
        socket("udp-echo", "UDP, ping-pong: 64 B", Traffic::PingPong(Medium::Udp), 40_000),
        socket("udp-flood", "UDP, flood: 64 B, 100 sends a turn", Traffic::Drain(Medium::Udp), 200_000),
        socket("udp-flood-try", "UDP, flood: 64 B, 100 by one try_send2", Traffic::Drain(Medium::Udp), 200_000),
        pool("work-1", "work: nothing, 1 at a time, 1 thread", "pool-work", 1, 1, 40_000),
        pool("work-1000-1", "work: nothing, 1000 at a time, 1 thread", "pool-work", 1000, 1, 400_000),
        pool("work-1000-4", "work: nothing, 1000 at a time, 4 threads", "pool-work", 1000, 4, 400_000),
        pool("stat-1", "stat: 1 at a time", "pool-stat", 1, 4, 40_000),
        pool("stat-64", "stat: 64 at a time", "pool-stat", 64, 4, 200_000),
        pool("read-1", "4 KiB read: 1 at a time", "pool-read", 1, 4, 40_000),
        pool("read-64", "4 KiB read: 64 at a time", "pool-read", 64, 4, 200_000),
        pool("open-1", "open, read, close: 1 at a time", "pool-open", 1, 4, 20_000),
        pool("open-64", "open, read, close: 64 at a time", "pool-open", 64, 4, 100_000),
        spawn("spawn-20m", "a child of 20 MB", 20),
        spawn("spawn-2g", "a child of 2 GB", 2000),
        plain("udp-transfer", "UDP, 100 sent and received: 64 B", 1_000, 11_000, 200_000),
        observed("turn-observed", "turn, observed: numbers", Observed::Numbers, TURN),
        observed("turn-traced", "turn, observed: a trace", Observed::Trace, TURN),
        observed(
            "fire-observed",
            "timer fired, 10,000, observed: numbers",
            Observed::Numbers,
            timers("", "", "timer-fire", 10_000),
        ),
        observed("echo-observed", "echo: 1 x 64 B, observed: numbers", Observed::Numbers, ECHO),
        observed("echo-traced", "echo: 1 x 64 B, observed: a trace", Observed::Trace, ECHO),
        memory(
            "memory-connection",
            "an idle connection",
            "echo-idle",
            100,
            8000,
            Some(Traffic::Connections { connections: 8000, size: 64, depth: 1 }),
        ),
        memory("memory-timer", "a timer", "timer-insert", 10_000, 210_000, None),
    ];

    /// The workload whose memory is subtracted, if it is that which is measured.
    pub(crate) fn with_fewer(&self) -> Option<Workload> {
        let handles = self.fewer?;
        let traffic = match self.traffic {
            Some(Traffic::Connections { size, depth, .. }) => {
                Some(Traffic::Connections { connections: handles, size, depth })
            }
            traffic => traffic,
        };
        Some(Workload { handles, traffic, ..*self })
    }

    /// The operations of a run that is timed. All are done by all handles or connections equally often.
    pub(crate) fn operations(&self, short: bool) -> usize {
        let step = match self.traffic {
            Some(Traffic::Connections { connections, depth, .. }) => connections * depth,
            None if self.threads.is_none() => self.handles.max(1000),
            _ => 100,
        };
        if short { (self.timed / 2).next_multiple_of(step) } else { self.timed }
    }

    /// What peers are measured at: 50 connections with a request of 64 bytes each, and what differs from that in one thing;
    /// in all else there is no such choice.
    pub(crate) fn is_for_peers(&self) -> bool {
        match self.traffic {
            Some(Traffic::Connections { connections, size, depth }) => {
                [connections != 50, size != 64, depth != 1].iter().filter(|&&differs| differs).count() <= 1
            }
            _ => true,
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<&'static Workload, String> {
        let found = Workload::ALL.iter().find(|workload| workload.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Workload::ALL.iter().map(|workload| workload.name).collect();
            format!("there is no workload {name:?}, but {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::Contestant;

    #[test]
    fn names_and_titles_are_told_apart() {
        for of in [|workload: &Workload| workload.name, |workload: &Workload| workload.title] {
            let mut all: Vec<_> = Workload::ALL.iter().map(of).collect();
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        }
    }

    #[test]
    fn every_program_of_a_contestant_is_measured() {
        for contestant in Contestant::ALL {
            for (name, _) in contestant.programs() {
                let is_measured = |workload: &&Workload| workload.program == *name && contestant.can(workload);
                assert!(Workload::ALL.iter().any(|workload| is_measured(&workload)), "{}: {name}", contestant.title());
            }
        }
        for workload in Workload::ALL {
            // What tasks cost is asked of those who have some.
            let has_tasks = workload.program.starts_with("task-");
            for contestant in [Contestant::Rust, Contestant::C] {
                assert_eq!(contestant.can(workload), !has_tasks, "{}: {}", contestant.title(), workload.name);
            }
            assert!(
                !has_tasks || Contestant::Futures.can(workload) && Contestant::Tokio.can(workload),
                "{}",
                workload.name
            );
        }
    }

    #[test]
    fn all_handles_have_as_many_operations_in_a_short_run_as_well() {
        for workload in Workload::ALL.iter().filter(|workload| workload.fewer.is_none()) {
            let [long, short] = [false, true].map(|short| workload.operations(short));
            assert!(0 < short && short <= long, "{}", workload.name);
            if let Some(Traffic::Connections { connections, depth, .. }) = workload.traffic {
                assert_eq!([long % (connections * depth), short % (connections * depth)], [0, 0], "{}", workload.name);
            } else if workload.threads.is_none() {
                assert_eq!([long % workload.handles, short % workload.handles], [0, 0], "{}", workload.name);
            }
        }
    }

    #[test]
    fn peers_are_measured_at_what_differs_in_one_thing() {
        let at = |name| Workload::from_name(name).unwrap().is_for_peers();
        let names = ["echo-1", "echo-50", "echo-500", "echo-2000", "echo-50-16", "echo-50-4k", "turn", "accept"];
        assert_eq!(names.map(at), [true; 8]);
        assert_eq!(["echo-1-16", "echo-500-4k", "echo-50-4k-16", "echo-2000-16"].map(at), [false; 4]);
    }

    #[test]
    fn a_smaller_one_has_fewer_connections_as_well() {
        let fewer = Workload::from_name("memory-connection").unwrap().with_fewer().unwrap();
        assert_eq!(fewer.handles, 100);
        assert_eq!(fewer.traffic, Some(Traffic::Connections { connections: 100, size: 64, depth: 1 }));
        assert_eq!(Workload::from_name("turn").unwrap().with_fewer(), None);
    }
}
