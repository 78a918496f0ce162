//! Connecting: to an address that the outside serves, or to a listener of our own.

use std::net::SocketAddr;

use oxuv_os::{Errno, Result};

use super::connection::Connection;
use super::note::Note;
use super::world::World;
use super::{Fault, Sim};

/// The socket is connected, or a listener.
const EISCONN: Errno = Errno::from_raw(106);

impl Sim {
    /// Has the outside accept connections at this address. Their other end is [`Sim::peer_of`] our socket.
    pub fn serve(&self, address: SocketAddr) {
        self.world.borrow_mut().served.push(address);
    }

    pub(super) fn connect_socket(&self, fd: i32, address: SocketAddr) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let begun = world.begin_connect(fd, address);
        let answer = begun.and(Err(Errno::EINPROGRESS));
        world.note(Note::Connected { fd, result: answer });
        // It goes on in the background, and is known when the kernel is next waited for, or a little later.
        let delay = if world.commits(Fault::Late) { 1 + world.random.below(100_000) as u64 } else { 0 };
        drop(world);
        let number = begun?;
        self.later(delay, move |sim| sim.world.borrow_mut().end_connect(number, address));
        answer
    }
}

impl World {
    pub(super) fn begin_connect(&mut self, fd: i32, address: SocketAddr) -> Result<usize> {
        let ours = self.local_address(fd);
        if ours.is_ipv4() != address.is_ipv4() {
            return Err(Errno::EAFNOSUPPORT);
        }
        if self.is_listener(fd) {
            return Err(EISCONN);
        }
        if let Ok(number) = self.connection_of(fd) {
            let connection = &self.connections[number];
            if connection.is_connecting {
                return Err(Errno::EALREADY);
            }
            if !connection.has_failed_to_connect {
                return Err(EISCONN);
            }
        }
        if self.commits(Fault::Refuse) {
            return Err(Errno::ECONNREFUSED);
        }
        let ours = if ours.port() == 0 { SocketAddr::new(address.ip(), self.free_port()) } else { ours };
        let number = self.connections.len();
        let mut connection = Connection::new(ours, address, self.capacity);
        connection.is_connecting = true;
        connection.is_pipe_like = self.commits(Fault::HangUp);
        self.connections.push(connection);
        self.set_connection(fd, number);
        Ok(number)
    }

    /// The other side has answered.
    pub(super) fn end_connect(&mut self, number: usize, address: SocketAddr) {
        let Connection { is_connecting, we_gone, ours: theirs, .. } = self.connections[number];
        if !is_connecting || we_gone {
            return;
        }
        let partner = self.connections.len();
        if self.commits(Fault::Refuse) {
            self.connections[number].refuse();
        } else if self.served.contains(&address) {
            self.connections[number].is_connecting = false;
        } else if let Ok(ours) = self.arrive(&address, partner) {
            let mut other = Connection::new(ours, theirs, self.capacity);
            other.partner = Some(number);
            self.connections.push(other);
            self.connections[number].partner = Some(partner);
            self.connections[number].is_connecting = false;
        } else {
            self.connections[number].refuse();
        }
    }

    /// Moves on what two ends of ours have sent to each other, and how they have ended.
    pub(super) fn exchange(&mut self, number: usize) {
        let Some(partner) = self.connections[number].partner else { return };
        if let Ok([one, other]) = self.connections.get_disjoint_mut([number, partner]) {
            one.flow_into(other);
            other.flow_into(one);
        }
        self.drop_handles_in_flight(number);
        self.drop_handles_in_flight(partner);
    }

    /// The error that a socket has kept.
    pub(super) fn take_error(&mut self, fd: i32) -> Result<()> {
        let Ok(number) = self.connection_of(fd) else { return Ok(()) };
        let connection = &mut self.connections[number];
        if connection.is_connecting {
            return Err(Errno::EINPROGRESS);
        }
        connection.error.take().map_or(Ok(()), Err)
    }
}

impl Connection {
    /// Nobody listens at the other side.
    fn refuse(&mut self) {
        self.reset();
        self.error = Some(Errno::ECONNREFUSED);
    }

    /// What we have sent reaches the other end, which is ours, too; and then how we have ended.
    fn flow_into(&mut self, other: &mut Connection) {
        if !other.we_gone && !other.is_dead {
            // What a closed end has left comes whatever the room. Held back, it would hide from the other end that it
            // writes to nobody, and what that writes meanwhile would wait for ever.
            let room = if self.we_gone { usize::MAX } else { other.capacity.saturating_sub(other.inbound.len()) };
            let count = room.min(self.outbound.len());
            other.inbound.extend(self.outbound.drain(..count));
            other.handles_in.append(&mut self.handles_out);
        }
        if self.is_dead || self.peer_was_reset {
            other.reset();
        } else if self.outbound.is_empty() {
            other.peer_ended |= self.we_ended;
            other.peer_gone |= self.we_gone;
        }
    }
}
