//! The client of the echo servers: one connection, one request of 64 bytes at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::contestant::Workload;

const REQUEST: usize = 64;

/// What a finished run tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// The time that the requests took, for the one who sent them; zero for other workloads.
    pub(crate) requests: Duration,
    /// The CPU time of the contestant.
    pub(crate) cpu: Duration,
}

/// Runs a contestant to its end, and sends an echo server its requests.
pub(crate) fn run(mut command: Command, workload: Workload, operations: usize) -> Result<Outcome, String> {
    let text = format!("{command:?}");
    let failed = |error: std::io::Error| format!("{text}: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
    let mut requests = Duration::ZERO;
    if workload.is_echo() {
        let port = number(&mut output).ok_or_else(|| format!("{text}: it tells no port"))?;
        requests = request(port as u16, operations).map_err(failed)?;
    }
    let cpu = number(&mut output);
    let status = child.wait().map_err(failed)?;
    match cpu {
        Some(cpu) if status.success() => Ok(Outcome { requests, cpu: Duration::from_nanos(cpu) }),
        _ => Err(format!("{text}: {status}")),
    }
}

fn number(output: &mut impl BufRead) -> Option<u64> {
    let mut line = String::new();
    output.read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

fn request(port: u16, operations: usize) -> std::io::Result<Duration> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    server.set_nodelay(true)?;
    let (request, mut answer) = ([b'x'; REQUEST], [0; REQUEST]);
    let start = Instant::now();
    for _ in 0..operations {
        server.write_all(&request)?;
        server.read_exact(&mut answer)?;
    }
    let taken = start.elapsed();
    assert_eq!(request, answer);
    Ok(taken)
}
