//! What a descriptor is, by its number.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::{FileType, fstat};
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::termios::isatty;

/// What a descriptor is, as far as a loop is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptorKind {
    /// A regular file, or a device that is no terminal.
    File,
    /// A terminal, or the master of a pseudo-terminal.
    Terminal,
    /// A FIFO, an end of a pipe, or a stream socket of the Unix domain.
    Pipe,
    /// A TCP socket.
    Tcp,
    /// A UDP socket.
    Udp,
    /// Anything else, or nothing at all.
    Unknown,
}

impl DescriptorKind {
    /// The kind of the descriptor of this number, which may be anybody's, or none.
    pub fn of(number: RawFd) -> DescriptorKind {
        if number < 0 {
            return DescriptorKind::Unknown;
        }
        // SAFETY: not -1. The borrow ends with this function, which but asks about the descriptor; if there is none of
        // this number, the answer is EBADF.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        if isatty(fd) {
            return DescriptorKind::Terminal;
        }
        match fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::RegularFile | FileType::CharacterDevice) => DescriptorKind::File,
            Ok(FileType::Fifo) => DescriptorKind::Pipe,
            Ok(FileType::Socket) => Self::of_socket(fd),
            _ => DescriptorKind::Unknown,
        }
    }

    fn of_socket(fd: BorrowedFd<'_>) -> DescriptorKind {
        match (sockopt::socket_type(fd), sockopt::socket_domain(fd)) {
            (Ok(SocketType::STREAM), Ok(AddressFamily::INET | AddressFamily::INET6)) => DescriptorKind::Tcp,
            (Ok(SocketType::STREAM), Ok(AddressFamily::UNIX)) => DescriptorKind::Pipe,
            (Ok(SocketType::DGRAM), Ok(AddressFamily::INET | AddressFamily::INET6)) => DescriptorKind::Udp,
            _ => DescriptorKind::Unknown,
        }
    }
}

/// Whether the descriptor of this number, which may be anybody's or none, is a socket that others connect to.
pub fn is_listener(number: RawFd) -> bool {
    // SAFETY: not -1. The borrow ends with this function, which but asks about the descriptor; if there is none of this number,
    // the answer is EBADF.
    number >= 0 && sockopt::socket_acceptconn(unsafe { BorrowedFd::borrow_raw(number) }).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::net::{TcpListener, UdpSocket};
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::net::{UnixDatagram, UnixStream};

    fn kind(fd: impl AsFd) -> DescriptorKind {
        DescriptorKind::of(fd.as_fd().as_raw_fd())
    }

    #[test]
    fn files_devices_and_directories() {
        assert_eq!(kind(File::open(std::env::current_exe().unwrap()).unwrap()), DescriptorKind::File);
        assert_eq!(kind(File::open("/dev/null").unwrap()), DescriptorKind::File);
        assert_eq!(kind(File::open("/").unwrap()), DescriptorKind::Unknown);
    }

    #[test]
    fn those_who_listen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(is_listener(listener.as_raw_fd()));
        assert!(!is_listener(UdpSocket::bind("127.0.0.1:0").unwrap().as_raw_fd()));
        assert!(!is_listener(UnixStream::pair().unwrap().0.as_raw_fd()));
        assert!(!is_listener(-1));
    }

    #[test]
    fn sockets_and_pipes() {
        assert_eq!(kind(TcpListener::bind("127.0.0.1:0").unwrap()), DescriptorKind::Tcp);
        assert_eq!(kind(UdpSocket::bind("127.0.0.1:0").unwrap()), DescriptorKind::Udp);
        assert_eq!(kind(UnixStream::pair().unwrap().0), DescriptorKind::Pipe);
        assert_eq!(kind(UnixDatagram::unbound().unwrap()), DescriptorKind::Unknown);
        let (reader, writer) = std::io::pipe().unwrap();
        assert_eq!((kind(reader), kind(writer)), (DescriptorKind::Pipe, DescriptorKind::Pipe));
    }

    #[test]
    fn both_sides_of_a_pseudo_terminal() {
        let (master, slave) = crate::tty::tests::pseudo_terminal();
        assert_eq!((kind(&master), kind(&slave)), (DescriptorKind::Terminal, DescriptorKind::Terminal));
    }

    #[test]
    fn numbers_that_are_no_descriptors() {
        for number in [-1, i32::MIN, i32::MAX] {
            assert_eq!(DescriptorKind::of(number), DescriptorKind::Unknown);
        }
    }
}
