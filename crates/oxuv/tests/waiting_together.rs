//! Several tasks wait at the same end of a socket: all are woken, and those that have given up are in nobody's way.

mod common;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use common::poll_once;
use oxuv::io::AsyncFd;
use oxuv::net::{TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};
use oxuv::task::{JoinHandle, spawn_local, yield_now};
use oxuv::{Loop, time};

/// What waits longer than this waits for ever.
const DEADLINE: Duration = Duration::from_secs(60);

fn block_on(future: impl Future<Output = ()>) {
    let in_time = Loop::new().unwrap().block_on(async { time::timeout(DEADLINE, future).await });
    assert!(in_time.is_ok(), "somebody was not woken");
}

/// Two tasks that have begun to wait, in this order.
async fn two<T: 'static, F: Future<Output = T> + 'static>(mut begin: impl FnMut() -> F) -> [JoinHandle<T>; 2] {
    let tasks = [spawn_local(begin()), spawn_local(begin())];
    yield_now().await;
    tasks
}

/// What both come to.
async fn both<T>([one, other]: [JoinHandle<T>; 2]) -> [T; 2] {
    [one.await.unwrap(), other.await.unwrap()]
}

/// Waits a little, in vain.
async fn give_up<T>(future: impl Future<Output = T>) {
    assert!(time::timeout(Duration::from_millis(1), future).await.is_err());
}

#[test]
fn two_that_accept_get_a_connection_each() {
    block_on(async {
        let listener = Rc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let tasks = two(|| {
            let listener = Rc::clone(&listener);
            async move { listener.accept().await.unwrap().1 }
        });
        let tasks = tasks.await;
        let one = TcpStream::connect(address).await.unwrap();
        let other = TcpStream::connect(address).await.unwrap();
        let mut peers = both(tasks).await;
        let mut ours = [one.local_addr().unwrap(), other.local_addr().unwrap()];
        peers.sort();
        ours.sort();
        assert_eq!(peers, ours);
    });
}

#[test]
fn two_that_accept_unix_connections_get_one_each() {
    block_on(async {
        let name = format!("oxuv-waiting-together-{}", std::process::id());
        let name = oxuv::PipeName::Abstract(name.into());
        let listener = Rc::new(UnixListener::bind(name.clone()).unwrap());
        let tasks = two(|| {
            let listener = Rc::clone(&listener);
            async move { listener.accept().await.is_ok() }
        });
        let tasks = tasks.await;
        let _one = UnixStream::connect(name.clone()).await.unwrap();
        let _other = UnixStream::connect(name).await.unwrap();
        assert_eq!(both(tasks).await, [true, true]);
    });
}

#[test]
fn two_that_write_more_than_there_is_room_for_both_come_to_their_end() {
    const EACH: usize = 8_000_000;
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let tasks = two(|| {
            let ours = Rc::clone(&ours);
            async move { ours.write_all(&vec![7; EACH]).await.is_ok() }
        });
        let tasks = tasks.await;
        let (mut buf, mut total) = (vec![0; 64 * 1024], 0);
        while total < 2 * EACH {
            total += theirs.read(&mut buf).await.unwrap();
        }
        assert_eq!(total, 2 * EACH);
        assert_eq!(both(tasks).await, [true, true]);
    });
}

#[test]
fn two_that_read_share_what_comes_at_once() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let tasks = two(|| {
            let ours = Rc::clone(&ours);
            async move {
                let mut buf = [0; 3];
                ours.read(&mut buf).await.unwrap();
                buf
            }
        });
        let tasks = tasks.await;
        theirs.write_all(b"abcdef").await.unwrap();
        let mut read = both(tasks).await;
        read.sort();
        assert_eq!(read, [*b"abc", *b"def"]);
    });
}

#[test]
fn all_who_wait_hear_of_the_end_of_the_stream() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let tasks = two(|| {
            let ours = Rc::clone(&ours);
            async move { ours.read(&mut [0; 3]).await.unwrap() }
        });
        let tasks = tasks.await;
        drop(theirs);
        assert_eq!(both(tasks).await, [0, 0]);
    });
}

#[test]
fn a_reader_is_woken_although_another_has_given_up() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let reads = Rc::clone(&ours);
        let reader = spawn_local(async move { reads.read(&mut [0; 3]).await.unwrap() });
        yield_now().await;
        give_up(ours.readable()).await;
        theirs.write_all(b"abc").await.unwrap();
        assert_eq!(reader.await.unwrap(), 3);
    });
}

#[test]
fn a_writer_is_woken_although_another_has_given_up() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        while ours.try_write(&[1; 4096]).is_ok() {}
        let writes = Rc::clone(&ours);
        let writer = spawn_local(async move { writes.write(&[2]).await.unwrap() });
        yield_now().await;
        give_up(ours.writable()).await;
        while theirs.try_read(&mut [0; 4096]).is_ok() {}
        assert_eq!(writer.await.unwrap(), 1);
    });
}

#[test]
fn those_who_wait_go_on_when_the_first_of_them_gives_up() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let [first, second] = two(|| {
            let ours = Rc::clone(&ours);
            async move { ours.read(&mut [0; 1]).await.unwrap() }
        })
        .await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        theirs.write_all(b"a").await.unwrap();
        assert_eq!(second.await.unwrap(), 1);
    });
}

#[test]
fn what_polls_by_hand_and_what_awaits_are_both_woken() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let reads = Rc::clone(&ours);
        let by_hand = spawn_local(async move {
            let mut buf = [0; 1];
            std::future::poll_fn(|context| reads.poll_read(context, &mut buf)).await.unwrap()
        });
        yield_now().await;
        let reads = Rc::clone(&ours);
        let awaits = spawn_local(async move { reads.read(&mut [0; 1]).await.unwrap() });
        yield_now().await;
        theirs.write_all(b"ab").await.unwrap();
        assert_eq!((by_hand.await.unwrap(), awaits.await.unwrap()), (1, 1));
    });
}

#[test]
fn two_that_receive_get_a_datagram_each() {
    block_on(async {
        let socket = Rc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = socket.local_addr().unwrap();
        let tasks = two(|| {
            let socket = Rc::clone(&socket);
            async move { socket.recv(&mut [0; 9]).await.unwrap() }
        });
        let tasks = tasks.await;
        // And one who gives up.
        assert!(poll_once(socket.recv(&mut [0; 9])).await.is_pending());
        let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        sender.send_to(b"a", address).await.unwrap();
        sender.send_to(b"bc", address).await.unwrap();
        let mut lengths = both(tasks).await;
        lengths.sort();
        assert_eq!(lengths, [1, 2]);
    });
}

#[test]
fn two_that_wait_for_a_descriptor_are_both_told() {
    block_on(async {
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let ours = Rc::new(AsyncFd::new(ours).unwrap());
        let tasks = two(|| {
            let ours = Rc::clone(&ours);
            async move { ours.readable().await.is_ok() }
        });
        let tasks = tasks.await;
        give_up(ours.readable()).await;
        theirs.write_all(b"x").unwrap();
        assert_eq!(both(tasks).await, [true, true]);
    });
}

#[test]
fn two_that_read_a_descriptor_share_what_comes() {
    block_on(async {
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let ours = Rc::new(AsyncFd::new(ours).unwrap());
        let tasks = two(|| {
            let ours = Rc::clone(&ours);
            async move { ours.read_with(|mut socket| socket.read(&mut [0; 3])).await.unwrap() }
        });
        let tasks = tasks.await;
        theirs.write_all(b"abcdef").unwrap();
        assert_eq!(both(tasks).await, [3, 3]);
    });
}

#[test]
fn a_task_that_polled_by_hand_and_has_ended_leaves_the_next_in_its_place_alone() {
    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let polled = Rc::clone(&ours);
        let first = spawn_local(poll_fn(move |context| {
            assert!(polled.poll_read(context, &mut [0]).is_pending());
            Poll::Ready(())
        }));
        first.await.unwrap();
        let polls = Rc::new(Cell::new(0));
        let waker = Rc::new(RefCell::new(None));
        let (count, kept) = (Rc::clone(&polls), Rc::clone(&waker));
        let second = spawn_local(poll_fn(move |context| {
            count.set(count.get() + 1);
            kept.replace(Some(context.waker().clone()));
            Poll::<()>::Pending
        }));
        yield_now().await;
        theirs.write_all(b"x").await.unwrap();
        ours.readable().await.unwrap();
        yield_now().await;
        assert_eq!(polls.get(), 1);
        let waker: Waker = waker.take().unwrap();
        waker.wake();
        yield_now().await;
        assert_eq!(polls.get(), 2);
        second.abort();
    });
}

#[test]
fn who_polls_with_another_waker_than_that_of_its_task_is_woken_by_that() {
    #[derive(Default)]
    struct Counts(AtomicUsize);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    block_on(async {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let ours = Rc::new(ours);
        let (wakes, polls) = (Arc::new(Counts::default()), Rc::new(Cell::new(0)));
        let (waker, polled, count) = (Waker::from(Arc::clone(&wakes)), Rc::clone(&ours), Rc::clone(&polls));
        let task = spawn_local(poll_fn(move |_| {
            count.set(count.get() + 1);
            assert!(polled.poll_read(&mut Context::from_waker(&waker), &mut [0]).is_pending());
            Poll::<()>::Pending
        }));
        yield_now().await;
        theirs.write_all(b"x").await.unwrap();
        ours.readable().await.unwrap();
        yield_now().await;
        assert_eq!((wakes.0.load(SeqCst), polls.get()), (1, 1));
        task.abort();
    });
}
