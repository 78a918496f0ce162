//! The workloads on oxuv's futures: the same as those of `front.rs`, as one writes them with tasks.

use std::cell::Cell;
use std::io;
use std::net::{TcpListener as StdTcpListener, UdpSocket as StdUdpSocket};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use oxuv::fs::task as fs;
use oxuv::net::{BufReader, TcpListener, TcpStream, UdpSocket, UnixStream};
use oxuv::task::{self, spawn_blocking, spawn_local};
use oxuv::time::{Instant, Sleep, sleep};
use oxuv::{Command, Loop, Pipe, Stdio, Tcp, Udp};

use crate::pool::{LARGE, PIECE, large_offset, path};
use crate::program::{ANY_PORT, BACKLOG, Program, ROOM, Spent, standard_input, tell_port, timed_section};
use crate::sleeps::{self, Sleeper};
use crate::switches::{self, Spawner};

pub(crate) const PROGRAMS: &[Program] = &[
    ("timer-insert", |timers, operations| sleeps::insert(&Loop::new()?, timers, operations)),
    ("timer-fire", |timers, operations| sleeps::fire(&Loop::new()?, timers, operations)),
    ("timer-cancel", |timers, operations| sleeps::cancel(&Loop::new()?, timers, operations)),
    ("timer-rearm", |timers, operations| sleeps::put_off(&Loop::new()?, timers, operations)),
    ("task-join", |_, operations| switches::join(&Loop::new()?, operations)),
    ("task-yield", |tasks, operations| switches::give_way(&Loop::new()?, tasks, operations)),
    ("task-channel", |_, operations| switches::ping_pong(&Loop::new()?, operations)),
    ("echo-write", |connections, _| echo(connections, answer)),
    ("echo-idle", |connections, _| echo(connections, answer)),
    ("task-echo", |connections, _| echo(connections, answer_by_own)),
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

impl Sleeper for Loop {
    type Sleep = Sleep;

    fn sleep(&self, time: Duration) -> Sleep {
        sleep(time)
    }

    fn reset(&self, sleep: Pin<&mut Sleep>, time: Duration) {
        sleep.get_mut().reset(Instant::of(self) + time);
    }

    fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.block_on(future)
    }
}

impl Spawner for Loop {
    fn run(&self, future: impl Future<Output = ()>) {
        self.block_on(future);
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> impl Future<Output = ()> {
        let task = spawn_local(future);
        async { task.await.expect("it does not panic") }
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}

/// A server, and what it does.
fn serve(what: impl AsyncFnOnce(TcpListener) -> io::Result<()>) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let socket = StdTcpListener::bind(ANY_PORT)?;
    let tcp = Tcp::new(&lp)?;
    tcp.open(socket.try_clone()?)?;
    let listener = TcpListener::from_handle(&tcp)?;
    // Its own backlog is shorter.
    rustix::net::listen(&socket, BACKLOG)?;
    tell_port(socket.local_addr()?.port())?;
    timed_section(|| lp.block_on(what(listener)))
}

fn echo<F: Future<Output = io::Result<()>> + 'static>(
    connections: usize,
    answer: impl Fn(TcpStream) -> F,
) -> io::Result<Spent> {
    serve(async |listener| {
        let mut clients = Vec::with_capacity(connections);
        for _ in 0..connections {
            let (stream, _) = listener.accept().await?;
            clients.push(spawn_local(answer(stream)));
        }
        for client in clients {
            client.await??;
        }
        Ok(())
    })
}

/// Answers until the other end hangs up; the streams of TCP and of pipes are two types.
macro_rules! answer_all {
    ($stream:expr) => {{
        let mut reader = BufReader::new(&$stream);
        loop {
            let bytes = reader.fill_buf().await?;
            let count = bytes.len();
            if count == 0 {
                return io::Result::Ok(());
            }
            $stream.write_all(bytes).await?;
            reader.consume(count);
        }
    }};
}

/// Writes so many pieces, and hangs up, which is what the client waits for.
macro_rules! pump {
    ($stream:expr, $operations:expr) => {{
        for _ in 0..$operations {
            $stream.write_all(&[b'x'; ROOM]).await?;
        }
        drop($stream);
        Ok(())
    }};
}

async fn answer(stream: TcpStream) -> io::Result<()> {
    answer_all!(stream)
}

/// As [`answer`], with a buffer for each connection.
async fn answer_by_own(stream: TcpStream) -> io::Result<()> {
    let mut room = vec![0; ROOM];
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

fn open_pipe(lp: &Loop) -> io::Result<UnixStream> {
    let pipe = Pipe::new(lp)?;
    pipe.open(standard_input()?)?;
    Ok(UnixStream::from_handle(pipe))
}

fn pipe_echo() -> io::Result<Spent> {
    let lp = Loop::new()?;
    let stream = open_pipe(&lp)?;
    timed_section(|| lp.block_on(async { answer_all!(stream) }))
}

fn pipe_pump(operations: usize) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let stream = open_pipe(&lp)?;
    timed_section(|| lp.block_on(async { pump!(stream, operations) }))
}

fn tcp_pump(operations: usize) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let tcp = Tcp::new(&lp)?;
    tcp.open(standard_input()?)?;
    let stream = TcpStream::from_handle(tcp);
    timed_section(|| lp.block_on(async { pump!(stream, operations) }))
}

fn udp_echo(operations: usize) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let udp = Udp::new(&lp)?;
    udp.open(standard_input()?)?;
    let socket = UdpSocket::from_handle(udp);
    let mut room = vec![0; ROOM];
    timed_section(|| {
        lp.block_on(async {
            for _ in 0..operations {
                let (count, peer) = socket.recv_from(&mut room).await?;
                socket.send_to(&room[..count], peer).await?;
            }
            Ok(())
        })
    })
}

fn udp_flood(operations: usize) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let socket = StdUdpSocket::from(standard_input()?);
    let (_, peer) = socket.recv_from(&mut [0])?;
    let udp = Udp::new(&lp)?;
    udp.open(socket)?;
    let socket = UdpSocket::from_handle(udp);
    timed_section(|| {
        lp.block_on(async {
            for _ in 0..operations {
                socket.send_to(&[b'x'; 64], peer).await?;
            }
            Ok(())
        })
    })
}

/// Has `depth` tasks do the requests with these numbers, each the next that nobody has done.
fn pool<F: Future<Output = io::Result<()>> + 'static>(
    lp: &Loop,
    depth: usize,
    operations: usize,
    request: impl Fn(usize) -> F + Clone + 'static,
) -> io::Result<Spent> {
    // Has the threads started, and the paths made.
    lp.block_on(request(0))?;
    let left = Rc::new(Cell::new(operations));
    timed_section(|| {
        lp.block_on(async {
            let tasks: Vec<_> = (0..depth).map(|_| spawn_local(work(Rc::clone(&left), request.clone()))).collect();
            for task in tasks {
                task.await??;
            }
            Ok(())
        })
    })
}

async fn work<F: Future<Output = io::Result<()>>>(
    left: Rc<Cell<usize>>,
    request: impl Fn(usize) -> F,
) -> io::Result<()> {
    while let Some(nth) = left.get().checked_sub(1) {
        left.set(nth);
        request(nth).await?;
    }
    Ok(())
}

fn work_of_nothing(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(&Loop::new()?, depth, operations, |_| async { Ok(spawn_blocking(|| {}).await?) })
}

fn stat(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(&Loop::new()?, depth, operations, |nth| async move { fs::metadata(path(nth)).await.map(drop) })
}

fn read(depth: usize, operations: usize) -> io::Result<Spent> {
    let lp = Loop::new()?;
    let file = Rc::new(lp.block_on(fs::File::open(LARGE))?);
    pool(&lp, depth, operations, move |nth| {
        let file = Rc::clone(&file);
        async move {
            let bytes = file.read_at(Vec::with_capacity(PIECE), large_offset(nth)).await?;
            assert_eq!(bytes.len(), PIECE);
            Ok(())
        }
    })
}

fn open(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(&Loop::new()?, depth, operations, open_read_close)
}

async fn open_read_close(nth: usize) -> io::Result<()> {
    let file = fs::File::open(path(nth)).await?;
    let bytes = file.read_at(Vec::with_capacity(PIECE), 0).await?;
    assert_eq!(bytes.len(), PIECE);
    file.close().await
}

fn spawn(megabytes: usize, operations: usize) -> io::Result<Spent> {
    let memory = vec![1_u8; megabytes << 20];
    let lp = Loop::new()?;
    let spent = timed_section(|| {
        lp.block_on(async {
            for _ in 0..operations {
                let mut command = Command::new("/bin/true");
                let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await?;
                assert!(status.success());
            }
            Ok(())
        })
    });
    std::hint::black_box(memory);
    spent
}
