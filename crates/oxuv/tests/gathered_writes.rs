//! A loop that sends small writes together.

mod common;

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::channel;

use common::{connect, guard, run};
use futures::AsyncWriteExt;
use oxuv::net::TcpStream as TaskStream;
use oxuv::{Check, Command, Errno, Idle, Loop, Stdio, Tcp};

const CLIENTS: usize = 200;

fn new_loop() -> Loop {
    let lp = Loop::builder().gather_writes().build().unwrap();
    guard(&lp);
    lp
}

/// A server that answers what it reads, until as many as there are clients have hung up.
fn serve(lp: &Loop) -> u16 {
    let server = Tcp::new(lp).unwrap();
    server.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let left = Rc::new(Cell::new(CLIENTS));
    server
        .listen(1024, move |server, connection| {
            let client = connection.and_then(|()| server.accept()).unwrap();
            let (server, left) = (server.clone(), left.clone());
            let reading = client.read_start(move |client, read| match read {
                Ok(bytes) => client.write_copy(bytes, |_, written| written.unwrap()).unwrap(),
                Err(error) => {
                    assert_eq!(error, Errno::EOF);
                    client.close().unwrap();
                    left.set(left.get() - 1);
                    if left.get() == 0 {
                        server.close().unwrap();
                    }
                }
            });
            reading.unwrap();
        })
        .unwrap();
    server.local_addr().unwrap().port()
}

#[test]
fn all_answers_come_to_whom_they_are_for() {
    let lp = new_loop();
    let port = serve(&lp);
    let clients = std::thread::spawn(move || {
        let mut clients: Vec<_> = (0..CLIENTS).map(|_| connect(([127, 0, 0, 1], port).into())).collect();
        for round in 0..20u8 {
            for (nth, client) in clients.iter_mut().enumerate() {
                client.write_all(&[nth as u8, round]).unwrap();
            }
            for (nth, client) in clients.iter_mut().enumerate() {
                let mut answer = [0; 2];
                client.read_exact(&mut answer).unwrap();
                assert_eq!(answer, [nth as u8, round]);
            }
        }
    });
    run(&lp);
    clients.join().unwrap();
}

/// A connection of the loop, and its other end.
fn connected(lp: &Loop) -> (Tcp, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = connect(listener.local_addr().unwrap());
    let tcp = Tcp::new(lp).unwrap();
    tcp.open(listener.accept().unwrap().0).unwrap();
    (tcp, theirs)
}

#[test]
fn a_peer_that_does_not_read_gets_all_in_the_end() {
    const WRITES: usize = 4000;
    let lp = new_loop();
    let (tcp, mut theirs) = connected(&lp);
    fn write_next(tcp: &Tcp, nth: usize) {
        if nth == WRITES {
            return tcp.close().unwrap();
        }
        tcp.write_copy(&[nth as u8; 4096], move |tcp, written| {
            written.unwrap();
            write_next(tcp, nth + 1);
        })
        .unwrap();
    }
    write_next(&tcp, 0);
    // Reading begins when the kernel takes no more.
    let (is_full, waits) = channel();
    let (check, writer) = (Check::new(&lp).unwrap(), tcp.clone());
    check.unref().unwrap();
    check
        .start(move |check| {
            if writer.write_queue_size() > 0 {
                is_full.send(()).unwrap();
                check.close().unwrap();
            }
        })
        .unwrap();
    let reader = std::thread::spawn(move || {
        waits.recv().unwrap();
        let mut bytes = Vec::new();
        theirs.read_to_end(&mut bytes).unwrap();
        bytes
    });
    run(&lp);
    let bytes = reader.join().unwrap();
    assert_eq!(bytes.len(), WRITES * 4096);
    assert!(bytes.chunks(4096).enumerate().all(|(nth, piece)| piece.iter().all(|&byte| byte == nth as u8)));
}

#[test]
fn a_peer_that_is_gone_is_an_error_of_the_write() {
    let lp = new_loop();
    let (tcp, theirs) = connected(&lp);
    drop(theirs);
    fn write_until_it_fails(tcp: &Tcp) {
        tcp.write_copy(b"x", |tcp, written| match written {
            Ok(()) => write_until_it_fails(tcp),
            Err(error) => {
                assert!(matches!(error, Errno::EPIPE | Errno::ECONNRESET), "{error}");
                tcp.close().unwrap();
            }
        })
        .unwrap();
    }
    write_until_it_fails(&tcp);
    run(&lp);
}

#[test]
fn a_flush_by_a_task_sends_what_the_handle_has_written() {
    let lp = new_loop();
    let (tcp, mut theirs) = connected(&lp);
    theirs.set_nonblocking(true).unwrap();
    lp.block_on(async move {
        let mut stream = TaskStream::from_handle(tcp.clone());
        tcp.write_copy(b"x", |_, written| written.unwrap()).unwrap();
        stream.flush().await.unwrap();
        assert_eq!(theirs.read(&mut [0; 2]).unwrap(), 1);
    });
}

#[test]
fn a_child_writes_behind_what_was_written_before_it_was_started() {
    let lp = new_loop();
    let (tcp, mut theirs) = connected(&lp);
    let idle = Idle::new(&lp).unwrap();
    idle.start(move |idle| {
        tcp.write("parent ", |_, written| written.unwrap()).unwrap();
        let mut command = Command::new("echo");
        command.arg("child").stdout(Stdio::handle(&tcp));
        let ended = |process: &oxuv::Process, _| process.close().unwrap();
        command.spawn(idle.owner(), ended).unwrap();
        // What it does as long as the callback goes on comes behind as well.
        let mut first = [0; 13];
        theirs.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"parent child\n");
        tcp.close().unwrap();
        idle.close().unwrap();
    })
    .unwrap();
    run(&lp);
}
