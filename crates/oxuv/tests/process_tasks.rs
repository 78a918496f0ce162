//! Children, signals and foreign descriptors for tasks.

use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use oxuv::io::AsyncFd;
use oxuv::signal::signals;
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Command, Loop, Signal, Stdio, time};

async fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

#[test]
fn what_a_child_prints_is_collected() {
    Loop::new().unwrap().block_on(async {
        let output = Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).output().await.unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert!(Command::new("true").status().await.unwrap().success());
        assert!(Command::new("/no/such/program").status().await.is_err());
    });
}

#[test]
fn text_goes_through_a_child_and_comes_back() {
    Loop::new().unwrap().block_on(async {
        let mut command = Command::new("tr");
        command.args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A command is used again and again.
        for _ in 0..2 {
            let mut child = command.start().unwrap();
            assert!(child.id().unwrap() > 0 && child.try_wait().unwrap().is_none());
            let stdin = child.stdin.take().unwrap();
            let writes = spawn_local(async move {
                for _ in 0..10_000 {
                    stdin.write_all(b"quiet words ").await.unwrap();
                }
            });
            let output = child.wait_with_output().await.unwrap();
            writes.await.unwrap();
            assert!(output.stdout == b"QUIET WORDS ".repeat(10_000));
        }
    });
}

#[test]
fn a_wait_that_is_dropped_loses_nothing() {
    Loop::new().unwrap().block_on(async {
        let mut child = Command::new("cat").stdin(Stdio::piped()).start().unwrap();
        let stdin = child.stdin.take();
        assert!(poll_once(child.wait()).await.is_pending());
        assert!(time::timeout(Duration::from_millis(1), child.wait()).await.is_err());
        drop(stdin);
        assert!(child.wait().await.unwrap().success());
        assert!(child.wait().await.unwrap().success());
        assert!(child.try_wait().unwrap().unwrap().success());
    });
}

#[test]
fn a_child_gets_a_signal() {
    use std::os::unix::process::ExitStatusExt;
    Loop::new().unwrap().block_on(async {
        let mut child = Command::new("sleep").arg("60").start().unwrap();
        child.signal(Signal::TERM).unwrap();
        assert_eq!(child.wait().await.unwrap().signal(), Some(Signal::TERM));
        assert!(child.signal(0).is_err());
    });
}

#[test]
fn each_signal_is_told_once() {
    Loop::new().unwrap().block_on(async {
        let mut usr2 = signals(Signal::USR2).unwrap();
        let mut other = signals(Signal::USR2).unwrap();
        assert!(poll_once(usr2.recv()).await.is_pending());
        for _ in 0..3 {
            Signal::raise(Signal::USR2).unwrap();
        }
        for _ in 0..3 {
            usr2.recv().await;
            other.recv().await;
        }
        assert!(poll_once(usr2.recv()).await.is_pending());
        assert!(signals(9).is_err());
    });
}

#[test]
fn a_foreign_descriptor_is_read_and_written_when_it_is_ready() {
    Loop::new().unwrap().block_on(async {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let ours = AsyncFd::new(ours).unwrap();
        ours.writable().await.unwrap();
        let mut buf = [0; 64];
        for _ in 0..100 {
            assert!(poll_once(ours.readable()).await.is_pending());
            theirs.write_all(b"ping").unwrap();
            let count = ours.read_with(|mut socket| socket.read(&mut buf)).await.unwrap();
            assert_eq!(&buf[..count], b"ping");
        }
        // More than the kernel takes.
        let bytes = vec![5; 3_000_000];
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let count = ours.write_with(|mut socket| socket.write(rest)).await.unwrap();
            rest = &rest[count..];
        }
        drop(ours.into_inner());
        assert!(reader.join().unwrap() == bytes);
    });
}

#[test]
fn a_foreign_descriptor_that_nobody_waits_for_lets_the_loop_sleep() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let ours = AsyncFd::new(ours).unwrap();
        assert!(poll_once(ours.readable()).await.is_pending());
        theirs.write_all(b"x").unwrap();
        time::sleep(Duration::from_millis(1)).await;
        let turns = ours_turns();
        time::sleep(Duration::from_millis(20)).await;
        assert!(ours_turns() - turns < 5);
        // It is still to be read.
        ours.readable().await.unwrap();
        yield_now().await;
    });
}

fn ours_turns() -> u64 {
    oxuv::LoopRef::current().unwrap().turns()
}

#[test]
fn a_file_cannot_be_waited_for() {
    Loop::new().unwrap().block_on(async {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(AsyncFd::new(file).is_err());
    });
}
