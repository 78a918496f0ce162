//! Idle, prepare and check: the handles that run in each turn, newest first.

use oxuv_os::{Errno, Result};

use crate::kernel::Kernel;
use crate::slots::{List, PHASE, Walk, flag};
use crate::{Buffers, Core, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new idle handle, stopped: it runs in each turn, before prepare, and the loop does not wait while it is
    /// active.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_idle_init")]
    pub fn idle_init(&mut self, user: U) -> Result<Key> {
        self.watcher_init(Kind::Idle, user)
    }

    /// A new prepare handle, stopped: it runs in each turn, before waiting.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_prepare_init")]
    pub fn prepare_init(&mut self, user: U) -> Result<Key> {
        self.watcher_init(Kind::Prepare, user)
    }

    /// A new check handle, stopped: it runs in each turn, after waiting.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_check_init")]
    pub fn check_init(&mut self, user: U) -> Result<Key> {
        self.watcher_init(Kind::Check, user)
    }

    fn watcher_init(&mut self, kind: Kind, user: U) -> Result<Key> {
        self.slots.reserve()?;
        Ok(self.add_handle(kind, 0, user))
    }

    /// Starts an idle, prepare or check handle, ahead of those started before. False if it was active already:
    /// nothing has changed then.
    ///
    /// # Errors
    /// EINVAL when it is closing.
    #[doc(alias = "uv_idle_start")]
    #[doc(alias = "uv_prepare_start")]
    #[doc(alias = "uv_check_start")]
    pub fn watcher_start(&mut self, key: Key) -> Result<bool> {
        let (index, list) = self.watcher(key)?;
        if self.slots[index].has(flag::CLOSING) {
            return Err(Errno::EINVAL);
        }
        if self.slots[index].has(flag::ACTIVE) {
            return Ok(false);
        }
        self.slots.push_front(list, index);
        self.set_active(index);
        Ok(true)
    }

    /// Stops an idle, prepare or check handle. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_idle_stop")]
    #[doc(alias = "uv_prepare_stop")]
    #[doc(alias = "uv_check_stop")]
    pub fn watcher_stop(&mut self, key: Key) -> Result<()> {
        let (index, _) = self.watcher(key)?;
        if self.slots[index].has(flag::ACTIVE) {
            self.slots.unlink::<PHASE>(index);
            self.set_inactive(index);
        }
        Ok(())
    }

    fn watcher(&self, key: Key) -> Result<(u32, List)> {
        let index = self.slots.find(key)?;
        match self.slots[index].kind {
            Kind::Idle => Ok((index, List::Idle)),
            Kind::Prepare => Ok((index, List::Prepare)),
            Kind::Check => Ok((index, List::Check)),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The next idle, prepare or check handle of the phase under way, if it is theirs; `None` when [`Core::next_other`]
    /// is to be asked. Together they are [`Core::next`]. A front has the choice to ask one after the other: these
    /// callbacks run in every turn, and need less than an event.
    #[inline]
    pub fn next_watcher(&mut self) -> Option<(Key, Kind, U)> {
        let index = self.slots.step(Walk::Watchers)?;
        let slot = &self.slots[index];
        Some((self.slots.key(index), slot.kind, slot.user))
    }
}
