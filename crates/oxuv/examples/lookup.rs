//! Looks up the addresses of a host, and the name of the first of them.
//!
//! `cargo run --example lookup -- localhost 80`

use std::env::args;
use std::process::ExitCode;

use oxuv::{Hints, Loop, LoopRef, Mode, NameFlags, Result, SocketKind};

fn look_up(lp: &LoopRef, host: &str, service: &str) -> Result<()> {
    lp.lookup(host, service, Hints::of(SocketKind::Stream), |lp, found| match found {
        Ok(found) => {
            for address in &found.addresses {
                println!("{}", address.address);
            }
            let Some(first) = found.addresses.first() else { return };
            lp.lookup_name(first.address, NameFlags::empty(), |_, name| match name {
                Ok(name) => println!("the first is {} at {}", name.service, name.host),
                Err(error) => println!("the first has no name: {error}"),
            })
            .expect("the loop runs");
        }
        Err(error) => println!("not found: {error}"),
    })?;
    Ok(())
}

fn main() -> ExitCode {
    let mut args = args().skip(1);
    let (host, service) = (args.next().unwrap_or("localhost".into()), args.next().unwrap_or("http".into()));
    let done = Loop::new().and_then(|lp| {
        look_up(&lp, &host, &service)?;
        lp.run(Mode::Default)
    });
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{host} {service}: {error}");
            ExitCode::FAILURE
        }
    }
}
