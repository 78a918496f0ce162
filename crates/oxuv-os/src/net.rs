//! TCP sockets. Addresses are the standard library's.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::net::{self, AddressFamily, RecvFlags, SendAncillaryBuffer, SocketFlags, SocketType, ipproto, sockopt};

use crate::{Address, Descriptor, Errno, Result, Room, link_local};

pub use rustix::net::SendFlags;

/// How a TCP socket is bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindFlags {
    /// An IPv6 socket that takes no IPv4 connections.
    pub ipv6_only: bool,
    /// Several sockets may be bound to the address; the kernel spreads connections over them.
    pub reuse_port: bool,
}

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A new TCP socket of the family that `ip` belongs to.
///
/// # Errors
/// EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM.
pub fn tcp_socket(ip: IpAddr) -> Result<Descriptor> {
    let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    Ok(net::socket_with(family, SocketType::STREAM, FLAGS, None)?.into())
}

/// Binds a TCP socket with `SO_REUSEADDR`.
///
/// # Errors
/// EADDRINUSE, EADDRNOTAVAIL, EACCES, EAFNOSUPPORT, EINVAL when it is bound already.
pub fn bind(fd: &Descriptor, address: &SocketAddr, flags: BindFlags) -> Result<()> {
    sockopt::set_socket_reuseaddr(fd, true)?;
    if flags.reuse_port {
        sockopt::set_socket_reuseport(fd, true)?;
    }
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(fd, flags.ipv6_only)?;
    }
    Ok(net::bind(fd, address)?)
}

/// Makes a socket a listener.
///
/// # Errors
/// EADDRINUSE, EOPNOTSUPP.
pub fn listen(fd: &Descriptor, backlog: i32) -> Result<()> {
    Ok(net::listen(fd, backlog)?)
}

/// Begins to connect: the socket is writable when that has succeeded or failed, see [`take_error`]. A link-local
/// address that names no interface is taken to be behind the first that has such an address itself.
///
/// # Errors
/// EINPROGRESS when it goes on in the background, the usual case; ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EISCONN,
/// EAFNOSUPPORT.
pub fn connect(fd: &Descriptor, address: &SocketAddr) -> Result<()> {
    let mut address = *address;
    if let SocketAddr::V6(address) = &mut address
        && address.scope_id() == 0
        && address.ip().is_unicast_link_local()
    {
        address.set_scope_id(link_local::scope());
    }
    Ok(retry(|| net::connect(fd, &address))?)
}

/// The error that a socket has kept, which is forgotten by this.
///
/// # Errors
/// That error; EBADF, ENOTSOCK.
pub fn take_error(fd: &Descriptor) -> Result<()> {
    Ok(sockopt::socket_error(fd)??)
}

/// Whether small writes are sent at once (`TCP_NODELAY`).
///
/// # Errors
/// EOPNOTSUPP when it is no TCP socket.
pub fn set_nodelay(fd: &Descriptor, on: bool) -> Result<()> {
    Ok(sockopt::set_tcp_nodelay(fd, on)?)
}

/// When an idle connection is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Seconds of idleness before the first probe.
    pub idle: u32,
    /// Seconds between probes.
    pub interval: u32,
    /// Unanswered probes after which the connection is given up.
    pub count: u32,
}

impl Keepalive {
    /// Whether a socket would take these.
    ///
    /// # Errors
    /// EINVAL for a time of 0 or beyond 32767, or a count of 0 or beyond 127.
    pub fn check(self) -> Result<()> {
        // Linux: MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL, MAX_TCP_KEEPCNT.
        let is_fine = [(self.idle, 32767), (self.interval, 32767), (self.count, 127)]
            .iter()
            .all(|&(value, limit)| (1..=limit).contains(&value));
        if is_fine { Ok(()) } else { Err(Errno::EINVAL) }
    }
}

/// Whether an idle connection is probed (`SO_KEEPALIVE`), and when.
///
/// # Errors
/// As [`Keepalive::check`], without effect; EOPNOTSUPP when it is no TCP socket.
pub fn set_keepalive(fd: &Descriptor, keepalive: Option<Keepalive>) -> Result<()> {
    keepalive.map_or(Ok(()), Keepalive::check)?;
    sockopt::set_socket_keepalive(fd, keepalive.is_some())?;
    if let Some(Keepalive { idle, interval, count }) = keepalive {
        sockopt::set_tcp_keepidle(fd, Duration::from_secs(idle.into()))?;
        sockopt::set_tcp_keepintvl(fd, Duration::from_secs(interval.into()))?;
        sockopt::set_tcp_keepcnt(fd, count)?;
    }
    Ok(())
}

/// Makes closing the socket reset the connection: what is not sent is dropped, and the peer gets ECONNRESET.
///
/// # Errors
/// EBADF, ENOTSOCK.
pub fn set_reset_on_close(fd: &Descriptor) -> Result<()> {
    Ok(sockopt::set_socket_linger(fd, Some(Duration::ZERO))?)
}

/// The next waiting connection.
///
/// # Errors
/// EAGAIN when none waits, EMFILE or ENFILE at the descriptor limit, ECONNABORTED.
pub fn accept(fd: &Descriptor) -> Result<Descriptor> {
    Ok(retry(|| net::accept_with(fd, FLAGS))?.into())
}

/// Makes sure that a descriptor is a socket.
///
/// # Errors
/// ENOTSOCK, EBADF.
pub fn check_socket(fd: &Descriptor) -> Result<()> {
    sockopt::socket_type(fd)?;
    Ok(())
}

/// True if it is a socket of TCP.
pub fn is_tcp(fd: &Descriptor) -> bool {
    sockopt::socket_protocol(fd) == Ok(Some(ipproto::TCP))
}

/// Makes sure that a descriptor is a stream socket.
///
/// # Errors
/// EPROTOTYPE for a socket of another type, ENOTSOCK, EBADF.
pub fn check_stream(fd: &Descriptor) -> Result<()> {
    if sockopt::socket_type(fd)? == SocketType::STREAM { Ok(()) } else { Err(Errno::EPROTOTYPE) }
}

/// Makes sure that a descriptor is a socket that sends and receives datagrams, to and from anybody.
///
/// # Errors
/// EPROTOTYPE for a socket of connections, ENOTSOCK, EBADF.
pub fn check_datagrams(fd: &Descriptor) -> Result<()> {
    match sockopt::socket_type(fd)? {
        SocketType::STREAM | SocketType::SEQPACKET => Err(Errno::EPROTOTYPE),
        _ => Ok(()),
    }
}

/// Receives what has come, as much as there is room for; an empty slice at the end of the stream.
///
/// # Errors
/// EAGAIN when nothing has come, ECONNRESET, ETIMEDOUT and other failures of the connection.
#[inline(always)] // As `send`.
pub fn recv<'a>(fd: &Descriptor, mut room: Room<'a>) -> Result<&'a mut [u8]> {
    let count = retry(|| net::recv(fd, room.memory(), RecvFlags::empty()).map(|(_, count)| count))?;
    // SAFETY: `recv` has written that many bytes.
    Ok(unsafe { room.filled(count) })
}

/// Sends from one buffer as much as the socket takes.
///
/// # Errors
/// EAGAIN when it takes nothing now, EPIPE, ECONNRESET and other failures of the connection.
#[inline(always)] // Hardly more than the call, whose result would go through memory.
pub fn send(fd: &Descriptor, buf: &[u8], flags: SendFlags) -> Result<usize> {
    match net::send(fd, buf, flags) {
        // A loop around the call above kept all of this in registers of its own.
        Err(rustix::io::Errno::INTR) => Ok(send_again(fd, buf, flags)? as usize),
        sent => Ok(sent?),
    }
}

/// No call sends more than 2^31 bytes, so the number goes through a register, and the result above with it.
#[cold]
fn send_again(fd: &Descriptor, buf: &[u8], flags: SendFlags) -> Result<u32> {
    Ok(retry(move || net::send(fd, buf, flags))? as u32)
}

/// Sends from several buffers (at most 1024) as much as the socket takes.
///
/// # Errors
/// As [`send`]; EMSGSIZE for more than 1024 buffers.
pub fn send_vectored(fd: &Descriptor, bufs: &[IoSlice<'_>], flags: SendFlags) -> Result<usize> {
    Ok(retry(move || net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), flags))?)
}

/// Ends the sending side: the peer reads the end of the stream.
///
/// # Errors
/// ENOTCONN.
pub fn shutdown_write(fd: &Descriptor) -> Result<()> {
    Ok(net::shutdown(fd, net::Shutdown::Write)?)
}

/// The address the socket is bound to.
///
/// # Errors
/// EBADF, ENOTSOCK; EAFNOSUPPORT when it is not an internet address.
pub fn local_address(fd: &Descriptor) -> Result<SocketAddr> {
    SocketAddr::try_from(&local_name(fd)?)
}

/// The address of the other end.
///
/// # Errors
/// ENOTCONN; as [`local_address`].
pub fn peer_address(fd: &Descriptor) -> Result<SocketAddr> {
    SocketAddr::try_from(&peer_name(fd)?)
}

/// The address the socket is bound to, of whatever family.
///
/// # Errors
/// EBADF, ENOTSOCK.
pub fn local_name(fd: &Descriptor) -> Result<Address> {
    Ok(copied(&net::getsockname(fd)?))
}

/// The address of the other end, of whatever family.
///
/// # Errors
/// ENOTCONN; as [`local_name`].
pub fn peer_name(fd: &Descriptor) -> Result<Address> {
    Ok(copied(&net::getpeername(fd)?.ok_or(Errno::ENOTCONN)?))
}

fn copied(name: &net::SocketAddrAny) -> Address {
    // SAFETY: so many bytes are the address.
    let bytes = unsafe { std::slice::from_raw_parts(name.as_ptr().cast(), name.addr_len() as usize) };
    // There is none that is too long.
    Address::from_bytes(bytes).unwrap_or(Address::none())
}

/// Calls again while signal handlers interrupt it.
#[inline(always)] // Hardly more than the call.
fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Ok(done) => return Ok(done),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    fn listener() -> (Descriptor, SocketAddr) {
        let fd = tcp_socket(Ipv4Addr::LOCALHOST.into()).unwrap();
        bind(&fd, &(Ipv4Addr::LOCALHOST, 0).into(), BindFlags::default()).unwrap();
        listen(&fd, 16).unwrap();
        let address = local_address(&fd).unwrap();
        (fd, address)
    }

    #[test]
    fn a_connection_carries_bytes_both_ways() {
        let (fd, address) = listener();
        assert_eq!(accept(&fd).unwrap_err(), Errno::EAGAIN);
        let mut peer = TcpStream::connect(address).unwrap();
        let ours = accept(&fd).unwrap();
        assert_eq!(peer_address(&ours).unwrap(), peer.local_addr().unwrap());

        let mut buf = [0; 8];
        assert_eq!(recv(&ours, Room::from(&mut buf[..])).unwrap_err(), Errno::EAGAIN);
        peer.write_all(b"hello").unwrap();
        assert_eq!(recv(&ours, Room::from(&mut buf[..])).unwrap(), b"hello");

        assert_eq!(send(&ours, b"good", SendFlags::NOSIGNAL).unwrap(), 4);
        let parts = [IoSlice::new(b"b"), IoSlice::new(b""), IoSlice::new(b"ye")];
        assert_eq!(send_vectored(&ours, &parts, SendFlags::NOSIGNAL).unwrap(), 3);
        shutdown_write(&ours).unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "goodbye");
        drop(peer);
        assert!(recv(&ours, Room::from(&mut buf[..])).unwrap().is_empty());
    }

    #[test]
    fn sockets_are_close_on_exec_and_non_blocking() {
        let (fd, address) = listener();
        let _peer = TcpStream::connect(address).unwrap();
        for fd in [&fd, &accept(&fd).unwrap()] {
            assert!(rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
            assert!(rustix::fs::fcntl_getfl(fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
        }
    }

    #[test]
    fn a_second_bind_is_refused() {
        let (_first, address) = listener();
        let second = tcp_socket(address.ip()).unwrap();
        assert_eq!(bind(&second, &address, BindFlags::default()), Err(Errno::EADDRINUSE));
    }

    #[test]
    fn reuse_port_lets_two_sockets_share_an_address() {
        let flags = BindFlags { reuse_port: true, ..BindFlags::default() };
        let first = tcp_socket(Ipv4Addr::LOCALHOST.into()).unwrap();
        bind(&first, &(Ipv4Addr::LOCALHOST, 0).into(), flags).unwrap();
        let second = tcp_socket(Ipv4Addr::LOCALHOST.into()).unwrap();
        assert_eq!(bind(&second, &local_address(&first).unwrap(), flags), Ok(()));
    }

    #[test]
    fn names_of_an_unconnected_socket() {
        let fd = tcp_socket(Ipv4Addr::LOCALHOST.into()).unwrap();
        assert_eq!(peer_address(&fd), Err(Errno::ENOTCONN));
        assert_eq!(local_address(&fd).unwrap().port(), 0);
    }
}
