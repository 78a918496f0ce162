//! Children, signals and foreign descriptors for tasks.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::task::Poll;
use std::time::Duration;

use common::poll_once;
use oxuv::io::AsyncFd;
use oxuv::signal::signals;
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Command, Loop, Signal, Stdio, time};

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

/// Whether there is a process of this number, be it a zombie.
fn is_there(id: i32) -> bool {
    std::fs::exists(format!("/proc/{id}")).unwrap()
}

/// Runs the loop until that child is gone, zombie and all.
async fn gone(id: i32) {
    let is_gone = async {
        while is_there(id) {
            time::sleep(Duration::from_millis(1)).await;
        }
    };
    time::timeout(Duration::from_secs(60), is_gone).await.expect("the child goes");
}

#[test]
fn a_child_that_is_dropped_goes_on_and_leaves_no_zombie() {
    let lp = Loop::new().unwrap();
    let (id, stdin) = lp.block_on(async {
        let mut child = Command::new("cat").stdin(Stdio::piped()).start().unwrap();
        (child.id().unwrap(), child.stdin.take().unwrap())
    });
    // It keeps no run from ending, and nobody sees its handle.
    assert!(lp.handles().iter().all(|handle| handle.kind() != oxuv::Kind::Process));
    lp.block_on(async {
        time::sleep(Duration::from_millis(5)).await;
        assert!(is_there(id));
        drop(stdin);
        gone(id).await;
    });
    assert_eq!(lp.run(oxuv::Mode::Default), Ok(false));
}

#[test]
fn a_child_is_killed_with_what_it_belongs_to() {
    let lp = Loop::new().unwrap();
    let mut command = Command::new("sleep");
    command.arg("1000").kill_on_drop(true);
    lp.block_on(async {
        let child = command.start().unwrap();
        let id = child.id().unwrap();
        drop(child);
        gone(id).await;
        let process = command.spawn(&oxuv::LoopRef::current().unwrap(), |_, _| panic!("it was closed")).unwrap();
        let id = process.id().unwrap();
        process.close().unwrap();
        gone_by_others(id).await;
        // `status` owns its child.
        assert!(time::timeout(Duration::from_millis(1), command.status()).await.is_err());
    });
    // With the loop: one that a task owns.
    let id = lp.block_on(async { command.start().unwrap().id().map(|id| id.to_string()) });
    let (tell, told) = futures::channel::oneshot::channel();
    lp.spawn_local(async move {
        let mut child = command.start().unwrap();
        tell.send(child.id().unwrap()).unwrap();
        child.wait().await.unwrap();
    });
    let owned = lp.block_on(told).unwrap();
    drop(lp);
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        gone_by_others(id.unwrap().parse().unwrap()).await;
        gone_by_others(owned).await;
    });
}

/// As [`gone`]: a child whose loop or handle is gone is waited for when another is made.
async fn gone_by_others(id: i32) {
    while is_there(id) {
        Command::new("true").status().await.unwrap();
    }
}

#[test]
fn a_child_whose_loop_is_dropped_goes_on_and_is_waited_for_by_the_next() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let lp = Loop::new().unwrap();
    let id = lp.block_on(async {
        let child = Command::new("cat").stdin(std::os::fd::OwnedFd::from(theirs)).start().unwrap();
        // It belongs to a task that never ends.
        let id = child.id().unwrap();
        spawn_local(async move {
            let _child = child;
            std::future::pending::<()>().await;
        });
        yield_now().await;
        id
    });
    drop(lp);
    let lp = Loop::new().unwrap();
    lp.block_on(Command::new("true").status()).unwrap();
    assert!(is_there(id));
    drop(ours);
    lp.block_on(gone_by_others(id));
}

#[test]
fn a_child_is_killed_by_hand() {
    use std::os::unix::process::ExitStatusExt;
    Loop::new().unwrap().block_on(async {
        let mut child = Command::new("sleep").arg("1000").start().unwrap();
        child.kill().await.unwrap();
        assert_eq!(child.wait().await.unwrap().signal(), Some(Signal::KILL));
        // Again is nothing.
        child.kill().await.unwrap();
    });
}

#[test]
fn what_one_child_writes_another_reads() {
    Loop::new().unwrap().block_on(async {
        let mut first = Command::new("echo").arg("quiet words").stdout(Stdio::piped()).start().unwrap();
        let between = first.stdout.take().unwrap();
        let mut second = Command::new("tr");
        let output = second.args(["a-z", "A-Z"]).stdin(Stdio::handle(between.as_handle())).output();
        let output = futures::join!(output, async move { first.wait().await.unwrap() }).0.unwrap();
        assert_eq!(output.stdout, b"QUIET WORDS\n");
        drop(between);
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
            assert_eq!((usr2.recv().await, other.recv().await), (Some(()), Some(())));
        }
        assert!(poll_once(usr2.recv()).await.is_pending());
        assert!(signals(9).is_err());
    });
}

#[test]
fn nobody_waits_for_what_a_loop_that_is_gone_would_tell() {
    let lp = Loop::new().unwrap();
    let (mut usr2, mut child) = lp.block_on(async {
        let usr2 = signals(Signal::USR2).unwrap();
        (usr2, Command::new("cat").stdin(Stdio::piped()).start().unwrap())
    });
    drop(lp);
    Loop::new().unwrap().block_on(async {
        assert_eq!(poll_once(usr2.recv()).await, Poll::Ready(None));
        let Poll::Ready(waited) = poll_once(child.wait()).await else { panic!("it waits") };
        assert_eq!(waited.unwrap_err().raw_os_error(), Some(22));
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
