//! The workloads on oxuv's Rust front: the same as those in `c/`.

use std::cell::Cell;
use std::io::{Write, stdout};
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use oxuv::observe::{Numbers, Settings};
use oxuv::{Async, Check, Errno, Idle, Loop, Mode, Prepare, Result, Tcp, Timer};
use rustix::time::{ClockId, clock_gettime};

use crate::{pool, sockets, spawn};

/// Runs a workload, then prints the nanoseconds that its measured sections took, of CPU time and of time.
pub(crate) fn run(program: &str, handles: usize, operations: usize) -> std::result::Result<(), String> {
    let measured = match program {
        "turn" => turn(operations),
        "idle" => idle(handles, operations),
        "timer-insert" | "timer-fire" | "timer-cancel" | "timer-rearm" => timers(program, handles, operations),
        "async" => async_(operations),
        "async-coalesced" => async_coalesced(operations),
        "echo-write" => serve(|client, bytes| {
            client.write_copy(bytes, |_, written| written.expect("the client reads what it is sent"))
        }),
        "echo-try" => serve(|client, bytes| client.try_write(bytes).map(drop)),
        "pipe-echo" => sockets::pipe_echo(),
        "pipe-pump" => sockets::pipe_pump(operations),
        "tcp-pump" => sockets::tcp_pump(operations),
        "udp-echo" => sockets::udp_echo(operations),
        "udp-flood" => sockets::udp_flood(operations),
        "udp-flood-try" => sockets::udp_flood_try(operations),
        "udp-transfer" => sockets::udp_transfer(operations),
        "pool-work" | "pool-stat" | "pool-read" | "pool-open" => pool::run(program, handles, operations),
        "spawn" => spawn::run(handles, operations),
        _ => return Err(format!("there is no workload {program:?}")),
    };
    let Spent { cpu, time } = measured.map_err(|error| format!("{program}: {error}"))?;
    println!("{cpu} {time}");
    Ok(())
}

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

/// What the measured part of a workload took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    cpu: i64,
    time: i64,
}

/// Runs the part of a workload that is measured: callgrind knows it by its name.
#[inline(never)]
pub(crate) fn timed_section(part: impl FnOnce() -> Result<()>) -> Result<Spent> {
    let (start, start_cpu) = (time_of(ClockId::Monotonic), time_of(ClockId::ProcessCPUTime));
    part()?;
    Ok(Spent { cpu: time_of(ClockId::ProcessCPUTime) - start_cpu, time: time_of(ClockId::Monotonic) - start })
}

fn time_of(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
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
fn serve(answer: fn(&Tcp, &[u8]) -> Result<()>) -> Result<Spent> {
    let lp = new_loop()?;
    let server = Tcp::new(&lp)?;
    let clients = Rc::new(Cell::new(0));
    server.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    server.listen(512, move |server, connection| {
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
    println!("{}", server.local_addr()?.port());
    stdout().flush()?;
    timed_run(&lp)
}

/// The numbers of `next_random` in `c/bench.h`.
#[derive(Clone, Copy)]
pub(crate) struct Random(u32);

impl Default for Random {
    fn default() -> Self {
        Random(12345)
    }
}

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(self.0 >> 8) % bound
    }
}
