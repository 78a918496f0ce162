//! Sending and receiving datagrams, one by one or several in a call.

use std::io::IoSlice;
use std::mem::{MaybeUninit, zeroed};
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::os::fd::AsRawFd;

use libc::{c_int, iovec, mmsghdr, msghdr, socklen_t};

use crate::control::{Control, describe, make_room, take_error};
pub use crate::control::{Ecn, SendOptions};
use crate::net::SendFlags;
use crate::{Address, AddressRef, Descriptor, Errno, Result, Room};

/// How many datagrams one call sends or receives at most.
pub const BATCH: usize = 20;

/// A datagram to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Where to; `None` is where the socket is connected to.
    pub to: Option<AddressRef<'a>>,
    /// What it consists of, at most 1024 parts.
    pub parts: &'a [IoSlice<'a>],
    /// How it is sent; `None` as the socket sends.
    pub options: Option<&'a SendOptions>,
}

/// A datagram that was received, or what has become of one that was sent.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// What it consists of.
    pub bytes: &'a [u8],
    /// The sender; [`Address::none`] if that has no address.
    pub from: Address,
    /// The buffer was too small: the rest is lost.
    pub is_truncated: bool,
    /// A message about a failure, from the queue of errors. `from` is who has told of it, `bytes` the datagram that it
    /// is about.
    pub error: Option<Errno>,
    /// The bytes are several datagrams of this size each, the last of which may be smaller.
    pub segment_size: Option<NonZeroU16>,
    /// Its congestion mark, if the socket was asked to tell it.
    pub ecn: Option<Ecn>,
    /// The local address at which it came, if the socket was asked to tell it. Of a datagram to a group of IPv6, the
    /// group's.
    pub local: Option<IpAddr>,
}

impl<'a> Received<'a> {
    /// Nothing, from nobody.
    #[inline]
    pub fn none() -> Received<'a> {
        Received {
            bytes: &[],
            from: Address::none(),
            is_truncated: false,
            error: None,
            segment_size: None,
            ecn: None,
            local: None,
        }
    }

    /// The datagrams that `bytes` are: one, if it was not coalesced with others.
    pub fn datagrams(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (bytes, size) = (self.bytes, self.segment_size.map_or(usize::MAX, |size| size.get().into()));
        // An empty datagram is one, too.
        bytes.is_empty().then_some(bytes).into_iter().chain(bytes.chunks(size))
    }
}

/// Several datagrams, received into one buffer, each at the beginning of a part of its own.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    received: [Received<'a>; BATCH],
    count: usize,
    /// Of none of them more was told than its sender.
    is_plain: bool,
}

impl Default for Batch<'_> {
    fn default() -> Self {
        Batch { received: [Received::none(); BATCH], count: 0, is_plain: true }
    }
}

impl<'a> Batch<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The datagram number `nth`.
    pub fn get(&self, nth: usize) -> &Received<'a> {
        &self.received[..self.count][nth]
    }

    /// All of them.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, Received<'a>> {
        self.received[..self.count].iter()
    }

    /// Makes it empty, to be used again: that takes less than a new one.
    #[inline]
    pub fn clear(&mut self) {
        if self.is_plain { self.count = 0 } else { *self = Batch::default() }
    }

    /// Adds one; it is left out when the batch is full.
    pub fn push(&mut self, received: Received<'a>) {
        self.is_plain = false;
        if let Some(place) = self.received.get_mut(self.count) {
            *place = received;
            self.count += 1;
        }
    }
}

/// Which of a socket's two queues to receive from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// What was received.
    Datagrams,
    /// The same, and what the socket was asked to tell of each.
    Described,
    /// What is told of failures.
    Errors,
}

impl Queue {
    fn flags(self) -> c_int {
        match self {
            Queue::Datagrams | Queue::Described => 0,
            Queue::Errors => libc::MSG_ERRQUEUE,
        }
    }
}

/// Sends datagrams in their order, up to [`BATCH`] of them. Returns how many were sent; an error is that of the first.
///
/// # Errors
/// EAGAIN, ENOBUFS when the kernel takes none now; EMSGSIZE for one that is too long or has more than 1024 parts;
/// EDESTADDRREQ, EISCONN, ENETUNREACH; ECONNREFUSED and others that one sent before has met with.
#[inline]
pub fn send(fd: &Descriptor, datagrams: &[Datagram<'_>], flags: SendFlags) -> Result<usize> {
    match datagrams {
        [] => Ok(0),
        [datagram] => {
            let mut control = Control::new();
            let header = header(datagram, &mut control);
            // SAFETY: the header names memory that is borrowed, and that the kernel reads only.
            retry(|| unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const header, flags.bits() as c_int) })?;
            Ok(1)
        }
        several => send_several(fd, several, flags),
    }
}

fn send_several(fd: &Descriptor, datagrams: &[Datagram<'_>], flags: SendFlags) -> Result<usize> {
    // SAFETY: integers and pointers only; zero is a value of all of them.
    let mut messages: [mmsghdr; BATCH] = unsafe { zeroed() };
    let mut control = [const { Control::new() }; BATCH];
    let count = datagrams.len().min(BATCH);
    for ((message, control), datagram) in messages.iter_mut().zip(&mut control).zip(datagrams) {
        message.msg_hdr = header(datagram, control);
    }
    // SAFETY: so many headers there are; each names memory that is borrowed, and that the kernel reads only.
    let sent = retry(|| unsafe {
        libc::sendmmsg(fd.as_raw_fd(), messages.as_mut_ptr(), count as u32, flags.bits() as _) as isize
    });
    match sent {
        Err(Errno::ENOSYS | Errno::EPERM) => send_one_by_one(fd, datagrams, flags),
        sent => sent,
    }
}

/// For seccomp filters that do not know the call for several.
#[cold]
fn send_one_by_one(fd: &Descriptor, datagrams: &[Datagram<'_>], flags: SendFlags) -> Result<usize> {
    for (nth, datagram) in datagrams.iter().take(BATCH).enumerate() {
        match send(fd, std::slice::from_ref(datagram), flags) {
            Err(error) if nth == 0 => return Err(error),
            Err(_) => return Ok(nth),
            Ok(_) => {}
        }
    }
    Ok(datagrams.len().min(BATCH))
}

#[inline]
fn header(datagram: &Datagram<'_>, control: &mut Control) -> msghdr {
    // SAFETY: integers and pointers only; zero is a value of all of them.
    let mut header: msghdr = unsafe { zeroed() };
    if let Some(to) = datagram.to {
        header.msg_name = to.bytes().as_ptr().cast_mut().cast();
        header.msg_namelen = to.bytes().len() as socklen_t;
    }
    // An `IoSlice` is laid out as the system's, says its documentation.
    header.msg_iov = datagram.parts.as_ptr().cast_mut().cast();
    header.msg_iovlen = datagram.parts.len() as _;
    if let Some(options) = datagram.options {
        control.attach(options, &mut header);
    }
    header
}

/// Receives one datagram into `room`; `received`, which was [`Received::none`], says what is to be said of it.
///
/// # Errors
/// EAGAIN when there is none; ECONNREFUSED and others that a datagram sent before has met with.
#[inline]
pub fn receive<'a>(fd: &Descriptor, mut room: Room<'a>, queue: Queue, received: &mut Received<'a>) -> Result<()> {
    let mut control = MaybeUninit::<Control>::uninit();
    let mut iov = iovec { iov_base: room.memory().as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: integers and pointers only; zero is a value of all of them.
    let mut header: msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut iov;
    header.msg_iovlen = 1;
    let len = retry(|| {
        prepare(&mut header, received, &mut control, queue);
        // SAFETY: the header names `room`, `received` and `control`, which are ours until the call is over, with their
        // sizes.
        unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, queue.flags()) }
    })?;
    // SAFETY: the kernel has filled in the header, and `control` is still there; `len` bytes of `room` are written.
    unsafe {
        received.bytes = room.filled(len);
        finish(&header, received, queue);
    }
    Ok(())
}

/// Receives datagrams into `buf`, each into the next `size` bytes of it: as many as have come and fit, up to [`BATCH`].
/// They are in `batch` then, which was empty.
///
/// # Errors
/// EINVAL when there is no room for one; else as [`receive`].
pub fn receive_several<'a>(
    fd: &Descriptor,
    buf: &'a mut [MaybeUninit<u8>],
    size: usize,
    queue: Queue,
    batch: &mut Batch<'a>,
) -> Result<()> {
    let mut control = [const { MaybeUninit::<Control>::uninit() }; BATCH];
    let mut iovs = [const { MaybeUninit::uninit() }; BATCH];
    // SAFETY: integers and pointers only; zero is a value of all of them.
    let mut messages: [mmsghdr; BATCH] = unsafe { zeroed() };
    let mut room = 0;
    for (nth, part) in buf.chunks_exact_mut(size).take(BATCH).enumerate() {
        let header = &mut messages[nth].msg_hdr;
        header.msg_iov = iovs[nth].write(iovec { iov_base: part.as_mut_ptr().cast(), iov_len: size });
        header.msg_iovlen = 1;
        prepare(header, &mut batch.received[nth], &mut control[nth], queue);
        room += 1;
    }
    if room == 0 {
        return Err(Errno::EINVAL);
    }
    batch.is_plain = queue == Queue::Datagrams;
    // SAFETY: so many headers are filled in, each with a part of `buf`, a place for an address and one for the rest,
    // which are ours until the call is over, with their sizes. Interrupted, the kernel has changed none of them.
    let count = retry(|| unsafe {
        let (messages, flags) = (messages.as_mut_ptr(), queue.flags());
        libc::recvmmsg(fd.as_raw_fd(), messages, room, flags as _, std::ptr::null_mut()) as isize
    });
    let count = match count {
        // A seccomp filter does not know the call for several.
        Err(Errno::ENOSYS | Errno::EPERM) => {
            receive(fd, (&mut buf[..size]).into(), queue, &mut batch.received[0])?;
            batch.count = 1;
            return Ok(());
        }
        count => count?,
    };
    let parts = buf.chunks_exact(size).zip(&messages[..count]);
    for (received, (part, message)) in batch.received[..count].iter_mut().zip(parts) {
        // SAFETY: the kernel has filled in the header, and `control` is still there; so many bytes of `part` are written.
        unsafe {
            received.bytes = part[..message.msg_len as usize].assume_init_ref();
            finish(&message.msg_hdr, received, queue);
        }
    }
    batch.count = count;
    Ok(())
}

/// Makes a header ready for a datagram to be received.
#[inline]
fn prepare(header: &mut msghdr, received: &mut Received<'_>, control: &mut MaybeUninit<Control>, queue: Queue) {
    header.msg_name = received.from.place().cast();
    header.msg_namelen = Address::SIZE as socklen_t;
    if queue != Queue::Datagrams {
        make_room(header, control.as_mut_ptr().cast());
    }
}

/// Takes over what the kernel says of a datagram.
///
/// # Safety
/// The kernel has filled the header in, whose control part is valid.
#[inline]
unsafe fn finish(header: &msghdr, received: &mut Received<'_>, queue: Queue) {
    received.from.set_len(header.msg_namelen);
    received.is_truncated = header.msg_flags & libc::MSG_TRUNC != 0;
    // SAFETY: says the caller.
    unsafe {
        match queue {
            Queue::Datagrams => {}
            Queue::Described => describe(header, received),
            Queue::Errors if header.msg_flags & libc::MSG_ERRQUEUE != 0 => take_error(header, received),
            Queue::Errors => {}
        }
    }
}

#[inline]
fn retry(mut call: impl FnMut() -> isize) -> Result<usize> {
    loop {
        if let Ok(count) = usize::try_from(call()) {
            return Ok(count);
        }
        match Errno::last() {
            Errno::EINTR => {}
            error => return Err(error),
        }
    }
}
