//! The events: each is checked against the model, then its callback runs.

use std::mem::MaybeUninit;

use oxuv_core::{Errno, Event, Key, Kind, Result as CoreResult};

use crate::Check;
use crate::actions::is_limit;
use crate::model::Life;
use crate::outside::bytes;
use crate::program::Place;
use crate::run::{Flow, Machine};
use crate::turn::Phase;

impl Machine<'_> {
    pub(crate) fn hear(&mut self, event: Event<u64>) -> Result<Flow, String> {
        let (key, user) = key_and_user(&event);
        let place = (user & 0xff) as Place;
        ensure!(place < self.model.handles.len(), "{event:?} with a user value that nobody gave");
        let (count, time) = (self.core.turns(), self.core.time());
        let phase = match event {
            Event::Timer { .. } => Phase::Timers,
            Event::Idle { .. } => Phase::Idle,
            Event::Prepare { .. } => Phase::Prepare,
            Event::Check { .. } => Phase::Check,
            Event::Connected { .. } | Event::Written { .. } | Event::ShutDown { .. } | Event::Sent { .. } => {
                self.model.phase_of_request(count, self.core.being_closed() == Some(key))
            }
            Event::Closed { .. } => Phase::Closing,
            // There is no thread that could look.
            Event::FsPoll { result: Err(Errno::EAGAIN | Errno::ENOMEM), .. } => Phase::Timers,
            _ => Phase::Poll,
        };
        self.coverage.note("phases", phase.name());
        let is_ready = matches!(event, Event::Ready { .. });
        self.coverage.note("callbacks", if is_ready { "ready" } else { event.callback_kind().name() });
        let handle = &self.model.handles[place];
        let is_job = matches!(event, Event::Done { .. });
        ensure!(is_job || handle.key == key && self.model.known(place).is_ok(), "{event:?} of a handle that is closed");
        self.model.owed = self.outside.borrow().signals.owed();
        self.model.advance(count, phase, time).map_err(|error| format!("{error}, at {event:?}"))?;
        self.take(event, place, phase, time)?;
        // What is written in the callback of a connect may be reported right behind it.
        self.model.turn.last = Some(place).filter(|_| !matches!(event, Event::Connected { .. }));
        self.needs_buffer =
            matches!(event, Event::NeedBuffer { .. } | Event::NeedDatagramBuffer { .. } | Event::Ready { .. });
        let flow = self.callback(place)?;
        self.needs_buffer = false;
        if flow == Flow::Left {
            return Ok(Flow::Left);
        }
        if let Event::NeedDatagramBuffer { .. } = event {
            return self.receive(place, key);
        }
        if let Event::Ready { readiness, .. } = event {
            self.use_readiness(place, readiness)?;
        }
        if let Event::NeedBuffer { .. } = event {
            self.read(place, key)?;
            return self.callback(place);
        }
        Ok(Flow::Goes)
    }

    /// What the event means for the model.
    fn take(&mut self, event: Event<u64>, place: Place, phase: Phase, time: u64) -> Check {
        let is_request = matches!(
            event,
            Event::Connected { .. }
                | Event::Written { .. }
                | Event::ShutDown { .. }
                | Event::Sent { .. }
                | Event::Done { .. }
        );
        // When one that looks at a file is closed among the others, is left open.
        let is_in_line = self.model.handles[place].kind != Kind::FsPoll;
        if phase == Phase::Closing && is_in_line {
            self.model.defer_closing(place);
        }
        let handle = &self.model.handles[place];
        if !is_request {
            ensure!(key_and_user(&event).1 == handle.user, "{event:?} of an earlier handle in place {place}");
            let life = if matches!(event, Event::Closed { .. }) { Life::Closing } else { Life::Open };
            ensure!(handle.life == life, "{event:?} of a handle that is {:?}", handle.life);
        } else if phase == Phase::Closing {
            let next = self.model.turn.left.first();
            ensure!(next == Some(&place), "a request of place {place} ends where {next:?} is to be closed");
        }
        if matches!(
            event,
            Event::Async { .. } | Event::Connection { .. } | Event::NeedBuffer { .. } | Event::Poll { .. }
        ) {
            self.check_signals_are_last()?;
        }
        match event {
            Event::Timer { .. } => {
                self.model.take_left(place)?;
                let repeat = self.model.handles[place].timer.repeat;
                if repeat != 0 {
                    let _ = self.model.start_timer(place, time, repeat, repeat);
                }
            }
            Event::Idle { .. } | Event::Prepare { .. } | Event::Check { .. } => self.model.take_left(place)?,
            Event::Async { .. } => {
                let sent = self.outside.borrow_mut().is_sent[place].take();
                ensure!(sent.is_some(), "nobody has sent to the async handle of place {place}");
            }
            Event::Connection { result, .. } => self.take_connection(place, result)?,
            Event::NeedBuffer { .. } => ensure!(handle.stream.is_reading, "{event:?} without reading"),
            Event::Exited { result, .. } => self.take_exit(place, result)?,
            Event::Poll { result, .. } => self.take_poll(place, result)?,
            Event::Connected { key, user, result } => {
                self.model.take_connect(place, user, result)?;
                let is_pipe = self.model.handles[place].kind == Kind::Pipe;
                let refusals = [
                    &[Errno::ECONNREFUSED, Errno::EADDRINUSE, Errno::ECONNRESET, Errno::EPIPE][..],
                    // A pipe tells by its event what TCP's connect returns.
                    if is_pipe { &[Errno::ENOENT, Errno::EMFILE, Errno::ENFILE] } else { &[] },
                ];
                self.check_result(place, result, &refusals.concat())?;
                let has_peer = if is_pipe {
                    self.core.pipe_peer_name(key).is_ok()
                } else {
                    self.core.tcp_peer_address(key).is_ok()
                };
                ensure!(has_peer || result.is_err(), "it is not connected");
            }
            Event::NeedDatagramBuffer { .. } => ensure!(handle.stream.is_reading, "{event:?} without receiving"),
            Event::Sent { user, result, .. } => self.take_sent(place, user, result)?,
            Event::HungUp { .. } => {
                ensure!(handle.stream.is_reading, "{event:?} without reading");
                self.check_end_of_stream(place)?;
                let _ = self.model.stop_reading(place);
            }
            Event::Written { user, result, .. } => self.take_written(place, user, result)?,
            Event::ShutDown { user, result, .. } => {
                self.model.take_shutdown(place, user)?;
                self.check_result(place, result, &[Errno::ENOTCONN])?;
            }
            Event::Signal { number, .. } => self.take_signal(place, number)?,
            Event::Done { user, result } => self.take_done(user, result)?,
            Event::Ready { readiness, .. } => self.take_ready(place, readiness)?,
            Event::FsEvent { result, .. } => self.take_change(place, result)?,
            Event::FsPoll { result, .. } => self.take_look(place, result)?,
            Event::Closed { .. } => {
                if is_in_line {
                    self.model.take_left(place)?;
                }
                ensure!(handle_requests(self, place) == 0, "place {place} is closed before its requests have ended");
                self.model.forget(place);
                self.outside.borrow_mut().signals.forget(place);
            }
        }
        Ok(())
    }

    fn take_connection(&mut self, place: Place, result: CoreResult<()>) -> Check {
        let stream = &mut self.model.handles[place].stream;
        ensure!(stream.is_listening, "a connection for one who does not listen");
        match result {
            Ok(()) => {
                ensure!(!stream.has_waiting, "a connection although one waits still");
                stream.has_waiting = true;
            }
            Err(error) => {
                let may_fail = is_limit(error) && self.program.faults.no_descriptor > 0;
                ensure!(may_fail, "the listener fails with {error:?}");
            }
        }
        Ok(())
    }

    fn take_written(&mut self, place: Place, user: u64, result: CoreResult<()>) -> Check {
        let request = self.model.take_write(place, user)?;
        let is_handed_back = self.core.take_buffers().is_some();
        // What was gathered is kept where the kernel has not taken it.
        let may_be_kept = request.was_kept || crate::run::gathers(self.program.seed);
        let is_right = if is_handed_back { may_be_kept } else { !request.was_kept };
        ensure!(is_right, "buffers handed back: {is_handed_back}, {request:?}");
        if result == Err(Errno::EBADF) && request.has_handle {
            self.note_lost_handle(place);
            return Ok(());
        }
        self.check_result(place, result, &[Errno::EPIPE, Errno::ECONNRESET])?;
        if result.is_ok() {
            let connection = self.model.handles[place].stream.connection.ok_or("a write without a connection")?;
            self.outside.borrow_mut().connections[connection].reported = request.end;
        }
        Ok(())
    }

    /// Requests are cancelled by close, and fail if the peer has reset the connection.
    fn check_result(&self, place: Place, result: CoreResult<()>, errors: &[Errno]) -> Check {
        let handle = &self.model.handles[place];
        let Err(error) = result else { return Ok(()) };
        // With a connect that has failed, all that has waited for it fails.
        let is_canceled = error == Errno::ECANCELED && (handle.life == Life::Closing || handle.stream.has_failed);
        let outside = self.outside.borrow();
        let connection = handle.stream.connection.map(|connection| &outside.connections[connection]);
        let is_reset = connection.is_some_and(|it| it.is_loose || it.peer.has_reset(&self.sim));
        let is_unconnected = error == Errno::ENOTCONN && handle.stream.has_failed;
        let has_failed = errors.contains(&error) && (handle.stream.has_failed || is_reset) || is_unconnected;
        ensure!(is_canceled || has_failed, "a request fails with {error:?}");
        Ok(())
    }

    /// Gives the core a buffer, and checks what it reads.
    fn read(&mut self, place: Place, key: Key) -> Check {
        let size = *self.random.pick(&[0, 1, 7, 64, 300, 300, 5000]).expect("there are some");
        let mut buffer = vec![MaybeUninit::uninit(); size];
        let result = self.core.read_into(key, &mut buffer);
        self.trace.push(format!("read of {size}: {:?}", result.as_ref().map(|bytes| bytes.len())));
        let is_reading = self.model.handles[place].stream.is_reading;
        match result {
            Err(Errno::ENOBUFS) => ensure!(size == 0, "no buffer where {size} bytes were given"),
            Ok([]) => {}
            _ if !is_reading => return Err("a read although reading was stopped".into()),
            Ok(got) => self.take_bytes(place, key, got)?,
            Err(Errno::EOF) => {
                self.check_end_of_stream(place)?;
                let _ = self.model.stop_reading(place);
            }
            Err(error) => self.take_failure(place, error)?,
        }
        self.verify()
    }

    /// These bytes were read.
    pub(crate) fn take_bytes(&mut self, place: Place, key: Key, got: &[u8]) -> Check {
        let number = self.model.handles[place].stream.connection.ok_or("a read without a connection")?;
        let mut outside = self.outside.borrow_mut();
        let (source, from, sent) = outside.source(number);
        let connection = &mut outside.connections[number];
        let is_right = connection.is_loose || got == bytes(source, from, connection.read, got.len());
        ensure!(connection.is_loose || connection.read + got.len() <= sent, "more is read than was sent");
        ensure!(is_right, "what was read was not sent");
        connection.read += got.len();
        let is_loose = connection.is_loose;
        let arrived = outside.take_arrived(number);
        let received = self.core.pending_handles(key);
        if is_loose {
            self.model.handles[place].stream.received = received;
        } else if self.model.passes_handles(place) {
            self.model.handles[place].stream.received += arrived;
        }
        Ok(())
    }

    /// A read has failed with this.
    pub(crate) fn take_failure(&mut self, place: Place, error: Errno) -> Check {
        self.check_result(place, Err(error), &[Errno::EPIPE, Errno::ECONNRESET])?;
        self.model.fail_reading(place);
        Ok(())
    }

    /// The end of a stream comes after all that the peer has sent, when the peer has ended.
    pub(crate) fn check_end_of_stream(&self, place: Place) -> Check {
        let outside = self.outside.borrow();
        if self.model.handles[place].stream.has_failed {
            return Ok(());
        }
        let number = self.model.handles[place].stream.connection.ok_or("an end without a connection")?;
        let connection = &outside.connections[number];
        if connection.is_loose {
            return Ok(());
        }
        if let Some(partner) = connection.partner {
            let has_read = connection.read >= outside.connections[partner].reported;
            let is_reset = connection.peer.has_reset(&self.sim);
            ensure!(connection.peer.has_ended(&self.sim) && (has_read || is_reset), "the stream ends early");
            return Ok(());
        }
        let peer = connection.peer;
        // The other end may be a socket that the program has never taken.
        let was_dropped = peer.partner(&self.sim).is_some() && peer.has_ended(&self.sim);
        let has_ended = connection.has_ended || peer.has_reset(&self.sim) || was_dropped;
        ensure!(has_ended, "the stream of place {place} ends although the peer has not");
        ensure!(connection.read == connection.sent, "the stream of place {place} ends early: {connection:?}");
        Ok(())
    }
}

fn handle_requests(machine: &Machine<'_>, place: Place) -> usize {
    machine.model.handles[place].stream.requests()
}

fn key_and_user(event: &Event<u64>) -> (Key, u64) {
    match *event {
        Event::Timer { key, user }
        | Event::Idle { key, user }
        | Event::Prepare { key, user }
        | Event::Check { key, user }
        | Event::Async { key, user }
        | Event::Connection { key, user, .. }
        | Event::NeedBuffer { key, user }
        | Event::NeedDatagramBuffer { key, user }
        | Event::Sent { key, user, .. }
        | Event::Poll { key, user, .. }
        | Event::Exited { key, user, .. }
        | Event::Signal { key, user, .. }
        | Event::Connected { key, user, .. }
        | Event::FsEvent { key, user, .. }
        | Event::FsPoll { key, user, .. }
        | Event::HungUp { key, user }
        | Event::Ready { key, user, .. }
        | Event::Written { key, user, .. }
        | Event::ShutDown { key, user, .. }
        | Event::Closed { key, user } => (key, user),
        Event::Done { user, .. } => (Key::default(), user),
    }
}
