//! Who is measured, at what, and how to start them.

use std::ffi::OsStr;
use std::process::Command;

use crate::build::Programs;
use crate::peers::{on_mio, on_monoio, on_tokio};
use crate::program::Program;
use crate::workload::{Observed, Workload};
use crate::{front, tasks};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contestant {
    Rust,
    Futures,
    C,
    Libuv,
    Tokio,
    Mio,
    MonoioRing,
    MonoioEpoll,
    Epoll,
}

/// What `c/epoll.c` has.
const ON_EPOLL: &[&str] = &[
    "turn",
    "async",
    "accept",
    "echo-gathered",
    "echo-idle",
    "echo-write",
    "echo-try",
    "pipe-echo",
    "pipe-pump",
    "tcp-pump",
    "udp-echo",
    "udp-flood",
    "udp-flood-try",
];

impl Contestant {
    pub(crate) const ALL: [Contestant; 9] = [
        Contestant::Rust,
        Contestant::Futures,
        Contestant::C,
        Contestant::Libuv,
        Contestant::Tokio,
        Contestant::Mio,
        Contestant::MonoioRing,
        Contestant::MonoioEpoll,
        Contestant::Epoll,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Contestant::Rust => "rust",
            Contestant::Futures => "futures",
            Contestant::C => "c",
            Contestant::Libuv => "libuv",
            Contestant::Tokio => "tokio",
            Contestant::Mio => "mio",
            Contestant::MonoioRing => "monoio-ring",
            Contestant::MonoioEpoll => "monoio-epoll",
            Contestant::Epoll => "epoll",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Contestant::Rust => "oxuv (Rust)",
            Contestant::Futures => "oxuv (futures)",
            Contestant::C => "oxuv (C)",
            Contestant::Libuv => "libuv 1.53",
            Contestant::Tokio => "tokio",
            Contestant::Mio => "mio",
            Contestant::MonoioRing => "monoio (io_uring)",
            Contestant::MonoioEpoll => "monoio (epoll)",
            Contestant::Epoll => "bare epoll",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Contestant, String> {
        let found = Contestant::ALL.into_iter().find(|contestant| contestant.name() == name);
        found.ok_or_else(|| {
            let names = Contestant::ALL.map(Contestant::name).join(", ");
            format!("there is no contestant {name:?}, but {names}")
        })
    }

    /// Those that are in this binary.
    pub(crate) fn programs(self) -> &'static [Program] {
        match self {
            Contestant::Rust => front::PROGRAMS,
            Contestant::Futures => tasks::PROGRAMS,
            Contestant::Tokio => on_tokio::PROGRAMS,
            Contestant::Mio => on_mio::PROGRAMS,
            Contestant::MonoioRing => on_monoio::ON_RING,
            Contestant::MonoioEpoll => on_monoio::ON_EPOLL,
            Contestant::C | Contestant::Libuv | Contestant::Epoll => &[],
        }
    }

    /// The command that runs a workload, behind the words of a tool that runs it.
    pub(crate) fn command(self, tool: &[&str], programs: &Programs, workload: &Workload, operations: usize) -> Command {
        let program: &[&OsStr] = match self {
            Contestant::C => &[programs.c.as_ref()],
            Contestant::Libuv => &[programs.libuv.as_ref()],
            Contestant::Epoll => &[programs.epoll.as_ref()],
            _ => &[programs.rust.as_ref(), "run".as_ref(), self.name().as_ref()],
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
            // C has no tasks.
            Contestant::C | Contestant::Libuv | Contestant::Epoll if workload.program.starts_with("task-") => false,
            Contestant::C => true,
            // Others have no observer.
            _ if workload.observed.is_some() && self != Contestant::Rust => false,
            Contestant::Libuv => true,
            Contestant::Epoll => ON_EPOLL.contains(&workload.program),
            _ => {
                let is_ours = matches!(self, Contestant::Rust | Contestant::Futures);
                (is_ours || workload.is_for_peers())
                    && self.programs().iter().any(|(name, _)| *name == workload.program)
            }
        }
    }

    /// Valgrind has no rings.
    pub(crate) fn runs_under_valgrind(self, workload: &Workload) -> bool {
        self != Contestant::MonoioRing && workload.program != "echo-gathered"
    }
}
