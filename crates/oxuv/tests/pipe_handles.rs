//! Passing handles by pipes. Each test looks at descriptors of its own by their inodes, not at the process's count.

mod common;

use std::cell::{Cell, RefCell};
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use common::{Trace, new_loop, run, run_until};
use oxuv::{Errno, Loop, Mode, Passed, Pipe, Tcp, Udp};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// A stream handle for one end of a pair, and the other end.
fn half(lp: &Loop) -> (Pipe, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let pipe = Pipe::for_handles(lp).unwrap();
    pipe.open(ours).unwrap();
    (pipe, theirs)
}

/// Sends these bytes with several descriptors in one message.
fn send_with(socket: &UnixStream, bytes: &[u8], handles: &[impl AsFd]) {
    let handles: Vec<_> = handles.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&handles)));
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::empty()).unwrap();
}

/// Reads until `count` bytes have come.
fn read_all(lp: &Loop, pipe: &Pipe, count: usize) {
    let got = Rc::new(Cell::new(0));
    let gets = got.clone();
    pipe.read_start(move |_, read| gets.set(gets.get() + read.unwrap().len())).unwrap();
    run_until(lp, || got.get() == count);
    pipe.read_stop().unwrap();
}

#[test]
fn a_tcp_listener_is_passed_and_listens_at_the_other_end() {
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let server = Tcp::new(&lp).unwrap();
    server.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = server.local_addr().unwrap();
    // Once it is written the sent handle may be closed: the receiver's is another.
    let sent = server.clone();
    one.write_with_handle("x", &server, move |one, written| {
        written.unwrap();
        sent.close().unwrap();
        one.close().unwrap();
    })
    .unwrap();
    let accepted = Rc::new(Cell::new(false));
    let accepts = accepted.clone();
    let client = RefCell::new(None);
    other
        .read_start(move |other, read| {
            assert_eq!(read.unwrap(), b"x");
            assert_eq!(other.pending_handles(), 1);
            let Passed::Tcp(server) = other.take_handle().unwrap() else { panic!("a TCP handle was sent") };
            assert_eq!(other.take_handle().unwrap_err(), Errno::EAGAIN);
            assert_eq!(server.local_addr().unwrap(), address);
            let accepts = accepts.clone();
            server
                .listen(1, move |server, connection| {
                    connection.unwrap();
                    server.accept().unwrap().close().unwrap();
                    server.close().unwrap();
                    accepts.set(true);
                })
                .unwrap();
            *client.borrow_mut() = Some(TcpStream::connect(address).unwrap());
            other.close().unwrap();
        })
        .unwrap();
    run(&lp);
    assert!(accepted.get());
}

#[test]
fn pipes_and_files_are_passed_each_as_what_it_is() {
    let lp = new_loop();
    let (pipe, socket) = half(&lp);
    let (reader, mut writer) = std::io::pipe().unwrap();
    let (stream, _peer) = UnixStream::pair().unwrap();
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    send_with(&socket, b"a", &[OwnedFd::from(reader), file.into(), stream.into()]);
    read_all(&lp, &pipe, 1);
    assert_eq!(pipe.pending_handles(), 3);
    let Passed::Pipe(reader) = pipe.take_handle().unwrap() else { panic!("a pipe came first") };
    assert!(reader.is_readable() && !reader.is_writable());
    let Passed::Other(file) = pipe.take_handle().unwrap() else { panic!("then a file") };
    assert!(std::fs::File::from(file).metadata().unwrap().is_file());
    let Passed::Pipe(stream) = pipe.take_handle().unwrap() else { panic!("then a socket") };
    assert!(stream.is_readable() && stream.is_writable());
    writer.write_all(b"12345").unwrap();
    read_all(&lp, &reader, 5);
}

#[test]
fn a_udp_handle_is_passed_and_receives_at_the_other_end() {
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let udp = Udp::new(&lp).unwrap();
    udp.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = udp.local_addr().unwrap();
    assert_eq!(one.try_write_with_handle(b"x", &udp), Ok(1));
    udp.close().unwrap();
    read_all(&lp, &other, 1);
    let Passed::Udp(udp) = other.take_handle().unwrap() else { panic!("a UDP handle was sent") };
    assert_eq!(udp.local_addr().unwrap(), address);
}

/// A handle that a blocking sender has sent must not make the receiver wait.
#[test]
fn what_is_taken_is_non_blocking() {
    let lp = new_loop();
    let (pipe, socket) = half(&lp);
    let (stream, mut peer) = UnixStream::pair().unwrap();
    send_with(&socket, b"a", &[stream]);
    read_all(&lp, &pipe, 1);
    let Passed::Pipe(stream) = pipe.take_handle().unwrap() else { panic!("a pipe was sent") };
    let ended = Rc::new(Cell::new(false));
    let ends = ended.clone();
    stream.write(vec![7; 1 << 20], move |_, written| ends.set(written.is_ok())).unwrap();
    assert!(stream.write_queue_size() > 0);
    let reader = std::thread::spawn(move || peer.read_exact(&mut vec![0; 1 << 20]).unwrap());
    run_until(&lp, || ended.get());
    reader.join().unwrap();
}

#[test]
fn handles_that_nobody_takes_are_closed_with_the_pipe() {
    let lp = new_loop();
    let (pipe, socket) = half(&lp);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let many: Vec<_> = (0..253).map(|_| writer.try_clone().unwrap()).collect();
    send_with(&socket, b"a", &many);
    send_with(&socket, b"b", &many[..9]);
    drop((many, writer));
    read_all(&lp, &pipe, 2);
    assert_eq!(pipe.pending_handles(), 262);
    drop(pipe.take_handle().unwrap());
    pipe.close().unwrap();
    for handle in lp.handles() {
        let _ = handle.close();
    }
    run(&lp);
    // The end comes only when no copy of the other side is left.
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
}

#[test]
fn what_was_not_even_read_is_closed_with_the_pipe() {
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let end = Pipe::new(&lp).unwrap();
    end.open(writer).unwrap();
    assert_eq!(one.try_write_with_handle(b"x", &end), Ok(1));
    end.close().unwrap();
    other.close().unwrap();
    one.close().unwrap();
    run(&lp);
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
}

/// libuv#2086: a payload larger than the socket's buffer, so that it goes in several parts.
#[test]
fn a_message_sent_in_parts_brings_its_handle_once() {
    const SIZE: usize = 4 << 20;
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let listener = Tcp::new(&lp).unwrap();
    listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    // The first fills the buffer, so that the second cannot be sent at once at all.
    one.write(vec![1; SIZE], |_, written| written.unwrap()).unwrap();
    assert!(one.write_queue_size() > 0);
    one.write_with_handle(vec![2; SIZE], &listener, |_, written| written.unwrap()).unwrap();
    assert_eq!(one.try_write_with_handle(b"x", &listener), Err(Errno::EAGAIN));
    let (got, handles) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
    let (gets, sees) = (got.clone(), handles.clone());
    other
        .read_start(move |other, read| {
            let bytes = read.unwrap();
            // It comes with the first byte of its own message, and not before.
            assert_eq!(other.pending_handles(), usize::from(bytes.contains(&2) || sees.get().is_some()));
            if bytes.contains(&2) {
                sees.set(Some(other.pending_handles()));
            }
            gets.set(gets.get() + bytes.len());
        })
        .unwrap();
    run_until(&lp, || got.get() == 2 * SIZE);
    assert_eq!((other.pending_handles(), handles.get()), (1, Some(1)));
}

#[test]
fn leading_empty_buffers_do_not_lose_the_handle() {
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let listener = Tcp::new(&lp).unwrap();
    listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    assert_eq!(one.write_with_handle("", &listener, |_, _| unreachable!()), Err(Errno::EINVAL));
    assert_eq!(one.try_write_with_handle(b"", &listener), Err(Errno::EINVAL));
    assert_eq!(one.try_write_with_handle(b"x", &listener), Ok(1));
    read_all(&lp, &other, 1);
    assert_eq!(other.pending_handles(), 1);
}

#[test]
fn a_handle_closed_before_it_is_sent_fails_its_write() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    let listener = Tcp::new(&lp).unwrap();
    listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    one.write(vec![0; 4 << 20], trace.tells("first")).unwrap();
    one.write_with_handle("x", &listener, trace.tells("second")).unwrap();
    listener.close().unwrap();
    other.read_start(|_, read| assert!(read.is_ok())).unwrap();
    run_until(&lp, || trace.len() == 2);
    assert_eq!(trace.take(), ["first ok", "second EBADF"]);
    assert_eq!(other.pending_handles(), 0);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let (lp, other_loop) = (new_loop(), new_loop());
    let (one, _other) = Pipe::pair_for_handles(&lp).unwrap();
    let (plain, _end) = Pipe::pair(&lp).unwrap();
    let (unbound, foreign) = (Tcp::new(&lp).unwrap(), Tcp::new(&other_loop).unwrap());
    assert_eq!(one.try_write_with_handle(b"x", &unbound), Err(Errno::EBADF));
    assert_eq!(one.write_with_handle("x", &unbound, |_, _| unreachable!()), Err(Errno::EBADF));
    assert_eq!(one.try_write_with_handle(b"x", &foreign), Err(Errno::EBADF));
    assert_eq!(plain.try_write_with_handle(b"x", &one), Err(Errno::EINVAL));
    one.shutdown(|_, _| {}).unwrap();
    assert_eq!(one.try_write_with_handle(b"x", &plain), Err(Errno::EPIPE));
    lp.run(Mode::NoWait).unwrap();
}

#[test]
fn the_end_does_not_come_before_a_handle_that_was_sent() {
    let lp = new_loop();
    let (pipe, socket) = half(&lp);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    send_with(&socket, b"last", &[&listener]);
    drop(socket);
    let trace = Trace::new();
    let seen = trace.clone();
    pipe.read_start(move |pipe, read| match read {
        Ok(bytes) => seen.add(format!("{} bytes, {} handles", bytes.len(), pipe.pending_handles())),
        Err(error) => {
            seen.add(format!("{error:?}, {} handles", pipe.pending_handles()));
            assert!(matches!(pipe.take_handle(), Ok(Passed::Tcp(tcp)) if tcp.close().is_ok()));
            pipe.close().unwrap();
        }
    })
    .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["4 bytes, 1 handles", "EOF, 1 handles"]);
    assert!(listener.as_raw_fd() > 2);
}

#[test]
fn a_pipe_that_is_closing_gives_no_handle() {
    let lp = new_loop();
    let (one, other) = Pipe::pair_for_handles(&lp).unwrap();
    assert_eq!(one.take_handle().unwrap_err(), Errno::EAGAIN);
    let passed = Pipe::pair(&lp).unwrap().0;
    assert_eq!(other.try_write_with_handle(b"x", &passed), Ok(1));
    read_all(&lp, &one, 1);
    assert_eq!(one.pending_handles(), 1);
    one.close().unwrap();
    assert_eq!(one.take_handle().unwrap_err(), Errno::EINVAL);
    run_until(&lp, || one.pending_handles() == 0);
    assert_eq!(one.take_handle().unwrap_err(), Errno::EINVAL);
}
