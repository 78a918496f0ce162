//! A TCP server that sends back what it gets.
//!
//! `cargo run --release --example tcp_echo [ADDRESS]`; the address is 127.0.0.1:7000 unless given.

use std::net::SocketAddr;
use std::process::ExitCode;

use oxuv::{Errno, Loop, Mode, Result, Tcp};

fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7000".into());
    let Ok(address) = address.parse() else {
        eprintln!("{address} is no address; try 127.0.0.1:7000 or [::1]:7000");
        return ExitCode::FAILURE;
    };
    if let Err(error) = serve(address) {
        eprintln!("cannot serve on {address}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn serve(address: SocketAddr) -> Result<()> {
    let lp = Loop::new()?;
    let server = Tcp::new(&lp)?;
    server.bind(address)?;
    server.listen(1024, |server, connection| {
        if let Err(error) = connection.and_then(|()| server.accept()).and_then(|client| client.read_start(echo)) {
            eprintln!("a connection was lost: {error}");
        }
    })?;
    let address = server.local_addr()?;
    println!("echo server on {address}; talk to it with: nc {} {}", address.ip(), address.port());
    lp.run(Mode::Default)?;
    Ok(())
}

fn echo(client: &Tcp, read: Result<&[u8]>) {
    let answered = match read {
        Ok(bytes) => answer(client, bytes),
        Err(Errno::EOF) => client.shutdown(|client, _| close(client)),
        Err(error) => Err(error),
    };
    if answered.is_err() {
        close(client);
    }
}

fn answer(client: &Tcp, bytes: &[u8]) -> Result<()> {
    let sent = match client.try_write(bytes) {
        Err(Errno::EAGAIN) => 0,
        sent => sent?,
    };
    if sent == bytes.len() {
        return Ok(());
    }
    // The peer reads more slowly than it writes: keep the rest, and read no more until that is sent.
    client.read_stop()?;
    client.write(Vec::from(&bytes[sent..]), |client, written| {
        if written.and_then(|()| client.read_start(echo)).is_err() {
            close(client);
        }
    })
}

fn close(client: &Tcp) {
    // EINVAL: it is being closed already.
    let _ = client.close();
}
