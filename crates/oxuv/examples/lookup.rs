//! Looks up the addresses of a host, and the name of the first of them.
//!
//! `cargo run --example lookup -- localhost 80`

use std::cell::Cell;
use std::env::args;
use std::process::ExitCode;
use std::rc::Rc;

use oxuv::{Hints, Loop, Mode, NameFlags, Result, SocketKind};

fn look_up(host: &str, service: &str) -> Result<()> {
    let lp = Loop::new()?;
    let outcome = Rc::new(Cell::new(Ok(())));
    let told = Rc::clone(&outcome);
    lp.lookup(host, service, Hints::of(SocketKind::Stream), move |lp, found| match found {
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
        Err(error) => told.set(Err(error)),
    })?;
    lp.run(Mode::Default)?;
    outcome.get()
}

fn main() -> ExitCode {
    let mut args = args().skip(1);
    let (host, service) = (args.next().unwrap_or("localhost".into()), args.next().unwrap_or("http".into()));
    if let Err(error) = look_up(&host, &service) {
        eprintln!("{host} {service}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
