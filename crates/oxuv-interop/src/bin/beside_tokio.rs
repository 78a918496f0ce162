//! What the same work costs on oxuv's loop and on tokio's current-thread runtime: see the README.
//!
//! `beside_tokio WHAT WHO COUNT`: WHAT is `echo`, `spawn`, `yield` or `channel`; WHO is `oxuv`, `tokio`, or for `echo` also
//! `callbacks`. It prints the CPU time of this process per operation, in nanoseconds. Under callgrind, two counts tell
//! the instructions.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command};

use futures::{SinkExt, StreamExt};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let count: usize = args.get(2).and_then(|count| count.parse().ok()).unwrap_or(0);
    match args[..] {
        ["client", address, _] => return client(address.parse().unwrap(), count),
        ["echo", "callbacks", _] => echo_by_callbacks(count),
        ["echo", "oxuv", _] => oxuv::Loop::new().unwrap().block_on(echo_on_oxuv(count)),
        ["echo", "tokio", _] => tokio_runtime().block_on(echo_on_tokio(count)),
        ["spawn", "oxuv", _] => oxuv::Loop::new().unwrap().block_on(async {
            for nth in 0..count {
                assert_eq!(oxuv::task::spawn_local(async move { nth }).await.unwrap(), nth);
            }
        }),
        ["spawn", "tokio", _] => on_local_set(async {
            for nth in 0..count {
                assert_eq!(tokio::task::spawn_local(async move { nth }).await.unwrap(), nth);
            }
        }),
        ["yield", "oxuv", _] => oxuv::Loop::new().unwrap().block_on(async {
            for _ in 0..count {
                oxuv::task::yield_now().await;
            }
        }),
        ["yield", "tokio", _] => tokio_runtime().block_on(async {
            for _ in 0..count {
                tokio::task::yield_now().await;
            }
        }),
        ["channel", "oxuv", _] => {
            oxuv::Loop::new().unwrap().block_on(ping_pong(count, |task| drop(oxuv::task::spawn_local(task))));
        }
        ["channel", "tokio", _] => on_local_set(ping_pong(count, |task| drop(tokio::task::spawn_local(task)))),
        _ => panic!("beside_tokio echo|spawn|yield|channel oxuv|tokio|callbacks COUNT"),
    }
    println!("{} ns of CPU each", cpu_time() / count.max(1) as u64);
}

/// Nanoseconds that this thread has run.
fn cpu_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

fn tokio_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn on_local_set(future: impl Future<Output = ()>) {
    tokio::task::LocalSet::new().block_on(&tokio_runtime(), future);
}

const SIZE: usize = 64;

/// Another process that sends `count` requests one after the other.
fn start_client(address: SocketAddr, count: usize) -> Child {
    let program = std::env::current_exe().unwrap();
    Command::new(program).args(["client", &address.to_string(), &count.to_string()]).spawn().unwrap()
}

fn client(address: SocketAddr, count: usize) {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut buf = [7; SIZE];
    for _ in 0..count {
        stream.write_all(&buf).unwrap();
        stream.read_exact(&mut buf).unwrap();
    }
}

fn echo_by_callbacks(count: usize) {
    let lp = oxuv::Loop::new().unwrap();
    let server = oxuv::Tcp::new(&lp).unwrap();
    server.bind(([127, 0, 0, 1], 0).into()).unwrap();
    server
        .listen(16, |server, result| {
            result.unwrap();
            let client = server.accept().unwrap();
            client.set_nodelay(true).unwrap();
            client
                .read_start(|client, read| match read {
                    Ok(bytes) => client.write_copy(bytes, |_, result| result.unwrap()).unwrap(),
                    Err(_) => client.close().unwrap(),
                })
                .unwrap();
            server.close().unwrap();
        })
        .unwrap();
    let mut child = start_client(server.local_addr().unwrap(), count);
    lp.run(oxuv::Mode::Default).unwrap();
    child.wait().unwrap();
}

async fn echo_on_oxuv(count: usize) {
    let listener = oxuv::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut child = start_client(listener.local_addr().unwrap(), count);
    let (stream, _) = listener.accept().await.unwrap();
    stream.set_nodelay(true).unwrap();
    let task = oxuv::task::spawn_local(async move {
        let mut buf = [0; 65536];
        loop {
            match stream.read(&mut buf).await.unwrap() {
                0 => break,
                count => stream.write_all(&buf[..count]).await.unwrap(),
            }
        }
    });
    task.await.unwrap();
    child.wait().unwrap();
}

async fn echo_on_tokio(count: usize) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut child = start_client(listener.local_addr().unwrap(), count);
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.set_nodelay(true).unwrap();
    let task = tokio::spawn(async move {
        let mut buf = [0; 65536];
        loop {
            match stream.read(&mut buf).await.unwrap() {
                0 => break,
                count => stream.write_all(&buf[..count]).await.unwrap(),
            }
        }
    });
    task.await.unwrap();
    child.wait().unwrap();
}

type Task = std::pin::Pin<Box<dyn Future<Output = ()>>>;

async fn ping_pong(count: usize, spawn: impl FnOnce(Task)) {
    let (mut to, mut theirs) = futures::channel::mpsc::channel::<usize>(1);
    let (mut back, mut ours) = futures::channel::mpsc::channel::<usize>(1);
    spawn(Box::pin(async move {
        while let Some(ball) = theirs.next().await {
            back.send(ball + 1).await.unwrap();
        }
    }));
    for nth in 0..count {
        to.send(nth).await.unwrap();
        assert_eq!(ours.next().await, Some(nth + 1));
    }
}
