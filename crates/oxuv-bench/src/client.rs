//! The client of the echo servers, and the other end of the sockets that contestants are given.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::workload::{Medium, Traffic, Workload};

/// What a finished run tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// The time that the operations took: for the one who sent requests, if anybody did.
    pub(crate) time: Duration,
    /// The CPU time of the contestant: of an echo server, for the requests alone.
    pub(crate) cpu: Duration,
    /// The most memory that it had, in bytes.
    pub(crate) peak: u64,
}

/// Who hears nothing for so long gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a contestant to its end, and does what its client does.
pub(crate) fn run(mut command: Command, workload: &Workload, operations: usize) -> Result<Outcome, String> {
    let text = format!("{command:?}");
    let failed = |error: io::Error| format!("{text}: {error}");
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
    let requests = serve(workload, operations, socket, &child, &mut output);
    if requests.is_err() {
        // It may wait for a client for ever.
        let _ = child.kill();
    }
    let spent = numbers(&mut output);
    let status = child.wait().map_err(failed)?;
    match spent {
        Some([cpu, time, peak]) if status.success() => {
            let [cpu, time] = [cpu, time].map(Duration::from_nanos);
            let seen = requests.map_err(failed)?.unwrap_or_default();
            Ok(Outcome { time: seen.time.unwrap_or(time), cpu: seen.cpu.unwrap_or(cpu), peak })
        }
        _ => Err(format!("{text}: {status}, {requests:?}")),
    }
}

/// What a client has seen of the time that its requests took.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    time: Option<Duration>,
    /// The contestant's.
    cpu: Option<Duration>,
}

impl From<Duration> for Seen {
    fn from(time: Duration) -> Seen {
        Seen { time: Some(time), cpu: None }
    }
}

/// Does what the workload's client does, if it has one.
fn serve(
    workload: &Workload,
    operations: usize,
    socket: Option<File>,
    child: &Child,
    output: &mut impl BufRead,
) -> io::Result<Option<Seen>> {
    let mut port = || match numbers(output) {
        Some([port]) => Ok(port as u16),
        None => Err(io::Error::other("it tells no port")),
    };
    match (&workload.traffic, socket) {
        (Some(Traffic::Connections { connections, size, depth }), _) => {
            request(child, port()?, *connections, size * depth, operations / (connections * depth)).map(Some)
        }
        (Some(Traffic::Visits { at_once }), _) => Ok(Some(visit(port()?, *at_once, operations / at_once)?.into())),
        (Some(Traffic::PingPong(_)), Some(socket)) => Ok(Some(ping_pong(socket, operations)?.into())),
        (Some(Traffic::Drain(medium)), Some(socket)) => Ok(Some(drain(socket, *medium)?.into())),
        _ => Ok(None),
    }
}

/// The numbers of a line.
fn numbers<const COUNT: usize>(output: &mut impl BufRead) -> Option<[u64; COUNT]> {
    let mut line = String::new();
    output.read_line(&mut line).ok()?;
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    numbers.try_into().ok()
}

/// Sends so many bytes on every connection, and then waits for as many answers; round by round, after one that does not count: to
/// begin with, a server takes connections and touches its memory for the first time.
fn request(server: &Child, port: u16, connections: usize, bytes: usize, rounds: usize) -> io::Result<Seen> {
    let mut streams = (0..connections).map(|_| connect(port)).collect::<io::Result<Vec<_>>>()?;
    let (requests, mut answers) = (vec![b'x'; bytes], vec![0; bytes]);
    let mut go_round = || -> io::Result<()> {
        for stream in &mut streams {
            stream.write_all(&requests)?;
        }
        for stream in &mut streams {
            stream.read_exact(&mut answers)?;
        }
        Ok(())
    };
    go_round()?;
    let (start, start_cpu) = (Instant::now(), cpu_of(server)?);
    (0..rounds).try_for_each(|_| go_round())?;
    let seen = Seen { time: Some(start.elapsed()), cpu: Some(cpu_of(server)?.saturating_sub(start_cpu)) };
    assert_eq!(requests, answers);
    Ok(seen)
}

/// The CPU time that the first thread of this process has had by now. Where it shares our core, that is exact: it is counted whenever
/// another one runs.
fn cpu_of(process: &Child) -> io::Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{}/schedstat", process.id()))?;
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| io::Error::other("the kernel counts no CPU time of threads"))
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    server.set_nodelay(true)?;
    server.set_read_timeout(Some(PATIENCE))?;
    server.set_write_timeout(Some(PATIENCE))?;
    Ok(server)
}

/// Connects so many times, and then waits for the server to hang up all of them; round by round.
fn visit(port: u16, at_once: usize, rounds: usize) -> io::Result<Duration> {
    let start = Instant::now();
    for _ in 0..rounds {
        let servers = (0..at_once).map(|_| connect(port)).collect::<io::Result<Vec<_>>>()?;
        for mut server in servers {
            let count = server.read(&mut [0])?;
            assert_eq!(count, 0, "it sends nothing");
            // Closed in order, each connection kept its port for a minute, and there were none left soon.
            rustix::net::sockopt::set_socket_linger(&server, Some(Duration::ZERO))?;
        }
    }
    Ok(start.elapsed())
}

/// The contestant's socket and ours, to be read and written as a file is.
fn pair(medium: Medium) -> io::Result<(OwnedFd, File)> {
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

fn ping_pong(mut socket: File, operations: usize) -> io::Result<Duration> {
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
fn drain(mut socket: File, medium: Medium) -> io::Result<Duration> {
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
