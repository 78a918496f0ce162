//! The actions on handles: the core's answer is compared with the model's.

use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};

use oxuv_core::kernel::BindFlags;
use oxuv_core::{Errno, Kind, Many};

use crate::Check;
use crate::outside::{PROGRAM, bytes};
use crate::program::{Action, Place};
use crate::run::{Machine, Pieces};
use crate::streams::Request;

fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Check {
    ensure!(got == expected, "{what} is {got:?} where {expected:?} was to be expected");
    Ok(())
}

/// At the descriptor limit.
pub(crate) fn is_limit(error: Errno) -> bool {
    matches!(error, Errno::EMFILE | Errno::ENFILE)
}

impl Machine<'_> {
    pub(crate) fn act_on_handle(&mut self, action: Action) -> Check {
        let time = self.core.time();
        let keys: Vec<_> = self.model.handles.iter().map(|handle| handle.key).collect();
        let (core, model) = (&mut self.core, &mut self.model);
        match action {
            Action::Init(place) => self.init(place),
            Action::StartTimer(place, timeout, repeat) => {
                let expected = model.start_timer(place, time, timeout, repeat);
                same("timer_start", core.timer_start(keys[place], timeout, repeat), expected)
            }
            Action::Again(place) => same("again", core.timer_again(keys[place]), model.again(place, time)),
            Action::SetRepeat(place, repeat) => {
                same("set_repeat", core.timer_set_repeat(keys[place], repeat), model.set_repeat(place, repeat))
            }
            Action::Start(place) => match model.handles[place].kind {
                Kind::Tcp => same("read_start", core.read_start(keys[place]), model.start_reading(place)),
                _ => same("start", core.watcher_start(keys[place]), model.start_watcher(place)),
            },
            Action::Stop(place) => match model.handles[place].kind {
                Kind::Timer => same("timer_stop", core.timer_stop(keys[place]), model.stop_timer(place)),
                Kind::Tcp => same("read_stop", core.read_stop(keys[place]), model.stop_reading(place)),
                Kind::Async => Ok(()),
                _ => same("stop", core.watcher_stop(keys[place]), model.stop_watcher(place)),
            },
            Action::Close(place) => {
                let was_open = model.open(place).is_ok();
                same("close", core.close(keys[place]), model.close(place))?;
                if was_open {
                    let mut outside = self.outside.borrow_mut();
                    (outside.addresses[place], outside.is_sent[place]) = (None, None);
                }
                Ok(())
            }
            Action::Reference(place) => {
                same("reference", core.reference(keys[place]), model.set_referenced(place, true))
            }
            Action::Unreference(place) => {
                same("unreference", core.unreference(keys[place]), model.set_referenced(place, false))
            }
            Action::Open(place) => self.open(place),
            Action::Bind(place, port) => self.bind(place, port),
            Action::Listen(place) => self.listen(place),
            Action::Accept(listener, client) => self.accept(listener, client),
            Action::Write(place, length) => self.write(place, length),
            Action::TryWrite(place, length) => self.try_write(place, length),
            Action::Shutdown(place) => {
                self.requests += 1;
                let user = user_of_request(self.requests, place);
                same("shutdown", core.shutdown(keys[place], user), model.shut_down(place, user))
            }
            Action::StopLoop => {
                core.stop();
                model.stop = true;
                Ok(())
            }
            Action::UpdateTime => {
                core.update_time();
                model.note_time(core.time())
            }
            Action::Walk => {
                core.walk_begin();
                let walked: Vec<u64> = std::iter::from_fn(|| core.walk_next()).map(|(_, user)| user).collect();
                let expected: Vec<u64> = model.order.iter().map(|&place| model.handles[place].user).collect();
                same("the walk", walked, expected)
            }
            Action::Work(time) => {
                self.sim.advance(time);
                self.worked += time;
                Ok(())
            }
            Action::Leave | Action::Run(_) | Action::Now(_) | Action::Later(..) => Ok(()),
        }
    }

    fn init(&mut self, place: Place) -> Check {
        if self.model.known(place).is_ok() {
            return Ok(());
        }
        let user = self.model.next_user(place);
        let key = match self.model.handles[place].kind {
            Kind::Timer => self.core.timer_init(user),
            Kind::Idle => self.core.idle_init(user),
            Kind::Prepare => self.core.prepare_init(user),
            Kind::Check => self.core.check_init(user),
            Kind::Async => self.core.async_init(user),
            Kind::Tcp => self.core.tcp_init(user),
            kind => return Err(format!("a program with a handle of kind {kind:?}")),
        };
        let key = key.map_err(|error| format!("init: {error}"))?;
        self.model.init(place, key);
        self.outside.borrow_mut().senders[place] = self.core.async_sender(key).ok();
        Ok(())
    }

    fn open(&mut self, place: Place) -> Check {
        let (fd, peer) = self.sim.pair().map_err(|error| format!("pair: {error}"))?;
        let connection = self.outside.borrow_mut().add(peer);
        let expected = self.model.open_stream(place);
        same("open", self.core.tcp_open(self.model.handles[place].key, fd), expected)?;
        if expected.is_ok() {
            self.model.handles[place].stream.connection = Some(connection);
        }
        Ok(())
    }

    fn bind(&mut self, place: Place, port: u16) -> Check {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let got = self.core.tcp_bind(self.model.handles[place].key, &address, BindFlags::default());
        if self.model.open(place).is_err() {
            return same("bind", got, Err(Errno::EINVAL));
        }
        let may_fail = self.program.faults.no_descriptor > 0;
        let stream = &mut self.model.handles[place].stream;
        match got {
            Err(error) if is_limit(error) && may_fail && !stream.has_socket => return Ok(()),
            Err(Errno::EINVAL) if stream.is_bound || stream.connection.is_some() || stream.is_listening => {}
            Ok(()) if stream.connection.is_none() && !stream.is_listening => {}
            got => return Err(format!("bind is {got:?}")),
        }
        (stream.has_socket, stream.is_bound) = (true, true);
        Ok(())
    }

    fn listen(&mut self, place: Place) -> Check {
        let key = self.model.handles[place].key;
        let got = self.core.listen(key, 4);
        let may_fail = self.program.faults.no_descriptor > 0;
        let is_open = self.model.open(place).is_ok();
        let stream = &self.model.handles[place].stream;
        if !is_open || stream.connection.is_some() {
            return same("listen", got, Err(Errno::EINVAL));
        }
        match got {
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

    fn accept(&mut self, listener: Place, client: Place) -> Check {
        if self.model.handles[client].kind != Kind::Tcp {
            return Ok(());
        }
        let expected = self.model.accept(listener, client);
        let (from, to) = (self.model.handles[listener].key, self.model.handles[client].key);
        same("accept", self.core.accept(from, to), expected)?;
        if expected.is_ok() {
            let peer = self.core.descriptor(to).and_then(|fd| self.sim.peer_of(fd));
            let connection = peer.ok().and_then(|peer| self.outside.borrow().find(peer));
            ensure!(connection.is_some(), "a connection was accepted that nobody has made");
            self.model.handles[client].stream.connection = connection;
        }
        Ok(())
    }

    fn write(&mut self, place: Place, length: usize) -> Check {
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
        ensure!(handed_back.is_none() == was_kept, "the buffers of a write are kept and handed back, or neither");
        let pending_round = self.model.pending_round_of(place);
        let stream = &mut self.model.handles[place].stream;
        let mut outside = self.outside.borrow_mut();
        let Some(connection) = stream.connection else { return Err("a write without a connection".into()) };
        outside.connections[connection].written += length;
        let end = outside.connections[connection].written;
        stream.writes.push_back(Request { user, end, was_kept, pending_round });
        stream.may_be_pending = true;
        Ok(())
    }

    fn try_write(&mut self, place: Place, length: usize) -> Check {
        let key = self.model.handles[place].key;
        let pieces = self.pieces(place, length);
        let expected = match self.core.write_queue_size(key) {
            Ok(0) => self.model.may_write(place),
            Ok(_) => Err(Errno::EAGAIN),
            Err(error) => Err(error),
        };
        let got = self.core.try_write(key, &pieces);
        if expected.is_err() {
            return same("try_write", got.map(|_| ()), expected);
        }
        let connection = self.model.handles[place].stream.connection.ok_or("a write without a connection")?;
        let connection = &mut self.outside.borrow_mut().connections[connection];
        match got {
            Ok(sent) => {
                ensure!(sent <= length, "try_write has sent {sent} of {length} bytes");
                connection.written += sent;
                connection.reported = connection.written;
                Ok(())
            }
            Err(Errno::EAGAIN) => Ok(()),
            Err(Errno::EPIPE | Errno::ECONNRESET) if connection.peer.has_reset(&self.sim) => Ok(()),
            Err(error) => Err(format!("try_write fails with {error:?}")),
        }
    }

    /// The next bytes of a connection, in one to four pieces.
    fn pieces(&self, place: Place, length: usize) -> Pieces {
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

fn user_of_request(number: u64, place: Place) -> u64 {
    1 << 63 | number << 8 | place as u64
}
