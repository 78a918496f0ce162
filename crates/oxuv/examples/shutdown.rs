//! A server that ends in good order on SIGINT or SIGTERM: it takes no more connections, and what it has runs to its end. A
//! second signal ends it at once.
//!
//! `cargo run --example shutdown`, then `nc localhost 7000` in another terminal, then Ctrl+C here

use oxuv::{Handle, Loop, Mode, Result, Signal, Tcp};

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:7000".into()).parse().expect("an address");

    let server = Tcp::new(&lp)?;
    server.bind(address)?;
    server.listen(128, |server, waiting| {
        if let Err(error) = waiting.and_then(|()| serve(server)) {
            eprintln!("not accepted: {error}");
        }
    })?;

    // One handle for each signal. For one call: then the default action is back, for those who insist.
    for number in [Signal::INT, Signal::TERM] {
        let server = server.clone();
        let signal = Signal::new(&lp)?;
        // It alone is no reason to go on.
        signal.unref()?;
        signal.start_once(number, move |signal, number| {
            // The other signal's handle may have closed it.
            let _ = server.close();
            signal.close().expect("it is open until now");
            println!("signal {number}: no more connections");
        })?;
    }

    println!("serving {}", server.local_addr()?);
    lp.run(Mode::Default)?;
    println!("all done");
    Ok(())
}

fn serve(server: &Tcp) -> Result<()> {
    let client = server.accept()?;
    client.read_start(|client, read| match read {
        Ok(bytes) => client.write_copy(bytes, |_, _| {}).unwrap_or_else(|_| end(client)),
        Err(_) => end(client),
    })
}

fn end(client: &Handle) {
    // It may be closing already.
    let _ = client.close();
}
