//! The workloads on oxuv's Rust front: the same as those in `c/`.

use std::cell::Cell;
use std::io::{Write, stdout};
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use oxuv::{Check, Errno, Idle, Loop, Mode, Prepare, Result, Tcp, Timer};
use rustix::time::{ClockId, clock_gettime};

const HANDLES: usize = 1000;
const LONGEST_MS: u64 = 16;

/// Runs a workload, then prints the nanoseconds of CPU time it took.
pub(crate) fn run(workload: &str, operations: usize) -> std::result::Result<(), String> {
    let start = cpu_time();
    let done = match workload {
        "turn" => turn(operations),
        "idle" => idle(operations),
        "timer-fire" => timer_fire(operations),
        "timer-stop" => timer_stop(operations),
        "echo-write" => serve(|client, bytes| {
            client.write(Vec::from(bytes), |_, written| written.expect("the client reads what it is sent"))
        }),
        "echo-try" => serve(|client, bytes| client.try_write(bytes).map(drop)),
        _ => return Err(format!("there is no workload {workload:?}")),
    };
    println!("{}", cpu_time() - start);
    done.map_err(|error| format!("{workload}: {error}"))
}

fn cpu_time() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn turn(operations: usize) -> Result<()> {
    let lp = Loop::new()?;
    let mut left = operations;
    Idle::new(&lp)?.start(|_| {})?;
    Prepare::new(&lp)?.start(|_| {})?;
    Check::new(&lp)?.start(move |check| {
        left -= 1;
        if left == 0 {
            check.owner().stop();
        }
    })?;
    lp.run(Mode::Default)?;
    Ok(())
}

fn idle(operations: usize) -> Result<()> {
    let lp = Loop::new()?;
    let left = Rc::new(Cell::new(operations));
    for _ in 0..HANDLES {
        let left = Rc::clone(&left);
        Idle::new(&lp)?.start(move |idle| {
            left.set(left.get() - 1);
            if left.get() == 0 {
                idle.owner().stop();
            }
        })?;
    }
    lp.run(Mode::Default)?;
    Ok(())
}

fn timer_fire(operations: usize) -> Result<()> {
    let lp = Loop::new()?;
    let mut random = Random::default();
    let timers = (0..HANDLES).map(|_| Timer::new(&lp)).collect::<Result<Vec<_>>>()?;
    for _ in 0..operations / HANDLES {
        for timer in &timers {
            timer.start(Duration::from_millis(1 + random.below(LONGEST_MS)), |_| {})?;
        }
        std::thread::sleep(Duration::from_millis(LONGEST_MS + 1));
        lp.run(Mode::Default)?;
    }
    Ok(())
}

fn timer_stop(operations: usize) -> Result<()> {
    let lp = Loop::new()?;
    let mut random = Random::default();
    for _ in 0..HANDLES {
        Timer::new(&lp)?.start(Duration::from_millis(1 + random.below(60_000)), |_| {})?;
    }
    let timer = Timer::new(&lp)?;
    for _ in 0..operations {
        timer.start(Duration::from_millis(1 + random.below(60_000)), |_| {})?;
        timer.stop()?;
    }
    Ok(())
}

/// Serves one client until it hangs up.
fn serve(answer: fn(&Tcp, &[u8]) -> Result<()>) -> Result<()> {
    let lp = Loop::new()?;
    let server = Tcp::new(&lp)?;
    server.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    server.listen(16, move |server, connection| {
        let server = server.clone();
        let client = connection.and_then(|()| server.accept()).expect("the client connects");
        let reading = client.read_start(move |client, read| {
            match read {
                Ok(bytes) => answer(client, bytes),
                Err(Errno::EOF) => client.close().and_then(|()| server.close()),
                Err(error) => Err(error),
            }
            .expect("the client hangs up when it has its answers");
        });
        reading.expect("a new connection can be read");
    })?;
    println!("{}", server.local_addr()?.port());
    stdout().flush()?;
    lp.run(Mode::Default)?;
    Ok(())
}

/// The numbers of `next_random` in `c/bench.h`.
struct Random(u32);

impl Default for Random {
    fn default() -> Self {
        Random(12345)
    }
}

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(self.0 >> 8) % bound
    }
}
