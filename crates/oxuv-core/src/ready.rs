//! Readiness of streams, for a front that reads and writes when its user comes to it, and not when the loop does.

use std::mem::MaybeUninit;

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, MAX_HANDLES, Medium, Readiness};
use crate::read::receive;
use crate::stream::{Stage, StreamFlags};
use crate::{Buffers, Core, Event, Key};

/// What can be waited for.
const BOTH: Readiness = Readiness::READ.union(Readiness::WRITE);

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Waits until the stream is ready to be read or written, as `interest` says, besides what it waits for already: then
    /// [`Event::Ready`] comes, once. Until then the handle is active. A stream that has failed or ended is ready for all.
    ///
    /// # Errors
    /// EINVAL when closing, or for another interest; EALREADY when it is read by [`Core::read_start`]; ENOTCONN when it is not
    /// connected; EEXIST when another handle waits for the descriptor.
    pub fn wait_ready(&mut self, key: Key, interest: Readiness) -> Result<()> {
        let index = self.open_stream(key)?;
        let state = self.slots[index].state;
        let stream = &self.streams[state];
        if interest.is_empty() || !BOTH.contains(interest) {
            return Err(Errno::EINVAL);
        }
        if stream.is(StreamFlags::READING) {
            return Err(Errno::EALREADY);
        }
        if stream.fd.is_none() || stream.is(StreamFlags::LISTENING) || stream.connect.is_some() {
            return Err(Errno::ENOTCONN);
        }
        self.check_free(stream.watch.number, Some(index))?;
        self.streams[state].awaited |= interest;
        self.want(index, interest);
        self.set_active(index);
        Ok(())
    }

    /// Receives what is there, once.
    ///
    /// # Errors
    /// EAGAIN when there is nothing; EOF at the end of the stream. EALREADY when it is read by [`Core::read_start`]; ENOTCONN when it is
    /// not connected, or has failed before; EINVAL when closing, ENOBUFS for an empty buffer, ENOMEM. Any other: the connection has
    /// failed, and is neither readable nor writable any more.
    pub fn try_read<'a>(&mut self, key: Key, buf: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
        let index = self.open_stream(key)?;
        let stream = &mut self.streams[self.slots[index].state];
        if stream.is(StreamFlags::READING) {
            return Err(Errno::EALREADY);
        }
        let (Some(fd), true) = (&stream.fd, stream.is(StreamFlags::READABLE)) else { return Err(Errno::ENOTCONN) };
        if buf.is_empty() {
            return Err(Errno::ENOBUFS);
        }
        if stream.medium == Medium::Ipc {
            stream.received.try_reserve(MAX_HANDLES)?;
        }
        match receive(&mut self.kernel, stream.medium, fd, buf, &mut stream.received) {
            Ok([]) => Err(Errno::EOF),
            Err(error) if error != Errno::EAGAIN => {
                if self.is_end_of_pipe(index, error) {
                    return Err(Errno::EOF);
                }
                self.streams[self.slots[index].state].flags -= StreamFlags::READABLE | StreamFlags::WRITABLE;
                Err(error)
            }
            received => received,
        }
    }

    /// A stream is ready, and perhaps for what is waited for.
    #[inline(never)]
    pub(crate) fn tell_ready(&mut self, key: Key, state: u32, readiness: Readiness) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        self.step.stage = Stage::HangUp;
        let ended = readiness.intersects(Readiness::ERROR | Readiness::HANG_UP);
        let readiness = if ended { stream.awaited } else { readiness & stream.awaited };
        if readiness.is_empty() {
            return None;
        }
        stream.awaited -= readiness;
        let is_over = stream.awaited.is_empty();
        // What is queued to be written waits for the same.
        let unwanted = if stream.writes.is_empty() { readiness } else { readiness - Readiness::WRITE };
        self.unwant(key.index, unwanted);
        if is_over {
            self.set_inactive(key.index);
        }
        Some(Event::Ready { key, user: self.slots[key.index].user, readiness })
    }

    /// Nothing is to be written any more. Somebody may wait for room all the same.
    #[inline]
    pub(crate) fn unwant_writing(&mut self, index: u32) {
        if !self.streams[self.slots[index].state].awaited.contains(Readiness::WRITE) {
            self.unwant(index, Readiness::WRITE);
        }
    }
}
