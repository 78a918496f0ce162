//! Unix sockets: their names, and handles in flight between two connections of ours.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::IoSlice;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use super::connection::Connection;
use super::note::Note;
use super::socket::Socket;
use super::world::World;
use super::{Fd, Sim};
use crate::kernel::{Name, Room};

/// A name, and the address that stands for it among the sockets.
#[derive(Debug)]
pub(super) struct UnixName {
    name: Vec<u8>,
    address: SocketAddr,
}

/// A handle on its way: the place in the stream of the byte that it travels with.
#[derive(Debug)]
pub(super) struct InFlight {
    at: u64,
    socket: Socket,
}

impl Sim {
    /// Two sockets of ours that are connected to each other.
    ///
    /// # Errors
    /// EMFILE.
    pub fn unix_pair(&self) -> Result<(Fd, Fd)> {
        let mut world = self.world.borrow_mut();
        let (one, other) = (world.connections.len(), world.connections.len() + 1);
        for (number, partner) in [(one, other), (other, one)] {
            let mut connection = Connection::new(UNNAMED, UNNAMED, world.capacity);
            connection.partner = Some(partner);
            connection.is_pipe_like = true;
            world.connections.push(connection);
            debug_assert_eq!(number + 1, world.connections.len());
        }
        let first = world.open(Socket::connected(one, UNNAMED))?;
        let second = world.open(Socket::connected(other, UNNAMED));
        drop(world);
        let first = self.own(first);
        Ok((first, self.own(second?)))
    }

    pub(super) fn unix_connect_socket(&self, fd: i32, name: &[u8]) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let address = world.names.iter().find(|known| known.name == name).map(|known| known.address);
        let result = address.ok_or(Errno::ENOENT).and_then(|address| {
            let number = world.begin_connect(fd, address)?;
            // Unix sockets know at once.
            world.end_connect(number, address);
            world.take_error(fd)
        });
        world.note(Note::Connected { fd, result });
        result
    }

    pub(super) fn recv_along<'a>(&self, fd: i32, room: Room<'a>, handles: &mut VecDeque<Fd>) -> Result<&'a mut [u8]> {
        let most = self.world.borrow().one_message(fd, room.len())?;
        let mut world = self.world.borrow_mut();
        let (bytes, sockets) = world.take(fd, room.first(most))?;
        for socket in sockets {
            // At the limit a descriptor is lost, as Linux does.
            if let Ok(number) = world.open_again(socket) {
                handles.push_back(self.own(number));
            }
        }
        Ok(bytes)
    }
}

const UNNAMED: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);

impl World {
    pub(super) fn unix_bind(&mut self, fd: i32, name: &[u8]) -> Result<()> {
        // Each name has an address of its own, which nobody else uses.
        let number = self.names.len() as u128 + 1;
        let address = SocketAddr::new(Ipv6Addr::from((0x2001_0db8_u128 << 96) + number).into(), 1);
        if self.names.iter().any(|known| known.name == name) {
            return Err(Errno::EADDRINUSE);
        }
        self.name_socket(fd, address)?;
        self.names.push(UnixName { name: name.to_vec(), address });
        Ok(())
    }

    /// The name that an address stands for; none for one that is nobody's.
    pub(super) fn unix_name(&self, address: SocketAddr) -> Name {
        Name::new(self.names.iter().find(|known| known.address == address).map_or(&[], |known| &known.name))
    }

    pub(super) fn unix_remove(&mut self, path: &CStr) {
        for known in &mut self.names {
            if known.name == path.to_bytes() {
                // The addresses keep their places.
                known.name.clear();
            }
        }
    }

    pub(super) fn has_unix_file(&self, path: &CStr) -> bool {
        self.names.iter().any(|known| known.name == path.to_bytes())
    }

    pub(super) fn send_along(&mut self, fd: i32, bufs: &[IoSlice<'_>], handle: i32) -> Result<usize> {
        let connection = self.connection_of(fd)?;
        if !self.is_open(handle) {
            return Err(Errno::EBADF);
        }
        let socket = self.copy_socket(handle)?;
        let at = self.connections[connection].sent;
        // In front of the bytes, which may flow on at once.
        self.connections[connection].handles_out.push_back(InFlight { at, socket });
        let sent = self.send(fd, bufs);
        if sent.is_err() {
            self.connections[connection]
                .handles_out
                .pop_back()
                .into_iter()
                .for_each(|flying| self.release(flying.socket));
        }
        sent
    }

    /// How many bytes one receive gives at most: those of two messages with handles come apart.
    fn one_message(&self, fd: i32, wanted: usize) -> Result<usize> {
        let connection = &self.connections[self.connection_of(fd)?];
        let left = |flying: &InFlight| usize::try_from(flying.at - connection.taken).unwrap_or(usize::MAX);
        Ok(connection.handles_in.get(1).map_or(wanted, |second| wanted.min(left(second))))
    }

    /// The handles whose bytes were taken.
    pub(super) fn handles_taken(&mut self, connection: usize) -> Vec<Socket> {
        let connection = &mut self.connections[connection];
        let count = connection.handles_in.iter().take_while(|flying| flying.at < connection.taken).count();
        connection.handles_in.drain(..count).map(|flying| flying.socket).collect()
    }

    /// Drops what is on its way to a socket that is closed.
    pub(super) fn drop_handles_in_flight(&mut self, number: usize) {
        let connection = &mut self.connections[number];
        if !connection.we_gone {
            return;
        }
        let flying: Vec<InFlight> = connection.handles_in.drain(..).collect();
        flying.into_iter().for_each(|flying| self.release(flying.socket));
    }
}
