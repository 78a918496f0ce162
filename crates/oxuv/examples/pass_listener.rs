//! Passes a listening TCP socket to another process, which serves one connection with it.
//!
//! `cargo run --example pass_listener` starts itself once more, with one end of a pair of sockets as standard input. A
//! server that is started anew takes over the sockets of the old one in this way, and no connection is refused meanwhile.

use std::io::Read;
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use oxuv::{Errno, Loop, Mode, Passed, Pipe, Result, Tcp};

type Failure = Box<dyn std::error::Error>;

fn main() -> std::result::Result<(), Failure> {
    if std::env::args().any(|argument| argument == "serve") { serve() } else { pass() }
}

/// The first process: binds, hands over, and is its own client.
fn pass() -> std::result::Result<(), Failure> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut child =
        Command::new(std::env::current_exe()?).arg("serve").stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;

    let lp = Loop::new()?;
    let server = Tcp::new(&lp)?;
    server.bind(([127, 0, 0, 1], 0).into())?;
    let address = server.local_addr()?;
    let pipe = Pipe::for_handles(&lp)?;
    pipe.open(ours)?;
    pipe.write_with_handle("take it", &server, |pipe, sent| {
        sent.and_then(|()| pipe.close()).expect("the other process is there");
    })?;
    lp.run(Mode::Default)?;
    server.close()?;

    // The kernel keeps the connection until the other process accepts it; that it does not listen yet is a refusal.
    let mut client = loop {
        match TcpStream::connect(address) {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => std::thread::yield_now(),
            connected => break connected?,
        }
    };
    let mut greeting = String::new();
    client.read_to_string(&mut greeting)?;
    println!("{greeting}");
    child.wait()?;
    Ok(())
}

/// The second process: takes the socket, and greets one client.
fn serve() -> std::result::Result<(), Failure> {
    let lp = Loop::new()?;
    let pipe = Pipe::for_handles(&lp)?;
    pipe.open(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    pipe.read_start(|pipe, read| {
        if let Err(error) = read.and_then(|_| listen(pipe)) {
            eprintln!("nothing was passed: {error}");
            pipe.close().expect("it is open");
        }
    })?;
    lp.run(Mode::Default)?;
    Ok(())
}

fn listen(pipe: &Pipe) -> Result<()> {
    let Passed::Tcp(server) = pipe.take_handle()? else { return Err(Errno::EINVAL) };
    pipe.close()?;
    server.listen(16, |server, connection| {
        let client = connection.and_then(|()| server.accept()).expect("a client");
        client
            .write("hello from the other process", |client, _| client.close().expect("it is open"))
            .expect("connected");
        server.close().expect("it is open");
    })
}
