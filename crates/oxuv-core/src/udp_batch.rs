//! What one system call sends: one datagram, several, or several as one that the kernel cuts apart again.

use std::io::IoSlice;
use std::num::NonZeroU16;

use oxuv_os::datagram::BATCH;
use oxuv_os::{AddressRef, Errno, Result};

use crate::Buffers;
use crate::kernel::{Datagram, Kernel, SendOptions};
use crate::udp_segments::{LARGEST, MOST};
use crate::write::GATHER;

/// A datagram as it is handed to the kernel.
pub(crate) struct Outgoing<'a, T> {
    pub(crate) buffers: &'a T,
    pub(crate) to: Option<AddressRef<'a>>,
    pub(crate) options: Option<&'a SendOptions>,
}

impl<'a, T: Buffers> Outgoing<'a, T> {
    /// All of its bytes, if they are in one piece and nothing special is asked for.
    #[inline]
    fn plain_bytes(&self) -> Option<&'a [u8]> {
        (self.options.is_none() && self.buffers.count() == 1).then(|| self.buffers.get(0))
    }
}

/// One system call: sends one datagram. ENOBUFS is EAGAIN: the kernel is short of memory now, and will say when it is
/// writable.
#[inline]
pub(crate) fn send_one<K: Kernel, T: Buffers>(kernel: &mut K, fd: &K::Fd, datagram: &Outgoing<'_, T>) -> Result<()> {
    let &Outgoing { buffers, to, options } = datagram;
    let sent = match buffers.count() {
        1 => kernel.send_datagrams(fd, &[Datagram { to, parts: &[IoSlice::new(buffers.get(0))], options }]),
        count if count <= GATHER => {
            let mut slices = [IoSlice::new(&[]); GATHER];
            fill(&mut slices, buffers);
            kernel.send_datagrams(fd, &[Datagram { to, parts: &slices[..count], options }])
        }
        // More than the system takes for one datagram.
        _ => Err(Errno::EMSGSIZE),
    };
    match sent {
        Ok(0) | Err(Errno::ENOBUFS) => Err(Errno::EAGAIN),
        sent => sent.map(drop),
    }
}

/// One system call, but for one that finds out how: sends the first of the datagrams, as many as the kernel takes and one
/// call can hold. `joins` is what is known of whether they may go as one. ENOBUFS is EAGAIN, as for [`send_one`].
pub(crate) fn send_some<'a, K: Kernel, T: Buffers + 'a>(
    kernel: &mut K,
    fd: &K::Fd,
    joins: &mut Option<bool>,
    datagrams: impl Iterator<Item = Outgoing<'a, T>> + Clone,
) -> Result<usize> {
    let mut rest = datagrams.clone();
    let Some(first) = rest.next() else { return Ok(0) };
    if first.buffers.count() > PARTS || rest.next().is_none() {
        return send_one(kernel, fd, &first).map(|()| 1);
    }
    // With those two, there are so many.
    let has_many = rest.nth(FEWEST - 3).is_some();
    if has_many
        && *joins != Some(false)
        && let Some(result) = send_joined(kernel, fd, joins, datagrams.clone())
    {
        return result;
    }
    match send_batch(kernel, fd, datagrams) {
        Err(Errno::ENOBUFS) => Err(Errno::EAGAIN),
        sent => sent,
    }
}

/// Fewer datagrams do not go as one: it would gain little, and first of all it costs finding out whether they may.
const FEWEST: usize = 4;

/// Larger ones do not, either: not all networks have room for them.
const LARGEST_JOINED: usize = 1452;

/// Sends the first of the datagrams as one. `None` when they go better one by one.
#[inline(never)]
fn send_joined<'a, K: Kernel, T: Buffers + 'a>(
    kernel: &mut K,
    fd: &K::Fd,
    joins: &mut Option<bool>,
    datagrams: impl Iterator<Item = Outgoing<'a, T>>,
) -> Option<Result<usize>> {
    let mut slices = [IoSlice::new(&[]); MOST];
    let (to, size, count) = join(datagrams, &mut slices)?;
    if !*joins.get_or_insert_with(|| kernel.udp_can_join(fd)) {
        return None;
    }
    let options = SendOptions { segment_size: Some(size), ..SendOptions::PLAIN };
    let joined = Datagram { to: Some(to), parts: &slices[..count], options: Some(&options) };
    match kernel.send_datagrams(fd, &[joined]) {
        Ok(1..) => Some(Ok(count)),
        Ok(0) | Err(Errno::EAGAIN) => Some(Err(Errno::EAGAIN)),
        Err(error) => {
            // One by one they go, or the first of them meets with the same error.
            if matches!(error, Errno::EINVAL | Errno::EIO | Errno::EMSGSIZE | Errno::EOPNOTSUPP) {
                *joins = Some(false);
            }
            None
        }
    }
}

/// The bytes of the first of the datagrams, as long as they are of one size and go to one address; only the last may be
/// smaller. Says where to, which size, and how many.
fn join<'a, T: Buffers + 'a>(
    mut datagrams: impl Iterator<Item = Outgoing<'a, T>>,
    slices: &mut [IoSlice<'a>; MOST],
) -> Option<(AddressRef<'a>, NonZeroU16, usize)> {
    let first = datagrams.next()?;
    // A connected socket tells of failures, of each on its own.
    let (to, bytes) = (first.to?, first.plain_bytes()?);
    let size = bytes.len();
    if size == 0 || size > LARGEST_JOINED {
        return None;
    }
    slices[0] = IoSlice::new(bytes);
    let mut count = 1;
    for slice in &mut slices[1..MOST.min(LARGEST / size)] {
        let Some(datagram) = datagrams.next() else { break };
        let Some(bytes) = datagram.plain_bytes() else { break };
        if bytes.is_empty() || bytes.len() > size || datagram.to != Some(to) {
            break;
        }
        *slice = IoSlice::new(bytes);
        count += 1;
        if bytes.len() < size {
            break;
        }
    }
    let size = NonZeroU16::new(size as u16)?;
    (count >= FEWEST).then_some((to, size, count))
}

/// So many parts of several datagrams go in one call.
const PARTS: usize = 64;

/// Sends the first of the datagrams, which has no more than [`PARTS`] parts, and those behind it that there is room for.
#[inline(never)]
fn send_batch<'a, K: Kernel, T: Buffers + 'a>(
    kernel: &mut K,
    fd: &K::Fd,
    datagrams: impl Iterator<Item = Outgoing<'a, T>>,
) -> Result<usize> {
    let mut slices = [IoSlice::new(&[]); PARTS];
    // For each datagram where it goes and how, and where its parts end.
    let mut ends = [(None, None, 0); BATCH];
    let (mut count, mut used) = (0, 0);
    for Outgoing { buffers, to, options } in datagrams.take(BATCH) {
        if buffers.count() > PARTS - used {
            break;
        }
        fill(&mut slices[used..], buffers);
        used += buffers.count();
        ends[count] = (to, options, used);
        count += 1;
    }
    let mut datagrams = [Datagram { to: None, parts: &[], options: None }; BATCH];
    let mut begin = 0;
    for (datagram, &(to, options, end)) in datagrams.iter_mut().zip(&ends[..count]) {
        *datagram = Datagram { to, parts: &slices[begin..end], options };
        begin = end;
    }
    kernel.send_datagrams(fd, &datagrams[..count])
}

fn fill<'a>(slices: &mut [IoSlice<'a>], buffers: &'a impl Buffers) {
    for (nth, slice) in slices[..buffers.count()].iter_mut().enumerate() {
        *slice = IoSlice::new(buffers.get(nth));
    }
}

#[cfg(test)]
#[path = "udp_batch_tests.rs"]
mod tests;
