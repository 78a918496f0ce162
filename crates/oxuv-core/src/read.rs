//! Reading from a stream.

use std::mem::MaybeUninit;

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, MAX_HANDLES, Medium, Readiness, Room};
use crate::slab::Slab;
use crate::slots::flag;
use crate::stream::{Extra, Stage, Stream, StreamFlags};
use crate::turn::Phase;
use crate::{Buffers, Core, Event, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Starts reading: [`Event::NeedBuffer`] comes whenever there is something to read, until stopped, the end of the
    /// stream or an error.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY when it is reading or waits for readiness, ENOTCONN when it is not connected or its reading side has
    /// failed; EEXIST when another handle waits for the descriptor.
    #[doc(alias = "uv_read_start")]
    pub fn read_start(&mut self, key: Key) -> Result<()> {
        let index = self.open_stream(key)?;
        let stream = &self.streams[self.slots[index].state];
        if stream.is(StreamFlags::READING) {
            return Err(Errno::EALREADY);
        }
        if !stream.is(StreamFlags::READABLE) {
            return Err(Errno::ENOTCONN);
        }
        if !stream.awaited.is_empty() {
            return Err(Errno::EALREADY);
        }
        self.check_free(stream.watch.number, Some(index))?;
        let stream = &mut self.streams[self.slots[index].state];
        stream.leave_edges();
        stream.flags |= StreamFlags::READING;
        stream.kept -= Readiness::READ;
        self.want(index, Readiness::READ);
        self.set_active(index);
        Ok(())
    }

    /// Stops reading. Stopped is stopped: again does nothing. What has arrived stays with the kernel.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_read_stop")]
    pub fn read_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_stream(key)?;
        self.stop_reading(index);
        Ok(())
    }

    /// Answers [`Event::NeedBuffer`]: receives into `buf`, once. The result is for the read callback:
    ///
    /// * the bytes received, all of them initialised;
    /// * no bytes: nothing was read (EAGAIN), or reading was stopped or the stream closed since the event; the buffer
    ///   is given back, that is all.
    ///
    /// # Errors
    /// * EOF: the end of the stream. Reading is stopped.
    /// * ENOBUFS: `buf` is empty, nothing was read; ENOMEM: there is no memory for handles that may come along.
    /// * any other: the connection has failed. It is neither readable nor writable any more, and reading is stopped
    ///   after the callback.
    #[inline]
    pub fn read_into<'a>(&mut self, key: Key, buf: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
        // As long as there is a step its stream's slot is not freed, so this key is as good as one looked up.
        if self.step.stage != Stage::Read || self.step.key.to_u64() != key.to_u64() {
            return Ok(&mut []);
        }
        if !buf.is_empty() && !self.streams[self.step.state].is(StreamFlags::READING) {
            return Ok(&mut []);
        }
        self.read_next_into(buf)
    }

    /// As [`Core::read_into`], for a front that answers at once, so that nothing has happened since the event.
    ///
    /// # Errors
    /// As [`Core::read_into`].
    #[inline]
    pub fn read_next_into<'a>(&mut self, buf: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8]> {
        debug_assert!(self.step.stage == Stage::Read, "there was no event that asked for memory");
        if buf.is_empty() {
            self.step.stage = Stage::HangUp;
            return Err(Errno::ENOBUFS);
        }
        let mut stream = &mut self.streams[self.step.state];
        let is_plain = stream.medium == Medium::Socket;
        if !is_plain {
            self.prepare_to_read()?;
            stream = &mut self.streams[self.step.state];
        }
        let Some(fd) = &stream.fd else { return Ok(&mut []) };
        let size = buf.len();
        let received = if is_plain {
            self.kernel.recv(fd, buf.into())
        } else {
            receive_otherwise(&mut self.kernel, &mut self.extras, stream.medium, stream.extra, fd, buf.into())
        };
        match received {
            Ok([]) => {
                self.step.stage = Stage::HangUp;
                self.stop_reading(self.step.key.index);
                Err(Errno::EOF)
            }
            Ok(bytes) => {
                if bytes.len() < size {
                    // A short read: the next would most likely find nothing. Level-triggered, we shall hear of it.
                    let has_more = self.step.readiness != Readiness::READ;
                    self.step.stage = if has_more { Stage::HangUp } else { Stage::None };
                }
                Ok(bytes)
            }
            Err(error) => self.read_failed(error),
        }
    }

    /// As [`Core::next_to_read`], where that has none: the stream that was read is to be read once more, since its buffer was filled.
    #[inline]
    pub fn next_to_read_on(&mut self, run: u32) -> Option<(Key, U)> {
        if self.step.stage == Stage::Read { self.read_on(run) } else { None }
    }

    #[inline(never)] // Mostly a read is short.
    fn read_on(&mut self, run: u32) -> Option<(Key, U)> {
        if self.run() != run || self.turn.phase != Phase::Poll {
            return None;
        }
        if self.step.rounds == 0 || !self.streams[self.step.state].is(StreamFlags::READING) {
            return None;
        }
        self.step.rounds -= 1;
        let key = self.step.key;
        Some((key, self.slots[key.index].user))
    }

    /// What is to be seen to before something else than a plain socket is read.
    #[inline(never)]
    fn prepare_to_read(&mut self) -> Result<()> {
        let stream = &mut self.streams[self.step.state];
        match stream.medium {
            // Closed, it has no room for them, and reads no more.
            Medium::Ipc => {
                let extra = self.extras.get_mut(stream.extra);
                if extra.is_some_and(|extra| extra.received.try_reserve(MAX_HANDLES).is_err()) {
                    self.step.stage = Stage::HangUp;
                    return Err(Errno::ENOMEM);
                }
            }
            // One read for each readiness: another might wait.
            Medium::Terminal if stream.is(StreamFlags::BLOCKING) => self.step.rounds = 0,
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn read_failed<'a>(&mut self, error: Errno) -> Result<&'a mut [u8]> {
        if error == Errno::EAGAIN {
            self.step.stage = Stage::HangUp;
            return Ok(&mut []);
        }
        if self.is_end_of_pipe(self.step.key.index, error) {
            self.step.stage = Stage::HangUp;
            self.stop_reading(self.step.key.index);
            return Err(Errno::EOF);
        }
        self.step.stage = Stage::ReadFailed;
        self.streams[self.step.state].flags -= StreamFlags::READABLE | StreamFlags::WRITABLE;
        Err(error)
    }

    /// A pipe handle on the master of a pseudo-terminal: whoever opened that as a pipe expects a pipe's end.
    pub(crate) fn is_end_of_pipe(&self, index: u32, error: Errno) -> bool {
        let slot = &self.slots[index];
        error == Errno::EIO && self.streams[slot.state].medium == Medium::Terminal && slot.kind == Kind::Pipe
    }

    pub(crate) fn stop_reading(&mut self, index: u32) {
        let stream = &mut self.streams[self.slots[index].state];
        if stream.is(StreamFlags::READING) {
            stream.flags -= StreamFlags::READING;
            self.unwant(index, Readiness::READ);
            self.set_inactive(index);
        }
    }

    #[inline]
    pub(crate) fn step_read(&mut self) -> Option<Event<U>> {
        let key = self.step.key;
        if self.step.rounds == 0 || !self.streams[self.step.state].is(StreamFlags::READING) {
            self.step.stage = Stage::HangUp;
            return None;
        }
        self.step.rounds -= 1;
        Some(Event::NeedBuffer { key, user: self.slots[key.index].user })
    }

    pub(crate) fn step_read_failed(&mut self) -> Option<Event<U>> {
        self.step.stage = Stage::HangUp;
        self.stop_reading(self.step.key.index);
        None
    }

    /// A hang-up with nothing to read is the end of the stream for one who still reads.
    pub(crate) fn step_hang_up(&mut self) -> Option<Event<U>> {
        let (slot, readiness) = (self.step.key.index, self.step.readiness);
        if self.slots[slot].has(flag::CLOSING) {
            self.step.stage = Stage::None;
            return None;
        }
        let writable = Readiness::WRITE | Readiness::ERROR | Readiness::HANG_UP;
        self.step.stage = if readiness.intersects(writable) { Stage::Write } else { Stage::None };
        let stream = &self.streams[self.step.state];
        // That nothing can be read says only an event of a wait that asked for it; of a terminal, a read that finds the end.
        let hung_up = readiness.intersects(Readiness::HANG_UP | Readiness::READ_HANG_UP)
            && !readiness.contains(Readiness::READ)
            && stream.watch.watched.contains(Readiness::READ)
            && stream.medium != Medium::Terminal
            && stream.is(StreamFlags::READING);
        if !hung_up {
            return None;
        }
        self.stop_reading(slot);
        Some(Event::HungUp { key: self.slots.key(slot), user: self.slots[slot].user })
    }
}

/// Receives, once, in the way that this kind of descriptor asks for. Room for handles is made by now.
#[inline(always)]
pub(crate) fn receive<'a, K: Kernel, U>(
    kernel: &mut K,
    extras: &mut Slab<Extra<K::Fd>>,
    stream: &Stream<K::Fd, U>,
    fd: &K::Fd,
    room: Room<'a>,
) -> Result<&'a mut [u8]> {
    // The usual one first, without a table of all.
    if stream.medium == Medium::Socket {
        return kernel.recv(fd, room);
    }
    receive_otherwise(kernel, extras, stream.medium, stream.extra, fd, room)
}

#[inline(never)]
fn receive_otherwise<'a, K: Kernel>(
    kernel: &mut K,
    extras: &mut Slab<Extra<K::Fd>>,
    medium: Medium,
    extra: u32,
    fd: &K::Fd,
    room: Room<'a>,
) -> Result<&'a mut [u8]> {
    match medium {
        Medium::Socket => kernel.recv(fd, room),
        Medium::File | Medium::Terminal => kernel.read(fd, room),
        Medium::Ipc => kernel.recv_with_handles(fd, room, &mut extras[extra].received),
    }
}
