//! The workloads of `c/socket.c`: pipes, datagrams and bulk. The standard input is a socket.

use std::cell::{Cell, RefCell};
use std::net::{SocketAddr, UdpSocket};

use oxuv::{Errno, Idle, Loop, Pipe, Result, Tcp, Udp, UdpOption};

use crate::front::timed_run;
use crate::program::{ANY_PORT, Spent, standard_input};

const PIECE: &[u8] = &[b'x'; 64 * 1024];
const DATAGRAM: &[u8] = &[b'x'; 64];
const BATCH: usize = 100;

// What a C program has in a static. So no callback captures anything, and none is allocated.
thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(0) };
    static UNSENT: Cell<usize> = const { Cell::new(0) };
    static UNRECEIVED: Cell<usize> = const { Cell::new(0) };
    static PEER: Cell<Option<SocketAddr>> = const { Cell::new(None) };
    /// Who sends, and who receives.
    static TRANSFER: RefCell<Option<(Udp, Udp)>> = const { RefCell::new(None) };
}

/// Counts down, and returns what is left.
fn take(from: &'static std::thread::LocalKey<Cell<usize>>, count: usize) -> usize {
    let left = from.get().saturating_sub(count);
    from.set(left);
    left
}

pub(crate) fn pipe_echo() -> Result<Spent> {
    let lp = Loop::new()?;
    let pipe = Pipe::new(&lp)?;
    pipe.open(standard_input()?)?;
    pipe.read_start(|pipe, read| {
        match read {
            Ok(bytes) => pipe.write_copy(bytes, |_, written| written.expect("the client reads what it is sent")),
            Err(Errno::EOF) => pipe.close(),
            Err(error) => Err(error),
        }
        .expect("the client hangs up when it has its answers");
    })?;
    timed_run(&lp)
}

pub(crate) fn pipe_pump(operations: usize) -> Result<Spent> {
    fn write_piece(pipe: &Pipe) -> Result<()> {
        pipe.write(PIECE, |pipe, written| {
            let next = written.and_then(|()| if take(&LEFT, 1) == 0 { pipe.close() } else { write_piece(pipe) });
            next.expect("the client reads all");
        })
    }
    let lp = Loop::new()?;
    let pipe = Pipe::new(&lp)?;
    pipe.open(standard_input()?)?;
    LEFT.set(operations);
    write_piece(&pipe)?;
    timed_run(&lp)
}

pub(crate) fn tcp_pump(operations: usize) -> Result<Spent> {
    fn write_piece(tcp: &Tcp) -> Result<()> {
        tcp.write(PIECE, |tcp, written| {
            let next = written.and_then(|()| if take(&LEFT, 1) == 0 { tcp.close() } else { write_piece(tcp) });
            next.expect("the client reads all");
        })
    }
    let lp = Loop::new()?;
    let tcp = Tcp::new(&lp)?;
    tcp.open(standard_input()?)?;
    LEFT.set(operations);
    write_piece(&tcp)?;
    timed_run(&lp)
}

pub(crate) fn udp_echo(operations: usize) -> Result<Spent> {
    let lp = Loop::new()?;
    let udp = Udp::new(&lp)?;
    udp.open(standard_input()?)?;
    LEFT.set(operations);
    // All requests are the same, so what is answered need not be what was received.
    udp.receive_start(|udp, datagram| {
        let answered = datagram.and_then(|datagram| {
            udp.send(DATAGRAM, datagram.from, |udp, sent| {
                let done = sent.and_then(|()| if take(&LEFT, 1) == 0 { udp.close() } else { Ok(()) });
                done.expect("the client receives");
            })
        });
        answered.expect("the client receives");
    })?;
    timed_run(&lp)
}

/// A handle on the standard input, and where its first datagram comes from.
fn flooder(lp: &Loop, operations: usize) -> Result<(Udp, SocketAddr)> {
    let socket = UdpSocket::from(standard_input()?);
    let (_, peer) = socket.recv_from(&mut [0])?;
    let udp = Udp::new(lp)?;
    udp.open(socket)?;
    LEFT.set(operations);
    Ok((udp, peer))
}

pub(crate) fn udp_flood(operations: usize) -> Result<Spent> {
    fn send_batch(udp: &Udp) -> Result<()> {
        take(&LEFT, BATCH);
        UNSENT.set(BATCH);
        (0..BATCH).try_for_each(|_| {
            udp.send(DATAGRAM, PEER.get(), |udp, sent| sent.and_then(|()| on_sent(udp)).expect("all are sent"))
        })
    }
    fn on_sent(udp: &Udp) -> Result<()> {
        match (take(&UNSENT, 1), LEFT.get()) {
            (0, 0) => udp.close(),
            (0, _) => send_batch(udp),
            _ => Ok(()),
        }
    }
    let lp = Loop::new()?;
    let (udp, peer) = flooder(&lp, operations)?;
    PEER.set(Some(peer));
    send_batch(&udp)?;
    timed_run(&lp)
}

pub(crate) fn udp_flood_try(operations: usize) -> Result<Spent> {
    let lp = Loop::new()?;
    let (udp, peer) = flooder(&lp, operations)?;
    let datagrams = [(DATAGRAM, Some(peer)); BATCH];
    Idle::new(&lp)?.start(move |idle| {
        let sent = udp.try_send_several(&datagrams).expect("all are sent");
        if take(&LEFT, sent) == 0 {
            idle.close().expect("it is open");
        }
    })?;
    timed_run(&lp)
}

/// With what only the Rust door has: those that are sent by one call are one for the kernel, until the closure gets each.
pub(crate) fn udp_transfer(operations: usize) -> Result<Spent> {
    const DATAGRAMS: &[u8] = &[b'x'; BATCH * DATAGRAM.len()];
    fn transfer() -> Result<()> {
        if UNSENT.get() + UNRECEIVED.get() > 0 {
            return Ok(());
        }
        TRANSFER.with_borrow(|handles| {
            let Some((sender, receiver)) = handles else { return Ok(()) };
            if LEFT.get() == 0 {
                return sender.close().and(receiver.close());
            }
            take(&LEFT, BATCH);
            UNSENT.set(1);
            UNRECEIVED.set(BATCH);
            sender.send_segments(DATAGRAMS, DATAGRAM.len() as u16, PEER.get(), |_, sent| {
                take(&UNSENT, 1);
                sent.and_then(|()| transfer()).expect("all are sent");
            })
        })
    }
    let lp = Loop::new()?;
    let (sender, receiver) = (Udp::new(&lp)?, Udp::new(&lp)?);
    receiver.bind(ANY_PORT.into())?;
    receiver.set(UdpOption::Coalesce(true))?;
    receiver.receive_start(|_, datagram| {
        take(&UNRECEIVED, 1);
        datagram.and_then(|_| transfer()).expect("all are received");
    })?;
    LEFT.set(operations);
    PEER.set(Some(receiver.local_addr()?));
    TRANSFER.set(Some((sender, receiver)));
    transfer()?;
    let taken = timed_run(&lp)?;
    TRANSFER.take();
    Ok(taken)
}
