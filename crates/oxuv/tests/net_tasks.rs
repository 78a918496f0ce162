//! Streams and listeners of tasks.

mod common;

use std::cell::Cell;
use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::poll_once;
use futures::{AsyncReadExt, AsyncWriteExt};
use oxuv::net::{TcpListener, TcpStream, UnixListener, UnixStream, lookup_host};
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Loop, PipeName, Tcp, time};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (theirs, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, ours.local_addr().unwrap());
    (ours, theirs)
}

async fn echo(stream: TcpStream) -> io::Result<usize> {
    let mut buf = [0; 4096];
    let mut total = 0;
    loop {
        match stream.read(&mut buf).await? {
            0 => return Ok(total),
            count => {
                total += count;
                stream.write_all(&buf[..count]).await?;
            }
        }
    }
}

#[test]
fn tcp_echo() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let server = spawn_local(echo(theirs));
        let mut buf = [0; 5];
        for _ in 0..100 {
            ours.write_all(b"hello").await.unwrap();
            ours.read_exact(&mut buf).await.unwrap();
            assert_eq!(&buf, b"hello");
        }
        ours.shutdown().await.unwrap();
        assert_eq!(ours.read(&mut buf).await.unwrap(), 0);
        assert_eq!(server.await.unwrap().unwrap(), 500);
    });
    assert!(!lp.is_alive());
}

#[test]
fn what_is_dropped_is_closed() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        drop(theirs);
        assert_eq!(ours.read(&mut [0; 8]).await.unwrap(), 0);
    });
    lp.block_on(yield_now());
    assert!(lp.handles().is_empty());
    lp.check_closable().unwrap();
}

#[test]
fn many_connections_at_once() {
    const COUNT: usize = 200;
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn_local(async move {
            for _ in 0..COUNT {
                spawn_local(echo(listener.accept().await.unwrap().0));
            }
        });
        let clients: Vec<_> = (0..COUNT)
            .map(|nth| {
                spawn_local(async move {
                    let stream = TcpStream::connect(address).await.unwrap();
                    let sent = nth.to_be_bytes();
                    stream.write_all(&sent).await.unwrap();
                    let mut got = [0; 8];
                    stream.read_exact(&mut got).await.unwrap();
                    assert_eq!(sent, got);
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        server.await.unwrap();
    });
}

#[test]
fn a_read_that_is_dropped_loses_nothing() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let mut buf = [0; 8];
        for _ in 0..20 {
            assert!(poll_once(ours.read(&mut buf)).await.is_pending());
            theirs.write_all(b"all of").await.unwrap();
            // It comes, and nobody waits for it any more.
            time::sleep(Duration::from_micros(100)).await;
            assert_eq!(ours.read(&mut buf).await.unwrap(), 6);
            assert_eq!(&buf[..6], b"all of");
        }
        assert!(time::timeout(Duration::from_micros(100), ours.read(&mut buf)).await.is_err());
        drop(theirs);
        assert_eq!(ours.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn an_accept_that_is_dropped_loses_no_connection() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert!(poll_once(listener.accept()).await.is_pending());
        let mut clients = Vec::new();
        for _ in 0..5 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        assert!(time::timeout(Duration::ZERO, time::sleep(Duration::from_micros(100))).await.is_err());
        for client in &clients {
            let (_, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
        }
    });
}

#[test]
fn a_write_that_is_dropped_tells_how_much_went() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let bytes: Vec<u8> = (0..8_000_000_u32).map(|nth| (nth % 251) as u8).collect();
        let mut rest = &bytes[..];
        // The peer does not read: it is too much for the kernel.
        assert!(time::timeout(Duration::from_millis(5), ours.write_all_buf(&mut rest)).await.is_err());
        let sent = bytes.len() - rest.len();
        assert!(sent > 0 && !rest.is_empty());
        assert!(matches!(ours.try_write(rest), Err(error) if error.kind() == ErrorKind::WouldBlock));
        let reader = spawn_local(async move {
            let mut all = Vec::new();
            (&theirs).read_to_end(&mut all).await.unwrap();
            all
        });
        ours.write_all_buf(&mut rest).await.unwrap();
        ours.shutdown().await.unwrap();
        assert!(reader.await.unwrap() == bytes);
    });
}

#[test]
fn a_connect_that_is_dropped_leaves_no_connection() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert!(poll_once(TcpStream::connect(address)).await.is_pending());
        // Its handle is gone when the closing phase is over; its connection came, and is at its end.
        let (theirs, _) = listener.accept().await.unwrap();
        assert!(!matches!(theirs.read(&mut [0; 1]).await, Ok(1..)));
    });
    assert!(lp.handles().iter().all(|handle| handle.is_closing()));
}

#[test]
fn a_connect_that_is_refused_says_so() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        yield_now().await;
        let error = TcpStream::connect(free).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(TcpStream::connect("no port").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn an_address_that_is_in_use_says_so() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let one = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = TcpListener::bind(one.local_addr().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn halves_are_used_by_tasks_of_their_own() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let server = spawn_local(echo(theirs));
        let (reader, writer) = ours.into_split();
        let writes = spawn_local(async move {
            for _ in 0..1000 {
                writer.write_all(&[7; 1000]).await.unwrap();
            }
            // Dropped here, which ends the writing side.
        });
        let mut all = Vec::new();
        let mut reader = reader;
        reader.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), 1_000_000);
        writes.await.unwrap();
        assert_eq!(server.await.unwrap().unwrap(), 1_000_000);
    });
}

#[test]
fn halves_are_put_together_again() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let (other, _rest) = pair().await;
        let (reader, writer) = ours.into_split();
        let (other_reader, other_writer) = other.into_split();
        let (reader, other_writer) = reader.reunite(other_writer).unwrap_err();
        let ours = reader.reunite(writer).unwrap();
        ours.write_all(b"still open").await.unwrap();
        let mut buf = [0; 10];
        theirs.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"still open");
        let (reader, writer) = ours.into_split();
        writer.forget();
        assert!(poll_once(theirs.read(&mut buf)).await.is_pending());
        let _ = (reader, other_reader, other_writer);
    });
}

#[test]
fn a_stream_is_read_and_written_at_the_same_time_by_reference() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        let server = spawn_local(echo(theirs));
        let bytes = vec![9; 3_000_000];
        let mut all = vec![0; bytes.len()];
        let (wrote, read) = futures::join!(ours.write_all(&bytes), ours.read_exact(&mut all));
        wrote.unwrap();
        read.unwrap();
        assert!(all == bytes);
        drop(ours);
        assert_eq!(server.await.unwrap().unwrap(), bytes.len());
    });
}

#[test]
fn what_is_written_in_parts_comes_as_one() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (mut ours, theirs) = pair().await;
        let parts = [io::IoSlice::new(b"one "), io::IoSlice::new(b""), io::IoSlice::new(b"two")];
        assert_eq!(ours.write_vectored(&parts).await.unwrap(), 7);
        ours.close().await.unwrap();
        let mut text = String::new();
        (&theirs).read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "one two");
        assert_eq!(ours.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        // To end what has ended is no error.
        ours.close().await.unwrap();
    });
}

#[test]
fn readiness_is_waited_for_alone() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        ours.writable().await.unwrap();
        assert!(time::timeout(Duration::from_micros(100), ours.readable()).await.is_err());
        assert_eq!(ours.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        theirs.write_all(b"come").await.unwrap();
        ours.readable().await.unwrap();
        assert_eq!(ours.try_read(&mut [0; 8]).unwrap(), 4);
    });
}

#[test]
fn a_reader_that_always_finds_something_gives_way() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        theirs.write_all(&[1; 100_000]).await.unwrap();
        let is_done = Rc::new(Cell::new(false));
        let done = is_done.clone();
        let reader = spawn_local(async move {
            let mut buf = [0; 1];
            for _ in 0..100_000 {
                ours.read_exact(&mut buf).await.unwrap();
            }
            done.set(true);
        });
        let mut turns = 0;
        while !is_done.get() {
            yield_now().await;
            turns += 1;
        }
        assert!(turns >= 100_000 / 128, "{turns}");
        reader.await.unwrap();
    });
}

#[test]
fn a_reset_is_an_error_and_then_nothing_is_connected() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (ours, theirs) = pair().await;
        theirs.as_handle().close_reset().unwrap();
        let error = ours.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(ours.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::NotConnected);
        assert!(ours.write(b"x").await.is_err());
    });
}

#[test]
fn a_handle_goes_from_callbacks_to_tasks_and_back() {
    let lp = Loop::new().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Tcp::new(&lp).unwrap();
    client.connect(listener.local_addr().unwrap(), |_, result| result.unwrap()).unwrap();
    let (mut theirs, _) = listener.accept().unwrap();
    lp.run(oxuv::Mode::Default).unwrap();
    let client = lp.block_on(async {
        let stream = TcpStream::from_handle(client);
        theirs.write_all(b"task").unwrap();
        let mut buf = [0; 4];
        stream.read_exact(&mut buf).await.unwrap();
        stream.into_handle()
    });
    client
        .read_start(|client, read| {
            assert_eq!(read.unwrap(), b"callback");
            client.close().unwrap();
        })
        .unwrap();
    theirs.write_all(b"callback").unwrap();
    lp.run(oxuv::Mode::Default).unwrap();
    assert_eq!(theirs.read(&mut [0; 1]).unwrap(), 0);
}

/// What the future comes to, which is there by now.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    time::timeout(Duration::from_secs(20), future).await.expect("it waits for what has come")
}

#[test]
fn what_comes_behind_out_of_band_data_is_read() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (theirs, _) = listener.accept().unwrap();
        for _ in 0..3 {
            let send = |bytes, flags| assert_eq!(rustix::net::send(&theirs, bytes, flags), Ok(bytes.len()));
            send(b"before", SendFlags::empty());
            send(b"!", SendFlags::OOB);
            send(b"behind", SendFlags::empty());
            // A read ends at the mark, with room left.
            let mut buf = [0; 64];
            let mut came = Vec::new();
            while came.len() < 12 {
                let count = in_time(ours.read(&mut buf)).await.unwrap();
                came.extend_from_slice(&buf[..count]);
            }
            assert_eq!(came, b"beforebehind");
        }
    });
}

#[test]
fn what_comes_behind_descriptors_is_read_by_a_handle_that_knows_nothing_of_them() {
    let lp = Loop::new().unwrap();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let handle = Tcp::new(&lp).unwrap();
    handle.open(ours).unwrap();
    lp.block_on(async {
        let ours = TcpStream::from_handle(handle);
        let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        for _ in 0..3 {
            for bytes in [b"before", b"behind"] {
                let mut control = SendAncillaryBuffer::new(&mut room);
                let passed = [theirs.as_fd()];
                assert!(control.push(SendAncillaryMessage::ScmRights(&passed)));
                let sent = rustix::net::sendmsg(&theirs, &[io::IoSlice::new(bytes)], &mut control, SendFlags::empty());
                assert_eq!(sent, Ok(6));
            }
            // A read ends where the descriptors were, with room left.
            let mut buf = [0; 64];
            for expected in [b"before", b"behind"] {
                let count = in_time(ours.read(&mut buf)).await.unwrap();
                assert_eq!(&buf[..count], expected);
            }
        }
    });
}

#[test]
fn unix_sockets_by_path_and_by_abstract_name() {
    let lp = Loop::new().unwrap();
    let path = std::env::temp_dir().join(format!("oxuv-net-tasks-{}", std::process::id()));
    let name = PipeName::Abstract(format!("oxuv-net-tasks-{}", std::process::id()).into_bytes());
    for name in [PipeName::from(&path), name] {
        lp.block_on(async {
            let listener = UnixListener::bind(name.clone()).unwrap();
            assert!(poll_once(listener.accept()).await.is_pending());
            let ours = UnixStream::connect(name.clone()).await.unwrap();
            let theirs = listener.accept().await.unwrap();
            ours.write_all(b"hello").await.unwrap();
            ours.shutdown().await.unwrap();
            let mut text = String::new();
            (&theirs).read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "hello");
            drop(listener);
            assert!(UnixStream::connect(name).await.is_err());
        });
        assert!(!path.exists());
    }
}

#[test]
fn a_pair_of_unix_sockets() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (one, other) = UnixStream::pair().unwrap();
        let (reader, writer) = one.into_split();
        let echo = spawn_local(async move { futures::io::copy(reader, &mut { writer }).await });
        other.write_all(b"there").await.unwrap();
        let mut buf = [0; 5];
        other.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"there");
        other.shutdown().await.unwrap();
        assert_eq!(echo.await.unwrap().unwrap(), 5);
    });
}

#[test]
fn names_are_looked_up() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let known = ([127, 0, 0, 1], 80).into();
        assert_eq!(lookup_host(known).await.unwrap(), [known]);
        assert_eq!(lookup_host("127.0.0.1:80").await.unwrap(), [known]);
        assert!(lookup_host("localhost:80").await.unwrap().iter().all(|address| address.port() == 80));
        assert!(lookup_host(("a name.that-is.invalid", 80)).await.is_err());
    });
}

#[test]
fn streams_of_a_loop_that_is_gone_fail() {
    let lp = Loop::new().unwrap();
    let (ours, listener) = lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (TcpStream::connect(listener.local_addr().unwrap()).await.unwrap(), listener)
    });
    drop(lp);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(pin!(ours.read(&mut [0; 1])).poll(&mut context), Poll::Ready(Err(_))));
    assert!(matches!(pin!(ours.write(b"x")).poll(&mut context), Poll::Ready(Err(_))));
    assert!(matches!(pin!(listener.accept()).poll(&mut context), Poll::Ready(Err(_))));
}

#[test]
fn udp_there_and_back() {
    use oxuv::net::UdpSocket;
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        let mut buf = [0; 64];
        assert!(poll_once(server.recv_from(&mut buf)).await.is_pending());
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for nth in 0..100_u8 {
            assert_eq!(client.send_to(&[nth; 3], address).await.unwrap(), 3);
        }
        time::sleep(Duration::from_millis(1)).await;
        // None of them is lost, though nobody has waited for most.
        for nth in 0..100_u8 {
            assert_eq!(server.recv_from(&mut buf).await.unwrap(), (3, client.local_addr().unwrap()));
            assert_eq!(buf[..3], [nth; 3]);
        }
        client.connect(address).await.unwrap();
        server.connect(client.local_addr().unwrap()).await.unwrap();
        client.send(b"longer than there is room").await.unwrap();
        assert_eq!(server.recv(&mut buf[..4]).await.unwrap(), 4);
        assert_eq!(&buf[..4], b"long");
        drop(server);
        yield_now().await;
        client.send(b"nobody is there").await.unwrap();
        assert_eq!(client.recv(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}
