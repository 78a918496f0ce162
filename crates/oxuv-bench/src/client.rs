//! The client of the echo servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::workload::{Traffic, Workload};

/// What a finished run tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// The time that the requests took, for the one who sent them; zero for other workloads.
    pub(crate) requests: Duration,
    /// The CPU time of the contestant.
    pub(crate) cpu: Duration,
}

/// Runs a contestant to its end, and sends an echo server its requests.
pub(crate) fn run(mut command: Command, workload: &Workload, operations: usize) -> Result<Outcome, String> {
    let text = format!("{command:?}");
    let failed = |error: std::io::Error| format!("{text}: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
    let mut requests = Duration::ZERO;
    if let Some(traffic) = &workload.traffic {
        let port = number(&mut output).ok_or_else(|| format!("{text}: it tells no port"))?;
        requests = request(port as u16, traffic, operations).map_err(failed)?;
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

/// Sends on every connection as many requests as are to be sent at a time, and then waits for all answers.
fn request(port: u16, traffic: &Traffic, operations: usize) -> std::io::Result<Duration> {
    let connect = |_| {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        server.set_nodelay(true)?;
        Ok(server)
    };
    let mut servers = (0..traffic.connections).map(connect).collect::<std::io::Result<Vec<_>>>()?;
    let bytes = traffic.size * traffic.depth;
    let (requests, mut answers) = (vec![b'x'; bytes], vec![0; bytes]);
    let start = Instant::now();
    for _ in 0..operations / (traffic.connections * traffic.depth) {
        for server in &mut servers {
            server.write_all(&requests)?;
        }
        for server in &mut servers {
            server.read_exact(&mut answers)?;
        }
    }
    let taken = start.elapsed();
    assert_eq!(requests, answers);
    Ok(taken)
}
