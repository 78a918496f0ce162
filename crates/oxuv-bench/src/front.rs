//! The workloads on oxuv's Rust front: the same as those in `c/`.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use oxuv::observe::{Numbers, Settings};
use oxuv::{Async, Check, Errno, Idle, Loop, Mode, Prepare, Result, Tcp, Timer};

use crate::program::{ANY_PORT, BACKLOG, Program, Random, Spent, tell_port, timed_section};
use crate::{pool, sockets, spawn};

/// A program for [`PROGRAMS`].
macro_rules! program {
    ($name:literal, $call:expr) => {
        ($name, |handles, operations| -> io::Result<Spent> {
            let call: fn(usize, usize) -> Result<Spent> = $call;
            Ok(call(handles, operations)?)
        })
    };
}

pub(crate) const PROGRAMS: &[Program] = &[
    program!("turn", |_, operations| turn(operations)),
    program!("idle", idle),
    program!("timer-insert", |handles, operations| timers("timer-insert", handles, operations)),
    program!("timer-fire", |handles, operations| timers("timer-fire", handles, operations)),
    program!("timer-cancel", |handles, operations| timers("timer-cancel", handles, operations)),
    program!("timer-rearm", |handles, operations| timers("timer-rearm", handles, operations)),
    program!("async", |_, operations| async_(operations)),
    program!("async-coalesced", |_, operations| async_coalesced(operations)),
    program!("echo-write", |_, _| echo_by_write()),
    program!("echo-gathered", |_, _| echo_gathered()),
    program!("echo-idle", |_, _| echo_by_write()),
    program!("echo-try", |_, _| serve(new_loop()?, |client, bytes| client.try_write(bytes).map(drop))),
    program!("accept", |_, operations| accept(operations)),
    program!("pipe-echo", |_, _| sockets::pipe_echo()),
    program!("pipe-pump", |_, operations| sockets::pipe_pump(operations)),
    program!("tcp-pump", |_, operations| sockets::tcp_pump(operations)),
    program!("udp-echo", |_, operations| sockets::udp_echo(operations)),
    program!("udp-flood", |_, operations| sockets::udp_flood(operations)),
    program!("udp-flood-try", |_, operations| sockets::udp_flood_try(operations)),
    program!("udp-transfer", |_, operations| sockets::udp_transfer(operations)),
    program!("pool-work", |depth, operations| pool::run("pool-work", depth, operations)),
    program!("pool-stat", |depth, operations| pool::run("pool-stat", depth, operations)),
    program!("pool-read", |depth, operations| pool::run("pool-read", depth, operations)),
    program!("pool-open", |depth, operations| pool::run("pool-open", depth, operations)),
    program!("spawn", spawn::run),
];

/// A loop, observed as the C library's are by the same variables.
pub(crate) fn new_loop() -> Result<Loop> {
    let lp = Loop::new()?;
    if std::env::var_os("OXUV_METRICS").is_some() {
        lp.observe(Settings { numbers: Some(Numbers::new()), ..Settings::default() })?;
    } else if let Some(path) = std::env::var_os("OXUV_TRACE") {
        lp.trace(path)?;
    }
    Ok(lp)
}

pub(crate) fn timed_run(lp: &Loop) -> Result<Spent> {
    timed_section(|| lp.run(Mode::Default).map(drop))
}

fn turn(operations: usize) -> Result<Spent> {
    let lp = new_loop()?;
    let mut left = operations;
    Idle::new(&lp)?.start(|_| {})?;
    Prepare::new(&lp)?.start(|_| {})?;
    Check::new(&lp)?.start(move |check| {
        left -= 1;
        if left == 0 {
            check.owner().stop();
        }
    })?;
    timed_run(&lp)
}

fn idle(handles: usize, operations: usize) -> Result<Spent> {
    let lp = new_loop()?;
    let left = Rc::new(Cell::new(operations));
    for _ in 0..handles {
        let left = Rc::clone(&left);
        Idle::new(&lp)?.start(move |idle| {
            left.set(left.get() - 1);
            if left.get() == 0 {
                idle.owner().stop();
            }
        })?;
    }
    timed_run(&lp)
}

const LONGEST_MS: u64 = 60_000;

fn timers(program: &str, handles: usize, operations: usize) -> Result<Spent> {
    let lp = new_loop()?;
    let mut random = Random::default();
    let timers = (0..handles).map(|_| Timer::new(&lp)).collect::<Result<Vec<_>>>()?;
    // So each has its closure, and is started again and again with it.
    timers.iter().try_for_each(|timer| timer.start(Duration::ZERO, |_| {}).and_then(|()| timer.stop()))?;
    let mut start_all = |longest: u64| {
        timers.iter().try_for_each(|timer| timer.restart(Duration::from_millis(1 + random.below(longest))))
    };
    // The order of `in_another_order` in `c/timer.c`.
    let shuffled = || (0..handles).map(|nth| &timers[nth * 7919 % handles]);
    let stop_all = || shuffled().try_for_each(|timer| timer.stop());
    let put_all_off = || shuffled().try_for_each(|timer| timer.restart(Duration::from_millis(LONGEST_MS + 1)));
    if program == "timer-rearm" {
        start_all(LONGEST_MS)?;
    }
    let mut measured = Spent::default();
    for _ in 0..operations / handles {
        lp.update_time();
        let spent = match program {
            "timer-insert" => {
                let taken = timed_section(|| start_all(LONGEST_MS))?;
                stop_all()?;
                taken
            }
            "timer-cancel" => {
                start_all(LONGEST_MS)?;
                timed_section(stop_all)?
            }
            "timer-rearm" => timed_section(put_all_off)?,
            _ => {
                start_all(100)?;
                std::thread::sleep(Duration::from_millis(100));
                timed_run(&lp)?
            }
        };
        measured.cpu += spent.cpu;
        measured.time += spent.time;
    }
    Ok(measured)
}

fn async_(operations: usize) -> Result<Spent> {
    let lp = new_loop()?;
    let mut left = operations;
    let handle = Async::new(&lp, move |handle| {
        left -= 1;
        let next = if left == 0 { handle.close() } else { handle.send() };
        next.expect("the handle is open");
    })?;
    handle.send()?;
    timed_run(&lp)
}

fn async_coalesced(operations: usize) -> Result<Spent> {
    const SENDS: usize = 1000;
    let lp = new_loop()?;
    let mut left = operations;
    let sender = Rc::new(Cell::new(None));
    let handle = {
        let sender = Rc::clone(&sender);
        Async::new(&lp, move |handle| {
            if left == 0 {
                return handle.close().expect("the handle is open");
            }
            left -= SENDS;
            let to_self: oxuv::Sender = sender.take().expect("it is put back each time");
            for _ in 0..SENDS {
                to_self.send().expect("the handle is open");
            }
            sender.set(Some(to_self));
        })?
    };
    sender.set(Some(handle.sender()?));
    handle.send()?;
    timed_run(&lp)
}

/// Serves clients until the last one hangs up.
fn serve(lp: Loop, answer: fn(&Tcp, &[u8]) -> Result<()>) -> Result<Spent> {
    let server = Tcp::new(&lp)?;
    let clients = Rc::new(Cell::new(0));
    server.bind(ANY_PORT.into())?;
    server.listen(BACKLOG, move |server, connection| {
        let client = connection.and_then(|()| server.accept()).expect("the client connects");
        let (server, clients) = (server.clone(), Rc::clone(&clients));
        clients.set(clients.get() + 1);
        let reading = client.read_start(move |client, read| {
            match read {
                Ok(bytes) => answer(client, bytes),
                Err(Errno::EOF) => {
                    clients.set(clients.get() - 1);
                    client.close().and_then(|()| if clients.get() == 0 { server.close() } else { Ok(()) })
                }
                Err(error) => Err(error),
            }
            .expect("the client hangs up when it has its answers");
        });
        reading.expect("a new connection can be read");
    })?;
    tell_port(server.local_addr()?.port())?;
    timed_run(&lp)
}

fn echo_by_write() -> Result<Spent> {
    serve(new_loop()?, write_back)
}

fn echo_gathered() -> Result<Spent> {
    serve(Loop::builder().gather_writes().build()?, write_back)
}

fn write_back(client: &Tcp, bytes: &[u8]) -> Result<()> {
    client.write_copy(bytes, |_, written| written.expect("the client reads what it is sent"))
}

/// Closes each connection as it comes.
fn accept(operations: usize) -> Result<Spent> {
    let lp = new_loop()?;
    let server = Tcp::new(&lp)?;
    let mut left = operations;
    server.bind(ANY_PORT.into())?;
    server.listen(BACKLOG, move |server, connection| {
        left -= 1;
        connection
            .and_then(|()| server.accept()?.close())
            .and_then(|()| if left == 0 { server.close() } else { Ok(()) })
            .expect("the client connects");
    })?;
    tell_port(server.local_addr()?.port())?;
    timed_run(&lp)
}
