//! Reading into buffers that the loop lends.

mod common;

use std::io::ErrorKind;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use common::poll_once;
use futures::{AsyncBufReadExt, AsyncReadExt, FutureExt, StreamExt};
use oxuv::net::{BufReader, TcpListener, TcpStream, UnixStream};
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Loop, Mode, time};

/// The size of a buffer.
const BUFFER: usize = 64 * 1024;

/// Long enough for what was written to a socket pair to be told of.
const SHORT: Duration = Duration::from_micros(200);

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (ours, listener.accept().await.unwrap().0)
}

#[test]
fn what_was_read_stays_until_it_is_consumed() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut reader = BufReader::new(&ours);
        assert_eq!(reader.buffer(), b"");
        theirs.write_all(b"one two").await.unwrap();
        for _ in 0..3 {
            assert_eq!(reader.fill_buf().await.unwrap(), b"one two");
        }
        reader.consume(4);
        // What has come since is behind it, and is not read yet.
        theirs.write_all(b"three").await.unwrap();
        assert_eq!(reader.fill_buf().await.unwrap(), b"two");
        assert_eq!(reader.buffer(), b"two");
        // There are not so many.
        reader.consume(100);
        assert_eq!(reader.buffer(), b"");
        reader.consume(1);
        assert_eq!(reader.fill_buf().await.unwrap(), b"three");
    });
}

#[test]
fn a_dropped_fill_loses_nothing() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = pair().await;
        let mut reader = BufReader::new(&ours);
        for nth in 0..20_u8 {
            assert!(poll_once(reader.fill_buf()).await.is_pending());
            theirs.write_all(&[nth; 6]).await.unwrap();
            // It comes, and nobody waits for it any more.
            time::sleep(SHORT).await;
            assert_eq!(reader.fill_buf().await.unwrap(), [nth; 6]);
            // One that is ready may be dropped as well.
            assert!(poll_once(reader.fill_buf()).await.is_ready());
            assert_eq!(reader.fill_buf().await.unwrap(), [nth; 6]);
            reader.consume(6);
        }
        assert!(time::timeout(SHORT, reader.fill_buf()).await.is_err());
    });
}

#[test]
fn the_end_of_a_stream_is_nothing_again_and_again() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = pair().await;
        let mut reader = BufReader::new(ours);
        theirs.write_all(b"last").await.unwrap();
        drop(theirs);
        assert_eq!(reader.fill_buf().await.unwrap(), b"last");
        reader.consume(4);
        for _ in 0..3 {
            assert_eq!(reader.fill_buf().await.unwrap(), b"");
            assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 0);
        }
    });
}

#[test]
fn what_came_before_an_error_is_read_before_it() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = pair().await;
        let mut reader = BufReader::new(ours);
        theirs.write_all(b"before").await.unwrap();
        assert_eq!(reader.fill_buf().await.unwrap(), b"before");
        theirs.into_handle().close_reset().unwrap();
        time::sleep(SHORT).await;
        assert_eq!(reader.fill_buf().await.unwrap(), b"before");
        reader.consume(6);
        assert_eq!(reader.fill_buf().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert!(reader.fill_buf().await.is_err());
    });
}

#[test]
fn readers_that_wait_have_no_buffer_and_those_with_something_have_one_each() {
    Loop::new().unwrap().block_on(async {
        let mut ends = Vec::new();
        for _ in 0..100 {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let mut reader = BufReader::new(ours);
            assert!(poll_once(reader.fill_buf()).await.is_pending());
            ends.push((reader, theirs));
        }
        // One after the other: all of them read into the same.
        let mut places = Vec::new();
        for (reader, theirs) in &mut ends {
            theirs.write_all(b"x").await.unwrap();
            places.push(reader.fill_buf().await.unwrap().as_ptr());
            reader.consume(1);
        }
        places.dedup();
        assert_eq!(places.len(), 1);
        // All at once, again and again: more than are kept.
        for nth in 0..3 {
            let mut places = Vec::new();
            for (reader, theirs) in &mut ends {
                theirs.write_all(&[nth; 10]).await.unwrap();
                places.push(reader.fill_buf().await.unwrap().as_ptr());
            }
            places.sort();
            places.dedup();
            assert_eq!(places.len(), 100);
            for (reader, _) in &mut ends {
                assert_eq!(reader.buffer(), [nth; 10]);
                reader.consume(10);
            }
        }
    });
}

#[test]
fn a_buffer_takes_64_kib_and_the_rest_waits_in_the_kernel() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = pair().await;
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|nth| (nth % 251) as u8).collect();
        let sent = bytes.clone();
        let writes = spawn_local(async move { theirs.write_all(&sent).await });
        let mut reader = BufReader::new(ours);
        let (mut all, mut most) = (Vec::new(), 0);
        loop {
            let lent = reader.fill_buf().await.unwrap();
            let count = lent.len();
            if count == 0 {
                break;
            }
            all.extend_from_slice(lent);
            most = most.max(count);
            reader.consume(count);
            // More comes meanwhile.
            yield_now().await;
        }
        writes.await.unwrap().unwrap();
        assert!(all == bytes && most == BUFFER, "{most}");
    });
}

#[test]
fn little_reads_are_of_what_was_read_and_large_ones_go_straight() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut reader = BufReader::new(ours);
        theirs.write_all(b"little and large").await.unwrap();
        let mut little = [0; 6];
        assert_eq!(reader.read(&mut little).await.unwrap(), 6);
        assert_eq!(&little, b"little");
        assert_eq!(reader.buffer(), b" and large");
        let mut large = vec![0; BUFFER];
        // What is there comes first, and alone.
        theirs.write_all(b", straight").await.unwrap();
        assert_eq!(reader.read(&mut large).await.unwrap(), 10);
        assert_eq!(reader.read(&mut large).await.unwrap(), 10);
        assert_eq!(&large[..10], b", straight");
        assert_eq!(reader.buffer(), b"");
        assert_eq!(reader.read(&mut []).now_or_never().unwrap().unwrap(), 0);
    });
}

#[test]
fn lines_of_both_kinds_of_streams_and_their_halves() {
    async fn lines(reader: impl AsyncBufReadExt + Unpin) -> Vec<String> {
        reader.lines().map(Result::unwrap).collect().await
    }
    Loop::new().unwrap().block_on(async {
        let text = b"one\ntwo\nthree";
        let expected = ["one", "two", "three"];
        let (ours, theirs) = pair().await;
        theirs.write_all(text).await.unwrap();
        theirs.shutdown().await.unwrap();
        assert_eq!(lines(BufReader::new(&ours)).await, expected);
        ours.write_all(text).await.unwrap();
        drop(ours);
        assert_eq!(lines(BufReader::new(theirs.into_split().0)).await, expected);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = theirs.into_split();
        writer.write_all(text).await.unwrap();
        drop(writer);
        assert_eq!(lines(BufReader::new(ours)).await, expected);
        assert_eq!(lines(BufReader::new(reader)).await, [""; 0]);
    });
}

#[test]
fn a_reader_goes_from_task_to_task_with_what_is_in_it() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut reader = BufReader::new(ours);
        theirs.write_all(&[1, 2, 3, 4, 5]).await.unwrap();
        for nth in 1..=5 {
            reader = spawn_local(async move {
                assert_eq!(reader.fill_buf().await.unwrap()[0], nth);
                reader.consume(1);
                reader
            })
            .await
            .unwrap();
        }
        // It waited in the task before, and waits in another.
        assert!(poll_once(reader.fill_buf()).await.is_pending());
        let waits = spawn_local(async move { reader.fill_buf().await.unwrap().to_vec() });
        yield_now().await;
        theirs.write_all(b"more").await.unwrap();
        assert_eq!(waits.await.unwrap(), b"more");
    });
}

#[test]
fn readers_of_one_stream_are_all_woken() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let waits = [0, 1].map(|_| {
            let ours = Rc::clone(&ours);
            spawn_local(async move { BufReader::new(&*ours).fill_buf().await.unwrap().len() })
        });
        yield_now().await;
        theirs.write_all(b"one").await.unwrap();
        while !waits.iter().any(|task| task.is_finished()) {
            time::sleep(SHORT).await;
        }
        theirs.write_all(b"two").await.unwrap();
        for task in waits {
            assert_eq!(task.await.unwrap(), 3);
        }
    });
}

#[test]
fn a_reader_that_is_dropped_takes_with_it_what_is_in_it() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        // More often than buffers are kept.
        for _ in 0..50 {
            theirs.write_all(b"lost").await.unwrap();
            let mut reader = BufReader::new(&ours);
            assert_eq!(reader.fill_buf().await.unwrap(), b"lost");
            theirs.write_all(b"left").await.unwrap();
            let mut left = [0; 8];
            assert_eq!(reader.into_inner().read(&mut left).await.unwrap(), 4);
            assert_eq!(&left[..4], b"left");
        }
    });
}

#[test]
fn a_panic_with_a_buffer_ends_its_task_alone() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        theirs.write_all(b"bang").await.unwrap();
        let panics = spawn_local({
            let ours = Rc::clone(&ours);
            async move { panic!("{}", BufReader::new(&*ours).fill_buf().await.unwrap().len()) }
        });
        assert!(panics.await.unwrap_err().is_panic());
        // One that outlives the panic still has what it had.
        let mut reader = BufReader::new(&*ours);
        theirs.write_all(b"kept").await.unwrap();
        let panics = AssertUnwindSafe(async {
            reader.fill_buf().await.unwrap();
            panic!("with something in it");
        });
        assert!(panics.catch_unwind().await.is_err());
        assert_eq!(reader.fill_buf().await.unwrap(), b"kept");
    });
}

#[test]
fn what_is_in_a_reader_outlives_the_loop() {
    let lp = Loop::new().unwrap();
    let mut reader = lp.block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"still here").await.unwrap();
        let mut reader = BufReader::new(ours);
        reader.fill_buf().await.unwrap();
        reader.consume(6);
        reader
    });
    drop(lp);
    assert_eq!(reader.fill_buf().now_or_never().unwrap().unwrap(), b"here");
    reader.consume(4);
    assert_eq!(reader.fill_buf().now_or_never().unwrap().unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn what_is_read_is_not_touched_by_another_loop_that_runs_meanwhile() {
    Loop::new().unwrap().block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"outer").await.unwrap();
        let mut reader = BufReader::new(ours);
        let bytes = reader.fill_buf().await.unwrap();
        let inner = Loop::new().unwrap();
        let reads = inner.spawn_local(async {
            let (ours, theirs) = UnixStream::pair().unwrap();
            theirs.write_all(b"inner").await.unwrap();
            BufReader::new(ours).fill_buf().await.unwrap().to_vec()
        });
        assert_eq!(inner.run(Mode::Default), Ok(false));
        assert_eq!(bytes, b"outer");
        assert_eq!(reads.await.unwrap(), b"inner");
    });
}
