//! The actions on pipes that TCP streams have not, and the handles that are passed by them.
//!
//! A pipe passes handles unless its place is a multiple of 3. Only connections are passed, between two pipes of the program; each has to come as
//! often as it was sent, with the first byte that it was sent with. From then on two handles may read and write one connection,
//! and what becomes of its bytes is not looked at any more.

use oxuv_core::kernel::Kernel;
use oxuv_core::{Errno, Kind, Progress, Result};

use crate::Check;
use crate::actions::{is_limit, is_stream, same, user_of_request};
use crate::model::Model;
use crate::outside::Outside;
use crate::program::{Place, Target};
use crate::run::{Machine, Pieces};
use crate::streams::Request;

pub(crate) fn passes_handles(kind: Kind, place: Place) -> bool {
    kind == Kind::Pipe && !place.is_multiple_of(3)
}

fn name(port: u16) -> Vec<u8> {
    format!("/pipe/{port}").into_bytes()
}

impl Model {
    pub(crate) fn passes_handles(&self, place: Place) -> bool {
        passes_handles(self.handles[place].kind, place)
    }
}

impl Outside {
    /// From now on two handles may have this connection.
    fn let_loose(&mut self, number: usize) {
        self.connections[number].is_loose = true;
        if let Some(partner) = self.connections[number].partner {
            self.connections[partner].is_loose = true;
        }
    }

    /// How many handles have come with what was read from a connection so far, and were not counted yet.
    pub(crate) fn take_arrived(&mut self, number: usize) -> usize {
        let Some(partner) = self.connections[number].partner else { return 0 };
        let read = self.connections[number].read;
        let sent_with = &mut self.connections[partner].handles;
        let count = sent_with.iter().take_while(|&&start| start < read).count();
        sent_with.drain(..count);
        count
    }
}

impl Machine<'_> {
    /// Gives two streams the ends of a pair of sockets.
    pub(crate) fn pair(&mut self, one: Place, other: Place) -> Check {
        if !is_stream(self.model.handles[other].kind) || one == other {
            return Ok(());
        }
        let (first, second) = self.sim.unix_pair().map_err(|error| format!("pair: {error}"))?;
        let peers = [self.sim.peer_of(&first), self.sim.peer_of(&second)].map(|peer| peer.expect("it is connected"));
        let [at, behind] = peers.map(|peer| self.outside.borrow_mut().add(peer));
        self.outside.borrow_mut().join(at, behind);
        self.open_descriptor(one, first, at)?;
        self.open_descriptor(other, second, behind)
    }

    pub(crate) fn bind_pipe(&mut self, place: Place, port: u16) -> Check {
        let name = name(port);
        let got = self.core.pipe_bind(self.model.handles[place].key, &name);
        let is_taken = self.names.contains(&Some(name.clone()));
        let stream = &mut self.model.handles[place].stream;
        match got {
            Err(error) if is_limit(error) && self.program.faults.no_descriptor > 0 && !stream.has_socket => {
                return Ok(());
            }
            _ => {}
        }
        if self.model.open(place).is_err() || self.model.handles[place].stream.has_socket {
            return same("bind", got, Err(Errno::EINVAL));
        }
        same("bind", got, if is_taken { Err(Errno::EADDRINUSE) } else { Ok(()) })?;
        if got.is_ok() {
            let stream = &mut self.model.handles[place].stream;
            (stream.has_socket, stream.is_bound) = (true, true);
            self.names[place] = Some(name);
        }
        Ok(())
    }

    pub(crate) fn listen_on_pipe(&mut self, place: Place) -> Check {
        let key = self.model.handles[place].key;
        let (is_open, passes) = (self.model.open(place).is_ok(), self.model.passes_handles(place));
        let stream = &self.model.handles[place].stream;
        if stream.is_reading || !stream.awaited.is_empty() {
            return Ok(());
        }
        let got = self.core.listen(key, 4);
        match got {
            Err(_) if stream.is_connecting() || stream.has_failed => return Ok(()),
            _ if !is_open || passes || !stream.has_socket || stream.is_connected => {
                return same("listen", got, Err(Errno::EINVAL));
            }
            got => same("listen", got, Ok(()))?,
        }
        self.model.listening(place);
        let address = self.core.descriptor(key).and_then(|fd| self.sim.local_address(fd));
        self.outside.borrow_mut().addresses[place] = address.ok();
        Ok(())
    }

    pub(crate) fn connect_pipe(&mut self, place: Place, target: Target) -> Check {
        let stream = &self.model.handles[place].stream;
        // To connect once more what is connected fails, and tells so later. That is TCP's programs' to try.
        if stream.is_connected || stream.is_listening || stream.has_failed && !stream.writes.is_empty() {
            return Ok(());
        }
        self.requests += 1;
        let user = user_of_request(self.requests, place);
        let name = match target {
            Target::Listener(place) => self.names[place].clone(),
            Target::Served | Target::Nobody => None,
        };
        let key = self.model.handles[place].key;
        let expected = match (self.model.open(place), stream.is_connecting()) {
            (Ok(()), true) => Err(Errno::EALREADY),
            (open, _) => open,
        };
        same("connect", self.core.pipe_connect(key, user, &name.unwrap_or(b"/nobody".to_vec())), expected)?;
        if expected.is_ok() {
            self.model.connecting(place, user);
            let peer = self.core.descriptor(key).and_then(|fd| self.sim.peer_of(fd)).ok();
            let mut outside = self.outside.borrow_mut();
            let stream = &mut self.model.handles[place].stream;
            stream.connection = peer.map(|peer| outside.find(peer).unwrap_or_else(|| outside.add(peer)));
            // If it has failed at once, which its event tells, it is neither, and perhaps there is no socket.
            stream.has_socket = self.core.descriptor(key).is_ok();
            (stream.is_readable, stream.is_writable) = (self.core.is_readable(key), self.core.is_writable(key));
        }
        Ok(())
    }

    /// The connection of a handle that can be sent, and the one that it is sent by.
    fn can_send(&self, place: Place, handle: Place) -> Option<(usize, usize)> {
        let (stream, passed) = (&self.model.handles[place].stream, &self.model.handles[handle].stream);
        let (by, sent) = (stream.connection?, passed.connection?);
        let outside = self.outside.borrow();
        // A terminal is passed by nobody.
        if !is_stream(self.model.handles[handle].kind) {
            return None;
        }
        // Not to somebody outside, who takes no handles, and not an end along itself.
        let partner = outside.connections[by].peer.partner(&self.sim)?;
        let is_itself = by == sent || outside.find(partner) == Some(sent);
        let is_connected = self.model.open(handle).is_ok() && passed.has_socket && passed.is_connected;
        (is_connected && !is_itself).then_some((by, sent))
    }

    fn may_pass(&self, place: Place, length: usize) -> Result<()> {
        self.model.may_write(place)?;
        if self.model.passes_handles(place) && length > 0 { Ok(()) } else { Err(Errno::EINVAL) }
    }

    pub(crate) fn write_handle(&mut self, place: Place, length: usize, handle: Place) -> Check {
        let Some((by, sent)) = self.can_send(place, handle) else { return Ok(()) };
        self.requests += 1;
        let user = user_of_request(self.requests, place);
        let expected = self.may_pass(place, length);
        let pieces = self.pieces(place, length);
        let (key, handle) = (self.model.handles[place].key, self.model.handles[handle].key);
        let mut was_kept = false;
        let keep = |pieces: Pieces| {
            was_kept = true;
            pieces
        };
        let got = self.core.write_with_handle(key, user, pieces, handle, keep);
        same("write", got.as_ref().map(|_| ()).map_err(|refused| refused.error), expected)?;
        let Ok(handed_back) = got else { return Ok(()) };
        ensure!(matches!(handed_back, Progress::Kept) == was_kept, "buffers are kept and handed back, or neither");
        let pending_round = self.model.pending_round_of(place);
        let stream = &mut self.model.handles[place].stream;
        let mut outside = self.outside.borrow_mut();
        let start = outside.connections[by].written;
        let end = start + length;
        outside.connections[by].written = end;
        outside.connections[by].handles.push_back(start);
        outside.let_loose(sent);
        stream.writes.push_back(Request { user, end, was_kept, pending_round, has_handle: true });
        stream.may_be_pending = true;
        Ok(())
    }

    pub(crate) fn try_write_handle(&mut self, place: Place, length: usize, handle: Place) -> Check {
        let Some((by, sent)) = self.can_send(place, handle) else { return Ok(()) };
        let key = self.model.handles[place].key;
        let pieces = self.pieces(place, length);
        // As it does first itself: what fails then counts until it is told of.
        self.core.flush_writes();
        let expected = match self.core.write_queue_size(key) {
            Ok(0) if !self.model.handles[place].stream.is_connecting() => self.may_pass(place, length),
            Ok(_) => Err(Errno::EAGAIN),
            Err(error) => Err(error),
        };
        let got = self.core.try_write_with_handle(key, &pieces, self.model.handles[handle].key);
        if expected.is_err() {
            return same("try_write", got.map(|_| ()), expected);
        }
        let mut outside = self.outside.borrow_mut();
        let connection = &mut outside.connections[by];
        match got {
            Ok(count) => {
                ensure!(count > 0 && count <= length, "try_write has sent {count} of {length} bytes");
                connection.handles.push_back(connection.written);
                connection.written += count;
                connection.reported = connection.written;
                outside.let_loose(sent);
                Ok(())
            }
            Err(Errno::EAGAIN) => Ok(()),
            Err(Errno::EPIPE | Errno::ECONNRESET) if connection.is_loose || connection.peer.has_reset(&self.sim) => {
                Ok(())
            }
            Err(error) => Err(format!("try_write fails with {error:?}")),
        }
    }

    /// A write with a handle that was closed before has failed: the bytes behind it are not where they were to be.
    pub(crate) fn note_lost_handle(&mut self, place: Place) {
        if let Some(number) = self.model.handles[place].stream.connection {
            self.outside.borrow_mut().let_loose(number);
        }
    }
}
