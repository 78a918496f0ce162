//! The workloads on mio, which tells what is ready and nothing more.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream as StdTcpStream, UdpSocket as StdUdpSocket};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use mio::{Events, Interest, Poll, Token, Waker};

use crate::program::{Program, ROOM, Spent, standard_input, std_listener, timed_section};

pub(crate) const PROGRAMS: &[Program] = &[
    ("turn", |_, operations| turn(operations)),
    ("async", |_, operations| wake(operations)),
    ("echo-write", |connections, _| echo(connections)),
    ("echo-idle", |connections, _| echo(connections)),
    ("accept", |_, operations| accept(operations)),
    ("pipe-echo", |_, _| pipe_echo()),
    ("pipe-pump", |_, operations| {
        let pipe = StdUnixStream::from(standard_input()?);
        pipe.set_nonblocking(true)?;
        pump(UnixStream::from_std(pipe), operations)
    }),
    ("tcp-pump", |_, operations| {
        let stream = StdTcpStream::from(standard_input()?);
        stream.set_nonblocking(true)?;
        pump(TcpStream::from_std(stream), operations)
    }),
    ("udp-echo", |_, operations| udp_echo(operations)),
];

/// Of the only source, or of the listener.
const FIRST: Token = Token(0);

fn poll() -> io::Result<(Poll, Events)> {
    Ok((Poll::new()?, Events::with_capacity(1024)))
}

/// Waits for as long as it takes.
fn wait(poll: &mut Poll, events: &mut Events) -> io::Result<()> {
    poll.poll(events, None)
}

/// What `result` is, or nothing when that would have to wait.
fn if_ready<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        result => result.map(Some),
    }
}

fn turn(operations: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    timed_section(|| (0..operations).try_for_each(|_| poll.poll(&mut events, Some(Duration::ZERO))))
}

fn wake(operations: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    let waker = Waker::new(poll.registry(), FIRST)?;
    timed_section(|| {
        for _ in 0..operations {
            waker.wake()?;
            wait(&mut poll, &mut events)?;
        }
        Ok(())
    })
}

fn listen(poll: &Poll) -> io::Result<TcpListener> {
    let mut listener = TcpListener::from_std(std_listener()?);
    poll.registry().register(&mut listener, FIRST, Interest::READABLE)?;
    Ok(listener)
}

/// Answers all that is there. It is told of once, so it is read until nothing is left, which a read that has not filled the
/// buffer tells as well. False when the other end has hung up.
fn answer(stream: &mut (impl Read + Write), room: &mut [u8]) -> io::Result<bool> {
    while let Some(count) = if_ready(stream.read(room))? {
        if count == 0 {
            return Ok(false);
        }
        // The socket's buffer is larger than all that a client has not read.
        stream.write_all(&room[..count])?;
        if count < room.len() {
            break;
        }
    }
    Ok(true)
}

fn echo(connections: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    let listener = listen(&poll)?;
    let mut clients: Vec<Option<TcpStream>> = Vec::with_capacity(connections);
    let (mut room, mut hung_up) = (vec![0; ROOM], 0);
    timed_section(|| {
        while hung_up < connections {
            wait(&mut poll, &mut events)?;
            for event in &events {
                let Some(nth) = event.token().0.checked_sub(1) else {
                    while let Some((mut client, _)) = if_ready(listener.accept())? {
                        let token = Token(clients.len() + 1);
                        poll.registry().register(&mut client, token, Interest::READABLE)?;
                        clients.push(Some(client));
                    }
                    continue;
                };
                let Some(client) = &mut clients[nth] else { continue };
                if !answer(client, &mut room)? {
                    clients[nth] = None;
                    hung_up += 1;
                }
            }
        }
        Ok(())
    })
}

fn accept(operations: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    let listener = listen(&poll)?;
    timed_section(|| {
        let mut left = operations;
        while left > 0 {
            wait(&mut poll, &mut events)?;
            while let Some(client) = if_ready(listener.accept())? {
                drop(client);
                left -= 1;
            }
        }
        Ok(())
    })
}

fn pipe_echo() -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    let pipe = StdUnixStream::from(standard_input()?);
    pipe.set_nonblocking(true)?;
    let mut pipe = UnixStream::from_std(pipe);
    poll.registry().register(&mut pipe, FIRST, Interest::READABLE)?;
    let mut room = vec![0; ROOM];
    timed_section(|| {
        loop {
            wait(&mut poll, &mut events)?;
            if !answer(&mut pipe, &mut room)? {
                return Ok(());
            }
        }
    })
}

fn pump(mut stream: impl Write + Source, operations: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    poll.registry().register(&mut stream, FIRST, Interest::WRITABLE)?;
    timed_section(|| {
        for _ in 0..operations {
            let mut rest: &[u8] = &[b'x'; ROOM];
            while !rest.is_empty() {
                match if_ready(stream.write(rest))? {
                    Some(count) => rest = &rest[count..],
                    None => wait(&mut poll, &mut events)?,
                }
            }
        }
        // Its end is what the client waits for.
        drop(stream);
        Ok(())
    })
}

fn udp_echo(operations: usize) -> io::Result<Spent> {
    let (mut poll, mut events) = poll()?;
    let socket = StdUdpSocket::from(standard_input()?);
    socket.set_nonblocking(true)?;
    let mut socket = UdpSocket::from_std(socket);
    poll.registry().register(&mut socket, FIRST, Interest::READABLE)?;
    let mut room = vec![0; ROOM];
    timed_section(|| {
        let mut left = operations;
        while left > 0 {
            wait(&mut poll, &mut events)?;
            while let Some((count, peer)) = if_ready(socket.recv_from(&mut room))? {
                socket.send_to(&room[..count], peer)?;
                left -= 1;
            }
        }
        Ok(())
    })
}
