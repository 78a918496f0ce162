//! Who is measured, at what, and how to start them.

use std::path::PathBuf;
use std::process::Command;

use crate::build::Programs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contestant {
    Rust,
    C,
    Libuv,
    Epoll,
}

impl Contestant {
    pub(crate) const ALL: [Contestant; 4] = [Contestant::Rust, Contestant::C, Contestant::Libuv, Contestant::Epoll];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Contestant::Rust => "rust",
            Contestant::C => "c",
            Contestant::Libuv => "libuv",
            Contestant::Epoll => "epoll",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Contestant::Rust => "oxuv (Rust)",
            Contestant::C => "oxuv (C)",
            Contestant::Libuv => "libuv 1.53",
            Contestant::Epoll => "bare epoll",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Contestant, String> {
        let found = Contestant::ALL.into_iter().find(|contestant| contestant.name() == name);
        found.ok_or_else(|| format!("there is no contestant {name:?}"))
    }

    /// The program, with its arguments, that runs a workload.
    pub(crate) fn line(self, programs: &Programs, workload: Workload, operations: usize) -> Vec<PathBuf> {
        let mut line = match self {
            Contestant::Rust => vec![programs.rust.clone(), "run".into()],
            Contestant::C => vec![programs.c.clone()],
            Contestant::Libuv => vec![programs.libuv.clone()],
            Contestant::Epoll => vec![programs.epoll.clone()],
        };
        line.extend([workload.name().into(), operations.to_string().into()]);
        line
    }

    pub(crate) fn can(self, workload: Workload) -> bool {
        self != Contestant::Epoll || workload == Workload::Turn || workload.is_echo()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    Turn,
    Idle,
    TimerFire,
    TimerStop,
    EchoWrite,
    EchoTry,
}

impl Workload {
    pub(crate) const ALL: [Workload; 6] = [
        Workload::Turn,
        Workload::Idle,
        Workload::TimerFire,
        Workload::TimerStop,
        Workload::EchoWrite,
        Workload::EchoTry,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Workload::Turn => "turn",
            Workload::Idle => "idle",
            Workload::TimerFire => "timer-fire",
            Workload::TimerStop => "timer-stop",
            Workload::EchoWrite => "echo-write",
            Workload::EchoTry => "echo-try",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Workload::Turn => "turn: one idle, one prepare, one check",
            Workload::Idle => "idle callback, 1000 handles",
            Workload::TimerFire => "timer started and fired, 1000 at a time",
            Workload::TimerStop => "timer started and stopped, 1000 others",
            Workload::EchoWrite => "echo of 64 bytes, write and its callback",
            Workload::EchoTry => "echo of 64 bytes, try_write",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Workload, String> {
        let found = Workload::ALL.into_iter().find(|workload| workload.name() == name);
        found.ok_or_else(|| format!("there is no workload {name:?}"))
    }

    pub(crate) fn is_echo(self) -> bool {
        matches!(self, Workload::EchoWrite | Workload::EchoTry)
    }

    /// The operations of the shorter and the longer of two runs whose counts are subtracted.
    pub(crate) fn counted(self, quick: bool) -> (usize, usize) {
        let (short, long) = match self {
            Workload::Turn => (500, 5_500),
            Workload::Idle => (10_000, 110_000),
            Workload::TimerFire => (4_000, 12_000),
            Workload::TimerStop => (1_000, 21_000),
            Workload::EchoWrite | Workload::EchoTry => (500, 5_500),
        };
        if quick { (short, 2 * short) } else { (short, long) }
    }

    /// The operations of a run that is timed.
    pub(crate) fn timed(self, quick: bool) -> usize {
        let operations = match self {
            Workload::Turn => 200_000,
            Workload::Idle => 20_000_000,
            Workload::TimerFire => 20_000,
            Workload::TimerStop => 2_000_000,
            Workload::EchoWrite | Workload::EchoTry => 40_000,
        };
        if quick { operations / 10 } else { operations }
    }
}

/// The command of a line such as [`Contestant::line`] gives, behind the words of a tool that runs it.
pub(crate) fn command(tool: &[&str], line: &[PathBuf]) -> Command {
    let mut words = tool.iter().map(PathBuf::from).chain(line.iter().cloned());
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
