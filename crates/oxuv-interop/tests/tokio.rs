//! tokio's traits and channels on our loop, and our loop in tokio's.

use std::time::Duration;

use oxuv::net::UnixStream;
use oxuv::task::spawn_local;
use oxuv::{Guest, Loop, Timer, time};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

#[test]
fn streams_have_tokios_traits() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (one, mut other) = UnixStream::pair().unwrap();
        let reads = spawn_local(async move {
            let mut lines = BufReader::new(one).lines();
            let mut all = Vec::new();
            while let Some(line) = lines.next_line().await.unwrap() {
                all.push(line);
            }
            all
        });
        AsyncWriteExt::write_all(&mut other, b"one\ntwo\nthree").await.unwrap();
        AsyncWriteExt::shutdown(&mut other).await.unwrap();
        assert_eq!(reads.await.unwrap(), ["one", "two", "three"]);
    });
}

#[test]
fn buffers_that_the_loop_lends_have_tokios_traits() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (one, other) = UnixStream::pair().unwrap();
        let mut reader = oxuv::net::BufReader::new(one);
        other.write_all(b"line\nand the rest").await.unwrap();
        let mut line = String::new();
        AsyncBufReadExt::read_line(&mut reader, &mut line).await.unwrap();
        assert_eq!((line.as_str(), reader.buffer()), ("line\n", &b"and the rest"[..]));
        let mut buf = [0; 4];
        assert_eq!(AsyncReadExt::read(&mut reader, &mut []).await.unwrap(), 0);
        assert_eq!(AsyncReadExt::read(&mut reader, &mut buf).await.unwrap(), 4);
        assert_eq!(&buf, b"and ");
        drop(other);
        let mut rest = String::new();
        AsyncReadExt::read_to_string(&mut reader, &mut rest).await.unwrap();
        assert_eq!(rest, "the rest");
        assert_eq!(AsyncReadExt::read(&mut reader, &mut buf).await.unwrap(), 0);
    });
}

#[test]
fn tokios_channels_wake_our_tasks() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let thread = std::thread::spawn(move || {
            for nth in 0..1000 {
                sender.blocking_send(nth).unwrap();
            }
        });
        let mut sum = 0;
        while let Some(nth) = receiver.recv().await {
            sum += nth;
        }
        assert_eq!(sum, 499_500);
        thread.join().unwrap();
    });
}

/// The guest's descriptor stays the same as long as it is there, which is what the newer way to register asks one to promise.
#[expect(deprecated)]
fn register(guest: Guest) -> AsyncFd<Guest> {
    AsyncFd::new(guest).unwrap()
}

#[test]
fn our_loop_is_a_guest_of_tokios() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let guest = Guest::new(Loop::new().unwrap()).unwrap();
        let timer = Timer::new(&guest).unwrap();
        let mut left = 5;
        timer
            .start_repeating(Duration::from_millis(1), Duration::from_millis(1), move |timer| {
                left -= 1;
                if left == 0 {
                    timer.close().unwrap();
                }
            })
            .unwrap();
        let task = guest.spawn_local(async {
            let (one, other) = UnixStream::pair().unwrap();
            spawn_local(async move {
                time::sleep(Duration::from_millis(1)).await;
                other.write_all(&[1; 3_000_000]).await.unwrap();
            });
            let mut all = vec![0; 3_000_000];
            one.read_exact(&mut all).await.unwrap();
            all.len()
        });
        guest.rearm().unwrap();
        let guest = register(guest);
        // tokio hears of changes only, so the guest is asked whether that was all.
        while guest.get_ref().is_alive() {
            let mut ready = guest.readable().await.unwrap();
            guest.get_ref().turn().unwrap();
            if !guest.get_ref().is_ready().unwrap() {
                ready.clear_ready();
            }
            tokio::task::yield_now().await;
        }
        let lp = guest.into_inner().into_loop();
        assert!(task.is_finished());
        drop(lp);
    });
}

#[test]
fn a_runtime_of_tokios_runs_on_another_thread_beside_our_loop() {
    // What needs tokio itself runs there; its handles are futures that any executor may wait for.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let lp = Loop::new().unwrap();
    let answer = lp.block_on(async {
        let there = runtime.spawn(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            42
        });
        there.await.unwrap()
    });
    assert_eq!(answer, 42);
}
