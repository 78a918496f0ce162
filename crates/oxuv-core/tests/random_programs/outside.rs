//! The outside of the loop: peers and other threads, and what of the bytes has to arrive.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;

use oxuv_core::sim::{Peer, Sim, Waker};
use oxuv_core::{AsyncSender, Errno};

use crate::Check;
use crate::files::Watches;
use crate::model::Model;
use crate::program::{Outer, Place};
use crate::signals::Signals;
use crate::udp::Mail;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: Peer,
    /// Bytes that the peer has sent, and those of them that the program has read.
    pub(crate) sent: usize,
    pub(crate) read: usize,
    /// Bytes that the program has written, those of them that were reported as sent, and those that the peer has got.
    pub(crate) written: usize,
    pub(crate) reported: usize,
    pub(crate) received: usize,
    /// The peer has shut down, closed or reset.
    pub(crate) has_ended: bool,
    /// The number of the other end's connection, if that is the program's, too.
    pub(crate) partner: Option<usize>,
    /// Where in what was written handles were sent along that are still to come.
    pub(crate) handles: VecDeque<usize>,
    /// Two handles of the program may have it, so that nobody knows whose bytes come when.
    pub(crate) is_loose: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) connections: Vec<Connection>,
    /// The children that have the other ends of connections, and the numbers of these.
    pub(crate) ends_of_children: Vec<(i32, usize)>,
    /// Where the listener of each place can be reached.
    pub(crate) addresses: Vec<Option<SocketAddr>>,
    pub(crate) senders: Vec<Option<AsyncSender<Waker>>>,
    /// The async handles that were sent to and not heard of yet, with the polls begun when they were.
    pub(crate) is_sent: Vec<Option<u64>>,
    /// The polls begun so far.
    pub(crate) turns: u64,
    /// The datagrams of each place.
    pub(crate) mail: Vec<Mail>,
    pub(crate) signals: Signals,
    /// The files that are watched.
    pub(crate) watches: Watches,
    /// What went wrong where nobody could be told.
    pub(crate) complaint: Option<String>,
}

pub(crate) type Shared = Rc<RefCell<Outside>>;

/// The byte at this place of a connection; `from` tells the directions apart.
pub(crate) fn byte(connection: usize, from: u8, place: usize) -> u8 {
    (place.wrapping_mul(31) ^ (place >> 8)) as u8 ^ (connection as u8).wrapping_mul(59) ^ from
}

pub(crate) const PEER: u8 = 0;
pub(crate) const PROGRAM: u8 = 0x80;

/// The bytes of a connection from this place on.
pub(crate) fn bytes(connection: usize, from: u8, start: usize, length: usize) -> Vec<u8> {
    (start..start + length).map(|place| byte(connection, from, place)).collect()
}

impl Outside {
    pub(crate) fn new(places: usize) -> Shared {
        let outside = Outside {
            addresses: vec![None; places],
            senders: vec![None; places],
            is_sent: vec![None; places],
            mail: vec![Mail::default(); places],
            signals: Signals::new(places),
            watches: Watches::new(places),
            ..Outside::default()
        };
        Rc::new(RefCell::new(outside))
    }

    pub(crate) fn add(&mut self, peer: Peer) -> usize {
        self.connections.push(Connection {
            peer,
            sent: 0,
            read: 0,
            written: 0,
            reported: 0,
            received: 0,
            has_ended: false,
            partner: None,
            handles: VecDeque::new(),
            is_loose: false,
        });
        self.connections.len() - 1
    }

    /// Whose bytes are read from a connection: whose connection and direction they belong to, and how many there are.
    pub(crate) fn source(&self, number: usize) -> (usize, u8, usize) {
        match self.connections[number].partner {
            Some(partner) => (partner, PROGRAM, self.connections[partner].written),
            None => (number, PEER, self.connections[number].sent),
        }
    }

    pub(crate) fn find(&self, peer: Peer) -> Option<usize> {
        self.connections.iter().position(|connection| connection.peer == peer)
    }

    /// The connection of a socket that was accepted: one that a peer has made, or another socket of the program.
    pub(crate) fn find_accepted(&mut self, sim: &Sim, peer: Peer) -> Option<usize> {
        if let Some(number) = self.find(peer) {
            return Some(number);
        }
        let partner = self.find(peer.partner(sim)?)?;
        let number = self.add(peer);
        self.join(number, partner);
        Some(number)
    }

    /// Both ends of a connection are the program's.
    pub(crate) fn join(&mut self, one: usize, other: usize) {
        self.connections[one].partner = Some(other);
        self.connections[other].partner = Some(one);
        let is_loose = self.connections[one].is_loose || self.connections[other].is_loose;
        (self.connections[one].is_loose, self.connections[other].is_loose) = (is_loose, is_loose);
    }

    pub(crate) fn act(&mut self, sim: &Sim, outer: Outer) {
        match outer {
            Outer::SendAsync(place) => self.send_async(place),
            Outer::Connect(place) => {
                if let Some(peer) = self.addresses[place].and_then(|address| sim.connect(address).ok()) {
                    self.add(peer);
                }
            }
            Outer::PeerSend(nth, length) => self.with(sim, nth, |number, connection| {
                let bytes = bytes(number, PEER, connection.sent, length);
                connection.sent += connection.peer.send(sim, &bytes).unwrap_or(0);
            }),
            Outer::Letter(place, length) => self.send_letter(sim, place, length),
            Outer::Raise(number) => self.raise(sim, number),
            Outer::TakeLetters => self.take_letters(sim),
            Outer::Exit(nth) => self.end_child(sim, nth),
            Outer::Change(change) => self.change(sim, change),
            Outer::PeerReceive(nth, most) => self.receive(sim, nth, most),
            Outer::PeerShutdown(nth) => self.with(sim, nth, |_, connection| {
                connection.has_ended = true;
                connection.peer.shutdown(sim);
            }),
            Outer::PeerClose(nth) => self.with(sim, nth, |_, connection| {
                connection.has_ended = true;
                connection.peer.close(sim);
            }),
            Outer::PeerReset(nth) => self.with(sim, nth, |_, connection| {
                connection.has_ended = true;
                connection.peer.reset(sim);
            }),
        }
    }

    fn send_async(&mut self, place: Place) {
        if let Some(sender) = &self.senders[place] {
            match sender.send() {
                Ok(()) => self.is_sent[place] = self.is_sent[place].or(Some(self.turns)),
                Err(Errno::EINVAL) => {}
                Err(error) => self.complaint = Some(format!("sending to place {place}: {error:?}")),
            }
        }
    }

    /// Does something with a connection, unless its other end is not there yet, or is the program's, too.
    fn with(&mut self, sim: &Sim, nth: usize, action: impl FnOnce(usize, &mut Connection)) {
        if !self.connections.is_empty() {
            let number = nth % self.connections.len();
            let connection = &mut self.connections[number];
            if connection.peer.is_connected(sim) && connection.peer.partner(sim).is_none() {
                action(number, connection);
            }
        }
    }

    /// A peer receives; what it gets is what was written, in its order.
    fn receive(&mut self, sim: &Sim, nth: usize, most: usize) {
        let mut complaint = None;
        self.with(sim, nth, |number, connection| {
            let Ok(got) = connection.peer.receive(sim, most) else { return };
            if connection.is_loose {
                return;
            }
            if got != bytes(number, PROGRAM, connection.received, got.len()) {
                complaint = Some(format!("the peer of connection {number} has received what was not written"));
            }
            connection.received += got.len();
            if connection.received > connection.written {
                complaint = Some(format!("the peer of connection {number} has received more than was written"));
            }
        });
        self.complaint = complaint.or(self.complaint.take());
    }

    /// All peers receive all that has come.
    pub(crate) fn drain(&mut self, sim: &Sim) {
        (0..self.connections.len()).for_each(|nth| self.receive(sim, nth, usize::MAX));
        self.take_letters(sim);
    }

    /// When all is over: what was reported as sent has arrived, unless the peer has gone before.
    pub(crate) fn check_arrivals(&mut self, sim: &Sim) -> Check {
        self.drain(sim);
        for (number, connection) in self.connections.iter().enumerate() {
            let is_ours = connection.partner.is_some() || connection.peer.partner(sim).is_some();
            let is_complete = is_ours
                || connection.is_loose
                || connection.received >= connection.reported
                || connection.peer.is_gone(sim);
            ensure!(is_complete, "bytes of connection {number} are lost: {connection:?}");
        }
        self.complain()
    }

    /// An async handle that was sent to before a poll was heard of in it.
    pub(crate) fn check_asyncs(&self, model: &Model, turns: u64) -> Check {
        for (place, sent) in self.is_sent.iter().enumerate() {
            let is_late = sent.is_some_and(|sent| sent < turns) && model.open(place).is_ok();
            ensure!(!is_late, "a send to place {place} got lost");
        }
        Ok(())
    }

    pub(crate) fn complain(&mut self) -> Check {
        self.complaint.take().map_or(Ok(()), Err)
    }
}
