//! Echo servers in C, and clients that check every byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::build::{self, Link};

/// A server that is running; it prints its port first.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(source: &str, link: Link) -> Server {
        let mut command = Command::new(build::program(source, link));
        let mut child = command.arg("0").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Server { port: line.trim().parse().unwrap(), child }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends the message that ends the server, and waits for that.
    fn end(mut self, message: &[u8]) {
        self.connect().write_all(message).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// A small generator of pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A message of 1 byte to 1 MiB; small ones are as frequent as large ones.
    fn message(&mut self) -> Vec<u8> {
        let most = 1_u64 << ((self.next() >> 32) % 21);
        let size = 1 + (self.next() >> 32) % most;
        (0..size).map(|_| self.byte()).collect()
    }

    /// Any byte but those with which the messages begin that end the servers.
    fn byte(&mut self) -> u8 {
        let byte = (self.next() >> 56) as u8;
        if byte.eq_ignore_ascii_case(&b'Q') { b'.' } else { byte }
    }
}

/// Sends messages without waiting, and reads them back meanwhile. Then ends its side, and reads the end.
fn talk(mut stream: TcpStream, seed: u64) {
    let mut random = Random(seed);
    let messages: Vec<Vec<u8>> = (0..24).map(|_| random.message()).collect();
    let mut back = stream.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for (nth, message) in messages.iter().enumerate() {
                let mut answer = vec![0; message.len()];
                back.read_exact(&mut answer).unwrap();
                assert!(&answer == message, "message {nth} of {} bytes came back changed", message.len());
            }
            assert_eq!(back.read(&mut [0]).unwrap(), 0);
        });
        for message in &messages {
            stream.write_all(message).unwrap();
        }
        stream.shutdown(Shutdown::Write).unwrap();
    });
}

fn many_connections(server: &Server) {
    thread::scope(|scope| {
        for seed in 1..=6 {
            let stream = server.connect();
            scope.spawn(move || talk(stream, seed));
        }
    });
}

#[test]
fn an_echo_server_gives_every_byte_back() {
    for link in [Link::Static, Link::Shared] {
        let server = Server::start("echo_server.c", link);
        many_connections(&server);
        // Its idle connections and the listener are closed by the server then.
        let _idle = server.connect();
        server.end(b"quit");
    }
}

#[test]
fn a_client_that_goes_away_does_no_harm() {
    let server = Server::start("echo_server.c", Link::Static);
    for seed in 1..20 {
        let mut stream = server.connect();
        // Unread answers make this a reset.
        stream.write_all(&Random(seed).message()).unwrap();
    }
    talk(server.connect(), 100);
    server.end(b"quit");
}

#[test]
fn the_benchmark_server_gives_every_byte_back() {
    let server = Server::start("bench/echo_server.c", Link::Static);
    many_connections(&server);
    server.end(b"Q");
}
