//! What the tests share.

#![allow(dead_code)] // Every test file is a crate of its own and uses a part of this.

pub(crate) mod example;
pub(crate) mod terminal;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use oxuv::{Errno, Loop, LoopRef, Mode, Tcp, Timer};

/// Nothing in a test takes this long: whoever waits longer waits in vain.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// Longer than any test: for timers that must not come.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Polls once, with the waker of this task, and drops what is polled.
pub(crate) async fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// A loop in which a run that goes on for too long panics.
pub(crate) fn new_loop() -> Loop {
    let lp = Loop::new().unwrap();
    guard(&lp);
    lp
}

/// Makes a run that goes on for too long panic. The guard does not keep the loop alive.
pub(crate) fn guard(lp: &LoopRef) {
    let timer = Timer::new(lp).unwrap();
    timer.start(DEADLINE, |_| panic!("the loop has run for too long")).unwrap();
    timer.unref().unwrap();
}

/// Runs a loop to its end: nothing is alive afterwards.
pub(crate) fn run(lp: &Loop) {
    assert_eq!(lp.run(Mode::Default), Ok(false));
}

/// Runs one turn without waiting.
pub(crate) fn turn(lp: &Loop) {
    lp.run(Mode::NoWait).unwrap();
}

/// Runs turns until a condition holds. The loop must have something to wait for meanwhile.
pub(crate) fn run_until(lp: &Loop, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(lp.run(Mode::Once).unwrap() || holds(), "the loop has ended too early");
        assert!(start.elapsed() < DEADLINE, "this has taken too long");
    }
}

/// Waits, without the loop, until a condition holds.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "this has taken too long");
        std::thread::yield_now();
    }
}

/// Lets this much time pass.
pub(crate) fn spend(time: Duration) {
    let start = Instant::now();
    wait_until(|| start.elapsed() >= time);
}

/// Runs a loop for a while in which nothing happens: that takes hardly a turn, and hardly any processor time.
pub(crate) fn assert_idle(lp: &Loop, time: Duration) {
    let timer = Timer::new(lp).unwrap();
    timer.start(time, |timer| timer.owner().stop()).unwrap();
    let (turns, used) = (lp.turns(), processor_time_of_this_thread());
    lp.run(Mode::Default).unwrap();
    let (turns, used) = (lp.turns() - turns, processor_time_of_this_thread() - used);
    assert!(turns <= 3 && used < time / 20, "{turns} turns, {used:?}");
    timer.close().unwrap();
}

fn processor_time_of_this_thread() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).try_into().unwrap()
}

/// What happened, in its order. All clones are one trace.
#[derive(Clone, Default)]
pub(crate) struct Trace(Rc<RefCell<Vec<String>>>);

impl Trace {
    pub(crate) fn new() -> Trace {
        Trace::default()
    }

    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.borrow_mut().push(line.into());
    }

    /// What has happened since the trace was last taken.
    pub(crate) fn take(&self) -> Vec<String> {
        self.0.take()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// A callback that does nothing but add a line.
    pub(crate) fn adds<H>(&self, line: &str) -> impl FnMut(&H) + use<H> {
        let (trace, line) = (self.clone(), line.to_string());
        move |_| trace.add(line.clone())
    }

    /// A callback of a request, which adds the word and the result.
    pub(crate) fn tells<H>(&self, word: &str) -> impl FnOnce(&H, Result<(), Errno>) + use<H> {
        let (trace, word) = (self.clone(), word.to_string());
        move |_, result| trace.add(outcome(&word, result))
    }
}

pub(crate) fn outcome(word: &str, result: Result<(), Errno>) -> String {
    match result {
        Ok(()) => format!("{word} ok"),
        Err(error) => format!("{word} {error:?}"),
    }
}

/// A listener on a free port, bound but not listening yet.
pub(crate) fn bound(lp: &LoopRef) -> (Tcp, SocketAddr) {
    let server = Tcp::new(lp).unwrap();
    server.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = server.local_addr().unwrap();
    (server, address)
}

/// Connects to a listener from outside.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let peer = TcpStream::connect(address).unwrap();
    peer.set_read_timeout(Some(DEADLINE)).unwrap();
    peer.set_write_timeout(Some(DEADLINE)).unwrap();
    peer
}

/// A TCP connection between a handle and a socket outside.
pub(crate) fn pair(lp: &LoopRef) -> (Tcp, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = connect(listener.local_addr().unwrap());
    let ours = Tcp::new(lp).unwrap();
    ours.open(listener.accept().unwrap().0).unwrap();
    (ours, peer)
}

/// As `pair`, in memory: what one end writes can be read at the other at once.
pub(crate) fn local_pair(lp: &LoopRef) -> (Tcp, UnixStream) {
    let (ours, peer) = UnixStream::pair().unwrap();
    peer.set_read_timeout(Some(DEADLINE)).unwrap();
    peer.set_write_timeout(Some(DEADLINE)).unwrap();
    let handle = Tcp::new(lp).unwrap();
    handle.open(ours).unwrap();
    (handle, peer)
}

/// Makes the peer vanish with a reset: it is closed with something unread.
pub(crate) fn reset(ours: &Tcp, peer: TcpStream) {
    assert_eq!(ours.try_write(b"unread"), Ok(6));
    assert!(peer.peek(&mut [0]).unwrap() > 0);
    drop(peer);
}

/// Writes until the kernel takes no more, and returns how much it took.
pub(crate) fn fill(ours: &Tcp) -> usize {
    let mut total = 0;
    loop {
        match ours.try_write(&[0; 64 * 1024]) {
            Ok(sent) => total += sent,
            Err(Errno::EAGAIN) => return total,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Bytes of which no two places look alike.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Runs a body that must panic, and returns with what.
pub(crate) fn panic_of<T>(body: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => payload.downcast_ref::<&str>().expect("the message is a literal").to_string(),
    }
}

/// Runs one turn in which a callback must panic.
pub(crate) fn failing_turn(lp: &Loop) {
    assert_eq!(panic_of(|| lp.run(Mode::NoWait)), "in a callback");
}

/// A callback that adds a line, and panics the first time.
pub(crate) fn panics_once<H>(trace: &Trace, line: &'static str) -> impl FnMut(&H) + use<H> {
    let (trace, mut calls) = (trace.clone(), 0);
    move |_| {
        trace.add(line);
        calls += 1;
        assert!(calls > 1, "in a callback");
    }
}

/// Runs the body of the test of this name in a process of its own, where nobody else opens descriptors and no more
/// than so many can be open.
pub(crate) fn in_child(test: &str, descriptors: u32, body: impl FnOnce()) {
    const MARK: &str = "OXUV_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let script = format!("ulimit -n {descriptors} && exec \"$0\" --exact {test} --nocapture --test-threads 1");
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh").args(["-c", &script]).arg(program).env(MARK, "1").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

/// How many descriptors a process has open; its number, or "self".
pub(crate) fn open_descriptors(process: &str) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

/// Ticks (hundredths of a second) of processor time that a process has used.
pub(crate) fn processor_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// A directory of this test's own, removed with this value.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let place = std::env::temp_dir().join(format!("oxuv-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).unwrap();
        Place(place)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
