//! The reference model of streams.

use std::collections::VecDeque;

use oxuv_core::kernel::Readiness;
use oxuv_core::{Errno, Result};

use crate::Check;
use crate::model::Model;
use crate::program::Place;
use crate::run::EISCONN;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) user: u64,
    /// The place of its last byte in all that was written to the connection.
    pub(crate) end: usize,
    /// The core has kept its buffers.
    pub(crate) was_kept: bool,
    /// It was written in a callback of its own stream in this turn's pending phase: too late to be reported there.
    pub(crate) pending_round: Option<(u64, u64)>,
    /// A handle goes along.
    pub(crate) has_handle: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) has_socket: bool,
    pub(crate) is_bound: bool,
    pub(crate) is_listening: bool,
    /// A connection waits for being accepted.
    pub(crate) has_waiting: bool,
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    pub(crate) is_reading: bool,
    /// What of readiness it waits for.
    pub(crate) awaited: Readiness,
    /// A read has failed: reading stops after its callback.
    pub(crate) is_failing: bool,
    /// Handles that have come with what was read.
    pub(crate) received: usize,
    pub(crate) connect: Option<u64>,
    pub(crate) is_connected: bool,
    /// It could not be connected once: what was written before the next try fails still.
    pub(crate) has_failed: bool,
    pub(crate) writes: VecDeque<Request>,
    pub(crate) shutdown: Option<u64>,
    /// The number of its connection, outside.
    pub(crate) connection: Option<usize>,
    pub(crate) may_be_pending: bool,
    /// It may belong to the round of pending under way.
    pub(crate) may_be_in_round: bool,
}

impl Stream {
    /// What a close leaves of it: its requests.
    pub(crate) fn close(&mut self) {
        let (writes, connection) = (std::mem::take(&mut self.writes), self.connection);
        let (connect, shutdown, has_failed) = (self.connect, self.shutdown, self.has_failed);
        *self = Stream { connect, writes, shutdown, connection, has_failed, ..Stream::default() };
    }

    pub(crate) fn requests(&self) -> usize {
        self.writes.len() + usize::from(self.shutdown.is_some()) + usize::from(self.connect.is_some())
    }

    pub(crate) fn connect(&mut self) {
        (self.has_socket, self.is_readable, self.is_writable, self.is_connected) = (true, true, true, true);
    }

    pub(crate) fn is_connecting(&self) -> bool {
        self.connect.is_some()
    }

    /// It waits for this.
    pub(crate) fn awaits(&self, ready: Readiness) -> bool {
        let ended = ready.intersects(Readiness::ERROR | Readiness::HANG_UP);
        ready.intersects(self.awaited) || ended && !self.awaited.is_empty()
    }

    /// Its socket is, or was to be, connected, or listens.
    pub(crate) fn was_used(&self) -> bool {
        self.connection.is_some() || self.is_connecting() || self.has_failed || self.is_listening
    }
}

impl Model {
    pub(crate) fn open_stream(&mut self, place: Place) -> Result<()> {
        self.open(place)?;
        let stream = &mut self.handles[place].stream;
        if stream.has_socket {
            return Err(Errno::EBUSY);
        }
        stream.connect();
        Ok(())
    }

    pub(crate) fn listening(&mut self, place: Place) {
        let handle = &mut self.handles[place];
        (handle.stream.has_socket, handle.stream.is_listening, handle.is_active) = (true, true, true);
        (handle.stream.is_readable, handle.stream.is_writable) = (false, false);
    }

    pub(crate) fn may_connect(&self, place: Place) -> Result<()> {
        self.open(place)?;
        let stream = &self.handles[place].stream;
        match (stream.is_connecting(), stream.is_connected || stream.is_listening) {
            (true, _) => Err(Errno::EALREADY),
            (false, true) => Err(EISCONN),
            (false, false) => Ok(()),
        }
    }

    pub(crate) fn connecting(&mut self, place: Place, user: u64) {
        let stream = &mut self.handles[place].stream;
        (stream.has_socket, stream.is_readable, stream.is_writable) = (true, true, true);
        (stream.connect, stream.may_be_pending) = (Some(user), true);
    }

    pub(crate) fn take_connect(&mut self, place: Place, user: u64, result: Result<()>) -> Check {
        let stream = &mut self.handles[place].stream;
        let connect = stream.connect.take();
        ensure!(connect == Some(user), "the report of connect {user:#x} comes where {connect:?} was to come");
        (stream.is_connected, stream.may_be_pending) = (result.is_ok(), true);
        stream.has_failed |= result.is_err();
        Ok(())
    }

    pub(crate) fn close_reset(&mut self, place: Place) -> Result<()> {
        self.open(place)?;
        let stream = &self.handles[place].stream;
        match (stream.shutdown, stream.has_socket) {
            (Some(_), _) => Err(Errno::EINVAL),
            (None, false) => Err(Errno::EBADF),
            (None, true) => self.close(place),
        }
    }

    pub(crate) fn accept(&mut self, listener: Place, client: Place) -> Result<()> {
        self.open(listener)?;
        self.open(client)?;
        let stream = &mut self.handles[listener].stream;
        if !std::mem::take(&mut stream.has_waiting) {
            stream.received = stream.received.checked_sub(1).ok_or(Errno::EAGAIN)?;
        }
        self.open_stream(client)
    }

    pub(crate) fn start_reading(&mut self, place: Place) -> Result<()> {
        self.open(place)?;
        let handle = &mut self.handles[place];
        if handle.stream.is_reading {
            return Err(Errno::EALREADY);
        }
        if !handle.stream.is_readable {
            return Err(Errno::ENOTCONN);
        }
        if !handle.stream.awaited.is_empty() {
            return Err(Errno::EALREADY);
        }
        (handle.stream.is_reading, handle.is_active) = (true, true);
        Ok(())
    }

    pub(crate) fn stop_reading(&mut self, place: Place) -> Result<()> {
        self.known(place)?;
        let handle = &mut self.handles[place];
        if std::mem::take(&mut handle.stream.is_reading) {
            handle.is_active = false;
        }
        Ok(())
    }

    /// A read has failed.
    pub(crate) fn fail_reading(&mut self, place: Place) {
        let stream = &mut self.handles[place].stream;
        (stream.is_readable, stream.is_writable, stream.is_failing) = (false, false, true);
    }

    /// The callback of a failed read is over.
    pub(crate) fn end_failed_read(&mut self) {
        for place in 0..self.handles.len() {
            if std::mem::take(&mut self.handles[place].stream.is_failing) {
                let _ = self.stop_reading(place);
            }
        }
    }

    pub(crate) fn may_write(&self, place: Place) -> Result<()> {
        self.known(place)?;
        let stream = &self.handles[place].stream;
        match (stream.has_socket, stream.is_writable) {
            (false, _) => Err(Errno::EBADF),
            (true, false) => Err(Errno::EPIPE),
            (true, true) => Ok(()),
        }
    }

    pub(crate) fn shut_down(&mut self, place: Place, user: u64) -> Result<()> {
        self.known(place)?;
        let stream = &mut self.handles[place].stream;
        if !stream.is_writable || stream.shutdown.is_some() {
            return Err(Errno::ENOTCONN);
        }
        (stream.is_writable, stream.shutdown, stream.may_be_pending) = (false, Some(user), true);
        Ok(())
    }

    /// A write's event has come: it is that of the oldest write.
    pub(crate) fn take_write(&mut self, place: Place, user: u64) -> Result<Request, String> {
        let pending_round = self.pending_round_of(place);
        let stream = &mut self.handles[place].stream;
        stream.may_be_pending = true;
        match stream.writes.pop_front() {
            Some(Request { pending_round: Some(round), .. }) if pending_round == Some(round) => {
                Err(format!("write {user:#x} is reported in the round that it was made in"))
            }
            Some(request) if request.user == user => Ok(request),
            request => Err(format!("the report of write {user:#x} comes where {request:?} was to come")),
        }
    }

    pub(crate) fn take_shutdown(&mut self, place: Place, user: u64) -> Check {
        let shutdown = self.handles[place].stream.shutdown.take();
        ensure!(shutdown == Some(user), "the report of shutdown {user:#x} comes where {shutdown:?} was to come");
        Ok(())
    }
}
