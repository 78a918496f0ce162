//! Stream sockets of the Unix domain: their names, and descriptors that travel along with bytes.

use std::ffi::CStr;
use std::io::{Error, IoSlice};
use std::mem::{MaybeUninit, offset_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, sockaddr, sockaddr_un, socklen_t};
use rustix::fs::{AtFlags, CWD, FileType, Mode, chmodat, fstat, statat};
use rustix::net::{self, AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SocketFlags, SocketType};

use crate::net::SendFlags;
use crate::{Descriptor, Errno, Result, Room, set_nonblocking};

/// The bytes that a name has at most.
pub const NAME_SIZE: usize = size_of::<sockaddr_un>() - NAME_AT;

/// The descriptors that travel with one message at most (the kernel's SCM_MAX_FD).
pub const MAX_HANDLES: usize = 253;

const NAME_AT: usize = offset_of!(sockaddr_un, sun_path);

/// A new stream socket.
///
/// # Errors
/// EMFILE, ENFILE, ENOBUFS, ENOMEM.
pub fn socket() -> Result<Descriptor> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?.into())
}

/// Makes sure that this can be a socket's name: the path of a file, or, with a zero byte in front, a name of the abstract
/// kind, which is no file and may have more zero bytes; of no bytes, one that the kernel chooses.
///
/// # Errors
/// ENAMETOOLONG for more than [`NAME_SIZE`] bytes; EINVAL for a path with a zero byte.
pub fn check_name(name: &[u8]) -> Result<()> {
    match name {
        _ if name.len() > NAME_SIZE => Err(Errno::ENAMETOOLONG),
        [] | [0, ..] => Ok(()),
        path if path.contains(&0) => Err(Errno::EINVAL),
        _ => Ok(()),
    }
}

/// Binds a socket to a name, which for a path makes the file.
///
/// # Errors
/// As [`check_name`]; EADDRINUSE, EACCES, ENOENT, ENOTDIR, EROFS; EINVAL when it is bound already.
pub fn bind(fd: &Descriptor, name: &[u8]) -> Result<()> {
    call_with_address(fd, name, libc::bind)
}

/// Connects a socket. Unless the listener's queue is full, that is done at once.
///
/// # Errors
/// As [`check_name`]; ENOENT, ECONNREFUSED when nobody listens there, EAGAIN for a full queue, EACCES, EPROTOTYPE,
/// EISCONN.
pub fn connect(fd: &Descriptor, name: &[u8]) -> Result<()> {
    loop {
        match call_with_address(fd, name, libc::connect) {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}

type AddressCall = unsafe extern "C" fn(c_int, *const sockaddr, socklen_t) -> c_int;

fn call_with_address(fd: &Descriptor, name: &[u8], call: AddressCall) -> Result<()> {
    check_name(name)?;
    // SAFETY: all of its fields are numbers.
    let mut address: sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (place, &byte) in address.sun_path.iter_mut().zip(name) {
        *place = byte as libc::c_char;
    }
    // A path ends with its first zero byte, or with the field; any other name is as long as is said here.
    let is_path = name.first().is_some_and(|&byte| byte != 0);
    let size = if is_path { size_of::<sockaddr_un>() } else { NAME_AT + name.len() };
    // SAFETY: `address` lives until the call returns, and is at least as large as `size` says.
    match unsafe { call(fd.as_raw_fd(), (&raw const address).cast(), size as socklen_t) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error().into()),
    }
}

/// A socket's name, of the kinds that [`check_name`] tells of; empty when it has none.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    bytes: [u8; NAME_SIZE],
    len: usize,
}

impl Name {
    /// A name of these bytes, which are not too many.
    pub fn new(name: &[u8]) -> Name {
        let (mut bytes, len) = ([0; NAME_SIZE], name.len().min(NAME_SIZE));
        bytes[..len].copy_from_slice(&name[..len]);
        Name { bytes, len }
    }

    /// Its bytes, without any that would only end it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The name a socket is bound to.
///
/// # Errors
/// ENOTSOCK, EBADF; EAFNOSUPPORT for a socket of another family.
pub fn local_name(fd: &Descriptor) -> Result<Name> {
    ask_name(fd, libc::getsockname)
}

/// The name of the other end.
///
/// # Errors
/// ENOTCONN; as [`local_name`].
pub fn peer_name(fd: &Descriptor) -> Result<Name> {
    ask_name(fd, libc::getpeername)
}

type NameCall = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

fn ask_name(fd: &Descriptor, call: NameCall) -> Result<Name> {
    // SAFETY: all of its fields are numbers.
    let mut address: sockaddr_un = unsafe { zeroed() };
    let mut size = size_of::<sockaddr_un>() as socklen_t;
    // SAFETY: both live until the call returns, which writes no more to `address` than `size` says.
    if unsafe { call(fd.as_raw_fd(), (&raw mut address).cast(), &raw mut size) } != 0 {
        return Err(Error::last_os_error().into());
    }
    if c_int::from(address.sun_family) != libc::AF_UNIX {
        return Err(Errno::EAFNOSUPPORT);
    }
    let bytes = address.sun_path.map(|byte| byte as u8);
    // The size counts the zero byte behind a path, for which there may have been no room.
    let said = (size as usize).saturating_sub(NAME_AT).min(NAME_SIZE);
    let len = match bytes[0] {
        0 => said,
        _ => bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME_SIZE),
    };
    Ok(Name::new(&bytes[..len]))
}

/// Sets the permissions of a bound socket's file.
///
/// # Errors
/// ENOENT when there is none, ENOTSOCK when something else is there now, a symbolic link included; EPERM, EROFS.
pub fn set_mode(path: &CStr, mode: u32) -> Result<()> {
    let found = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
        return Err(Errno::ENOTSOCK);
    }
    Ok(chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty())?)
}

/// Removes a bound socket's file; nothing happens if there is none.
pub fn remove(path: &CStr) {
    // Somebody else may have done so before.
    let _ = rustix::fs::unlink(path);
}

/// Two descriptors of which the first reads what is written to the second, close-on-exec and blocking.
///
/// # Errors
/// EMFILE, ENFILE.
pub fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Two connected stream sockets, close-on-exec and blocking.
///
/// # Errors
/// EMFILE, ENFILE.
pub fn pair() -> Result<(OwnedFd, OwnedFd)> {
    crate::socket::pair(libc::SOCK_STREAM, 0)
}

/// What a descriptor made elsewhere can do as a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// It is a socket, to be used with `recv` and `send`.
    pub is_socket: bool,
    /// It is a terminal, or the master of a pseudo-terminal.
    pub is_terminal: bool,
    /// It can be waited for. Regular files and some devices cannot: they are always ready.
    pub is_pollable: bool,
    /// It was opened for reading.
    pub readable: bool,
    /// It was opened for writing.
    pub writable: bool,
}

/// Makes a descriptor that was made elsewhere non-blocking, and says what it can do, but for whether it can be waited
/// for, of which only the ones are sure that are sockets and FIFOs.
///
/// # Errors
/// EBADF.
pub fn adopt(fd: &Descriptor) -> Result<Abilities> {
    let kind = FileType::from_raw_mode(fstat(fd)?.st_mode);
    let access = rustix::fs::fcntl_getfl(fd)? & rustix::fs::OFlags::ACCMODE;
    set_nonblocking(fd.as_raw_fd())?;
    Ok(Abilities {
        is_socket: kind == FileType::Socket,
        is_terminal: kind == FileType::CharacterDevice && rustix::termios::isatty(fd),
        is_pollable: matches!(kind, FileType::Socket | FileType::Fifo),
        readable: access != rustix::fs::OFlags::WRONLY,
        writable: access != rustix::fs::OFlags::RDONLY,
    })
}

/// Sends as much of the buffers (at most 1024) as the socket takes, and with the first byte a copy of somebody's
/// descriptor.
///
/// # Errors
/// EAGAIN when it takes nothing now, with the descriptor neither; ENOTSOCK, EBADF; ETOOMANYREFS when too many are under
/// way; as [`net::send`](crate::net::send).
pub fn send_with_handle(fd: &Descriptor, bufs: &[IoSlice<'_>], handle: RawFd, flags: SendFlags) -> Result<usize> {
    if handle < 0 {
        return Err(Errno::EBADF);
    }
    // SAFETY: not -1. The borrow ends with this function, which has the kernel copy it; of a number that is no
    // descriptor it says EBADF.
    let handles = [unsafe { BorrowedFd::borrow_raw(handle) }];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    loop {
        let mut control = SendAncillaryBuffer::new(&mut space);
        // There is room for the one.
        control.push(SendAncillaryMessage::ScmRights(&handles));
        match net::sendmsg(fd, bufs, &mut control, flags) {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Room for what goes along with a message: [`MAX_HANDLES`] descriptors, and a header. Words, since a header begins at a
/// multiple of their size.
const CONTROL_WORDS: usize = (MAX_HANDLES * size_of::<RawFd>()).div_ceil(size_of::<usize>()) + 8;

/// As [`net::recv`](crate::net::recv), and gives each descriptor that comes along to `take`: close-on-exec, and
/// blocking or not as its sender had it.
///
/// # Errors
/// ENOTSOCK; as [`net::recv`](crate::net::recv).
pub fn recv_with_handles<'a>(
    fd: &Descriptor,
    mut room: Room<'a>,
    mut take: impl FnMut(Descriptor),
) -> Result<&'a mut [u8]> {
    let mut control = [MaybeUninit::<usize>::uninit(); CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: room.memory().as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: all of its fields are numbers and pointers, and may be zero.
    let mut message: libc::msghdr = unsafe { zeroed() };
    let count = loop {
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control) as _);
        // SAFETY: the message is of `room` and `control`, which are ours and as large as it says, until the call returns.
        let count = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match Error::last_os_error() {
            _ if count >= 0 => break count as usize,
            error if error.raw_os_error() == Some(libc::EINTR) => {}
            error => return Err(error.into()),
        }
    };
    // SAFETY: `recvmsg` has written headers and descriptors to `control`, as much as the message says now, and the macros
    // stay within that. Each descriptor is new, and nobody else's.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data: *const RawFd = libc::CMSG_DATA(header).cast();
                let size = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                for nth in 0..size / size_of::<RawFd>() {
                    take(OwnedFd::from_raw_fd(data.add(nth).read_unaligned()).into());
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    // SAFETY: `recvmsg` has written that many bytes.
    Ok(unsafe { room.filled(count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net;
    use std::os::fd::AsFd;

    fn pair() -> (Descriptor, Descriptor) {
        let (one, other) = super::pair().unwrap();
        set_nonblocking(one.as_raw_fd()).unwrap();
        set_nonblocking(other.as_raw_fd()).unwrap();
        (one.into(), other.into())
    }

    fn inode(fd: impl AsFd) -> u64 {
        fstat(fd).unwrap().st_ino
    }

    #[test]
    fn abstract_names_come_back_byte_for_byte() {
        let name = format!("\0oxuv\0{}\0", std::process::id());
        let listener = socket().unwrap();
        bind(&listener, name.as_bytes()).unwrap();
        net::listen(&listener, 1).unwrap();
        assert_eq!(local_name(&listener).unwrap().as_bytes(), name.as_bytes());
        let client = socket().unwrap();
        connect(&client, name.as_bytes()).unwrap();
        assert_eq!(peer_name(&client).unwrap().as_bytes(), name.as_bytes());
        assert!(local_name(&client).unwrap().as_bytes().is_empty());
        assert_eq!(peer_name(&listener).unwrap_err(), Errno::ENOTCONN);
    }

    #[test]
    fn the_kernel_names_one_that_is_bound_to_nothing() {
        let fd = socket().unwrap();
        bind(&fd, b"").unwrap();
        let name = local_name(&fd).unwrap();
        assert!(name.as_bytes().len() > 1 && name.as_bytes()[0] == 0);
    }

    #[test]
    fn names_that_cannot_be() {
        assert_eq!(check_name(&[b'x'; NAME_SIZE + 1]), Err(Errno::ENAMETOOLONG));
        assert_eq!(check_name(&[b'x'; NAME_SIZE]), Ok(()));
        assert_eq!(check_name(b"a\0b"), Err(Errno::EINVAL));
        assert_eq!(check_name(b"\0b\0"), Ok(()));
    }

    #[test]
    fn a_path_as_long_as_the_field_comes_back() {
        let directory = std::env::temp_dir().join(format!("oxuv-unix-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut path = directory.to_str().unwrap().to_owned() + "/";
        path.extend(std::iter::repeat_n('x', NAME_SIZE - path.len()));
        let fd = socket().unwrap();
        bind(&fd, path.as_bytes()).unwrap();
        assert_eq!(local_name(&fd).unwrap().as_bytes(), path.as_bytes());
        assert_eq!(bind(&socket().unwrap(), path.as_bytes()), Err(Errno::EADDRINUSE));
        let c_path = std::ffi::CString::new(path.clone()).unwrap();
        set_mode(&c_path, 0o444).unwrap();
        assert_eq!(rustix::fs::stat(&c_path).unwrap().st_mode & 0o777, 0o444);
        remove(&c_path);
        assert_eq!(set_mode(&c_path, 0o444), Err(Errno::ENOENT));
        std::fs::remove_dir(&directory).unwrap();
    }

    #[test]
    fn descriptors_travel_with_the_first_byte() {
        let (one, other) = pair();
        let (reader, writer) = pipe().unwrap();
        let flags = SendFlags::NOSIGNAL;
        assert_eq!(
            send_with_handle(&one, &[IoSlice::new(b"ab"), IoSlice::new(b"c")], reader.as_raw_fd(), flags),
            Ok(3)
        );
        let (mut buf, mut taken) = ([0; 2], Vec::new());
        assert_eq!(recv_with_handles(&other, Room::from(&mut buf[..]), |fd| taken.push(fd)).unwrap(), b"ab");
        assert_eq!(recv_with_handles(&other, Room::from(&mut buf[..]), |_| unreachable!("twice")).unwrap(), b"c");
        assert_eq!(taken.len(), 1);
        assert_eq!(inode(&taken[0]), inode(&reader));
        assert!(rustix::io::fcntl_getfd(&taken[0]).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        assert_eq!(recv_with_handles(&other, Room::from(&mut buf[..]), |_| ()).unwrap_err(), Errno::EAGAIN);
        assert_eq!(send_with_handle(&one, &[IoSlice::new(b"x")], -1, flags), Err(Errno::EBADF));
        drop((one, writer));
        assert!(recv_with_handles(&other, Room::from(&mut buf[..]), |_| ()).unwrap().is_empty());
    }

    #[test]
    fn as_many_descriptors_as_a_message_carries_are_taken() {
        let (one, other) = pair();
        let (reader, _writer) = pipe().unwrap();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDLES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let handles = [reader.as_fd(); MAX_HANDLES];
        assert!(control.push(SendAncillaryMessage::ScmRights(&handles)));
        rustix::net::sendmsg(&one, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        let (mut buf, mut taken) = ([0; 8], Vec::new());
        assert_eq!(recv_with_handles(&other, Room::from(&mut buf[..]), |fd| taken.push(fd)).unwrap(), b"x");
        assert_eq!(taken.len(), MAX_HANDLES);
    }

    #[test]
    fn what_adopted_descriptors_can_do() {
        let (reader, writer) = pipe().unwrap();
        let (reader, writer) = (Descriptor::from(reader), Descriptor::from(writer));
        let reads = adopt(&reader).unwrap();
        assert!(reads.readable && !reads.writable && reads.is_pollable && !reads.is_socket && !reads.is_terminal);
        let writes = adopt(&writer).unwrap();
        assert!(!writes.readable && writes.writable);
        assert!(adopt(&pair().0).unwrap().is_socket);
    }
}
