//! The two phases of a turn in which tasks run: those of a prepare and a check handle of the loop's own.
//!
//! The handle of the phase that comes next is started when a task is to run, and stopped when that phase comes in vain: turns without
//! tasks cost nothing, and those with some not a start and a stop each.

use std::cell::{Cell, RefCell};

use oxuv_core::{Ahead, Key};

use super::wakeup::Bell;
use crate::loop_::{Core, Inner};
use crate::{Async, Check, Handle, LoopRef, Prepare, Result};

/// The loop's own handles for its tasks: made with the first.
pub(super) struct Handles {
    prepare: Prepare,
    check: Check,
    bell: Async,
}

impl Handles {
    fn new(lp: &LoopRef) -> Result<Handles> {
        let bell = Async::new(lp, |bell| {
            let inner = &*bell.owner().0;
            inner.tasks.answer(inner);
        })?;
        let handles = Handles { prepare: Prepare::new(lp)?, check: Check::new(lp)?, bell };
        let all: [&Handle; 3] = [&handles.prepare, &handles.check, &handles.bell];
        for handle in all {
            handle.with(|core, key| core.hide(key))?;
        }
        handles.prepare.unref()?;
        handles.check.unref()?;
        Ok(handles)
    }
}

#[derive(Default)]
struct Phase {
    key: Cell<Key>,
    standing: Cell<Standing>,
}

#[derive(Clone, Copy, PartialEq, Default)]
enum Standing {
    #[default]
    Stopped,
    Started,
    /// A handle of the user's was started after it, and would come before it.
    Overtaken,
}

impl Phase {
    /// The newest comes first: it is what it would be if it were started each time that it is needed.
    #[inline]
    fn start(&self, core: &mut Core) -> Result<()> {
        let key = self.key.get();
        match self.standing.get() {
            Standing::Started => return Ok(()),
            Standing::Overtaken => core.watcher_stop(key)?,
            Standing::Stopped => {}
        }
        core.watcher_start(key)?;
        self.standing.set(Standing::Started);
        Ok(())
    }

    fn stop(&self, core: &mut Core) -> Result<()> {
        self.standing.set(Standing::Stopped);
        core.watcher_stop(self.key.get())
    }

    fn overtake(&self) {
        if self.standing.get() == Standing::Started {
            self.standing.set(Standing::Overtaken);
        }
    }
}

#[derive(Default)]
pub(super) struct Phases {
    handles: RefCell<Option<Handles>>,
    prepare: Phase,
    check: Phase,
}

impl Phases {
    /// There are tasks, which keep the loop running until [`Phases::release`].
    pub(super) fn hold(&self, lp: &LoopRef, bell: &Bell) -> Result<()> {
        let mut handles = self.handles.borrow_mut();
        let handles = match &*handles {
            Some(handles) => handles,
            None => handles.insert(Handles::new(lp)?),
        };
        self.prepare.key.set(handles.prepare.key());
        self.check.key.set(handles.check.key());
        bell.connect(handles.bell.sender()?);
        handles.bell.r#ref()
    }

    pub(super) fn release(&self) {
        if let Some(handles) = &*self.handles.borrow() {
            // It fails only for a loop that is gone.
            let _ = handles.bell.unref();
        }
    }

    /// Takes the handles of a loop that is gone.
    pub(super) fn take_handles(&self) -> Option<Handles> {
        self.handles.take()
    }

    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        key == self.prepare.key.get() || key == self.check.key.get()
    }

    /// A task is to run, and nobody is at work on the queue: that is for the phase which comes next.
    #[inline(never)]
    pub(super) fn start_next(&self, inner: &Inner) {
        // This fails only for a loop that is gone, or has had no task yet.
        let _ = inner.with(|core| match core.ahead() {
            Ahead::Prepare => self.prepare.start(core),
            Ahead::Check => self.check.start(core),
            Ahead::Wait => {
                core.skip_wait();
                self.check.start(core)
            }
        });
    }

    /// The phase of this handle has come in vain.
    pub(super) fn stop(&self, inner: &Inner, key: Key) {
        let phase = if key == self.check.key.get() { &self.check } else { &self.prepare };
        let _ = inner.with(|core| phase.stop(core));
    }

    /// A prepare or check handle of the user's was started.
    #[inline]
    pub(super) fn overtake(&self) {
        self.prepare.overtake();
        self.check.overtake();
    }
}
