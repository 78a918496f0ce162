//! Many datagrams of one size, sent as one: the kernel cuts them apart, where it can.

use std::io::IoSlice;

use oxuv_os::datagram::BATCH;
use oxuv_os::{Errno, Result};

use crate::Target;
use crate::kernel::{Datagram, Kernel, SendOptions};
use crate::udp::UdpFlags;

/// So many datagrams every kernel that cuts apart cuts out of one.
pub(crate) const MOST: usize = 64;

/// As many bytes one call takes: those of the largest datagram, by IPv4.
pub(crate) const LARGEST: usize = 65507;

/// How far the sending of many datagrams has come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Segments {
    /// The bytes that have gone: 2^31-1 at most.
    sent: u32,
    /// The kernel has refused to cut these apart.
    is_plain: bool,
}

impl Segments {
    /// Sends what is left of `bytes`, all of it unless there is an error. EAGAIN: the rest is to follow.
    ///
    /// A kernel that refuses to cut apart is given single datagrams, several by a call: for good if the reason is the
    /// socket's. If the error is another one altogether, a single datagram meets with it as well.
    pub(crate) fn send<K: Kernel>(
        &mut self,
        kernel: &mut K,
        fd: &K::Fd,
        flags: &mut UdpFlags,
        to: &Target<'_>,
        bytes: &[u8],
    ) -> Result<()> {
        let size = to.options.segment_size.map_or(LARGEST, |size| size.get().into());
        let together = (LARGEST / size).min(MOST) * size;
        if !flags.contains(UdpFlags::PROBED) {
            flags.set(UdpFlags::PLAIN, !kernel.udp_can_segment(fd));
            flags.insert(UdpFlags::PROBED);
        }
        loop {
            let rest = &bytes[self.sent as usize..];
            let chunk = &rest[..rest.len().min(together)];
            let is_single = self.is_plain || flags.contains(UdpFlags::PLAIN) || chunk.len() <= size;
            let gone = match is_single {
                true => send_singly(kernel, fd, to, rest, size),
                false => send_together(kernel, fd, to, chunk),
            };
            match gone {
                Ok(gone) => self.sent += gone as u32,
                Err(Errno::ENOBUFS) => return Err(Errno::EAGAIN),
                // Without checksums by the interface there is no cutting apart, ever.
                Err(Errno::EIO) if !is_single => flags.insert(UdpFlags::PLAIN),
                // Too large for the way to this address, or something that is wrong with a single one as well.
                Err(Errno::EINVAL | Errno::EMSGSIZE) if !is_single => self.is_plain = true,
                Err(error) => return Err(error),
            }
            if self.sent as usize >= bytes.len() {
                return Ok(());
            }
        }
    }
}

/// One call: all of these bytes.
fn send_together<K: Kernel>(kernel: &mut K, fd: &K::Fd, to: &Target<'_>, bytes: &[u8]) -> Result<usize> {
    let parts = [IoSlice::new(bytes)];
    let datagram = Datagram { to: to.address, parts: &parts, options: Some(&to.options) };
    match kernel.send_datagrams(fd, &[datagram])? {
        0 => Err(Errno::EAGAIN),
        _ => Ok(bytes.len()),
    }
}

/// One call: the first of the datagrams that these bytes are, one at least.
fn send_singly<K: Kernel>(kernel: &mut K, fd: &K::Fd, to: &Target<'_>, bytes: &[u8], size: usize) -> Result<usize> {
    let options = SendOptions { segment_size: None, ..to.options };
    let mut parts = [IoSlice::new(&[]); BATCH];
    for (part, datagram) in parts.iter_mut().zip(bytes.chunks(size)) {
        *part = IoSlice::new(datagram);
    }
    // No bytes are one datagram, without any.
    let count = bytes.len().div_ceil(size).clamp(1, BATCH);
    let mut datagrams = [Datagram { to: to.address, parts: &[], options: Some(&options) }; BATCH];
    for (datagram, part) in datagrams.iter_mut().zip(parts.chunks(1)) {
        datagram.parts = part;
    }
    match kernel.send_datagrams(fd, &datagrams[..count])? {
        0 => Err(Errno::EAGAIN),
        sent => Ok((sent * size).min(bytes.len())),
    }
}

#[cfg(test)]
#[path = "udp_segments_tests.rs"]
mod tests;
