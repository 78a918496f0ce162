//! Children: each ends once, when the outside says so, and is heard of last in its batch.

use oxuv_core::kernel::{Command, Exit, Texts};
use oxuv_core::sim::Sim;
use oxuv_core::{Errno, Event, Key, Kind, Mode, Result as CoreResult, Stdio};

use crate::Check;
use crate::actions::{is_limit, is_stream, same};
use crate::outside::Outside;
use crate::program::Place;
use crate::run::Machine;

/// How the children of a place end.
fn exit_of(id: i32) -> Exit {
    if id % 3 == 0 { Exit::by_signal(9) } else { Exit::with_code(id) }
}

/// One of the children that are alive ends: this one.
fn end_child(sim: &Sim, nth: usize) -> Option<i32> {
    let children = sim.children();
    let id = *children.get(nth % children.len().max(1))?;
    sim.exit(id, exit_of(id));
    Some(id)
}

impl Outside {
    /// One of the children ends, and with it the ends that it has.
    pub(crate) fn end_child(&mut self, sim: &Sim, nth: usize) {
        let Some(ended) = end_child(sim, nth) else { return };
        for (child, number) in &self.ends_of_children {
            self.connections[*number].has_ended |= *child == ended;
        }
    }
}

impl Machine<'_> {
    /// `None` where there are not enough descriptors.
    pub(crate) fn spawn(&mut self, user: u64, stdio: &[Stdio]) -> CoreResult<Option<Key>> {
        let mut none = Texts::default();
        let none = none.list().expect("there is memory");
        let command = Command {
            file: c"program",
            args: none,
            env: Some(none),
            directory: None,
            user: None,
            group: None,
            detached: false,
        };
        match self.core.process_spawn(user, &command, stdio) {
            Err(error) if is_limit(error) && self.program.faults.no_descriptor > 0 => Ok(None),
            spawned => spawned.map(Some),
        }
    }

    /// Makes a child that has something of a handle's.
    pub(crate) fn spawn_with(&mut self, place: Place, other: Place, bits: u16) -> Check {
        let (handle, stream) = (&self.model.handles[other], &self.model.handles[other].stream);
        let has_pipe = bits > 0;
        // One that is connecting, or has failed to, may have a descriptor or none.
        let is_clear = stream.has_socket || !stream.was_used();
        let is_taken = self.model.known(place).is_ok() || self.model.handles[place].kind != Kind::Process;
        if is_taken || has_pipe && (handle.kind != Kind::Pipe || !is_clear) || !has_pipe && !is_stream(handle.kind) {
            return Ok(());
        }
        let (readable, writable) = (bits & 1 != 0, bits & 2 != 0);
        let stdio =
            if has_pipe { Stdio::Pipe { key: handle.key, readable, writable } } else { Stdio::Handle(handle.key) };
        let expected = match (self.model.open(other), stream.has_socket) {
            (Ok(()), true) if has_pipe => Err(Errno::EBUSY),
            (Ok(()), false) if !has_pipe => Err(Errno::EINVAL),
            (open, _) => open,
        };
        let (user, key) = (self.model.next_user(place), handle.key);
        let child = match (self.spawn(user, &[Stdio::Ignore, stdio]), expected) {
            (Ok(None), _) => return Ok(()),
            (Ok(Some(child)), Ok(())) => child,
            (Err(error), Err(expected)) => return same("spawn", error, expected),
            (got, _) => return Err(format!("spawn is {got:?} where {expected:?} was to be expected")),
        };
        self.coverage.note("kinds", Kind::Process.name());
        self.model.init(place, child);
        if has_pipe {
            let peer = self.core.descriptor(key).and_then(|fd| self.sim.peer_of(fd));
            let id = self.core.process_id(child).map_err(|error| error.to_string())?;
            let number = self.outside.borrow_mut().add(peer.map_err(|error| error.to_string())?);
            self.outside.borrow_mut().ends_of_children.push((id, number));
            let stream = &mut self.model.handles[other].stream;
            stream.connect();
            (stream.is_readable, stream.is_writable, stream.connection) = (readable, writable, Some(number));
        }
        Ok(())
    }

    fn has_ended(&self, place: Place) -> bool {
        let id = self.core.process_id(self.model.handles[place].key);
        id.is_ok_and(|id| !self.sim.children().contains(&id))
    }

    /// Sends a signal, which the child lets pass.
    pub(crate) fn kill(&mut self, place: Place) -> Check {
        let handle = &self.model.handles[place];
        let (key, is_active) = (handle.key, handle.is_active);
        let sent = self.core.process_kill(key, 15);
        match (self.model.open(place), is_active) {
            (Ok(()), true) => {
                // One that has ended can be sent to until the loop has waited for it.
                let may_fail = sent == Err(Errno::ESRCH) && self.has_ended(place);
                ensure!(sent == Ok(()) || may_fail, "kill: {sent:?}");
                Ok(())
            }
            (Ok(()), false) => same("kill", sent, Err(Errno::ESRCH)),
            (Err(_), _) => {
                ensure!(sent.is_err() || self.model.known(place).is_ok(), "kill of a closed handle");
                Ok(())
            }
        }
    }

    pub(crate) fn take_exit(&mut self, place: Place, result: CoreResult<Exit>) -> Check {
        ensure!(self.model.handles[place].is_active, "the end of a child that has ended before");
        ensure!(self.has_ended(place), "the end of a child that goes on");
        let id = self.core.process_id(self.model.handles[place].key).map_err(|error| error.to_string())?;
        same("the end", result, Ok(exit_of(id)))?;
        self.model.handles[place].is_active = false;
        Ok(())
    }

    /// An end that nobody has heard of.
    pub(crate) fn missed_end(&self, place: Place) -> bool {
        self.model.handles[place].is_active && self.has_ended(place)
    }

    /// Everything is closed: all children end, and nobody is left that nobody waits for.
    pub(crate) fn end_children(&mut self) -> Check {
        self.sim.set_faults(Default::default());
        while !self.sim.children().is_empty() {
            self.outside.borrow_mut().end_child(&self.sim, 0);
        }
        let last = self.spawn(u64::MAX, &[]).map_err(|error| format!("the last child: {error}"))?;
        self.outside.borrow_mut().end_child(&self.sim, 0);
        if let Some(last) = last {
            same("close", self.core.close(last), Ok(()))?;
            self.core.begin(Mode::Default);
            let is_other = |event: &Event<u64>| event.key() != Some(self.guard);
            let heard: Vec<_> = std::iter::from_fn(|| self.core.next()).filter(is_other).collect();
            ensure!(matches!(heard[..], [Event::Closed { .. }]), "{heard:?} of one that is closed");
        }
        let left = self.sim.zombies();
        ensure!(left == 0, "{left} children are left that nobody has waited for");
        Ok(())
    }
}
