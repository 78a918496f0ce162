//! What holds after every action and at every event.

use oxuv_core::kernel::Readiness;
use oxuv_core::sim::{Faults, Fd, Note};
use oxuv_core::{Errno, Kind, Mode};

use crate::Check;
use crate::model::{Handle, Life};
use crate::run::{EDEADLK, Machine};

/// The clock's last hour.
const LAST_HOUR: u64 = u64::MAX - 3_600_000_000_000;

impl Machine<'_> {
    /// The core's answers are the model's.
    pub(crate) fn verify(&self) -> Check {
        self.outside.borrow_mut().complain()?;
        let (core, model) = (&self.core, &self.model);
        for (place, handle) in model.handles.iter().enumerate() {
            let (key, stream) = (handle.key, &handle.stream);
            let is_known = model.known(place).is_ok();
            let answers = [
                ("active", core.is_active(key), handle.is_active),
                ("closing", core.is_closing(key), matches!(handle.life, Life::Closing | Life::Closed)),
                ("referenced", core.is_referenced(key), handle.is_referenced),
                ("known", core.kind(key) == Some(handle.kind), is_known),
                ("readable", core.is_readable(key), stream.is_readable),
                ("writable", core.is_writable(key), stream.is_writable),
                ("having a socket", self.socket_of(handle).is_some(), stream.has_socket),
            ];
            for (what, got, expected) in answers {
                ensure!(got == expected, "place {place} {what}: {got}, to the model {expected}");
            }
            let received = core.pending_handles(key);
            ensure!(
                received == stream.received,
                "{received} handles have come to place {place}, of {}",
                stream.received
            );
            let (sends, _) = core.udp_send_queue(key).unwrap_or((stream.writes.len(), 0));
            ensure!(sends == stream.writes.len(), "{sends} sends are queued in place {place}");
            let queued = core.write_queue_size(key).unwrap_or(0);
            ensure!(queued == 0 || !stream.writes.is_empty(), "{queued} bytes of no write are queued in place {place}");
        }
        let open = self.sim.open_descriptors().len() - self.sim.own_descriptors();
        let sockets = |Handle { stream, .. }: &Handle| {
            usize::from(stream.has_socket) + usize::from(stream.has_waiting) + stream.received
        };
        let expected = model.handles.iter().map(sockets).sum::<usize>() + self.owned.iter().flatten().count();
        ensure!(open == expected, "{open} descriptors are open, to the model {expected}");
        let (is_alive, expected) = (core.alive(), model.is_alive());
        ensure!(is_alive || !expected, "the loop is not alive, to the model it is");
        ensure!(!is_alive || model.may_be_alive(), "the loop is alive, to the model it is not");
        let is_closable = model.requests() == 0 && model.order.is_empty();
        ensure!(core.check_closable().is_ok() == is_closable, "to the model the loop is closable: {is_closable}");
        Ok(())
    }

    /// Looks at what the kernel was asked since the last look.
    pub(crate) fn check_notes(&mut self) -> Check {
        let mut is_interrupted = false;
        for note in self.sim.take_trace() {
            match note {
                Note::Misused { .. } => return Err(format!("the kernel was misused: {note:?}")),
                Note::Waited { timeout, now, result } => {
                    is_interrupted = result == Err(Errno::EINTR) && timeout != Some(0);
                    self.check_wait(timeout, now, result == Ok(0)).map_err(|error| format!("{error}: {note:?}"))?;
                    // At the clock's end, what is due later never comes.
                    if result == Err(EDEADLK) && now < LAST_HOUR {
                        self.check_deadlock()?;
                    }
                }
                _ => {}
            }
            self.notes.push(note);
        }
        ensure!(!is_interrupted, "a wait is over because of a signal");
        Ok(())
    }

    /// A wait is neither too long nor too short. Between two events nothing changes but time, so this is what the core
    /// had to reckon from.
    fn check_wait(&self, timeout: Option<u64>, now: u64, is_over: bool) -> Check {
        let model = &self.model;
        let has_no_work = !model.has_work() && !model.may_look();
        let has_more = model.stop || has_no_work || !model.idle.is_empty() || !model.closing.is_empty();
        let must_not_wait = has_more || model.turn.mode == Mode::NoWait;
        ensure!(timeout == Some(0) || !must_not_wait, "the loop waits although there is something to do");
        let due = model.first_due();
        ensure!(timeout.is_some() || due.is_none(), "the loop waits for ever although a timer is active");
        if let (true, Some(due)) = (is_over && timeout != Some(0) && !self.has_jumps(), due) {
            ensure!(now <= due.saturating_add(self.worked), "the loop sleeps past a timer due at {due}");
        }
        if self.program.faults != Faults::none() {
            return Ok(());
        }
        let are_caught = self.outside.borrow().signals.are_caught();
        let is_idle = !has_more && !are_caught && !model.handles.iter().any(|handle| handle.stream.may_be_pending);
        let may_wait = is_idle && !model.may_look() && model.turn.mode == Mode::Default && !model.was_left;
        let is_due = due.is_some_and(|due| due <= now);
        ensure!(timeout != Some(0) || !may_wait || is_due, "the loop does not wait although it may");
        Ok(())
    }

    /// The loop waits for ever: then nothing may be there that it ought to know of.
    fn check_deadlock(&self) -> Check {
        ensure!(self.model.jobs.count() == 0, "the loop waits for ever although a job is under way");
        for (place, handle) in self.model.handles.iter().enumerate() {
            let missed = self.missed(place, handle);
            ensure!(
                missed.is_none(),
                "the loop waits for ever although {} is there for place {place}",
                missed.unwrap()
            );
        }
        Ok(())
    }

    fn socket_of(&self, handle: &Handle) -> Option<&Fd> {
        match handle.kind {
            Kind::Udp => self.core.udp_descriptor(handle.key).ok(),
            _ => self.core.descriptor(handle.key).ok(),
        }
    }

    fn missed(&self, place: usize, handle: &Handle) -> Option<&'static str> {
        let stream = &handle.stream;
        let ready = self.socket_of(handle).map_or(Readiness::empty(), |fd| self.sim.readiness(fd));
        let to_read = Readiness::READ | Readiness::HANG_UP | Readiness::ERROR;
        if let Some(fd) = &self.owned[place] {
            let awaited = handle.wanted | Readiness::HANG_UP | Readiness::ERROR;
            let is_missed = handle.is_active && self.sim.readiness(fd).intersects(awaited);
            return is_missed.then_some("readiness");
        }
        match handle.kind {
            Kind::Timer if handle.is_active && handle.timer.due < u64::MAX => Some("a timer's time"),
            Kind::FsPoll if handle.is_active => Some("a look"),
            Kind::FsEvent if self.outside.borrow().watches.is_due(place) => Some("a change"),
            Kind::Signal if handle.is_active && self.outside.borrow().signals.is_due(place) => Some("a signal"),
            Kind::Process if self.missed_end(place) => Some("the end of a child"),
            Kind::Async if self.outside.borrow().is_sent[place].is_some() => Some("a send"),
            Kind::Udp if stream.is_reading && ready.intersects(to_read) => Some("a datagram"),
            Kind::Udp if !stream.writes.is_empty() && ready.contains(Readiness::WRITE) => Some("room for datagrams"),
            Kind::Tcp | Kind::Pipe | Kind::Tty if stream.awaits(ready) => Some("readiness"),
            Kind::Tcp | Kind::Pipe | Kind::Tty if stream.is_reading && ready.intersects(to_read) => {
                Some("something to read")
            }
            Kind::Tcp | Kind::Pipe if stream.is_listening && !stream.has_waiting && ready.intersects(to_read) => {
                Some("a connection")
            }
            Kind::Tcp | Kind::Pipe if stream.is_connecting() => {
                Some("the end of a connect").filter(|_| ready.contains(Readiness::WRITE))
            }
            Kind::Tcp | Kind::Pipe | Kind::Tty if !stream.writes.is_empty() && ready.contains(Readiness::WRITE) => {
                Some("room for writes")
            }
            Kind::Tcp | Kind::Pipe | Kind::Tty if stream.writes.is_empty() && stream.shutdown.is_some() => {
                Some("a shutdown")
            }
            _ => None,
        }
    }
}
