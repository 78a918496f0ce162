//! Passing handles by pipes: sending them along with bytes, and taking those that have come.

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Medium, UdpBindFlags};
use crate::stream::StreamFlags;
use crate::write::{Place, Progress, Write, check, send_along};
use crate::{Buffers, Core, Key, Kind, Refused};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// As [`Core::write`], and sends `handle` along with the first byte: the receiver gets a handle of the same socket or
    /// pipe. Until the event it must not be closed, or the write fails with EBADF.
    ///
    /// # Errors
    /// As [`Core::write`]; EINVAL when the stream is no pipe for handles, or for no bytes; EBADF when `handle` has no
    /// descriptor, or is of a kind that cannot be sent.
    #[doc(alias = "uv_write2")]
    pub fn write_with_handle<T: Buffers>(
        &mut self,
        key: Key,
        user: U,
        buffers: T,
        handle: Key,
        keep: impl FnOnce(T) -> B,
    ) -> Result<Progress<T>, Refused<T>> {
        self.flush_writes();
        let checked = self
            .check_write(key, &buffers)
            .and_then(|(state, total)| Ok((state, total, self.check_handle_to_send(state, handle, total)?)));
        let (state, total, number) = match checked {
            Ok(checked) => checked,
            Err(error) => return Err(Refused { error, given: buffers }),
        };
        let stream = &mut self.streams[state];
        let (mut sent, mut waiting) = (0, Some(handle));
        if let (true, Some(fd)) = (stream.sends_at_once(), &stream.fd) {
            match send_along(&mut self.kernel, fd, number, &buffers, Place::default()) {
                Ok(some) => (sent, waiting) = (some.min(total), None),
                Err(Errno::EAGAIN) => {}
                Err(error) => {
                    stream.queued = total;
                    self.writes.push_back(&mut stream.done, Write::ended(user, Err(error), total));
                    self.feed(key.index);
                    self.requests += 1;
                    return Ok(Progress::Failed(buffers));
                }
            }
            if sent == total {
                self.note_sent(key, state, user);
                return Ok(Progress::Sent(buffers));
            }
        }
        self.queue(key.index, state, Write::new(user, keep(buffers), sent, total, waiting));
        Ok(Progress::Kept)
    }

    /// As [`Core::try_write`], and sends `handle` along with the first byte.
    ///
    /// # Errors
    /// As [`Core::try_write`]; as [`Core::write_with_handle`].
    #[doc(alias = "uv_try_write2")]
    pub fn try_write_with_handle(&mut self, key: Key, buffers: &impl Buffers, handle: Key) -> Result<usize> {
        self.flush_writes();
        let state = self.slots[self.slots.find_stream(key)?].state;
        let stream = &self.streams[state];
        if stream.queued != 0 || stream.is(StreamFlags::CONNECTING) {
            return Err(Errno::EAGAIN);
        }
        let total = check(stream, buffers)?;
        let number = self.check_handle_to_send(state, handle, total)?;
        let fd = self.streams[state].descriptor()?;
        send_along(&mut self.kernel, fd, number, buffers, Place::default())
    }

    /// What may be wrong with sending a handle along, besides what may be wrong with writing at all.
    fn check_handle_to_send(&self, state: u32, handle: Key, total: usize) -> Result<i32> {
        // Without a byte to travel with, the kernel would drop it.
        if self.streams[state].medium != Medium::Ipc || total == 0 {
            return Err(Errno::EINVAL);
        }
        self.number_to_send(handle)
    }

    /// How many handles have come along with bytes that were read, and wait for [`Core::accept`].
    #[doc(alias = "uv_pipe_pending_count")]
    pub fn pending_handles(&self, key: Key) -> usize {
        self.stream(key).ok().and_then(|stream| self.extras.get(stream.extra)).map_or(0, |extra| extra.received.len())
    }

    /// The descriptor of the handle that [`Core::accept`] takes next of those that have come.
    #[doc(alias = "uv_pipe_pending_type")]
    pub fn next_pending_handle(&self, key: Key) -> Option<&K::Fd> {
        self.extras.get(self.stream(key).ok()?.extra)?.received.front()
    }

    /// Takes that descriptor, to be no handle of the loop.
    ///
    /// # Errors
    /// EAGAIN when there is none; EINVAL when closing, or for a stale key.
    pub fn take_pending_handle(&mut self, key: Key) -> Result<K::Fd> {
        let index = self.open_handle(key, Kind::Pipe)?;
        self.take_received(index).ok_or(Errno::EAGAIN)
    }

    fn take_received(&mut self, index: u32) -> Option<K::Fd> {
        let extra = self.streams[self.slots[index].state].extra;
        self.extras.get_mut(extra)?.received.pop_front()
    }

    /// Gives a handle that has come along with bytes to `client`.
    pub(crate) fn accept_received(&mut self, index: u32, client: u32) -> Result<()> {
        let kind = self.slots[client].kind;
        if !matches!(kind, Kind::Tcp | Kind::Pipe | Kind::Udp) {
            return Err(Errno::EINVAL);
        }
        let fd = self.take_received(index).ok_or(Errno::EAGAIN)?;
        if kind == Kind::Udp {
            let flags = UdpBindFlags { reuse_address: true, ..UdpBindFlags::default() };
            return self.udp_open(self.slots.key(client), fd, flags).map_err(|refused| refused.error);
        }
        if self.streams[self.slots[client].state].fd.is_some() {
            return Err(Errno::EBUSY);
        }
        if kind == Kind::Pipe {
            let (medium, flags) = self.adopt_pipe(client, &fd)?;
            self.put_pipe(client, fd, medium, flags);
        } else {
            self.kernel.adopt(&fd)?;
            self.prepare_descriptor(client, &fd)?;
            self.put_pipe(client, fd, Medium::Socket, StreamFlags::READABLE | StreamFlags::WRITABLE);
        }
        Ok(())
    }

    /// The descriptor of a handle that is to be sent along, as its number.
    pub(crate) fn number_to_send(&self, handle: Key) -> Result<i32> {
        match self.slots.find(handle).map(|index| self.slots[index].kind) {
            Ok(Kind::Tcp | Kind::Pipe | Kind::Udp) => self.descriptor_number(handle),
            _ => Err(Errno::EBADF),
        }
    }
}
