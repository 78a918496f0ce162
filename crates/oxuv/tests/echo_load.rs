//! The echo server under load from outside.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;

use common::example::echo_server;
use common::{connect, ms, open_descriptors, pattern, processor_time, wait_until};

const CONNECTIONS: u64 = 200;
const LARGEST: u64 = 1 << 20;

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Starts a thread that needs little memory.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().stack_size(256 * 1024).spawn(body).unwrap()
}

/// Sends messages of all sizes, and compares what comes back.
fn talk(mut peer: TcpStream, random: &mut Random, bytes: &Arc<Vec<u8>>) {
    let messages: Vec<(usize, usize)> = (0..1 + random.below(16))
        .map(|_| {
            let exponent = random.below(8);
            let len = 1 + random.below(LARGEST >> exponent);
            (random.below(LARGEST) as usize, len as usize)
        })
        .collect();
    let (mut writer, source, to_send) = (peer.try_clone().unwrap(), Arc::clone(bytes), messages.clone());
    let sender = spawn(move || {
        for (from, len) in to_send {
            writer.write_all(&source[from..from + len]).unwrap();
        }
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = vec![0; 64 * 1024];
    for (from, len) in messages {
        for expected in bytes[from..from + len].chunks(back.len()) {
            let back = &mut back[..expected.len()];
            peer.read_exact(back).unwrap();
            assert!(back == expected, "the echo is not what was sent");
        }
    }
    assert_eq!(peer.read(&mut back).unwrap(), 0);
    sender.join().unwrap();
}

/// Sends much, reads a little of it, and vanishes: the kernel resets the connection.
fn vanish(mut peer: TcpStream, random: &mut Random, bytes: &[u8]) {
    let len = 1 + random.below(100_000) as usize;
    peer.write_all(&bytes[..len]).unwrap();
    assert!(peer.read(&mut [0; 1]).unwrap() > 0);
    // What comes back after this finds nobody. The writing end may be stuck by then, too.
    peer.set_nonblocking(true).unwrap();
    let _ = peer.write(bytes);
}

fn one_round_trip(address: SocketAddr) {
    let mut peer = connect(address);
    peer.write_all(b"are you there?").unwrap();
    let mut back = [0; 14];
    peer.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"are you there?");
}

#[test]
fn hundreds_of_connections_get_back_what_they_send_and_leave_nothing_behind() {
    let (server, address) = echo_server("tcp_echo");
    let process = server.id().to_string();
    let before = open_descriptors(&process);
    one_round_trip(address);

    let bytes = Arc::new(pattern(2 * LARGEST as usize));
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|nth| {
            let bytes = Arc::clone(&bytes);
            spawn(move || {
                let mut random = Random(nth * 0x9e37_79b9 + 1);
                let peer = connect(address);
                if nth % 5 == 4 {
                    vanish(peer, &mut random, &bytes);
                } else {
                    talk(peer, &mut random, &bytes);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }

    wait_until(|| open_descriptors(&process) == before);
    one_round_trip(address);
    wait_until(|| open_descriptors(&process) == before);
    // Left alone, it does nothing.
    let used = processor_time(server.id());
    assert!(server.is_silent_for(ms(300)));
    assert!(processor_time(server.id()) - used <= 3);
}

#[test]
fn a_peer_that_reads_nothing_holds_up_only_itself() {
    let (_server, address) = echo_server("tcp_echo");
    let mut greedy = connect(address);
    greedy.set_nonblocking(true).unwrap();
    // It writes until the server takes no more, since what comes back is not read.
    let bytes = pattern(1 << 20);
    let mut sent = 0;
    let mut refused = 0;
    while refused < 20 {
        match greedy.write(&bytes[sent % bytes.len()..]) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) => {
                refused += 1;
                one_round_trip(address);
            }
        }
    }
    // All of it is still echoed in the end.
    greedy.set_nonblocking(false).unwrap();
    greedy.shutdown(Shutdown::Write).unwrap();
    let mut back = Vec::new();
    greedy.read_to_end(&mut back).unwrap();
    assert_eq!(back.len(), sent);
    for (nth, chunk) in back.chunks(bytes.len()).enumerate() {
        assert!(chunk == &bytes[..chunk.len()], "wrong in the {nth}th mebibyte");
    }
}
