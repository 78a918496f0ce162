//! Writing to a stream, and shutting it down.

use std::io::IoSlice;

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Medium};
use crate::slots::{Slot, flag};
use crate::stream::{ROUNDS, Stage, Step, Stream, StreamFlags, find_mut};
use crate::{Buffers, Core, Event, Key};

/// A write that is not sent whole yet, or has ended and is not reported yet.
#[derive(Debug)]
pub(crate) struct Write<U, B> {
    pub(crate) user: U,
    /// What is kept of it, to be handed back with the report; nothing if it has ended with its call.
    pub(crate) buffers: Option<B>,
    /// The buffer to go on from, and how much of it is sent.
    at: Place,
    /// Bytes sent that `at` has not moved on by: that looks at the buffers, which may run code of the user's.
    behind: usize,
    /// Bytes not sent yet. Those that never were count as queued until the report, so that a writer notices the failure.
    pub(crate) left: usize,
    /// A handle to be sent along with the first byte.
    handle: Option<Key>,
    /// How it has ended, once it has.
    pub(crate) result: Result<()>,
}

impl<U, B> Write<U, B> {
    /// A write of `total` bytes, of which so many are sent.
    pub(crate) fn new(user: U, buffers: B, sent: usize, total: usize, handle: Option<Key>) -> Self {
        let (buffers, at, left) = (Some(buffers), Place::default(), total - sent);
        Write { user, buffers, at, behind: sent, left, handle, result: Ok(()) }
    }

    /// A write that has ended with its call.
    pub(crate) fn ended(user: U, result: Result<()>, left: usize) -> Self {
        Write { user, buffers: None, at: Place::default(), behind: 0, left, handle: None, result }
    }
}

/// How far a write has come with its call.
#[derive(Debug)]
pub enum Progress<T> {
    /// It is sent whole. The buffers are handed back.
    Sent(T),
    /// It has failed, as its event will say. The buffers are handed back.
    Failed(T),
    /// The core keeps what [`Core::write`]'s `keep` has made of the buffers, until the event.
    Kept,
}

/// Something was refused, and what was given is handed back.
#[derive(Debug)]
pub struct Refused<T> {
    /// Why.
    pub error: Errno,
    /// The buffers that were to be written, or the socket that was to be opened.
    pub given: T,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    buffer: usize,
    offset: usize,
}

impl Place {
    /// Moves on by `sent` bytes, and past empty buffers.
    fn advance(&mut self, buffers: &impl Buffers, mut sent: usize) {
        while self.buffer < buffers.count() {
            let rest = buffers.get(self.buffer).len().saturating_sub(self.offset);
            if sent < rest {
                self.offset += sent;
                return;
            }
            sent -= rest;
            *self = Place { buffer: self.buffer + 1, offset: 0 };
        }
    }
}

/// A write that nothing speaks against.
struct Begun<U> {
    key: Key,
    state: u32,
    user: U,
    /// The number of bytes, as it was found: the buffers may say something else when asked again.
    total: usize,
}

/// libuv's limits: more buffers, or more bytes, are taken for a negative number gone astray.
pub(crate) const MAX_BUFFERS: usize = 1024 * 1024;
pub(crate) const MAX_BYTES: usize = i32::MAX as usize;

/// The buffers that one system call takes (IOV_MAX).
pub(crate) const GATHER: usize = 1024;

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Writes all of `buffers`, in the order of the calls. As much as the kernel takes is sent at once, the rest when
    /// it takes more. [`Event::Written`] with `user` comes later, never inside this call, exactly once.
    ///
    /// If the write has ended with the call, `buffers` are handed back. Otherwise `keep` makes of them what stays with
    /// the core until the event; then [`Core::take_buffers`] has it.
    ///
    /// # Errors
    /// Without effect: EINVAL for no buffer, more than 2^20 of them or more than 2^31-1 bytes, or a stale key; EBADF
    /// when the stream has no descriptor; EPIPE when it is not connected or was shut down; ENOMEM.
    #[doc(alias = "uv_write")]
    #[inline]
    pub fn write<T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        buffers: T,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Progress<T>, Refused<T>> {
        if let Some((state, stream)) = find_mut(&mut self.streams, &self.slots, &self.step, key)
            && let Some(total) = size(&buffers)
            && self.writes.has_room()
            && !self.gathering.is_on()
            && let Some(fd) = stream.free_socket()
        {
            let noted = match send(&mut self.kernel, fd, Medium::Socket, &buffers, Place::default()) {
                Ok(sent) if sent >= total => {
                    if stream.has_to_tell() {
                        self.note_sent(key, state, user);
                    } else {
                        self.pending.feed_sent(stream, key, state, user);
                        self.requests += 1;
                    }
                    return Ok(Progress::Sent(buffers));
                }
                tried => {
                    let tried = tried.map(|sent| sent as u32);
                    self.note(Begun { key, state, user, total }, buffers, keep, tried)
                }
            };
            return apart(noted);
        }
        apart(self.write_otherwise(key, user, buffers, keep))
    }

    /// As [`Core::write`], where there is more to look at than whether it is sent.
    #[inline(never)]
    fn write_otherwise<T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        buffers: T,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Progress<T>, Refused<T>> {
        let (state, total) = match self.check_write(key, &buffers) {
            Ok(checked) => checked,
            Err(error) => return Err(Refused { error, given: buffers }),
        };
        if self.gathering.is_on() && self.gather(key, state, user, &buffers) {
            return Ok(Progress::Sent(buffers));
        }
        let begun = Begun { key, state, user, total };
        let stream = &mut self.streams[state];
        let tried = match &stream.fd {
            Some(fd) if stream.sends_at_once() => send(&mut self.kernel, fd, stream.medium, &buffers, Place::default()),
            _ => Err(Errno::EAGAIN),
        };
        self.note(begun, buffers, keep, tried.map(|sent| sent as u32))
    }

    /// Notes how much of a write was sent by its call, which is less than 2^31 bytes: nothing for now if that is EAGAIN, nothing for
    /// ever with another error.
    #[inline(never)]
    fn note<T: Buffers>(
        &mut self,
        begun: Begun<U>,
        buffers: T,
        keep: impl FnOnce(T) -> B,
        tried: Result<u32>,
    ) -> Result<Progress<T>, Refused<T>> {
        let Begun { key, state, user, total } = begun;
        let stream = &mut self.streams[state];
        match tried {
            Ok(sent) if sent as usize >= total => {
                self.note_sent(key, state, user);
                Ok(Progress::Sent(buffers))
            }
            Ok(_) | Err(Errno::EAGAIN) => {
                let sent = tried.unwrap_or(0) as usize;
                self.queue(key.index, state, Write::new(user, keep(buffers), sent, total, None));
                Ok(Progress::Kept)
            }
            Err(error) => {
                stream.queued = total;
                self.writes.push_back(&mut stream.done, Write::ended(user, Err(error), total));
                self.pending.feed(stream, key, state);
                self.requests += 1;
                Ok(Progress::Failed(buffers))
            }
        }
    }

    /// Notes that a write was sent whole by its call.
    #[inline(never)] // Mostly nothing else is to be told of the stream, and then there is less to do.
    pub(crate) fn note_sent(&mut self, key: Key, state: u32, user: U) {
        let stream = &mut self.streams[state];
        if stream.ended() == 0 {
            stream.put_sent(user);
        } else {
            self.writes.push_back(&mut stream.done, Write::ended(user, Ok(()), 0));
        }
        self.pending.feed(stream, key, state);
        self.requests += 1;
    }

    /// Everything that a write may be refused for.
    #[inline]
    pub(crate) fn check_write(&mut self, key: Key, buffers: &impl Buffers) -> Result<(u32, usize)> {
        let &Slot { state, .. } = self.slots.get_stream(key).ok_or(Errno::EINVAL)?;
        let total = check(&self.streams[state], buffers)?;
        self.writes.reserve()?;
        Ok((state, total))
    }

    /// Queues a write of which the kernel has taken only a part.
    #[inline(never)]
    pub(crate) fn queue(&mut self, index: u32, state: u32, write: Write<U, B>) {
        if let (Some(buffers), 1..) = (&write.buffers, write.behind) {
            buffers.note_sent(write.behind);
        }
        let stream = &mut self.streams[state];
        // What is ahead of it, left over from the time of connecting, is empty.
        let goes_on = stream.queued == 0 && !stream.writes.is_empty() && !stream.is(StreamFlags::CONNECTING);
        self.requests += 1;
        stream.queued += write.left;
        self.writes.push_back(&mut stream.writes, write);
        // While connecting, this is what is wanted anyway.
        self.want_room(index, state);
        if goes_on {
            self.send_queued(index);
        }
    }

    /// Sends what the kernel takes at once, and returns how many bytes that was.
    ///
    /// # Errors
    /// EAGAIN when it takes nothing, while connecting, or when bytes are queued; else as [`Core::write`] and as the connection fails.
    #[doc(alias = "uv_try_write")]
    #[inline(always)] // Its result would go through memory.
    pub fn try_write(&mut self, key: Key, buffers: impl Buffers) -> Result<usize> {
        if !self.gathering.has_some
            && let Some((_, stream)) = find_mut(&mut self.streams, &self.slots, &self.step, key)
            && size(&buffers).is_some()
            && let Some(fd) = stream.free_socket()
        {
            return send(&mut self.kernel, fd, Medium::Socket, &buffers, Place::default());
        }
        self.try_write_otherwise(key, buffers)
    }

    /// As [`Core::try_write`], to a stream that is not idle, or after what is gathered.
    #[inline(never)]
    fn try_write_otherwise(&mut self, key: Key, buffers: impl Buffers) -> Result<usize> {
        self.flush_writes();
        // A key of nobody finds a state that was freed.
        let &Slot { state, .. } = self.slots.get_stream(key).ok_or(Errno::EINVAL)?;
        let stream = &mut self.streams[state];
        if stream.queued != 0 || stream.is(StreamFlags::CONNECTING) {
            return Err(Errno::EAGAIN);
        }
        check(stream, &buffers)?;
        let fd = stream.fd.as_ref().ok_or(Errno::EBADF)?;
        send(&mut self.kernel, fd, stream.medium, &buffers, Place::default())
    }

    /// Takes back what is not sent yet of a write that is queued: it ends with ECANCELED, by its event as ever. A write
    /// that has ended by now keeps its result. `is` finds the write by its user value.
    ///
    /// # Errors
    /// EINVAL for a stale key; EBUSY when the stream is closing.
    #[doc(alias = "uv_cancel")]
    pub fn cancel_write(&mut self, key: Key, mut is: impl FnMut(U) -> bool) -> Result<()> {
        let index = self.slots.find_stream(key)?;
        if self.slots[index].has(flag::CLOSING) {
            return Err(Errno::EBUSY);
        }
        let stream = &mut self.streams[self.slots[index].state];
        if let Some(write) = self.writes.move_first(&mut stream.writes, &mut stream.done, |write| is(write.user)) {
            write.result = Err(Errno::ECANCELED);
            self.feed(index);
        }
        Ok(())
    }

    /// Shuts the writing side down once everything written so far is sent. [`Event::ShutDown`] with `user` comes
    /// later, never inside this call, exactly once.
    ///
    /// # Errors
    /// ENOTCONN when the stream is not connected, or was shut down before; EINVAL for a stale key; ENOTCONN when it is
    /// closing.
    #[doc(alias = "uv_shutdown")]
    pub fn shutdown(&mut self, key: Key, user: U) -> Result<()> {
        self.flush_writes();
        let index = self.slots.find_stream(key)?;
        let state = self.slots[index].state;
        let stream = &mut self.streams[state];
        if !stream.is(StreamFlags::WRITABLE) || stream.is(StreamFlags::SHUTTING_DOWN) {
            return Err(Errno::ENOTCONN);
        }
        stream.flags -= StreamFlags::WRITABLE;
        stream.put_shutdown(user);
        self.requests += 1;
        if self.step.stage == Stage::Told && self.step.key == key {
            // By the callback of its last write: then it is part of the same work.
            self.step = Step { stage: Stage::Report, key, state, ..Step::default() };
        }
        if stream.writes.is_empty() {
            self.feed(index);
        }
        Ok(())
    }

    /// Sends queued writes until the kernel takes no more, one fails, or this stream has had its share.
    fn send_queued(&mut self, index: u32) {
        let state = self.slots[index].state;
        let (mut ended, mut failed) = (false, false);
        // One more than ROUNDS: libuv counts the writes after the first.
        for _ in 0..=ROUNDS {
            let handle = self.writes.front(&self.streams[state].writes).and_then(|write| write.handle);
            let handle = handle.map(|handle| self.number_to_send(handle)).transpose();
            let stream = &mut self.streams[state];
            let Some(fd) = &stream.fd else { return };
            let Some(write) = self.writes.front_mut(&stream.writes) else { break };
            let Some(buffers) = &write.buffers else { break };
            let mut at = write.at;
            if write.behind > 0 {
                at.advance(buffers, write.behind);
            }
            (write.at, write.behind) = (at, 0);
            let sent = match handle {
                Ok(None) => send(&mut self.kernel, fd, stream.medium, buffers, at),
                Ok(Some(handle)) => send_along(&mut self.kernel, fd, handle, buffers, at),
                Err(error) => Err(error),
            };
            let result = match sent {
                Ok(sent) => {
                    write.handle = None;
                    // More than is left has only one who says something else each time.
                    let sent = sent.min(write.left);
                    stream.queued -= sent;
                    write.left -= sent;
                    write.behind = sent;
                    buffers.note_sent(sent);
                    match write.left {
                        0 => Ok(()),
                        // The buffers have shrunk: nothing of it can ever be sent.
                        _ if sent == 0 => Err(Errno::EINVAL),
                        _ => break,
                    }
                }
                Err(Errno::EAGAIN) => break,
                Err(error) => Err(error),
            };
            write.result = result;
            self.writes.move_front(&mut stream.writes, &mut stream.done);
            (ended, failed) = (true, result.is_err());
            if failed {
                break;
            }
        }
        let waits = !self.streams[state].writes.is_empty();
        if ended {
            self.feed(index);
        }
        if failed {
            self.unwant_writing(index);
        } else if waits {
            self.want_room(index, state);
        }
    }

    pub(crate) fn step_write(&mut self) -> Option<Event<U>> {
        if self.slots[self.step.key.index].has(flag::CLOSING) {
            self.step.stage = Stage::None;
            return None;
        }
        self.flush_writes();
        if !self.streams[self.step.state].writes.is_empty() {
            self.send_queued(self.step.key.index);
        }
        self.begin_report()
    }
}

/// The same, taken apart and made anew. What is not inlined returns this by memory, which the usual result would go through with it.
#[inline(always)]
fn apart<T>(result: Result<Progress<T>, Refused<T>>) -> Result<Progress<T>, Refused<T>> {
    match result {
        Ok(Progress::Sent(buffers)) => Ok(Progress::Sent(buffers)),
        Ok(Progress::Failed(buffers)) => Ok(Progress::Failed(buffers)),
        Ok(Progress::Kept) => Ok(Progress::Kept),
        Err(Refused { error, given }) => Err(Refused { error, given }),
    }
}

/// The number of bytes in `buffers`, if there are as many of both as can be written.
#[inline]
fn size(buffers: &impl Buffers) -> Option<usize> {
    let has_some = (1..=MAX_BUFFERS).contains(&buffers.count());
    buffers.total().filter(|&total| has_some && total <= MAX_BYTES)
}

/// The number of bytes in `buffers`, if they may be written to this stream.
#[inline]
pub(crate) fn check<F, U: Copy>(stream: &Stream<F, U>, buffers: &impl Buffers) -> Result<usize> {
    let total = size(buffers).ok_or(Errno::EINVAL)?;
    if stream.fd.is_none() {
        return Err(Errno::EBADF);
    }
    if !stream.is(StreamFlags::WRITABLE) {
        return Err(Errno::EPIPE);
    }
    Ok(total)
}

impl<F, U: Copy> Stream<F, U> {
    /// The socket of a stream that may be written to, with nothing ahead of that: the usual case.
    #[inline(always)]
    fn free_socket(&self) -> Option<&F> {
        if !self.is(StreamFlags::WRITABLE) || !self.sends_at_once() {
            return None;
        }
        if self.medium == Medium::Socket { self.fd.as_ref() } else { None }
    }

    /// True if it waits for a round of pending, or has ended writes that are not reported.
    #[inline]
    fn has_to_tell(&self) -> bool {
        self.flags.intersects(StreamFlags::FED.union(StreamFlags::SENT)) || !self.done.is_empty()
    }

    /// True if nothing is ahead of a write.
    #[inline]
    pub(crate) fn sends_at_once(&self) -> bool {
        self.queued == 0 && self.writes.is_empty() && !self.is(StreamFlags::CONNECTING)
    }
}

/// One system call. ENOBUFS is EAGAIN: the kernel is short of memory now, and will say when it is writable.
#[inline(always)] // Where the number of buffers is known, only one of these cases is left.
fn send<K: Kernel>(kernel: &mut K, fd: &K::Fd, medium: Medium, buffers: &impl Buffers, at: Place) -> Result<usize> {
    let sent = match buffers.count() - at.buffer {
        1 => {
            let bytes = buffers.get(at.buffer).get(at.offset..).unwrap_or_default();
            if medium == Medium::Socket { kernel.send(fd, bytes) } else { send_otherwise(kernel, fd, medium, bytes) }
        }
        left => match buffers.slices() {
            Some(slices) if at.offset == 0 => {
                let slices = &slices[at.buffer..][..left.min(GATHER)];
                if medium == Medium::Socket {
                    kernel.send_vectored(fd, slices)
                } else {
                    send_slices(kernel, fd, medium, slices)
                }
            }
            _ if left <= 4 => gather::<4, K>(kernel, fd, medium, buffers, at),
            _ if left <= 16 => gather::<16, K>(kernel, fd, medium, buffers, at),
            _ => gather::<GATHER, K>(kernel, fd, medium, buffers, at),
        },
    };
    match sent {
        Err(Errno::ENOBUFS) => Err(Errno::EAGAIN),
        sent => sent,
    }
}

#[inline(never)]
fn send_otherwise<K: Kernel>(kernel: &mut K, fd: &K::Fd, medium: Medium, bytes: &[u8]) -> Result<usize> {
    match medium {
        Medium::Socket | Medium::Ipc => kernel.send(fd, bytes),
        Medium::File | Medium::Terminal => kernel.write(fd, bytes),
    }
}

#[inline(never)]
fn gather<const N: usize, K: Kernel>(
    kernel: &mut K,
    fd: &K::Fd,
    medium: Medium,
    buffers: &impl Buffers,
    at: Place,
) -> Result<usize> {
    let mut slices = [IoSlice::new(&[]); N];
    send_slices(kernel, fd, medium, fill(&mut slices, buffers, at))
}

#[inline(never)]
fn send_slices<K: Kernel>(kernel: &mut K, fd: &K::Fd, medium: Medium, slices: &[IoSlice<'_>]) -> Result<usize> {
    match medium {
        Medium::Socket | Medium::Ipc => kernel.send_vectored(fd, slices),
        Medium::File | Medium::Terminal => kernel.write_vectored(fd, slices),
    }
}

/// As many of the buffers, from `at` on, as there is room for.
#[inline]
fn fill<'a, 'b>(slices: &'b mut [IoSlice<'a>], buffers: &'a impl Buffers, at: Place) -> &'b [IoSlice<'a>] {
    let count = (buffers.count() - at.buffer).min(slices.len());
    for (nth, slice) in slices[..count].iter_mut().enumerate() {
        let offset = if nth == 0 { at.offset } else { 0 };
        *slice = IoSlice::new(buffers.get(at.buffer + nth).get(offset..).unwrap_or_default());
    }
    &slices[..count]
}

/// One system call, with a handle along. It travels with a byte, so no empty buffer is in front.
#[cold]
pub(crate) fn send_along<K: Kernel>(
    kernel: &mut K,
    fd: &K::Fd,
    handle: i32,
    buffers: &impl Buffers,
    mut at: Place,
) -> Result<usize> {
    at.advance(buffers, 0);
    let mut slices = [IoSlice::new(&[]); GATHER];
    match kernel.send_with_handle(fd, fill(&mut slices, buffers, at), handle) {
        Err(Errno::ENOBUFS) => Err(Errno::EAGAIN),
        sent => sent,
    }
}
