//! Tasks starve neither timers nor I/O, and these do not starve tasks: each is kept busy for ever, and the others go on.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use oxuv::net::{TcpListener, TcpStream, UnixStream};
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Async, Loop, Timer, time};

/// As long as this is true, whoever keeps the loop busy does so.
type Goes = Rc<Cell<bool>>;

/// Does everything that is not to be starved: timers, I/O there and back, steps of tasks.
async fn goes_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = spawn_local(async move {
        let stream = TcpStream::connect(address).await.unwrap();
        for nth in 0..50 {
            stream.write_all(&[nth; 10]).await.unwrap();
            stream.read_exact(&mut [0; 10]).await.unwrap();
        }
    });
    let (stream, _) = listener.accept().await.unwrap();
    for _ in 0..50 {
        let mut buf = [0; 10];
        stream.read_exact(&mut buf).await.unwrap();
        stream.write_all(&buf).await.unwrap();
        time::sleep(Duration::from_micros(10)).await;
        yield_now().await;
    }
    client.await.unwrap();
}

/// Runs [`goes_on`] beside what `busy` starts.
fn beside(busy: impl FnOnce(&Loop, &Goes)) {
    let lp = Loop::new().unwrap();
    let goes = Goes::new(Cell::new(true));
    busy(&lp, &goes);
    let is_in_time = lp.block_on(time_out(goes_on()));
    goes.set(false);
    assert!(is_in_time);
}

async fn time_out(future: impl Future<Output = ()>) -> bool {
    time::timeout(Duration::from_secs(60), future).await.is_ok()
}

#[test]
fn tasks_that_always_run_starve_neither_timers_nor_connections() {
    beside(|lp, goes| {
        for _ in 0..1000 {
            let goes = goes.clone();
            lp.spawn_local(async move {
                while goes.get() {
                    yield_now().await;
                }
            });
        }
    });
}

#[test]
fn a_task_that_always_finds_something_to_read_starves_nobody() {
    beside(|lp, goes| {
        let goes = goes.clone();
        lp.spawn_local(async move {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let mut buf = [0; 100];
            while goes.get() {
                // Neither ever waits.
                ours.write_all(&buf).await.unwrap();
                theirs.read_exact(&mut buf).await.unwrap();
            }
        });
    });
}

#[test]
fn events_that_always_come_do_not_starve_tasks() {
    beside(|lp, goes| {
        for _ in 0..100 {
            let goes = goes.clone();
            let handle = Async::new(lp, move |handle| {
                if goes.get() {
                    handle.sender().unwrap().send().unwrap();
                }
            });
            let handle = handle.unwrap();
            handle.unref().unwrap();
            handle.sender().unwrap().send().unwrap();
        }
    });
}

#[test]
fn connections_that_always_have_something_do_not_starve_tasks() {
    beside(|lp, goes| {
        for _ in 0..20 {
            let (ours, theirs) = oxuv::Pipe::pair(lp).unwrap();
            let goes = goes.clone();
            let back = ours.clone();
            theirs
                .read_start(move |_, read| {
                    // Each that is read is written again.
                    if goes.get()
                        && let Ok(bytes) = read
                    {
                        back.write_copy(bytes, |_, _| ()).unwrap();
                    }
                })
                .unwrap();
            theirs.unref().unwrap();
            ours.write_copy(&[1; 1000], |_, _| ()).unwrap();
        }
    });
}

#[test]
fn timers_that_are_always_due_do_not_starve_tasks() {
    beside(|lp, goes| {
        for _ in 0..100 {
            let goes = goes.clone();
            let timer = Timer::new(lp).unwrap();
            timer.unref().unwrap();
            timer
                .start_repeating(Duration::ZERO, Duration::from_nanos(1), move |timer| {
                    if !goes.get() {
                        timer.close().unwrap();
                    }
                })
                .unwrap();
        }
    });
}

#[test]
fn the_loop_looks_for_events_at_least_each_512_operations() {
    const OPERATIONS: u64 = 20_000;
    let lp = Loop::new().unwrap();
    let turns = lp.block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let before = oxuv::LoopRef::current().unwrap().turns();
        for _ in 0..OPERATIONS / 2 {
            ours.write_all(&[1; 10]).await.unwrap();
            theirs.read_exact(&mut [0; 10]).await.unwrap();
        }
        oxuv::LoopRef::current().unwrap().turns() - before
    });
    // Twice a turn tasks run; of the first turn and the last one is had in part.
    assert!(turns + 2 >= OPERATIONS / 512, "{turns}");
}
