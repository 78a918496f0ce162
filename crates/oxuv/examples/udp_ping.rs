//! Sends pings to an address that sends them back, and says how long that took. Without an address, it answers itself.
//!
//! `cargo run --example udp_ping [ADDRESS]`

use std::cell::Cell;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxuv::{Datagram, Loop, Mode, Result, Timer, Udp};

const PINGS: u32 = 3;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> std::result::Result<(), String> {
    let lp = Loop::new().map_err(|error| error.to_string())?;
    let address = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|_| format!("{text} is no address; try 127.0.0.1:7000"))?,
        None => answer(&lp).map_err(|error| format!("cannot answer: {error}"))?,
    };
    let lost = ping(&lp, address).map_err(|error| format!("cannot ping {address}: {error}"))?;
    if lost > 0 { Err(format!("{lost} of {PINGS} pings got no answer")) } else { Ok(()) }
}

/// Somebody who sends back what he gets.
fn answer(lp: &Loop) -> Result<SocketAddr> {
    let server = Udp::new(lp)?;
    server.bind(([127, 0, 0, 1], 0).into())?;
    server.receive_start(|server, datagram| {
        if let Ok(Datagram { bytes, from, .. }) = datagram {
            // A full network loses datagrams anyway: there is nothing to be done about an error.
            let _ = server.try_send(bytes, from);
        }
    })?;
    // The program is over when the pings are.
    server.unref()?;
    server.local_addr()
}

/// Sends a ping every tenth of a second, waits for a second, and returns how many were lost.
fn ping(lp: &Loop, address: SocketAddr) -> Result<u32> {
    let client = Udp::new(lp)?;
    client.connect(address)?;
    let (start, answers, sent) = (Instant::now(), Rc::new(Cell::new(0)), Cell::new(0));
    let timer = Timer::new(lp)?;
    let (count, ticker) = (Rc::clone(&answers), timer.clone());
    client.receive_start(move |client, datagram| match datagram {
        Ok(datagram) => {
            count.set(count.get() + 1);
            let then = String::from_utf8_lossy(datagram.bytes).parse().map_or(Duration::ZERO, Duration::from_micros);
            println!("answer {} after {:?}", count.get(), start.elapsed().saturating_sub(then));
            if count.get() == PINGS {
                let _ = (client.close(), ticker.close());
            }
        }
        Err(error) => println!("no answer: {error}"),
    })?;
    let pinger = client.clone();
    timer.start_repeating(Duration::ZERO, Duration::from_millis(100), move |timer| {
        sent.set(sent.get() + 1);
        if sent.get() <= PINGS {
            let _ = pinger.send(start.elapsed().as_micros().to_string(), None, |_, _| {});
        } else if sent.get() > PINGS + 10 {
            let _ = (pinger.close(), timer.close());
        }
    })?;
    lp.run(Mode::Default)?;
    Ok(PINGS - answers.get())
}
