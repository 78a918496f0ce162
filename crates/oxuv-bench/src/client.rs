//! The client of the echo servers, and the other end of the sockets that contestants are given.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::workload::{Medium, Traffic, Workload};

/// What a finished run tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// The time that the operations took: for the one who sent requests, if anybody did.
    pub(crate) time: Duration,
    /// The CPU time of the contestant.
    pub(crate) cpu: Duration,
}

/// Runs a contestant to its end, and does what its client does.
pub(crate) fn run(mut command: Command, workload: &Workload, operations: usize) -> Result<Outcome, String> {
    let text = format!("{command:?}");
    let failed = |error: std::io::Error| format!("{text}: {error}");
    let socket = match workload.traffic {
        Some(Traffic::PingPong(medium) | Traffic::Drain(medium)) => {
            let (theirs, ours) = pair(medium).map_err(failed)?;
            command.stdin(theirs);
            Some(ours)
        }
        _ => {
            command.stdin(Stdio::null());
            None
        }
    };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    // Else the contestant's end stayed open for as long as the command.
    drop(command);
    let mut output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
    let mut requests = None;
    match (&workload.traffic, socket) {
        (Some(Traffic::Connections { connections, size, depth }), _) => {
            let [port] = numbers(&mut output).ok_or_else(|| format!("{text}: it tells no port"))?;
            let rounds = operations / (connections * depth);
            requests = Some(request(port as u16, *connections, size * depth, rounds).map_err(failed)?);
        }
        (Some(Traffic::PingPong(_)), Some(socket)) => requests = Some(ping_pong(socket, operations).map_err(failed)?),
        (Some(Traffic::Drain(medium)), Some(socket)) => requests = Some(drain(socket, *medium).map_err(failed)?),
        _ => {}
    }
    let spent = numbers(&mut output);
    let status = child.wait().map_err(failed)?;
    match spent.map(|spent| spent.map(Duration::from_nanos)) {
        Some([cpu, time]) if status.success() => Ok(Outcome { time: requests.unwrap_or(time), cpu }),
        _ => Err(format!("{text}: {status}")),
    }
}

/// The numbers of a line.
fn numbers<const COUNT: usize>(output: &mut impl BufRead) -> Option<[u64; COUNT]> {
    let mut line = String::new();
    output.read_line(&mut line).ok()?;
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    numbers.try_into().ok()
}

/// Sends so many bytes on every connection, and then waits for as many answers; round by round.
fn request(port: u16, connections: usize, bytes: usize, rounds: usize) -> std::io::Result<Duration> {
    let connect = |_| {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        server.set_nodelay(true)?;
        Ok(server)
    };
    let mut servers = (0..connections).map(connect).collect::<std::io::Result<Vec<_>>>()?;
    let (requests, mut answers) = (vec![b'x'; bytes], vec![0; bytes]);
    let start = Instant::now();
    for _ in 0..rounds {
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

/// The contestant's socket and ours, to be read and written as a file is.
fn pair(medium: Medium) -> std::io::Result<(OwnedFd, File)> {
    let (theirs, ours): (OwnedFd, OwnedFd) = match medium {
        Medium::Pipe => {
            let (theirs, ours) = UnixStream::pair()?;
            (theirs.into(), ours.into())
        }
        Medium::Tcp => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let theirs = TcpStream::connect(listener.local_addr()?)?;
            (theirs.into(), listener.accept()?.0.into())
        }
        Medium::Udp => {
            let [theirs, ours] =
                [UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?];
            ours.connect(theirs.local_addr()?)?;
            // Nothing tells of a contestant that has failed.
            ours.set_read_timeout(Some(Duration::from_secs(10)))?;
            (theirs.into(), ours.into())
        }
    };
    Ok((theirs, ours.into()))
}

fn ping_pong(mut socket: File, operations: usize) -> std::io::Result<Duration> {
    let (request, mut answer) = ([b'x'; 64], [0; 64]);
    let start = Instant::now();
    for _ in 0..operations {
        socket.write_all(&request)?;
        socket.read_exact(&mut answer)?;
    }
    let taken = start.elapsed();
    assert_eq!(request, answer);
    Ok(taken)
}

/// Reads until the end; that of datagrams is that no more come.
fn drain(mut socket: File, medium: Medium) -> std::io::Result<Duration> {
    let mut bytes = vec![0; 64 * 1024];
    if medium == Medium::Udp {
        // Where to send to.
        socket.write_all(b"x")?;
    }
    let start = Instant::now();
    socket.read_exact(&mut bytes[..1])?;
    if medium == Medium::Udp {
        UdpSocket::from(OwnedFd::from(socket.try_clone()?)).set_read_timeout(Some(Duration::from_millis(100)))?;
    }
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return Ok(start.elapsed()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) if medium == Medium::Udp => return Ok(start.elapsed()),
            Err(error) => return Err(error),
        }
    }
}
