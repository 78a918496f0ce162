//! The actions on streams.

use std::net::{Ipv4Addr, SocketAddr};

use oxuv_core::kernel::BindFlags;
use oxuv_core::sim::Fd;
use oxuv_core::{Errno, Kind, Many, Progress};

use crate::Check;
use crate::actions::{is_limit, is_stream, same, user_of_request};
use crate::outside::{PROGRAM, bytes};
use crate::program::{Place, Target};
use crate::run::{EISCONN, Machine, Pieces};
use crate::streams::Request;

/// The port at which the outside accepts connections.
pub(crate) const SERVED: u16 = 7000;

impl Machine<'_> {
    pub(crate) fn open(&mut self, place: Place) -> Check {
        let (fd, peer) = self.sim.pair().map_err(|error| format!("pair: {error}"))?;
        let connection = self.outside.borrow_mut().add(peer);
        self.open_descriptor(place, fd, connection)
    }

    pub(crate) fn open_descriptor(&mut self, place: Place, fd: Fd, connection: usize) -> Check {
        let expected = self.model.open_stream(place);
        let (key, kind) = (self.model.handles[place].key, self.model.handles[place].kind);
        let opened = if kind == Kind::Pipe { self.core.pipe_open(key, fd) } else { self.core.tcp_open(key, fd) };
        same("open", opened.map_err(|refused| refused.error), expected)?;
        if expected.is_ok() {
            self.model.handles[place].stream.connection = Some(connection);
        }
        Ok(())
    }

    /// The outside forgets a handle that is being closed.
    pub(crate) fn forget(&mut self, place: Place) {
        (self.owned[place], self.names[place]) = (None, None);
        let mut outside = self.outside.borrow_mut();
        (outside.addresses[place], outside.is_sent[place]) = (None, None);
        outside.forget_mail(place);
        outside.signals.stop(place);
        outside.watches.stop(place);
    }

    pub(crate) fn close_reset(&mut self, place: Place) -> Check {
        let expected = self.model.close_reset(place);
        same("close_reset", self.core.tcp_close_reset(self.model.handles[place].key), expected)?;
        if expected.is_ok() {
            self.forget(place);
        }
        Ok(())
    }

    pub(crate) fn connect(&mut self, place: Place, target: Target) -> Check {
        let stream = &self.model.handles[place].stream;
        if stream.has_failed && !stream.writes.is_empty() {
            // Which connection those writes go to is left open.
            return Ok(());
        }
        self.requests += 1;
        let user = user_of_request(self.requests, place);
        let listener = match target {
            Target::Served => Some((Ipv4Addr::LOCALHOST, SERVED).into()),
            Target::Nobody => None,
            Target::Listener(place) => self.outside.borrow().addresses[place].filter(SocketAddr::is_ipv4),
        };
        let address = listener.unwrap_or((Ipv4Addr::LOCALHOST, 1).into());
        let key = self.model.handles[place].key;
        let got = self.core.tcp_connect(key, user, &address);
        let expected = self.model.may_connect(place);
        let has_socket = self.model.handles[place].stream.has_socket;
        if expected.is_ok() && self.program.faults.no_descriptor > 0 && !has_socket && got.is_err_and(is_limit) {
            return Ok(());
        }
        if got == Err(EISCONN) && self.model.handles[place].stream.has_failed {
            // It was connected, and reset before it was told so.
            return Ok(());
        }
        same("connect", got, expected)?;
        if expected.is_ok() {
            self.model.connecting(place, user);
            let peer = self.core.descriptor(key).and_then(|fd| self.sim.peer_of(fd)).ok();
            let mut outside = self.outside.borrow_mut();
            let connection = peer.map(|peer| outside.find(peer).unwrap_or_else(|| outside.add(peer)));
            self.model.handles[place].stream.connection = connection;
        }
        Ok(())
    }

    pub(crate) fn bind(&mut self, place: Place, port: u16) -> Check {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let got = self.core.tcp_bind(self.model.handles[place].key, &address, BindFlags::default());
        if self.model.open(place).is_err() {
            return same("bind", got, Err(Errno::EINVAL));
        }
        let may_fail = self.program.faults.no_descriptor > 0;
        let stream = &mut self.model.handles[place].stream;
        match got {
            Err(error) if is_limit(error) && may_fail && !stream.has_socket => return Ok(()),
            Err(Errno::EINVAL) if stream.is_bound || stream.was_used() => {}
            Ok(()) if !stream.was_used() || stream.has_failed => {}
            got => return Err(format!("bind is {got:?}")),
        }
        (stream.has_socket, stream.is_bound) = (true, true);
        Ok(())
    }

    pub(crate) fn listen(&mut self, place: Place) -> Check {
        let key = self.model.handles[place].key;
        let stream = &self.model.handles[place].stream;
        if stream.is_reading || !stream.awaited.is_empty() {
            // Reading from what has failed to connect, and now listens, is nothing that makes sense.
            return Ok(());
        }
        let got = self.core.listen(key, 4);
        let may_fail = self.program.faults.no_descriptor > 0;
        let is_open = self.model.open(place).is_ok();
        let stream = &self.model.handles[place].stream;
        if !is_open || stream.is_connected {
            return same("listen", got, Err(Errno::EINVAL));
        }
        match got {
            Err(Errno::EINVAL | Errno::ECONNREFUSED | Errno::EADDRINUSE) if stream.is_connecting() => return Ok(()),
            Err(Errno::EINVAL) if stream.has_failed => return Ok(()),
            Err(error) if is_limit(error) && may_fail && !stream.has_socket => return Ok(()),
            Err(Errno::EADDRINUSE) if stream.is_bound => return Ok(()),
            got => same("listen", got, Ok(()))?,
        }
        self.model.listening(place);
        let port = self.core.tcp_local_address(key).map(|address| address.port());
        let address = port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        self.outside.borrow_mut().addresses[place] = address.ok();
        Ok(())
    }

    pub(crate) fn accept(&mut self, listener: Place, client: Place) -> Check {
        if !is_stream(self.model.handles[client].kind) {
            return Ok(());
        }
        let expected = self.model.accept(listener, client);
        let (from, to) = (self.model.handles[listener].key, self.model.handles[client].key);
        same("accept", self.core.accept(from, to), expected)?;
        if expected.is_ok() {
            let peer = self.core.descriptor(to).and_then(|fd| self.sim.peer_of(fd));
            let connection = peer.ok().and_then(|peer| self.outside.borrow_mut().find_accepted(&self.sim, peer));
            ensure!(connection.is_some(), "a connection was accepted that nobody has made");
            self.model.handles[client].stream.connection = connection;
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, place: Place, length: usize) -> Check {
        self.requests += 1;
        let user = user_of_request(self.requests, place);
        let expected = self.model.may_write(place);
        let pieces = self.pieces(place, length);
        let mut was_kept = false;
        let keep = |pieces: Pieces| {
            was_kept = true;
            pieces
        };
        let got = self.core.write(self.model.handles[place].key, user, pieces, keep);
        let answer = got.as_ref().map(|_| ()).map_err(|refused| refused.error);
        same("write", answer, expected)?;
        let Ok(handed_back) = got else { return Ok(()) };
        ensure!(
            matches!(handed_back, Progress::Kept) == was_kept,
            "the buffers of a write are kept and handed back, or neither"
        );
        let pending_round = self.model.pending_round_of(place);
        let stream = &mut self.model.handles[place].stream;
        let mut outside = self.outside.borrow_mut();
        let end = stream.connection.map_or(0, |connection| {
            outside.connections[connection].written += length;
            outside.connections[connection].written
        });
        stream.writes.push_back(Request { user, end, was_kept, pending_round, has_handle: false });
        stream.may_be_pending = true;
        Ok(())
    }

    pub(crate) fn try_write(&mut self, place: Place, length: usize) -> Check {
        let key = self.model.handles[place].key;
        let pieces = self.pieces(place, length);
        // As it does first itself: what fails then counts until it is told of.
        self.core.flush_writes();
        let expected = match self.core.write_queue_size(key) {
            Ok(0) if !self.model.handles[place].stream.is_connecting() => self.model.may_write(place),
            Ok(_) => Err(Errno::EAGAIN),
            Err(error) => Err(error),
        };
        let got = self.core.try_write(key, &pieces);
        if expected.is_err() {
            return same("try_write", got.map(|_| ()), expected);
        }
        let stream = &self.model.handles[place].stream;
        match got {
            Err(Errno::EAGAIN) => return Ok(()),
            Err(Errno::EPIPE | Errno::ENOTCONN) if stream.has_failed => return Ok(()),
            _ => {}
        }
        let connection = stream.connection.ok_or("a write without a connection")?;
        let connection = &mut self.outside.borrow_mut().connections[connection];
        match got {
            Ok(sent) => {
                ensure!(sent <= length, "try_write has sent {sent} of {length} bytes");
                connection.written += sent;
                connection.reported = connection.written;
                Ok(())
            }
            Err(Errno::EPIPE | Errno::ECONNRESET) if connection.is_loose || connection.peer.has_reset(&self.sim) => {
                Ok(())
            }
            Err(error) => Err(format!("try_write fails with {error:?}")),
        }
    }

    /// The next bytes of a connection, in one to four pieces.
    pub(crate) fn pieces(&self, place: Place, length: usize) -> Pieces {
        let bytes = match self.model.handles[place].stream.connection {
            Some(number) => bytes(number, PROGRAM, self.outside.borrow().connections[number].written, length),
            None => vec![0; length],
        };
        let size = length / (1 + length % 4) + 1;
        let mut pieces: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
        if length.is_multiple_of(3) {
            pieces.insert(0, Vec::new());
        }
        Many(pieces)
    }
}
