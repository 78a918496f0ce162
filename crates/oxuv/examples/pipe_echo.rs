//! An echo server on a Unix domain socket.
//!
//! `cargo run --release --example pipe_echo [PATH]`; the path is /tmp/oxuv-echo.sock unless given. The program ends when
//! somebody sends a line "quit", and takes its file with it.

use oxuv::{Loop, Mode, Pipe, Result};

fn main() -> std::result::Result<(), String> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "/tmp/oxuv-echo.sock".into());
    serve(&path).map_err(|error| format!("cannot serve on {path}: {error}"))
}

fn serve(path: &str) -> Result<()> {
    let lp = Loop::new()?;
    let server = Pipe::new(&lp)?;
    server.bind(path)?;
    server.listen(128, |server, connection| {
        if let Err(error) = connection.and_then(|()| server.accept()).and_then(|client| client.read_start(echo)) {
            eprintln!("a connection was lost: {error}");
        }
    })?;
    println!("echo server on {path}; talk to it with: nc -U {path}");
    lp.run(Mode::Default)?;
    // Closed, it removes its file.
    server.close()
}

fn echo(client: &Pipe, read: Result<&[u8]>) {
    let answered = match read {
        Ok(b"quit\n") => {
            client.owner().stop();
            Ok(())
        }
        Ok(bytes) => client.write_copy(bytes, |_, _| {}),
        Err(error) => Err(error),
    };
    if answered.is_err() {
        // EINVAL: it is being closed already.
        let _ = client.close();
    }
}
