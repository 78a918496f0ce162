//! Children: each ends once, when the outside says so, and is heard of last in its batch.

use oxuv_core::kernel::{Command, Exit, Texts};
use oxuv_core::{Errno, Event, Key, Mode, Result as CoreResult, Stdio};

use crate::Check;
use crate::actions::{is_limit, same};
use crate::program::Place;
use crate::run::Machine;

/// How the children of a place end.
fn exit_of(id: i32) -> Exit {
    if id % 3 == 0 { Exit::by_signal(9) } else { Exit::with_code(id) }
}

/// One of the children that are alive ends.
pub(crate) fn end_child(sim: &oxuv_core::sim::Sim, nth: usize) {
    let children = sim.children();
    if !children.is_empty() {
        let id = children[nth % children.len()];
        sim.exit(id, exit_of(id));
    }
}

impl Machine<'_> {
    /// `None` where there are not enough descriptors.
    pub(crate) fn spawn(&mut self, user: u64, stdio: &[Stdio]) -> CoreResult<Option<Key>> {
        let none: Texts = [].into_iter().collect();
        let command = Command {
            file: c"program",
            args: none.list(),
            env: none.list(),
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
            end_child(&self.sim, 0);
        }
        let last = self.spawn(u64::MAX, &[]).map_err(|error| format!("the last child: {error}"))?;
        end_child(&self.sim, 0);
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
