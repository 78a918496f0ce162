//! A loop in another one: one descriptor, and turns that do not wait.

use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use oxuv::net::TcpStream;
use oxuv::{Async, Guest, Loop, Timer, task, time};

#[test]
fn a_timer_makes_the_descriptor_readable() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    assert!(!guest.is_ready().unwrap());
    let timer = Timer::new(&guest).unwrap();
    let fired = Rc::new(Cell::new(0));
    let counts = fired.clone();
    timer
        .start_repeating(Duration::from_millis(2), Duration::from_millis(2), move |timer| {
            counts.set(counts.get() + 1);
            if counts.get() == 5 {
                timer.close().unwrap();
            }
        })
        .unwrap();
    guest.rearm().unwrap();
    let mut turns = 0;
    while guest.is_alive() {
        guest.wait().unwrap();
        turns += 1;
        guest.turn().unwrap();
    }
    assert_eq!(fired.get(), 5);
    assert!(turns < 50, "{turns}");
    assert!(!guest.is_ready().unwrap());
}

#[test]
fn an_event_and_a_send_of_another_thread_make_it_readable() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let wake_up = Async::new(&guest, |wake_up| wake_up.close().unwrap()).unwrap();
    guest.rearm().unwrap();
    assert!(!guest.is_ready().unwrap());
    let sender = wake_up.sender().unwrap();
    let thread = std::thread::spawn(move || sender.send().unwrap());
    while guest.is_alive() {
        guest.wait().unwrap();
        guest.turn().unwrap();
    }
    thread.join().unwrap();
}

#[test]
fn tasks_run_in_a_guest() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let task = guest.spawn_local(async {
        let sleeps = task::spawn_local(time::sleep(Duration::from_millis(1)));
        for _ in 0..1000 {
            task::yield_now().await;
        }
        sleeps.await.unwrap();
        oxuv::task::spawn_blocking(|| 42).await.unwrap()
    });
    guest.rearm().unwrap();
    let mut turns = 0;
    while !task.is_finished() {
        guest.wait().unwrap();
        guest.turn().unwrap();
        turns += 1;
    }
    assert!(turns < 200, "{turns}");
    let lp = guest.into_loop();
    assert_eq!(lp.block_on(task).unwrap(), 42);
}

#[test]
fn what_a_task_waits_to_read_makes_it_readable_each_time_it_comes() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let task = guest.spawn_local(async move {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut buf = [0; 8];
        let mut all = Vec::new();
        loop {
            match stream.read(&mut buf).await.unwrap() {
                0 => return all,
                count => all.extend_from_slice(&buf[..count]),
            }
        }
    });
    let turn = || {
        guest.wait().unwrap();
        guest.turn().unwrap();
    };
    guest.rearm().unwrap();
    turn();
    let (mut theirs, _) = listener.accept().unwrap();
    let sent = b"twenty bytes at once";
    for _ in 0..5 {
        theirs.write_all(sent).unwrap();
        turn();
        while guest.is_ready().unwrap() {
            turn();
        }
    }
    drop(theirs);
    while !task.is_finished() {
        turn();
    }
    assert_eq!(guest.into_loop().block_on(task).unwrap(), sent.repeat(5));
}

#[test]
fn a_task_woken_elsewhere_makes_it_readable() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let (sender, receiver) = futures::channel::oneshot::channel();
    let task = guest.spawn_local(receiver);
    guest.rearm().unwrap();
    guest.wait().unwrap();
    guest.turn().unwrap();
    assert!(!guest.is_ready().unwrap());
    // On this thread, but not in a turn: as from any other.
    sender.send(7).unwrap();
    guest.wait().unwrap();
    guest.turn().unwrap();
    assert!(task.is_finished());
}

#[test]
fn a_guest_of_one_of_our_own_loops() {
    // Any descriptor that can be polled is driven by a loop, also one that is a loop.
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let timer = Timer::new(&guest).unwrap();
    timer.start(Duration::from_millis(1), |timer| timer.close().unwrap()).unwrap();
    guest.rearm().unwrap();
    let host = Loop::new().unwrap();
    let turns = host.block_on(async {
        let guest = oxuv::io::AsyncFd::new(guest).unwrap();
        let mut turns = 0;
        while guest.get_ref().is_alive() {
            guest.readable().await.unwrap();
            guest.get_ref().turn().unwrap();
            turns += 1;
        }
        turns
    });
    assert!((1..10).contains(&turns), "{turns}");
}
