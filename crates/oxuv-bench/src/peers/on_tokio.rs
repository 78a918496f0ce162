//! The workloads on tokio, with its runtime of one thread.

use std::io;
use std::net::{TcpStream as StdTcpStream, UdpSocket as StdUdpSocket};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{unconstrained, yield_now};
use tokio::time::{Instant, Sleep, sleep};

use super::on_tokio_threads::{open, read, spawn, stat, work_of_nothing};
use crate::program::{LITTLE_ROOM, Program, ROOM, Spent, standard_input, std_listener, timed_section};
use crate::sleeps::{self, Sleeper};
use crate::switches::{self, Spawner};

pub(crate) const PROGRAMS: &[Program] = &[
    ("turn", |_, operations| turn(operations)),
    ("timer-insert", |timers, operations| sleeps::insert(&runtime()?, timers, operations)),
    ("timer-fire", |timers, operations| sleeps::fire(&runtime()?, timers, operations)),
    ("timer-cancel", |timers, operations| sleeps::cancel(&runtime()?, timers, operations)),
    ("timer-rearm", |timers, operations| sleeps::put_off(&runtime()?, timers, operations)),
    ("task-join", |_, operations| switches::join(&runtime()?, operations)),
    ("task-yield", |tasks, operations| switches::give_way(&runtime()?, tasks, operations)),
    ("task-channel", |_, operations| switches::ping_pong(&runtime()?, operations)),
    ("echo-write", |connections, _| echo(connections, ROOM)),
    ("echo-idle", |connections, _| echo(connections, LITTLE_ROOM)),
    ("task-echo", |connections, _| echo(connections, ROOM)),
    ("accept", |_, operations| accept(operations)),
    ("pipe-echo", |_, _| pipe_echo()),
    ("pipe-pump", |_, operations| pipe_pump(operations)),
    ("tcp-pump", |_, operations| tcp_pump(operations)),
    ("udp-echo", |_, operations| udp_echo(operations)),
    ("udp-flood", |_, operations| udp_flood(operations)),
    ("pool-work", work_of_nothing),
    ("pool-stat", stat),
    ("pool-read", read),
    ("pool-open", open),
    ("spawn", spawn),
];

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Nothing else is to be run, so the runtime looks for events each time.
fn turn(operations: usize) -> io::Result<Spent> {
    let runtime = runtime()?;
    timed_section(|| {
        runtime.block_on(async {
            for _ in 0..operations {
                yield_now().await;
            }
            Ok(())
        })
    })
}

impl Sleeper for Runtime {
    type Sleep = Sleep;

    fn sleep(&self, time: Duration) -> Sleep {
        sleep(time)
    }

    fn reset(&self, sleep: Pin<&mut Sleep>, time: Duration) {
        sleep.reset(Instant::now() + time);
    }

    /// A task's budget is not the subject.
    fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(unconstrained(future))
    }
}

impl Spawner for Runtime {
    fn run(&self, future: impl Future<Output = ()>) {
        self.block_on(future);
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> impl Future<Output = ()> {
        let task = tokio::spawn(future);
        async { task.await.expect("it does not panic") }
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        yield_now()
    }
}

/// A server, and what it does.
fn serve(what: impl AsyncFnOnce(TcpListener) -> io::Result<()>) -> io::Result<Spent> {
    let runtime = runtime()?;
    let listener = std_listener()?;
    let listener = runtime.block_on(async { TcpListener::from_std(listener) })?;
    timed_section(|| runtime.block_on(what(listener)))
}

fn echo(connections: usize, room: usize) -> io::Result<Spent> {
    serve(async |listener| {
        let mut clients = Vec::with_capacity(connections);
        for _ in 0..connections {
            let (stream, _) = listener.accept().await?;
            clients.push(tokio::spawn(answer(stream, room)));
        }
        for client in clients {
            client.await??;
        }
        Ok(())
    })
}

/// Until the other end hangs up.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, room: usize) -> io::Result<()> {
    let mut room = vec![0; room];
    loop {
        match stream.read(&mut room).await? {
            0 => return Ok(()),
            count => stream.write_all(&room[..count]).await?,
        }
    }
}

fn accept(operations: usize) -> io::Result<Spent> {
    serve(async |listener| {
        for _ in 0..operations {
            drop(listener.accept().await?);
        }
        Ok(())
    })
}

async fn pump(mut stream: impl AsyncWrite + Unpin, operations: usize) -> io::Result<()> {
    for _ in 0..operations {
        stream.write_all(&[b'x'; ROOM]).await?;
    }
    Ok(())
}

fn open_pipe() -> io::Result<UnixStream> {
    let pipe = StdUnixStream::from(standard_input()?);
    pipe.set_nonblocking(true)?;
    UnixStream::from_std(pipe)
}

fn pipe_echo() -> io::Result<Spent> {
    let runtime = runtime()?;
    timed_section(|| runtime.block_on(async { answer(open_pipe()?, ROOM).await }))
}

fn pipe_pump(operations: usize) -> io::Result<Spent> {
    let runtime = runtime()?;
    timed_section(|| runtime.block_on(async { pump(open_pipe()?, operations).await }))
}

fn tcp_pump(operations: usize) -> io::Result<Spent> {
    let runtime = runtime()?;
    let stream = StdTcpStream::from(standard_input()?);
    stream.set_nonblocking(true)?;
    timed_section(|| runtime.block_on(async { pump(TcpStream::from_std(stream)?, operations).await }))
}

fn udp_echo(operations: usize) -> io::Result<Spent> {
    let runtime = runtime()?;
    let socket = StdUdpSocket::from(standard_input()?);
    socket.set_nonblocking(true)?;
    let mut room = vec![0; ROOM];
    timed_section(|| {
        runtime.block_on(async {
            let socket = UdpSocket::from_std(socket)?;
            for _ in 0..operations {
                let (count, peer) = socket.recv_from(&mut room).await?;
                socket.send_to(&room[..count], peer).await?;
            }
            Ok(())
        })
    })
}

fn udp_flood(operations: usize) -> io::Result<Spent> {
    let runtime = runtime()?;
    let socket = StdUdpSocket::from(standard_input()?);
    let (_, peer) = socket.recv_from(&mut [0])?;
    socket.set_nonblocking(true)?;
    timed_section(|| {
        runtime.block_on(async {
            let socket = UdpSocket::from_std(socket)?;
            for _ in 0..operations {
                socket.send_to(&[b'x'; 64], peer).await?;
            }
            Ok(())
        })
    })
}
