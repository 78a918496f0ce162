//! An echo server on bare readiness: the program owns its sockets and does its own reading and writing; the loop says
//! when.
//!
//! `cargo run --example poll_echo [ADDRESS]`; the address is 127.0.0.1:7001 unless given.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use oxuv::{Loop, LoopRef, Mode, Poll, Readiness};

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7001".into());
    let lp = Loop::new()?;
    let listener = TcpListener::bind(&address)?;
    println!("echo server on {}", listener.local_addr()?);

    Poll::new(&lp, &listener)?.start(Readiness::READ, move |poll, _| match listener.accept() {
        Ok((client, peer)) => {
            if let Err(error) = serve(poll.owner(), client) {
                eprintln!("{peer} was lost: {error}");
            }
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(error) => eprintln!("cannot accept: {error}"),
    })?;

    lp.run(Mode::Default)?;
    Ok(())
}

/// Echoes what `client` sends until it hangs up.
fn serve(lp: &LoopRef, mut client: TcpStream) -> io::Result<()> {
    let poll = Poll::new(lp, &client)?;
    let mut unsent = Vec::new();
    poll.start(Readiness::READ, move |poll, ready| {
        let served = ready.map_err(io::Error::from).and_then(|_| echo(&mut client, &mut unsent));
        // To read more makes no sense before what was read is sent back.
        let interest = if unsent.is_empty() { Readiness::READ } else { Readiness::WRITE };
        match served {
            Ok(true) => poll.set_interest(interest).expect("it is open"),
            Ok(false) | Err(_) => poll.close().expect("it is open"),
        }
    })?;
    Ok(())
}

/// Sends what is unsent, then reads and sends until either would block. False at the end of the stream.
fn echo(client: &mut TcpStream, unsent: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 16 * 1024];
    loop {
        while !unsent.is_empty() {
            match client.write(unsent) {
                Ok(count) => drop(unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        match client.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => unsent.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        }
    }
}
