//! The same echo server in C and in Rust: the same traffic gives the same callbacks in the same order.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use oxuv::{Errno, Handle, Loop, Mode, Result, Tcp, Timer};

use crate::build::{self, Link};

/// Talks to a server, in such steps that only one order is possible.
fn talk(address: SocketAddr) {
    let echo = |peer: &mut TcpStream, size: usize| {
        let message = vec![b'.'; size];
        peer.write_all(&message).unwrap();
        let mut answer = vec![0; size];
        peer.read_exact(&mut answer).unwrap();
        assert_eq!(answer, message);
    };
    let mut first = TcpStream::connect(address).unwrap();
    echo(&mut first, 1);
    echo(&mut first, 1000);
    let mut second = TcpStream::connect(address).unwrap();
    echo(&mut second, 7);
    echo(&mut first, 3);
    first.shutdown(Shutdown::Write).unwrap();
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
    echo(&mut second, 10);
    second.shutdown(Shutdown::Write).unwrap();
    // The end comes with the server's shutdown, in pending; its close is in the same turn.
    assert_eq!(second.read(&mut [0]).unwrap(), 0);
    let mut last = TcpStream::connect(address).unwrap();
    echo(&mut last, 2);
    last.write_all(b"quit").unwrap();
    assert_eq!(last.read(&mut [0]).unwrap(), 0);
}

fn trace_of_c(link: Link) -> Vec<String> {
    let mut child = Command::new(build::program("trace_server.c", link))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port: u16 = lines.next().unwrap().unwrap().parse().unwrap();
    talk(([127, 0, 0, 1], port).into());
    let trace = lines.map(std::result::Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    trace
}

/// What the callbacks of the Rust server share.
struct Server {
    trace: RefCell<Vec<String>>,
    clients: Cell<i32>,
    listener: Tcp,
    timer: Timer,
}

fn code(result: Result<()>) -> i32 {
    result.map_or_else(Errno::code, |()| 0)
}

impl Server {
    fn note(&self, line: String) {
        self.trace.borrow_mut().push(line);
    }

    fn notes(self: &Rc<Self>, line: String) -> impl FnOnce(&Handle) + use<> {
        let server = Rc::clone(self);
        move |_| server.note(line)
    }

    fn connection(self: &Rc<Self>, listener: &Tcp, status: Result<()>) {
        let number = self.clients.get() + 1;
        self.clients.set(number);
        self.note(format!("{number} connection {}", code(status)));
        let server = Rc::clone(self);
        let client = listener.accept().unwrap();
        client.read_start(move |client, read| server.read(number, client, read)).unwrap();
    }

    fn read(self: &Rc<Self>, number: i32, client: &Tcp, read: Result<&[u8]>) {
        let server = Rc::clone(self);
        match read {
            Ok(b"quit") => {
                self.note(format!("{number} read 4"));
                client.close_then(self.notes(format!("{number} closed"))).unwrap();
                self.listener.close_then(self.notes("server closed".into())).unwrap();
                self.timer.start(Duration::from_millis(1), move |timer| server.time(timer)).unwrap();
            }
            Ok(bytes) => {
                self.note(format!("{number} read {}", bytes.len()));
                let written = move |_: &Tcp, result| server.note(format!("{number} written {}", code(result)));
                client.write(Vec::from(bytes), written).unwrap();
            }
            Err(Errno::EOF) => {
                self.note(format!("{number} end"));
                let shut_down = move |client: &Tcp, result| {
                    server.note(format!("{number} shut down {}", code(result)));
                    client.close_then(server.notes(format!("{number} closed"))).unwrap();
                };
                client.shutdown(shut_down).unwrap();
            }
            Err(error) => {
                self.note(format!("{number} error {}", error.code()));
                client.close_then(self.notes(format!("{number} closed"))).unwrap();
            }
        }
    }

    fn time(self: &Rc<Self>, timer: &Timer) {
        self.note("timer".into());
        timer.close_then(self.notes("timer closed".into())).unwrap();
    }
}

fn trace_of_rust() -> Vec<String> {
    let (tell, hear) = mpsc::channel();
    let client = thread::spawn(move || talk(hear.recv().unwrap()));
    let lp = Loop::with_grain(Duration::from_millis(1)).unwrap();
    let (listener, timer) = (Tcp::new(&lp).unwrap(), Timer::new(&lp).unwrap());
    let server = Rc::new(Server { trace: RefCell::default(), clients: Cell::new(0), listener, timer });
    server.listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let connected = Rc::clone(&server);
    server.listener.listen(16, move |listener, status| connected.connection(listener, status)).unwrap();
    tell.send(server.listener.local_addr().unwrap()).unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(lp.check_closable(), Ok(()));
    client.join().unwrap();
    server.trace.take()
}

#[test]
fn an_echo_server_in_c_and_one_in_rust_have_the_same_callbacks_in_the_same_order() {
    let rust = trace_of_rust();
    assert_eq!(rust.len(), 26, "{rust:#?}");
    assert_eq!(trace_of_c(Link::Static), rust);
    assert_eq!(trace_of_c(Link::Shared), rust);
}
