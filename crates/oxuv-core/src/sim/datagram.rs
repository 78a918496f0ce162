//! Datagram sockets, and what the outside sends to them.

use std::collections::VecDeque;
use std::net::SocketAddr;

use oxuv_os::{Address, Errno, Result};

use super::note::Note;
use super::world::World;
use super::{Fault, Fd, Sim};
use crate::kernel::{Datagram, Queue, Readiness, Received, Room};

/// How many datagrams wait at a socket; those that come then are lost.
const WAITING: usize = 256;

/// The most bytes of a datagram.
const LARGEST: usize = 65507;

/// The most datagrams that are cut out of one.
const SEGMENTS: usize = 64;

/// What the simulated kernel keeps of a datagram socket.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    pub(super) connected: Option<SocketAddr>,
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    /// The queue of errors is kept: `UdpBindFlags::receive_errors`.
    pub(super) keeps_errors: bool,
    errors: VecDeque<(SocketAddr, Vec<u8>)>,
    /// An error that the next call tells.
    error: Option<Errno>,
}

/// What the kernel makes of a datagram that is to be cut apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offload {
    /// It does so.
    Full,
    /// It refuses it with this error.
    Refused(Errno),
    /// It has never heard of it, and sends it as it is.
    Unknown,
}

/// A datagram that has gone to the outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The socket that it came from.
    pub from: SocketAddr,
    /// Where it was sent to.
    pub to: SocketAddr,
    /// What it consists of.
    pub bytes: Vec<u8>,
}

impl Sim {
    /// Has the network take only so many datagrams to the outside until [`Sim::take_letters`] makes room.
    pub fn set_network_room(&self, datagrams: usize) {
        self.world.borrow_mut().network_room = datagrams;
    }

    /// How the kernel cuts datagrams apart: at first it does.
    pub fn set_offload(&self, offload: Offload) {
        self.world.borrow_mut().offload = offload;
    }

    /// The datagrams that have gone to the outside since the last call.
    pub fn take_letters(&self) -> Vec<Letter> {
        std::mem::take(&mut self.world.borrow_mut().letters)
    }

    /// The outside sends a datagram to the socket that is bound to this port. False when it is lost.
    pub fn send_letter(&self, from: SocketAddr, port: u16, bytes: &[u8]) -> bool {
        self.world.borrow_mut().deliver(from, port, bytes.to_vec())
    }

    /// The outside has nobody at the address that a socket has sent this to.
    pub fn refuse_letter(&self, fd: &Fd, letter: &Letter) {
        self.world.borrow_mut().refuse_letter(fd.number(), letter.to, letter.bytes.clone());
    }
}

impl Mailbox {
    pub(super) fn readiness(&self, has_room: bool) -> Readiness {
        let mut readiness = Readiness::empty();
        readiness.set(Readiness::READ, !self.waiting.is_empty());
        readiness.set(Readiness::WRITE, has_room);
        readiness.set(Readiness::ERROR, self.error.is_some() || !self.errors.is_empty());
        readiness
    }

    fn receive(&mut self, queue: Queue) -> Result<(SocketAddr, Vec<u8>)> {
        if queue == Queue::Errors {
            self.error = None;
            return self.errors.pop_front().ok_or(Errno::EAGAIN);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.waiting.pop_front().ok_or(Errno::EAGAIN)
    }
}

impl World {
    pub(super) fn has_network_room(&self) -> bool {
        self.letters.len() < self.network_room
    }

    fn deliver(&mut self, from: SocketAddr, port: u16, bytes: Vec<u8>) -> bool {
        let is_lost = self.commits(Fault::Lost);
        let Some(mailbox) = self.mailbox_at(port).filter(|mailbox| !is_lost && mailbox.waiting.len() < WAITING) else {
            return false;
        };
        if mailbox.connected.is_some_and(|peer| peer != from) {
            return false;
        }
        mailbox.waiting.push_back((from, bytes));
        true
    }

    fn refuse_letter(&mut self, fd: i32, to: SocketAddr, bytes: Vec<u8>) {
        let Ok(mailbox) = self.mailbox_mut(fd) else { return };
        if mailbox.keeps_errors {
            mailbox.errors.push_back((to, bytes));
        }
        if mailbox.keeps_errors || mailbox.connected.is_some() {
            mailbox.error = Some(Errno::ECONNREFUSED);
        }
    }

    pub(super) fn send_datagrams(&mut self, fd: i32, datagrams: &[Datagram<'_>]) -> Result<usize> {
        let most = self.cut_short(datagrams.len(), Fault::ShortWrite);
        let mut result = Ok(0);
        for (nth, datagram) in datagrams[..most].iter().enumerate() {
            match self.send_datagram(fd, datagram) {
                Ok(()) => result = Ok(nth + 1),
                Err(error) if nth == 0 => result = Err(error),
                Err(_) => break,
            }
            if result.is_err() {
                break;
            }
        }
        self.note(Note::Sent { fd, result });
        result
    }

    fn send_datagram(&mut self, fd: i32, datagram: &Datagram<'_>) -> Result<()> {
        let mailbox = self.mailbox_mut(fd)?;
        if let Some(error) = mailbox.error.take() {
            return Err(error);
        }
        let to = match (mailbox.connected, datagram.to) {
            (_, Some(to)) => SocketAddr::try_from(to)?,
            (Some(peer), None) => peer,
            (None, None) => return Err(Errno::EDESTADDRREQ),
        };
        let bytes: Vec<u8> = datagram.parts.iter().flat_map(|part| part.iter().copied()).collect();
        if bytes.len() > LARGEST {
            return Err(Errno::EMSGSIZE);
        }
        let segment_size = match (datagram.options.and_then(|options| options.segment_size), self.offload) {
            (None, _) | (_, Offload::Unknown) => None,
            (Some(_), Offload::Refused(error)) => return Err(error),
            (Some(size), Offload::Full) => Some(usize::from(size.get())),
        };
        if segment_size.is_some_and(|size| bytes.len().div_ceil(size) > SEGMENTS) {
            return Err(Errno::EINVAL);
        }
        if self.commits(Fault::Again) || !self.has_network_room() {
            return Err(Errno::EAGAIN);
        }
        if self.commits(Fault::NoBuffer) {
            return Err(Errno::ENOBUFS);
        }
        match segment_size {
            Some(size) => bytes.chunks(size).for_each(|segment| self.transmit(fd, to, segment.to_vec())),
            None => self.transmit(fd, to, bytes),
        }
        Ok(())
    }

    /// A datagram is on its way.
    fn transmit(&mut self, fd: i32, to: SocketAddr, bytes: Vec<u8>) {
        let from = self.name_of(fd);
        if self.mailbox_at(to.port()).is_some() {
            self.deliver(from, to.port(), bytes);
        } else if self.commits(Fault::Refuse) {
            self.refuse_letter(fd, to, bytes);
        } else {
            self.letters.push(Letter { from, to, bytes });
        }
    }

    pub(super) fn receive_datagram<'a>(&mut self, fd: i32, room: Room<'a>, queue: Queue) -> Result<Received<'a>> {
        let again = self.commits(Fault::Again);
        let taken = if again { Err(Errno::EAGAIN) } else { self.mailbox_mut(fd)?.receive(queue) };
        self.note(Note::Received { fd, result: taken.as_ref().map(|(_, bytes)| bytes.len()).map_err(|&error| error) });
        let (from, bytes) = taken?;
        let fits = bytes.len().min(room.len());
        Ok(Received {
            bytes: room.fill(&bytes),
            from: Address::from(&from),
            is_truncated: fits < bytes.len(),
            error: (queue == Queue::Errors).then_some(Errno::ECONNREFUSED),
            ..Received::none()
        })
    }
}
