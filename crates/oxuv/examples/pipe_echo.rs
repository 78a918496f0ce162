//! An echo server on a Unix domain socket.
//!
//! `cargo run --release --example pipe_echo [PATH]`; the path is /tmp/oxuv-echo.sock unless given. Ctrl+C or a
//! SIGTERM ends the program, which takes its file with it. A file that one has left behind that could not, it removes.

use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;

use oxuv::{Errno, Loop, Mode, Pipe, Result, Signal};

fn main() -> std::result::Result<(), String> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "/tmp/oxuv-echo.sock".into());
    serve(&path).map_err(|error| format!("cannot serve on {path}: {error}"))
}

fn serve(path: &str) -> Result<()> {
    let lp = Loop::new()?;
    let server = Pipe::new(&lp)?;
    match server.bind(path) {
        Err(Errno::EADDRINUSE) if is_abandoned(path) => {
            std::fs::remove_file(path)?;
            server.bind(path)?;
        }
        bound => bound?,
    }
    server.listen(128, |server, connection| {
        if let Err(error) = connection.and_then(|()| server.accept()).and_then(|client| client.read_start(echo)) {
            eprintln!("a connection was lost: {error}");
        }
    })?;
    for number in [Signal::INT, Signal::TERM] {
        Signal::new(&lp)?.start(number, |signal, _| signal.owner().stop())?;
    }
    println!("echo server on {path}; talk to it with: nc -U {path}");
    lp.run(Mode::Default)?;
    // Closed, it removes its file.
    server.close()
}

/// Whether a socket is there that nobody listens on any more.
fn is_abandoned(path: &str) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).is_err_and(refused)
}

fn echo(client: &Pipe, read: Result<&[u8]>) {
    let answered = match read {
        Ok(bytes) => answer(client, bytes),
        Err(Errno::EOF) => client.shutdown(|client, _| close(client)),
        Err(error) => Err(error),
    };
    if answered.is_err() {
        close(client);
    }
}

fn answer(client: &Pipe, bytes: &[u8]) -> Result<()> {
    let sent = match client.try_write(bytes) {
        Err(Errno::EAGAIN) => 0,
        sent => sent?,
    };
    if sent == bytes.len() {
        return Ok(());
    }
    // The peer reads more slowly than it writes: read no more until the rest is sent.
    client.read_stop()?;
    client.write(Vec::from(&bytes[sent..]), |client, written| {
        if written.and_then(|()| client.read_start(echo)).is_err() {
            close(client);
        }
    })
}

fn close(client: &Pipe) {
    // EINVAL: it is being closed already.
    let _ = client.close();
}
