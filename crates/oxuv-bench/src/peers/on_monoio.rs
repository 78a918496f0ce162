//! The workloads on monoio: by a ring, and by epoll, which it calls legacy.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{TcpListener, UnixStream};
use monoio::{Driver, IoUringDriver, LegacyDriver, Runtime, RuntimeBuilder};

use crate::program::{LITTLE_ROOM, Program, ROOM, Spent, standard_input, std_listener, timed_section};

pub(crate) const ON_RING: &[Program] = &[
    ("echo-write", |connections, _| echo(ring()?, connections, ROOM)),
    ("echo-gathered", |connections, _| echo(ring()?, connections, ROOM)),
    ("echo-idle", |connections, _| echo(ring()?, connections, LITTLE_ROOM)),
    ("accept", |_, operations| accept(ring()?, operations)),
    ("pipe-echo", |_, _| pipe_echo(ring()?)),
    ("pipe-pump", |_, operations| pipe_pump(ring()?, operations)),
];

pub(crate) const ON_EPOLL: &[Program] = &[
    ("echo-write", |connections, _| echo(epoll()?, connections, ROOM)),
    ("echo-idle", |connections, _| echo(epoll()?, connections, LITTLE_ROOM)),
    ("accept", |_, operations| accept(epoll()?, operations)),
    ("pipe-echo", |_, _| pipe_echo(epoll()?)),
    ("pipe-pump", |_, operations| pipe_pump(epoll()?, operations)),
];

fn ring() -> io::Result<Runtime<IoUringDriver>> {
    RuntimeBuilder::<IoUringDriver>::new().build()
}

fn epoll() -> io::Result<Runtime<LegacyDriver>> {
    RuntimeBuilder::<LegacyDriver>::new().build()
}

/// A server, and what it does.
fn serve<D: Driver>(
    mut runtime: Runtime<D>,
    what: impl AsyncFnOnce(TcpListener) -> io::Result<()>,
) -> io::Result<Spent> {
    let listener = std_listener()?;
    let listener = runtime.block_on(async { TcpListener::from_std(listener) })?;
    timed_section(|| runtime.block_on(what(listener)))
}

fn echo<D: Driver>(runtime: Runtime<D>, connections: usize, room: usize) -> io::Result<Spent> {
    serve(runtime, async |listener| {
        let mut clients = Vec::with_capacity(connections);
        for _ in 0..connections {
            let (stream, _) = listener.accept().await?;
            clients.push(monoio::spawn(answer(stream, room)));
        }
        for client in clients {
            client.await?;
        }
        Ok(())
    })
}

/// Until the other end hangs up. The buffer goes to the kernel and comes back, for each read and each write.
async fn answer(mut stream: impl AsyncReadRent + AsyncWriteRentExt, room: usize) -> io::Result<()> {
    let mut room: Vec<u8> = Vec::with_capacity(room);
    loop {
        let (count, bytes) = stream.read(room).await;
        if count? == 0 {
            return Ok(());
        }
        let (written, bytes) = stream.write_all(bytes).await;
        written?;
        room = bytes;
    }
}

fn accept<D: Driver>(runtime: Runtime<D>, operations: usize) -> io::Result<Spent> {
    serve(runtime, async |listener| {
        for _ in 0..operations {
            drop(listener.accept().await?);
        }
        Ok(())
    })
}

fn open_pipe() -> io::Result<UnixStream> {
    let pipe = StdUnixStream::from(standard_input()?);
    pipe.set_nonblocking(true)?;
    UnixStream::from_std(pipe)
}

fn pipe_echo<D: Driver>(mut runtime: Runtime<D>) -> io::Result<Spent> {
    timed_section(|| runtime.block_on(async { answer(open_pipe()?, ROOM).await }))
}

fn pipe_pump<D: Driver>(mut runtime: Runtime<D>, operations: usize) -> io::Result<Spent> {
    timed_section(|| {
        runtime.block_on(async {
            let mut pipe = open_pipe()?;
            let mut piece = vec![b'x'; ROOM];
            for _ in 0..operations {
                let (written, bytes) = pipe.write_all(piece).await;
                written?;
                piece = bytes;
            }
            Ok(())
        })
    })
}
