//! Who is measured, at what, and how to start them.

use std::path::PathBuf;
use std::process::Command;

use crate::build::Programs;
use crate::workload::Workload;

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
    pub(crate) fn line(self, programs: &Programs, workload: &Workload, operations: usize) -> Vec<PathBuf> {
        let mut line = match self {
            Contestant::Rust => vec![programs.rust.clone(), "run".into()],
            Contestant::C => vec![programs.c.clone()],
            Contestant::Libuv => vec![programs.libuv.clone()],
            Contestant::Epoll => vec![programs.epoll.clone()],
        };
        line.extend([workload.program.into(), workload.handles.to_string().into(), operations.to_string().into()]);
        line
    }

    pub(crate) fn can(self, workload: &Workload) -> bool {
        self != Contestant::Epoll || workload.program == "turn" || workload.traffic.is_some()
    }
}

/// The command of a line such as [`Contestant::line`] gives, behind the words of a tool that runs it.
pub(crate) fn command(tool: &[&str], line: &[PathBuf]) -> Command {
    let mut words = tool.iter().map(PathBuf::from).chain(line.iter().cloned());
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
