//! Our sockets: the table of descriptors, names, listening and accepting.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use oxuv_os::{Errno, Result};

use super::Fault;
use super::datagram::Mailbox;
use super::files::{Files, Watcher};
use super::note::Note;
use super::world::World;
use crate::kernel::{BindFlags, Readiness, UdpBindFlags};

/// The first number that is given out: 0 to 2 are the standard streams.
const FIRST: usize = 3;

/// The first port that a socket without a name of its own is given.
pub(super) const FIRST_PORT: u16 = 49152;

#[derive(Debug)]
pub(super) struct Socket {
    is_ipv6: bool,
    bound: Option<SocketAddr>,
    flags: BindFlags,
    /// Closing it is a reset.
    pub(super) resets_on_close: bool,
    /// The connection is one to a terminal.
    pub(super) is_terminal: bool,
    role: Role,
}

#[derive(Debug)]
enum Role {
    /// Neither listening nor connected.
    Fresh,
    Listener {
        backlog: usize,
        /// Connections to be accepted.
        waiting: VecDeque<usize>,
    },
    Connected(usize),
    /// For datagrams.
    Datagrams(Mailbox),
    /// The outside's end of a connection, for a child to have.
    End(usize),
    /// It tells the end of this child.
    Process(usize),
    /// No socket at all: tells of changes of files.
    Watcher(Watcher),
}

impl Socket {
    pub(super) fn fresh(ip: IpAddr) -> Socket {
        Socket {
            is_ipv6: ip.is_ipv6(),
            bound: None,
            flags: BindFlags::default(),
            resets_on_close: false,
            is_terminal: false,
            role: Role::Fresh,
        }
    }

    pub(super) fn connected(connection: usize, ours: SocketAddr) -> Socket {
        let role = Role::Connected(connection);
        Socket { bound: Some(ours), role, ..Socket::fresh(ours.ip()) }
    }

    /// True if a connection to this address, or a second listener there, would meet this listener.
    fn listens_at(&self, address: &SocketAddr) -> bool {
        let (Role::Listener { .. }, Some(bound)) = (&self.role, self.bound) else { return false };
        let takes_both = bound.ip() == Ipv6Addr::UNSPECIFIED && !self.flags.ipv6_only;
        let same_family = bound.is_ipv4() == address.is_ipv4();
        let same_ip = bound.ip() == address.ip() || bound.ip().is_unspecified() || address.ip().is_unspecified();
        bound.port() == address.port() && (same_family && same_ip || takes_both)
    }
}

impl World {
    /// Gives a socket the lowest free number.
    pub(super) fn open(&mut self, socket: Socket) -> Result<i32> {
        let place = self.files.iter().position(Option::is_none).unwrap_or(self.files.len());
        if self.open_count() >= self.descriptor_limit {
            return Err(Errno::EMFILE);
        }
        if place == self.files.len() {
            self.files.push(None);
        }
        self.files[place] = Some(socket);
        let fd = (place + FIRST) as i32;
        self.note(Note::Opened { fd });
        Ok(fd)
    }

    pub(super) fn open_count(&self) -> usize {
        self.files.iter().flatten().count()
    }

    /// The numbers of all open descriptors.
    pub(super) fn open_numbers(&self) -> Vec<i32> {
        (0..self.files.len()).filter(|&place| self.files[place].is_some()).map(|place| (place + FIRST) as i32).collect()
    }

    pub(super) fn is_open(&self, number: i32) -> bool {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(FIRST));
        place.and_then(|place| self.files.get(place)).is_some_and(Option::is_some)
    }

    pub(super) fn close(&mut self, fd: i32) {
        let socket = self.files[fd as usize - FIRST].take().expect("a descriptor is closed once");
        if self.close_watch(fd) {
            // A copy of the descriptor in another process would go on reporting.
            self.note(Note::Misused { fd, error: Errno::EBUSY });
        }
        self.note(Note::Closed { fd });
        self.release(socket);
    }

    /// A socket that nothing refers to any more.
    pub(super) fn release(&mut self, socket: Socket) {
        match socket.role {
            Role::Connected(connection) if self.connections[connection].holders > 1 => {
                self.connections[connection].holders -= 1;
            }
            Role::Fresh | Role::Datagrams(_) | Role::Process(_) | Role::Watcher(_) => {}
            Role::End(connection) => {
                if !self.is_end_of_a_child(connection) {
                    self.connections[connection].close_peer();
                }
            }
            Role::Connected(connection) => {
                self.connections[connection].peer_was_reset |= socket.resets_on_close;
                self.connections[connection].close_ours();
                self.exchange(connection);
            }
            Role::Listener { waiting, .. } => waiting.into_iter().for_each(|connection| self.refuse(connection)),
        }
    }

    /// The same socket once more, to be sent as a handle. Only connections can be sent here.
    pub(super) fn copy_socket(&mut self, fd: i32) -> Result<Socket> {
        let socket = self.socket(fd);
        let Role::Connected(connection) = socket.role else { return Err(Errno::ENOTSUP) };
        let copy = Socket { role: Role::Connected(connection), ..*socket };
        self.connections[connection].holders += 1;
        Ok(copy)
    }

    /// Gives a socket that has come as a handle a number. Without one it is lost.
    pub(super) fn open_again(&mut self, socket: Socket) -> Result<i32> {
        if self.open_count() >= self.descriptor_limit {
            self.release(socket);
            return Err(Errno::EMFILE);
        }
        self.open(socket)
    }

    /// Gives a socket a name that nobody looks at.
    pub(super) fn name_socket(&mut self, fd: i32, address: SocketAddr) -> Result<()> {
        let socket = self.socket_mut(fd);
        match socket.bound.replace(address) {
            Some(_) => Err(Errno::EINVAL),
            None => Ok(()),
        }
    }

    /// A connection that nobody accepts.
    fn refuse(&mut self, connection: usize) {
        self.connections[connection].peer_was_reset = true;
        self.connections[connection].close_ours();
        self.exchange(connection);
    }

    pub(super) fn socket(&self, fd: i32) -> &Socket {
        self.files[fd as usize - FIRST].as_ref().expect("an owned descriptor is open")
    }

    pub(super) fn socket_mut(&mut self, fd: i32) -> &mut Socket {
        self.files[fd as usize - FIRST].as_mut().expect("an owned descriptor is open")
    }

    pub(super) fn is_listener(&self, fd: i32) -> bool {
        matches!(self.socket(fd).role, Role::Listener { .. })
    }

    /// Makes a socket the end of a connection.
    pub(super) fn set_connection(&mut self, fd: i32, number: usize) {
        let ours = self.connections[number].ours;
        let socket = self.socket_mut(fd);
        (socket.role, socket.bound) = (Role::Connected(number), Some(ours));
    }

    /// The number of the socket's connection.
    pub(super) fn connection_of(&self, fd: i32) -> Result<usize> {
        match self.socket(fd).role {
            Role::Connected(connection) => Ok(connection),
            _ => Err(Errno::ENOTCONN),
        }
    }

    pub(super) fn readiness(&self, fd: i32) -> Readiness {
        match &self.socket(fd).role {
            Role::Fresh => Readiness::WRITE | Readiness::HANG_UP,
            Role::Listener { waiting, .. } if waiting.is_empty() => Readiness::empty(),
            Role::Listener { .. } => Readiness::READ,
            Role::Connected(connection) => self.connections[*connection].readiness(),
            Role::Datagrams(mailbox) => mailbox.readiness(self.has_network_room()),
            Role::Process(number) if self.has_ended(*number) => Readiness::READ,
            Role::End(_) | Role::Process(_) => Readiness::empty(),
            Role::Watcher(watcher) => watcher.readiness(),
        }
    }

    pub(super) fn tcp_socket(&mut self, family: IpAddr) -> Result<i32> {
        self.lacks_descriptor()?;
        self.open(Socket::fresh(family))
    }

    /// The outside's end of a connection, before a child has it.
    pub(super) fn open_end(&mut self, connection: usize) -> Result<i32> {
        let end = Socket { role: Role::End(connection), ..Socket::fresh(Ipv6Addr::UNSPECIFIED.into()) };
        self.open(end)
    }

    /// The connection whose outer end this is.
    pub(super) fn end_of(&self, fd: i32) -> Option<usize> {
        match self.socket(fd).role {
            Role::End(connection) => Some(connection),
            _ => None,
        }
    }

    /// A descriptor that tells the end of a child.
    pub(super) fn open_process(&mut self, number: usize) -> Result<i32> {
        self.open(Socket { role: Role::Process(number), ..Socket::fresh(Ipv6Addr::UNSPECIFIED.into()) })
    }

    pub(super) fn count_own(&self) -> usize {
        let is_own = |socket: &&Socket| matches!(socket.role, Role::Process(_) | Role::Watcher(_));
        self.files.iter().flatten().filter(is_own).count()
    }

    /// Perhaps opens a terminal once more: the same connection by another number.
    pub(super) fn reopen_terminal(&mut self, fd: i32) -> Result<Option<i32>> {
        if !self.socket(fd).is_terminal || self.random.chance(500) {
            return Ok(None);
        }
        let copy = self.copy_socket(fd)?;
        // One that cannot be opened is used as it is.
        Ok(self.open_again(copy).ok())
    }

    pub(super) fn file_watcher(&mut self) -> Result<i32> {
        self.lacks_descriptor()?;
        let role = Role::Watcher(Watcher::default());
        self.open(Socket { role, ..Socket::fresh(Ipv4Addr::UNSPECIFIED.into()) })
    }

    /// All descriptors that tell of changes of files.
    pub(super) fn watchers(&mut self) -> impl Iterator<Item = &mut Watcher> {
        self.files.iter_mut().flatten().filter_map(|socket| match &mut socket.role {
            Role::Watcher(watcher) => Some(watcher),
            _ => None,
        })
    }

    /// Does something with one of them.
    pub(super) fn with_watcher<R>(&mut self, fd: i32, act: impl FnOnce(&Files, &mut Watcher) -> R) -> R {
        let socket = self.files[fd as usize - FIRST].as_mut().expect("an owned descriptor is open");
        let Role::Watcher(watcher) = &mut socket.role else { panic!("{fd} tells of no changes") };
        act(&self.disk, watcher)
    }

    pub(super) fn udp_socket(&mut self, family: IpAddr) -> Result<i32> {
        self.lacks_descriptor()?;
        self.open(Socket { role: Role::Datagrams(Mailbox::default()), ..Socket::fresh(family) })
    }

    pub(super) fn udp_bind(&mut self, fd: i32, address: &SocketAddr, flags: UdpBindFlags) -> Result<()> {
        if address.port() != 0 && self.mailbox_at(address.port()).is_some() {
            return Err(Errno::EADDRINUSE);
        }
        self.bind(fd, address, BindFlags { ipv6_only: flags.ipv6_only, reuse_port: flags.reuse_port })?;
        self.mailbox_mut(fd)?.keeps_errors = flags.receive_errors;
        Ok(())
    }

    pub(super) fn mailbox(&self, fd: i32) -> Result<&Mailbox> {
        match &self.socket(fd).role {
            Role::Datagrams(mailbox) => Ok(mailbox),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    pub(super) fn mailbox_mut(&mut self, fd: i32) -> Result<&mut Mailbox> {
        match &mut self.socket_mut(fd).role {
            Role::Datagrams(mailbox) => Ok(mailbox),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    /// The datagram socket that is bound to this port.
    pub(super) fn mailbox_at(&mut self, port: u16) -> Option<&mut Mailbox> {
        self.files.iter_mut().flatten().find_map(|socket| match &mut socket.role {
            Role::Datagrams(mailbox) if socket.bound.is_some_and(|bound| bound.port() == port) => Some(mailbox),
            _ => None,
        })
    }

    /// The name that a socket sends by; it gets one if it has none.
    pub(super) fn name_of(&mut self, fd: i32) -> SocketAddr {
        let mut name = self.local_address(fd);
        if name.port() == 0 {
            name.set_port(self.free_port());
            self.socket_mut(fd).bound = Some(name);
        }
        name
    }

    pub(super) fn bind(&mut self, fd: i32, address: &SocketAddr, flags: BindFlags) -> Result<()> {
        let socket = self.socket(fd);
        if socket.bound.is_some() {
            return Err(Errno::EINVAL);
        }
        if socket.is_ipv6 != address.is_ipv6() {
            return Err(Errno::EAFNOSUPPORT);
        }
        if !(address.ip().is_loopback() || address.ip().is_unspecified()) {
            return Err(EADDRNOTAVAIL);
        }
        let mut address = *address;
        if address.port() == 0 {
            address.set_port(self.free_port());
        } else if self.is_taken(fd, &address, flags) {
            return Err(Errno::EADDRINUSE);
        }
        let socket = self.socket_mut(fd);
        (socket.bound, socket.flags) = (Some(address), flags);
        Ok(())
    }

    /// With `SO_REUSEADDR` two sockets may have one name until one of them listens.
    fn is_taken(&self, fd: i32, address: &SocketAddr, flags: BindFlags) -> bool {
        let own = fd as usize - FIRST;
        self.files
            .iter()
            .enumerate()
            .filter(|&(place, _)| place != own)
            .filter_map(|(_, file)| file.as_ref())
            .any(|socket| socket.listens_at(address) && !(socket.flags.reuse_port && flags.reuse_port))
    }

    pub(super) fn free_port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = port.checked_add(1).unwrap_or(FIRST_PORT);
        port
    }

    pub(super) fn listen(&mut self, fd: i32, backlog: i32) -> Result<()> {
        let result = self.try_listen(fd, usize::try_from(backlog).unwrap_or(usize::MAX).max(1));
        self.note(Note::Listened { fd, result });
        result
    }

    fn try_listen(&mut self, fd: i32, new_backlog: usize) -> Result<()> {
        match &mut self.socket_mut(fd).role {
            Role::Listener { backlog, .. } => {
                *backlog = new_backlog;
                return Ok(());
            }
            Role::Fresh => {}
            _ => return Err(Errno::EINVAL),
        }
        let (is_ipv6, flags, bound) = (self.socket(fd).is_ipv6, self.socket(fd).flags, self.socket(fd).bound);
        match bound {
            Some(address) if self.is_taken(fd, &address, flags) => return Err(Errno::EADDRINUSE),
            Some(_) => {}
            None => {
                let ip: IpAddr = if is_ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
                let port = self.free_port();
                self.socket_mut(fd).bound = Some((ip, port).into());
            }
        }
        self.socket_mut(fd).role = Role::Listener { backlog: new_backlog, waiting: VecDeque::new() };
        Ok(())
    }

    pub(super) fn accept(&mut self, listener: i32) -> Result<i32> {
        let result = self.try_accept(listener);
        self.note(Note::Accepted { listener, result });
        result
    }

    fn try_accept(&mut self, listener: i32) -> Result<i32> {
        let Role::Listener { waiting, .. } = &self.socket(listener).role else { return Err(Errno::EINVAL) };
        let &connection = waiting.front().ok_or(Errno::EAGAIN)?;
        if self.commits(Fault::Again) {
            return Err(Errno::EAGAIN);
        }
        self.lacks_descriptor()?;
        if self.commits(Fault::Abort) {
            self.take_waiting(listener);
            self.refuse(connection);
            return Err(Errno::ECONNABORTED);
        }
        let ours = self.connections[connection].ours;
        let fd = self.open(Socket::connected(connection, ours))?;
        self.take_waiting(listener);
        Ok(fd)
    }

    fn take_waiting(&mut self, listener: i32) -> Option<usize> {
        match &mut self.socket_mut(listener).role {
            Role::Listener { waiting, .. } => waiting.pop_front(),
            _ => None,
        }
    }

    pub(super) fn shed(&mut self, listener: i32) -> bool {
        let (mut count, done) = (0, self.lacks_descriptor().is_ok());
        while done && let Some(connection) = self.take_waiting(listener) {
            self.refuse(connection);
            count += 1;
        }
        self.note(Note::Shed { listener, count, done });
        done
    }

    /// Puts a connection into the queue of a listener at this address.
    ///
    /// # Errors
    /// ECONNREFUSED when nobody listens there, EAGAIN when the queue is full.
    pub(super) fn arrive(&mut self, address: &SocketAddr, connection: usize) -> Result<SocketAddr> {
        let listens = |file: &Option<Socket>| file.as_ref().is_some_and(|socket| socket.listens_at(address));
        let places: Vec<usize> = (0..self.files.len()).filter(|&place| listens(&self.files[place])).collect();
        let &place = self.random.pick(&places).ok_or(Errno::ECONNREFUSED)?;
        let Some(Socket { role: Role::Listener { backlog, waiting }, bound, .. }) = &mut self.files[place] else {
            return Err(Errno::ECONNREFUSED);
        };
        if waiting.len() > *backlog {
            return Err(Errno::EAGAIN);
        }
        waiting.push_back(connection);
        Ok(SocketAddr::new(address.ip(), bound.map_or(0, |bound| bound.port())))
    }

    pub(super) fn local_address(&self, fd: i32) -> SocketAddr {
        let socket = self.socket(fd);
        let unnamed: IpAddr = if socket.is_ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        socket.bound.unwrap_or((unnamed, 0).into())
    }

    pub(super) fn lacks_descriptor(&mut self) -> Result<()> {
        match self.commits(Fault::NoDescriptor) {
            true if self.random.chance(500) => Err(Errno::EMFILE),
            true => Err(Errno::ENFILE),
            false => Ok(()),
        }
    }
}

const EADDRNOTAVAIL: Errno = Errno::from_raw(99);
