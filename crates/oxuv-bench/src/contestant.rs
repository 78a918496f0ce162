//! Who is measured, at what, and how to start them.

use std::ffi::OsStr;
use std::process::Command;

use crate::build::Programs;
use crate::workload::{Observed, Workload};

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

    /// The command that runs a workload, behind the words of a tool that runs it.
    pub(crate) fn command(self, tool: &[&str], programs: &Programs, workload: &Workload, operations: usize) -> Command {
        let program: &[&OsStr] = match self {
            Contestant::Rust => &[programs.rust.as_ref(), "run".as_ref()],
            Contestant::C => &[programs.c.as_ref()],
            Contestant::Libuv => &[programs.libuv.as_ref()],
            Contestant::Epoll => &[programs.epoll.as_ref()],
        };
        let mut words = tool.iter().map(OsStr::new).chain(program.iter().copied());
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args([workload.program, &workload.handles.to_string(), &operations.to_string()]);
        if let Some(threads) = workload.threads {
            command.env("UV_THREADPOOL_SIZE", threads.to_string()).current_dir(&programs.tree);
        }
        if let Some(ring) = &programs.ring {
            let has_ring = ring.contains(&self);
            command.env("UV_USE_IO_URING", if has_ring { "1" } else { "0" });
            if has_ring {
                // Without this, libuv does not use it for files.
                command.env("OXUV_BENCH_SQPOLL", "1");
            }
        }
        if let Some(observed) = workload.observed {
            let variable = if observed == Observed::Numbers { "OXUV_METRICS" } else { "OXUV_TRACE" };
            command.env(variable, programs.c.with_file_name("observed"));
        }
        command
    }

    pub(crate) fn can(self, workload: &Workload) -> bool {
        match self {
            Contestant::Rust | Contestant::C => true,
            Contestant::Libuv => workload.observed.is_none(),
            Contestant::Epoll => {
                workload.observed.is_none() && (workload.program == "turn" || workload.traffic.is_some())
            }
        }
    }
}
