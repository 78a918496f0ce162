//! The contestants that are in this binary: their workloads by name, and what each has to tell at its end.

use std::io::{self, Write, stdout};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use rustix::time::{ClockId, clock_gettime};

use crate::contestant::Contestant;

/// A program with a name, for so many handles and operations.
pub(crate) type Program = (&'static str, fn(handles: usize, operations: usize) -> io::Result<Spent>);

/// Where the servers listen: at a free port, with room for all clients of a workload.
pub(crate) const ANY_PORT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);
pub(crate) const BACKLOG: i32 = 4096;

/// What fits into the buffers for what is read.
pub(crate) const ROOM: usize = 64 * 1024;

/// The same where memory is measured: that of the loop, not that of what a task keeps for itself.
pub(crate) const LITTLE_ROOM: usize = 64;

/// Runs a program, then prints the nanoseconds that its measured sections took, of CPU time and of time, and the most
/// memory that it had, in bytes.
pub(crate) fn run(contestant: &str, name: &str, handles: usize, operations: usize) -> Result<(), String> {
    let contestant = Contestant::from_name(contestant)?;
    let (_, program) = contestant
        .programs()
        .iter()
        .find(|(program, _)| *program == name)
        .ok_or_else(|| format!("{} has no program {name:?}", contestant.title()))?;
    let failed = |error| format!("{name}: {error}");
    let Spent { cpu, time } = program(handles, operations).map_err(failed)?;
    println!("{cpu} {time} {}", peak_memory().map_err(failed)?);
    Ok(())
}

/// What the measured part of a workload took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) cpu: i64,
    pub(crate) time: i64,
}

/// Runs the part of a workload that is measured: callgrind knows it by its name.
#[inline(never)]
pub(crate) fn timed_section<E>(part: impl FnOnce() -> Result<(), E>) -> Result<Spent, E> {
    let (start, start_cpu) = (time_of(ClockId::Monotonic), time_of(ClockId::ProcessCPUTime));
    part()?;
    Ok(Spent { cpu: time_of(ClockId::ProcessCPUTime) - start_cpu, time: time_of(ClockId::Monotonic) - start })
}

fn time_of(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// That of this program alone: what `getrusage` tells is at least what the parent had.
fn peak_memory() -> io::Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let kilobytes: Option<usize> = kilobytes.and_then(|number| number.parse().ok());
    Ok(kilobytes.ok_or(io::ErrorKind::InvalidData)? * 1024)
}

/// A listener for those who take one of the standard library, whose own backlog is shorter. The client knows it already.
pub(crate) fn std_listener() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(ANY_PORT)?;
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    tell_port(listener.local_addr()?.port())?;
    Ok(listener)
}

/// Tells the client where the server listens.
pub(crate) fn tell_port(port: u16) -> io::Result<()> {
    println!("{port}");
    stdout().flush()
}

/// A copy of the socket that the standard input is.
pub(crate) fn standard_input() -> io::Result<OwnedFd> {
    std::io::stdin().as_fd().try_clone_to_owned()
}

/// The numbers of `next_random` in `c/bench.h`.
#[derive(Clone, Copy)]
pub(crate) struct Random(u32);

impl Default for Random {
    fn default() -> Self {
        Random(12345)
    }
}

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(self.0 >> 8) % bound
    }
}
