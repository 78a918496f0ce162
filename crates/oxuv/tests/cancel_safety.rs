//! What is lost, and what is not, when a future is dropped before it is ready. For streams and listeners of TCP see `net_tasks.rs`, for
//! children `process_tasks.rs`, for files and work `fs_tasks.rs`.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream as StdStream;
use std::task::Poll;
use std::time::Duration;

use common::poll_once;
use oxuv::io::AsyncFd;
use oxuv::net::{UdpSocket, UnixListener, UnixStream};
use oxuv::signal::signals;
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Loop, PipeName, Signal, UdpOption, fs, time};

const SHORT: Duration = Duration::from_micros(200);

#[test]
fn a_dropped_receive_loses_no_datagram() {
    Loop::new().unwrap().block_on(async {
        let (server, client) =
            (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = server.local_addr().unwrap();
        let mut buf = [0; 8];
        for nth in 0..50 {
            assert!(poll_once(server.recv_from(&mut buf)).await.is_pending());
            client.send_to(&[nth], address).await.unwrap();
            // It comes, and nobody waits for it any more.
            time::sleep(SHORT).await;
            assert_eq!(server.recv(&mut buf).await.unwrap(), 1);
            assert_eq!(buf[0], nth);
        }
    });
}

#[test]
fn datagrams_that_come_as_one_are_given_one_by_one_and_none_is_lost() {
    Loop::new().unwrap().block_on(async {
        let (server, client) =
            (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
        server.as_handle().set(UdpOption::Coalesce(true)).unwrap();
        let to = server.local_addr().unwrap();
        let mut buf = [0; 100];
        for _ in 0..3 {
            assert!(poll_once(server.recv_from(&mut buf)).await.is_pending());
            let bytes: Vec<u8> = (0..10).flat_map(|nth| [nth; 100]).collect();
            client.as_handle().send_segments(bytes, 100, to, |_, sent| sent.unwrap()).unwrap();
            client.send_to(b"single", to).await.unwrap();
            for nth in 0..10 {
                // There is no more room for any of them than for one.
                assert_eq!(server.recv_from(&mut buf).await.unwrap(), (100, client.local_addr().unwrap()));
                assert_eq!(buf, [nth; 100]);
            }
            assert_eq!(server.recv(&mut buf).await.unwrap(), 6);
            assert!(poll_once(server.recv_from(&mut buf)).await.is_pending());
        }
    });
}

#[test]
fn a_datagram_whose_send_is_dropped_is_sent_whole_or_not_at_all() {
    Loop::new().unwrap().block_on(async {
        let (server, client) =
            (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
        client.connect(server.local_addr().unwrap()).await.unwrap();
        for nth in 0..50 {
            drop(client.send(&[nth; 100]));
            let _ = poll_once(client.send(&[nth; 100])).await;
        }
        let mut buf = [0; 200];
        let mut come = Vec::new();
        while let Ok(count) = time::timeout(Duration::from_millis(20), server.recv(&mut buf)).await {
            assert_eq!(count.unwrap(), 100);
            come.push(buf[0]);
        }
        // A send that was never polled is not begun; one that was is done.
        assert_eq!(come, (0..50).collect::<Vec<u8>>());
    });
}

#[test]
fn a_dropped_accept_of_a_unix_socket_loses_no_connection() {
    Loop::new().unwrap().block_on(async {
        let name = PipeName::Abstract(format!("oxuv-cancel-{}", std::process::id()).into());
        let listener = UnixListener::bind(name.clone()).unwrap();
        assert!(poll_once(listener.accept()).await.is_pending());
        let client = UnixStream::connect(name.clone()).await.unwrap();
        client.write_all(b"first").await.unwrap();
        let _second = UnixStream::connect(name).await.unwrap();
        assert!(time::timeout(Duration::ZERO, time::sleep(SHORT)).await.is_err());
        let mut buf = [0; 5];
        listener.accept().await.unwrap().read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"first");
        listener.accept().await.unwrap();
    });
}

#[test]
fn a_dropped_write_has_written_nothing_unless_it_was_ready() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut sent = 0;
        while let Ok(count) = ours.try_write(&[1; 1000]) {
            sent += count;
        }
        // There is no room.
        for _ in 0..10 {
            assert!(poll_once(ours.write(&[2; 1000])).await.is_pending());
            assert!(poll_once(ours.writable()).await.is_pending());
        }
        // One that is never polled does nothing.
        drop(ours.write(&[2; 1000]));
        ours.shutdown().await.unwrap();
        let mut all = Vec::new();
        let mut theirs = theirs;
        futures::AsyncReadExt::read_to_end(&mut theirs, &mut all).await.unwrap();
        assert!(all == vec![1; sent]);
    });
}

#[test]
fn a_dropped_write_of_all_has_written_a_beginning() {
    Loop::new().unwrap().block_on(async {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|nth| (nth % 251) as u8).collect();
        assert!(time::timeout(SHORT, ours.write_all(&bytes)).await.is_err());
        let ends = spawn_local(async move { ours.shutdown().await });
        let mut all = Vec::new();
        futures::AsyncReadExt::read_to_end(&mut theirs, &mut all).await.unwrap();
        ends.await.unwrap().unwrap();
        assert!(!all.is_empty() && all.len() < bytes.len() && bytes.starts_with(&all));
    });
}

#[test]
fn a_dropped_shutdown_ends_the_writing_side_all_the_same() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        assert!(poll_once(ours.shutdown()).await.is_pending());
        assert_eq!(theirs.read(&mut [0; 1]).await.unwrap(), 0);
        theirs.write_all(b"x").await.unwrap();
        assert_eq!(ours.read(&mut [0; 1]).await.unwrap(), 1);
    });
}

#[test]
fn a_dropped_tick_is_not_lost() {
    Loop::builder().test_clock().build().unwrap().block_on(async {
        let period = Duration::from_secs(1);
        let mut interval = time::interval(period);
        let first = interval.tick().await;
        for nth in 1..5 {
            assert!(poll_once(interval.tick()).await.is_pending());
            assert!(time::timeout(period / 2, interval.tick()).await.is_err());
            assert_eq!(interval.tick().await - first, nth * period);
        }
    });
}

#[test]
fn a_dropped_wait_for_a_signal_loses_none() {
    Loop::new().unwrap().block_on(async {
        let mut caught = signals(Signal::USR2).unwrap();
        assert!(poll_once(caught.recv()).await.is_pending());
        Signal::raise(Signal::USR2).unwrap();
        time::sleep(SHORT).await;
        assert!(poll_once(caught.recv()).await.is_ready());
        assert!(poll_once(caught.recv()).await.is_pending());
    });
}

#[test]
fn a_dropped_wait_for_a_task_does_not_lose_its_result() {
    Loop::new().unwrap().block_on(async {
        let mut task = spawn_local(async {
            yield_now().await;
            7
        });
        assert!(poll_once(&mut task).await.is_pending());
        time::sleep(SHORT).await;
        assert!(task.is_finished());
        assert_eq!(task.await.unwrap(), 7);
    });
}

#[test]
fn a_foreign_descriptor_that_was_not_waited_for_to_the_end_is_as_it_was() {
    Loop::new().unwrap().block_on(async {
        let (ours, mut theirs) = StdStream::pair().unwrap();
        let ours = AsyncFd::new(ours).unwrap();
        let mut buf = [0; 8];
        assert!(poll_once(ours.read_with(|mut socket| socket.read(&mut buf))).await.is_pending());
        theirs.write_all(b"word").unwrap();
        time::sleep(SHORT).await;
        assert_eq!(ours.read_with(|mut socket| socket.read(&mut buf)).await.unwrap(), 4);
        let again = ours.get_ref().read(&mut buf).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_write_to_a_file_that_is_dropped_is_not_done_in_part() {
    let lp = Loop::new().unwrap();
    let place = std::env::temp_dir().join(format!("oxuv-cancel-{}", std::process::id()));
    lp.block_on(async {
        let file = fs::task::File::create(&place).await.unwrap();
        for nth in 0..20_u64 {
            let write = poll_once(file.write_at(vec![nth as u8 + 1; 1000], nth * 1000)).await;
            assert!(write.is_pending() || matches!(write, Poll::Ready(Ok(()))));
        }
    });
    // What has begun goes on to its end, and keeps the loop running.
    assert_eq!(lp.run(oxuv::Mode::Default), Ok(false));
    let all = std::fs::read(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    for (piece, byte) in all.chunks(1000).zip(1..) {
        assert!(piece.iter().all(|&got| got == piece[0]) && (piece[0] == byte || piece[0] == 0));
    }
}

#[test]
fn a_sleep_and_what_it_is_the_timeout_of_are_gone_with_it() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut waits = Box::pin(time::timeout(Duration::from_secs(3600), async move { ours.read(&mut [0; 1]).await }));
        assert!(poll_once(&mut waits).await.is_pending());
    });
    assert_eq!(lp.run(oxuv::Mode::Default), Ok(false));
}
