//! Small writes of one turn, sent together: for a front that asks for it.
//!
//! A write is answered as if the kernel had taken it whole, which is the rule, and told of at the same place. Before anything of
//! that kind is told, before the kernel waits, and before anything else is done to its stream, all are sent by one call. What the
//! kernel has not taken becomes a write of the stream's queue then, or one that has failed.

use oxuv_os::Errno;

use crate::kernel::{Gathered, Kernel, Medium};
use crate::slots::Slot;
use crate::stream::StreamFlags;
use crate::turn::Phase;
use crate::write::Write;
use crate::{Buffers, Core, Key};

/// A longer write is sent at once: to copy it would cost more than is saved.
const LONGEST: usize = 4096;

#[derive(Debug)]
pub(crate) struct Gathering<B> {
    /// How what the kernel has not taken is kept; `None`: nothing is gathered.
    keep: Option<fn(&[u8]) -> B>,
    /// Something is gathered and not sent yet.
    pub(crate) has_some: bool,
}

impl<B> Default for Gathering<B> {
    fn default() -> Self {
        Gathering { keep: None, has_some: false }
    }
}

impl<B> Gathering<B> {
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.keep.is_some()
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// From now on small writes in callbacks are copied, and sent together with those to other streams, if the kernel can do that.
    /// `keep` makes of bytes what stays with the core where they are not all sent.
    pub fn gather_writes(&mut self, keep: fn(&[u8]) -> B) {
        self.gathering.keep = Some(keep);
    }

    /// Takes a write that may be sent with others; false if it is to be sent now. What was written to the stream before is sent then.
    #[inline(never)]
    pub(crate) fn gather(&mut self, key: Key, state: u32, user: U, buffers: &impl Buffers) -> bool {
        let stream = &self.streams[state];
        if stream.is(StreamFlags::FED) {
            self.flush_writes();
            return false;
        }
        let is_alone = stream.sends_at_once() && stream.ended() == 0;
        let bytes = if buffers.count() == 1 { buffers.get(0) } else { &[] };
        let is_small = (1..=LONGEST).contains(&bytes.len());
        // Outside of a run nobody would send it.
        if !is_alone || !is_small || stream.medium != Medium::Socket || self.phase_under_way() == Phase::Over {
            return false;
        }
        if !self.give_to_kernel(key, state, bytes) {
            // There was no room.
            self.flush_writes();
            if !self.give_to_kernel(key, state, bytes) {
                return false;
            }
        }
        self.gathering.has_some = true;
        let stream = &mut self.streams[state];
        stream.put_sent(user);
        self.pending.feed(stream, key, state);
        self.requests += 1;
        true
    }

    #[inline]
    fn give_to_kernel(&mut self, key: Key, state: u32, bytes: &[u8]) -> bool {
        self.streams[state].fd.as_ref().is_some_and(|fd| self.kernel.gather(fd, bytes, key.to_u64()))
    }

    /// Sends what is gathered. Whatever is done to a stream by the core comes after that of itself.
    #[inline]
    pub fn flush_writes(&mut self) {
        if self.gathering.has_some {
            self.flush_all_writes();
        }
    }

    #[inline(never)]
    fn flush_all_writes(&mut self) {
        self.gathering.has_some = false;
        self.kernel.send_gathered();
        while let Some(Gathered { token, bytes, result }) = self.kernel.next_gathered() {
            let total = bytes.len();
            if result == Ok(total) {
                continue;
            }
            let key = Key::from_u64(token);
            let (Some(&Slot { state, .. }), Some(keep)) = (self.slots.get_stream(key), self.gathering.keep) else {
                continue;
            };
            // It was told neither that it is sent, nor that it is closed: both send first.
            let stream = &mut self.streams[state];
            let Some(user) = stream.take_sent() else { continue };
            match result {
                Err(error) if !matches!(error, Errno::EAGAIN | Errno::ENOBUFS) => {
                    stream.queued = total;
                    self.writes.push_back(&mut stream.done, Write::ended(user, Err(error), total));
                }
                sent => {
                    let write = Write::new(user, keep(bytes), sent.unwrap_or(0), total, None);
                    // It counts already, and is told of when the kernel has taken the rest.
                    self.requests -= 1;
                    self.pending.withdraw(stream);
                    self.queue(key.index, state, write);
                }
            }
        }
    }

    /// In a child: its parent sends what was gathered.
    pub(crate) fn lose_gathered(&mut self) {
        self.gathering.has_some = false;
    }
}
