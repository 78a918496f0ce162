//! The outside of the simulated kernel: peers, and what they plan to do.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use super::connection::Connection;
use super::socket::Socket;
use super::world::World;
use super::{Fault, Fd, Plan, Sim};

/// The other end of a connection. Peers are outside: what they do is never reported in a trace, costs no time, and
/// has no faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(usize);

impl Sim {
    /// A peer connects to a listener at this address.
    ///
    /// # Errors
    /// ECONNREFUSED when nobody listens there; EAGAIN when too many wait for being accepted.
    pub fn connect(&self, address: SocketAddr) -> Result<Peer> {
        let mut world = self.world.borrow_mut();
        let number = world.connections.len();
        let ours = world.arrive(&address, number)?;
        world.new_connection(ours);
        Ok(Peer(number))
    }

    /// A connected socket, and the peer at its other end.
    ///
    /// # Errors
    /// EMFILE.
    pub fn pair(&self) -> Result<(Fd, Peer)> {
        let mut world = self.world.borrow_mut();
        let ours = (Ipv4Addr::LOCALHOST, 1).into();
        let number = world.connections.len();
        let fd = world.open(Socket::connected(number, ours))?;
        world.new_connection(ours);
        drop(world);
        Ok((self.own(fd), Peer(number)))
    }

    /// A terminal, and the peer who sits before it.
    ///
    /// # Errors
    /// EMFILE.
    pub fn terminal(&self) -> Result<(Fd, Peer)> {
        let (fd, peer) = self.pair()?;
        self.world.borrow_mut().socket_mut(fd.number()).is_terminal = true;
        Ok((fd, peer))
    }

    /// The peer at the other end of a socket.
    ///
    /// # Errors
    /// ENOTCONN.
    pub fn peer_of(&self, fd: &Fd) -> Result<Peer> {
        self.world.borrow().connection_of(fd.number()).map(Peer)
    }

    /// Has `plan` carried out in the wait that comes to this time, so many nanoseconds from now.
    pub fn later(&self, delay: u64, plan: impl FnOnce(&Sim) + 'static) {
        self.world.borrow_mut().plan(delay, Box::new(plan));
    }
}

impl World {
    /// At the clock's end, everything happens at once.
    pub(super) fn plan(&mut self, delay: u64, plan: Plan) {
        let key = (self.now.saturating_add(delay).min(u64::MAX - 1), self.next_plan);
        self.next_plan += 1;
        self.plans.insert(key, plan);
    }

    fn new_connection(&mut self, ours: SocketAddr) {
        let theirs = match ours {
            SocketAddr::V4(_) => (Ipv4Addr::LOCALHOST, self.next_peer_port).into(),
            SocketAddr::V6(_) => (Ipv6Addr::LOCALHOST, self.next_peer_port).into(),
        };
        self.next_peer_port = self.next_peer_port.checked_add(1).unwrap_or(32768);
        let mut connection = Connection::new(ours, theirs, self.capacity);
        connection.is_pipe_like = self.commits(Fault::HangUp);
        self.connections.push(connection);
    }
}

impl Peer {
    pub(super) fn of(connection: usize) -> Peer {
        Peer(connection)
    }

    pub(super) fn number(self) -> usize {
        self.0
    }

    /// Sends as much as the connection takes.
    ///
    /// # Errors
    /// EAGAIN when it takes nothing; EPIPE after a shutdown or close of the peer; ECONNRESET when our end is closed.
    pub fn send(self, sim: &Sim, bytes: &[u8]) -> Result<usize> {
        self.with(sim, |connection| {
            if connection.peer_ended {
                return Err(Errno::EPIPE);
            }
            if connection.we_gone {
                connection.reset();
                return Err(Errno::ECONNRESET);
            }
            let count = bytes.len().min(connection.capacity - connection.inbound.len());
            if count == 0 && !bytes.is_empty() {
                return Err(Errno::EAGAIN);
            }
            connection.inbound.extend(&bytes[..count]);
            Ok(count)
        })
    }

    /// Receives up to `most` bytes; none at the end of the stream.
    ///
    /// # Errors
    /// EAGAIN when nothing has come; ECONNRESET when our end was closed with bytes unread; EBADF when the peer has
    /// closed.
    pub fn receive(self, sim: &Sim, most: usize) -> Result<Vec<u8>> {
        self.with(sim, |connection| {
            if connection.peer_gone {
                return Err(Errno::EBADF);
            }
            let count = most.min(connection.outbound.len());
            match (count, connection.peer_was_reset, connection.we_ended) {
                (0, true, _) => Err(Errno::ECONNRESET),
                (0, false, false) => Err(Errno::EAGAIN),
                _ => Ok(connection.outbound.drain(..count).collect()),
            }
        })
    }

    /// Ends the peer's sending side.
    pub fn shutdown(self, sim: &Sim) {
        self.with(sim, |connection| connection.peer_ended = true);
    }

    /// Closes the peer's end; with bytes unread there, that is a reset.
    pub fn close(self, sim: &Sim) {
        self.with(sim, Connection::close_peer);
    }

    /// Resets the connection.
    pub fn reset(self, sim: &Sim) {
        self.with(sim, Connection::reset);
    }

    /// False while the connect of our end goes on, and after it has failed.
    pub fn is_connected(self, sim: &Sim) -> bool {
        self.with(sim, |connection| !connection.is_connecting && !connection.has_failed_to_connect)
    }

    /// True once the peer sends no more: it has shut down, closed or reset.
    pub fn has_ended(self, sim: &Sim) -> bool {
        self.with(sim, |connection| connection.peer_ended)
    }

    /// The peer that our end is to the other end, if that is a socket of ours, too. Leave the bytes of such a pair to
    /// its sockets.
    pub fn partner(self, sim: &Sim) -> Option<Peer> {
        self.with(sim, |connection| connection.partner.map(Peer))
    }

    /// True once the peer has closed or reset the connection.
    pub fn is_gone(self, sim: &Sim) -> bool {
        self.with(sim, |connection| connection.peer_gone)
    }

    /// True once the connection was reset by the peer.
    pub fn has_reset(self, sim: &Sim) -> bool {
        self.with(sim, |connection| connection.is_dead)
    }

    /// The peer's own address.
    pub fn address(self, sim: &Sim) -> SocketAddr {
        self.with(sim, |connection| connection.theirs)
    }

    fn with<R>(self, sim: &Sim, action: impl FnOnce(&mut Connection) -> R) -> R {
        action(&mut sim.world.borrow_mut().connections[self.0])
    }
}
