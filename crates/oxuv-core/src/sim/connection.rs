//! A connection between us and a peer, as Linux's TCP behaves.

use std::collections::VecDeque;
use std::net::SocketAddr;

use oxuv_os::{Errno, Result};

use super::unix::InFlight;
use crate::kernel::Readiness;

#[derive(Debug)]
pub(super) struct Connection {
    /// Bytes that the peer has sent and we have not received.
    pub(super) inbound: VecDeque<u8>,
    /// Bytes that we have sent and the peer has not received.
    pub(super) outbound: VecDeque<u8>,
    /// How much each of them holds.
    pub(super) capacity: usize,
    pub(super) ours: SocketAddr,
    pub(super) theirs: SocketAddr,
    /// The peer sends no more: it has shut down or closed.
    pub(super) peer_ended: bool,
    /// The peer has closed, or was never there: what we send is answered by a reset.
    pub(super) peer_gone: bool,
    /// We send no more: we have shut down or closed.
    pub(super) we_ended: bool,
    /// Our descriptor is closed.
    pub(super) we_gone: bool,
    /// We have closed with bytes unread: the peer has been reset.
    pub(super) peer_was_reset: bool,
    /// The connection was reset by the peer.
    pub(super) is_dead: bool,
    /// The error that the next receive or send returns, once.
    pub(super) error: Option<Errno>,
    /// Hang-ups look like those of a pipe, see [`Faults::hang_up`](super::Faults::hang_up).
    pub(super) is_pipe_like: bool,
    /// Whether the other side will have it is not known yet.
    pub(super) is_connecting: bool,
    pub(super) has_failed_to_connect: bool,
    /// The connection that has the other end, if that is ours, too: each has the other for its peer.
    pub(super) partner: Option<usize>,
    /// The sockets that are this end: one, and copies that were sent as handles.
    pub(super) holders: usize,
    /// Bytes that we have ever sent, and ever received.
    pub(super) sent: u64,
    pub(super) taken: u64,
    /// How often something that was there was not given: as if it had come right after that.
    pub(super) held_back: u64,
    /// Handles on their way from us and to us.
    pub(super) handles_out: VecDeque<InFlight>,
    pub(super) handles_in: VecDeque<InFlight>,
}

/// What of a connection makes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct News {
    came: u64,
    held_back: u64,
    is_over: (bool, bool, bool),
}

impl Connection {
    pub(super) fn new(ours: SocketAddr, theirs: SocketAddr, capacity: usize) -> Connection {
        Connection {
            inbound: VecDeque::new(),
            outbound: VecDeque::new(),
            capacity,
            ours,
            theirs,
            peer_ended: false,
            peer_gone: false,
            we_ended: false,
            we_gone: false,
            peer_was_reset: false,
            is_dead: false,
            error: None,
            is_pipe_like: false,
            is_connecting: false,
            has_failed_to_connect: false,
            partner: None,
            holders: 1,
            sent: 0,
            taken: 0,
            held_back: 0,
            handles_out: VecDeque::new(),
            handles_in: VecDeque::new(),
        }
    }

    pub(super) fn readiness(&self) -> Readiness {
        let mut ready = Readiness::empty();
        if self.is_connecting {
            return ready;
        }
        if self.is_dead {
            ready |= Readiness::READ | Readiness::READ_HANG_UP | Readiness::WRITE | Readiness::HANG_UP;
        }
        if self.peer_ended {
            ready |= Readiness::READ_HANG_UP;
            if self.we_ended || self.has_hung_up() {
                ready |= Readiness::HANG_UP;
            }
            if !self.has_hung_up() {
                ready |= Readiness::READ;
            }
        }
        if !self.inbound.is_empty() {
            ready |= Readiness::READ;
        }
        if self.we_ended || self.room() > 0 {
            ready |= Readiness::WRITE;
        }
        if self.error.is_some() {
            ready |= Readiness::ERROR | Readiness::READ;
        }
        ready
    }

    /// Changes whenever there is something new to be read, or to be known.
    pub(super) fn news(&self) -> News {
        News {
            came: self.taken + self.inbound.len() as u64,
            held_back: self.held_back,
            is_over: (self.peer_ended, self.we_ended, self.is_dead),
        }
    }

    fn has_hung_up(&self) -> bool {
        self.is_pipe_like && self.peer_gone
    }

    fn room(&self) -> usize {
        self.capacity.saturating_sub(self.outbound.len())
    }

    /// How many bytes we may receive now; 0 is the end of the stream.
    pub(super) fn receivable(&mut self) -> Result<usize> {
        if !self.inbound.is_empty() {
            return Ok(self.inbound.len());
        }
        match self.error.take() {
            Some(error) => Err(error),
            None if self.peer_ended || self.is_dead => Ok(0),
            None => Err(Errno::EAGAIN),
        }
    }

    /// How many of `wanted` bytes we may send now.
    pub(super) fn sendable(&mut self, wanted: usize) -> Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_dead || self.we_ended {
            return Err(Errno::EPIPE);
        }
        if self.is_connecting {
            return Err(Errno::EAGAIN);
        }
        match wanted.min(self.room()) {
            0 if wanted > 0 => Err(Errno::EAGAIN),
            count => Ok(count),
        }
    }

    /// We send these bytes.
    pub(super) fn send(&mut self, bytes: impl Iterator<Item = u8>) {
        let before = self.outbound.len();
        self.outbound.extend(bytes);
        self.sent += (self.outbound.len() - before) as u64;
        if self.peer_gone && self.outbound.len() > before {
            // Nobody is there: the bytes are lost, and the answer to them is a reset.
            self.reset();
        }
    }

    /// The peer closes. With bytes unread that is a reset.
    pub(super) fn close_peer(&mut self) {
        if self.outbound.is_empty() {
            self.peer_ended = true;
            self.peer_gone = true;
        } else {
            self.reset();
        }
    }

    /// The peer resets the connection. What it had sent before can still be received.
    pub(super) fn reset(&mut self) {
        if self.is_dead {
            return;
        }
        // A connection whose peer has ended regularly knows of no reset: it is just broken.
        self.error = Some(if self.peer_ended { Errno::EPIPE } else { Errno::ECONNRESET });
        self.is_dead = true;
        self.has_failed_to_connect |= std::mem::take(&mut self.is_connecting);
        self.peer_ended = true;
        self.peer_gone = true;
        self.outbound.clear();
    }

    /// We close our descriptor. With bytes unread that is a reset.
    pub(super) fn close_ours(&mut self) {
        self.peer_was_reset |= !self.inbound.is_empty();
        self.inbound.clear();
        self.we_ended = true;
        self.we_gone = true;
    }
}
