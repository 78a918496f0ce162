//! A client that is refused: the error comes by callback, never from `connect` itself.
//!
//! `cargo run --example tcp_refused`

use std::net::TcpListener;

use oxuv::{Loop, Mode, Result, Tcp};

fn main() -> Result<()> {
    let lp = Loop::new()?;

    // A port where nobody listens: one that was ours a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;

    let client = Tcp::new(&lp)?;
    client.connect(address, |client, connected| {
        match connected {
            Ok(()) => println!("connected, of all things"),
            Err(error) => println!("not connected: {error}"),
        }
        client.close().expect("it is open");
    })?;
    // What is written while connecting shares the fate of the connect.
    client.write("hello", |_, written| println!("not written: {}", written.expect_err("there is no connection")))?;
    println!("connecting");

    lp.run(Mode::Default)?;
    Ok(())
}
