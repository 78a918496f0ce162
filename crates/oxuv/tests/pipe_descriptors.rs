//! Pipes on descriptors that were made elsewhere: ends of pipes, FIFOs, sockets, files.

mod common;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::rc::Rc;

use common::{Place, Trace, new_loop, run, run_until};
use oxuv::{Errno, Loop, Pipe, Poll, Readiness};

fn open(lp: &Loop, descriptor: impl Into<std::os::fd::OwnedFd>) -> Pipe {
    let pipe = Pipe::new(lp).unwrap();
    pipe.open(descriptor).unwrap();
    pipe
}

fn tells_reads(trace: &Trace) -> impl FnMut(&Pipe, oxuv::Result<&[u8]>) + 'static {
    let trace = trace.clone();
    move |pipe, read| match read {
        Ok(bytes) => trace.add(String::from_utf8_lossy(bytes)),
        Err(error) => {
            trace.add(format!("{error:?}"));
            let _ = pipe.close();
        }
    }
}

#[test]
fn each_end_of_a_pipe_does_what_it_can() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (reader, writer) = std::io::pipe().unwrap();
    let (reader, writer) = (open(&lp, reader), open(&lp, writer));
    assert!(reader.is_readable() && !reader.is_writable());
    assert!(!writer.is_readable() && writer.is_writable());
    assert_eq!(writer.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    assert_eq!(reader.write("x", |_, _| unreachable!()), Err(Errno::EPIPE));
    assert_eq!(reader.local_name(), Err(Errno::ENOTSOCK));
    reader.read_start(tells_reads(&trace)).unwrap();
    writer.write_vectored(vec!["a", "", "b"], trace.tells("write")).unwrap();
    let end = trace.tells("shutdown");
    writer
        .shutdown(move |writer, done| {
            end(writer, done);
            writer.close().unwrap();
        })
        .unwrap();
    run(&lp);
    // A pipe has no half to be shut down: its end is the close.
    assert_eq!(trace.take(), ["write ok", "shutdown ENOTSOCK", "ab", "EOF"]);
}

#[test]
fn more_than_a_pipe_holds_is_written_as_it_is_read() {
    const SIZE: usize = 1 << 20;
    let lp = new_loop();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let writer = open(&lp, writer);
    let bytes: Vec<u8> = (0..SIZE).map(|nth| (nth % 251) as u8).collect();
    writer.write(bytes.clone(), |writer, written| written.and_then(|()| writer.close()).unwrap()).unwrap();
    assert!(writer.write_queue_size() > 0);
    let all = std::thread::spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        all
    });
    run(&lp);
    assert!(all.join().unwrap() == bytes);
}

/// More buffers than one system call takes, on a pipe and on a socket.
#[test]
fn any_number_of_buffers_is_written_in_order() {
    for is_socket in [false, true] {
        let lp = new_loop();
        let (reader, writer) = if is_socket {
            let (one, other) = UnixStream::pair().unwrap();
            (open(&lp, one), open(&lp, other))
        } else {
            let (reader, writer) = std::io::pipe().unwrap();
            (open(&lp, reader), open(&lp, writer))
        };
        let parts: Vec<Vec<u8>> = (0..5000_u32).map(|nth| nth.to_le_bytes().repeat(nth as usize % 40)).collect();
        let expected = parts.concat();
        let got = Rc::new(std::cell::RefCell::new(Vec::new()));
        let gets = got.clone();
        reader
            .read_start(move |reader, read| match read {
                Ok(bytes) => gets.borrow_mut().extend_from_slice(bytes),
                Err(_) => reader.close().unwrap(),
            })
            .unwrap();
        writer.write_vectored(parts, |writer, written| written.and_then(|()| writer.close()).unwrap()).unwrap();
        run(&lp);
        assert!(*got.borrow() == expected, "{is_socket}");
    }
}

#[test]
fn what_was_written_comes_before_the_end_of_a_hung_up_pipe() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (reader, mut writer) = std::io::pipe().unwrap();
    let reader = open(&lp, reader);
    let count = Rc::new(Cell::new(0));
    let counts = count.clone();
    writer.write_all(&[7; 60_000]).unwrap();
    drop(writer);
    let seen = trace.clone();
    reader
        .read_start(move |reader, read| match read {
            // One call of it at a time, and stopped between.
            Ok(bytes) => {
                counts.set(counts.get() + bytes.len());
                reader.read_stop().unwrap();
                reader
                    .read_start(|reader, read| {
                        if read.is_err() {
                            reader.close().unwrap()
                        }
                    })
                    .unwrap();
            }
            Err(error) => seen.add(format!("{error:?}")),
        })
        .unwrap();
    run(&lp);
    assert_eq!(count.get(), 60_000);
}

#[test]
fn a_reader_that_goes_away_fails_the_write() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (reader, writer) = std::io::pipe().unwrap();
    let writer = open(&lp, writer);
    writer.write(vec![0; 1 << 20], trace.tells("queued")).unwrap();
    writer.write("y", trace.tells("next")).unwrap();
    drop(reader);
    run(&lp);
    assert_eq!(trace.take(), ["queued EPIPE", "next EPIPE"]);
    assert_eq!(writer.write_queue_size(), 0);
}

#[test]
fn a_fifo_is_read_and_written() {
    let (lp, place, trace) = (new_loop(), Place::new("fifo"), Trace::new());
    let path = place.path("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    let both = File::options().read(true).write(true).open(&path).unwrap();
    let writer = File::options().write(true).open(&path).unwrap();
    let (both, writer) = (open(&lp, both), open(&lp, writer));
    assert!(both.is_readable() && both.is_writable() && !writer.is_readable());
    both.read_start(tells_reads(&trace)).unwrap();
    writer.write("through", |writer, written| written.and_then(|()| writer.close()).unwrap()).unwrap();
    run_until(&lp, || trace.len() == 1);
    assert_eq!(trace.take(), ["through"]);
    both.close().unwrap();
    run(&lp);
}

#[test]
fn a_file_can_be_written_and_not_read() {
    let (lp, place) = (new_loop(), Place::new("plain"));
    let path = place.path("file");
    let file = open(&lp, File::options().read(true).write(true).create_new(true).open(&path).unwrap());
    assert_eq!(file.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    file.write("kept", |file, written| written.and_then(|()| file.close()).unwrap()).unwrap();
    run(&lp);
    assert_eq!(std::fs::read(&path).unwrap(), b"kept");
}

#[test]
fn a_listener_made_elsewhere_can_be_listened_on() {
    let (lp, place) = (new_loop(), Place::new("elsewhere"));
    let path = place.path("socket");
    let server = open(&lp, UnixListener::bind(&path).unwrap());
    server
        .listen(1, |server, connection| {
            connection.unwrap();
            server.accept().unwrap().close().unwrap();
            server.close().unwrap();
        })
        .unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    run(&lp);
    // It was not ours to remove.
    assert!(path.exists());
}

/// libuv#2058: the write end of a pipe is not read, and another handle does not wait for its descriptor meanwhile.
#[test]
fn one_descriptor_has_one_watcher() {
    let lp = new_loop();
    let (reader, writer) = std::io::pipe().unwrap();
    let poll = Poll::new(&lp, &writer).unwrap();
    let number = writer.as_raw_fd();
    let pipe = open(&lp, writer);
    assert_eq!(pipe.read_start(|_, _| {}), Err(Errno::ENOTCONN));
    pipe.write(vec![0; 1 << 20], |_, _| {}).unwrap();
    assert!(pipe.write_queue_size() > 0);
    assert_eq!(poll.start(Readiness::WRITE, |_, _| {}), Err(Errno::EEXIST));
    assert!(number > 2);
    drop(reader);
    pipe.close().unwrap();
    poll.close().unwrap();
    run(&lp);
}

#[test]
fn each_half_of_a_connection_ends_by_itself() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (one, other) = Pipe::pair(&lp).unwrap();
    one.read_start(tells_reads(&trace)).unwrap();
    one.write("question", |_, _| {}).unwrap();
    one.shutdown(trace.tells("shutdown")).unwrap();
    let seen = trace.clone();
    other
        .read_start(move |other, read| match read {
            Ok(bytes) => seen.add(String::from_utf8_lossy(bytes)),
            Err(error) => {
                seen.add(format!("{error:?}"));
                // Its other half goes on.
                other.write("answer", |other, written| written.and_then(|()| other.close()).unwrap()).unwrap();
            }
        })
        .unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["shutdown ok", "question", "EOF", "answer", "EOF"]);
}

#[test]
fn a_reset_behind_unread_data_is_told_after_it() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let pipe = open(&lp, ours);
    // The peer leaves with bytes of ours unread: that is a reset, behind what it wrote.
    pipe.try_write(b"unread").unwrap();
    theirs.write_all(b"last words").unwrap();
    drop(theirs);
    pipe.read_start(tells_reads(&trace)).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["last words", "ECONNRESET"]);
}

#[test]
fn a_descriptor_that_is_refused_is_closed() {
    let lp = new_loop();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let (first, _other) = Pipe::pair(&lp).unwrap();
    assert_eq!(first.open(writer), Err(Errno::EBUSY));
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    first.close().unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    assert_eq!(first.open(writer), Err(Errno::EINVAL));
    assert_eq!(reader.read(&mut [0]).unwrap(), 0);
}
