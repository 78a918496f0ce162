//! Uses that are legal Rust and make no sense: a clear error, and nothing else is harmed.

mod common;

use std::cell::Cell;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use common::{new_loop, run};
use oxuv::{Errno, Poll, Readiness, Tcp};

#[test]
fn a_socket_that_is_no_stream_cannot_be_opened() {
    let lp = new_loop();
    let tcp = Tcp::new(&lp).unwrap();
    assert_eq!(tcp.open(UdpSocket::bind("127.0.0.1:0").unwrap()), Err(Errno::EPROTOTYPE));
    assert!(!tcp.is_readable());
}

#[test]
fn a_poll_handle_whose_descriptor_is_closed_learns_it_in_the_poll_phase() {
    let lp = new_loop();
    let (ours, _theirs) = UnixStream::pair().unwrap();
    // A number that no other test is given meanwhile: far above those in use.
    let ours = rustix::io::fcntl_dupfd_cloexec(&ours, 900).unwrap();
    let poll = Poll::new(&lp, &ours).unwrap();
    drop(ours);
    let told = Rc::new(Cell::new(0));
    let count = Rc::clone(&told);
    poll.start(Readiness::READ, move |poll, ready| {
        assert_eq!((ready, poll.is_active()), (Err(Errno::EBADF), false));
        count.set(count.get() + 1);
    })
    .unwrap();
    run(&lp);
    assert_eq!(told.get(), 1);
    // Stopped meanwhile, it is not told; started again, it is told again.
    poll.set_interest(Readiness::READ).unwrap();
    poll.stop().unwrap();
    run(&lp);
    assert_eq!(told.get(), 1);
    poll.set_interest(Readiness::WRITE).unwrap();
    run(&lp);
    assert_eq!(told.get(), 2);
}

#[test]
fn one_who_reads_cannot_listen() {
    let lp = new_loop();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.open(peer).unwrap();
    tcp.read_start(|_, _| {}).unwrap();
    assert_eq!(tcp.listen(1, |_, _| {}), Err(Errno::EINVAL));
    assert!(tcp.is_readable());
}

/// Bytes that are gone when they are looked at for the second time and later.
struct Vanishing {
    looks: Cell<u32>,
    bytes: Vec<u8>,
}

impl AsRef<[u8]> for Vanishing {
    fn as_ref(&self) -> &[u8] {
        self.looks.set(self.looks.get() + 1);
        if self.looks.get() <= 2 { &self.bytes } else { &[] }
    }
}

#[test]
fn a_write_whose_bytes_vanish_is_told_once_that_it_has_failed() {
    let lp = new_loop();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.open(accepted).unwrap();
    let told = Rc::new(Cell::new(None));
    let result = Rc::clone(&told);
    // More than the kernel takes at once, so that the rest is looked at later.
    let bytes = Vanishing { looks: Cell::new(0), bytes: vec![1; 64 << 20] };
    tcp.write(bytes, move |tcp, written| {
        assert_eq!(result.replace(Some(written)), None);
        tcp.close().unwrap();
    })
    .unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut &peer, &mut std::io::sink()));
    run(&lp);
    assert_eq!(told.get(), Some(Err(Errno::EINVAL)));
    drop(tcp);
    let _ = reader.join().unwrap();
}
