//! What the core wants to know of descriptors, and what of that the kernel has been told.
//!
//! Interest is written down at once and told to the kernel right before it waits. That nothing is wanted any more is
//! not told at all: the descriptor may stay silent, or be wanted again.

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Readiness};
use crate::poll::Care;
use crate::slots::{Slot, Slots};
use crate::{Buffers, Core, Key, Kind};

/// The interest in one descriptor.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The descriptor's number, -1 while there is none.
    pub(crate) number: i32,
    /// What we want to know.
    pub(crate) wanted: Readiness,
    /// What the kernel was told that we want to know; empty when it does not watch the descriptor.
    pub(crate) watched: Readiness,
    /// In the list of those whose interest the kernel does not know yet.
    is_unsynced: bool,
}

impl Watch {
    pub(crate) fn new(number: i32) -> Watch {
        Watch { number, wanted: Readiness::empty(), watched: Readiness::empty(), is_unsynced: false }
    }
}

impl Watch {
    /// The descriptor's number, if it is to be taken out of the kernel's set, where it is no longer from here on.
    #[inline]
    pub(crate) fn take_watched(&mut self) -> Option<i32> {
        let watched = std::mem::take(&mut self.watched);
        (!watched.is_empty()).then_some(self.number)
    }

    /// What is told by edges shall be told again, though nothing new has come: to change the watch does that.
    #[inline]
    pub(crate) fn be_told_again(&mut self) {
        self.watched -= Readiness::EDGE;
    }
}

impl Default for Watch {
    fn default() -> Self {
        Watch::new(-1)
    }
}

/// The lists about all watches of a loop.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    /// Handles whose interest the kernel does not know yet.
    pub(crate) unsynced: Vec<Key>,
    /// Handles that the kernel had no resources for. They are left alone for one wait, which is a short one.
    pub(crate) retries: Vec<Key>,
    /// Poll handles whose descriptor turned out to be closed. They are still to be told.
    pub(crate) failed: Vec<Key>,
    /// There are changes of files to tell of, or directories to look through.
    pub(crate) has_changes: bool,
    /// For each number of a descriptor the slot of the handle that wants to know of it, or wanted to last, or [`NOBODY`].
    owners: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Watches {
    /// Makes sure that this many handles can be listed without memory.
    #[inline]
    pub(crate) fn reserve(&mut self, handles: usize) -> Result<()> {
        // Those closed since the last sync are in the lists, too, so this is about what is added to them.
        let has_room = |list: &Vec<Key>| list.capacity() - list.len() >= handles;
        let have_room = has_room(&self.unsynced) && has_room(&self.retries) && has_room(&self.failed);
        if have_room { Ok(()) } else { self.grow_lists(handles) }
    }

    #[cold]
    fn grow_lists(&mut self, handles: usize) -> Result<()> {
        self.unsynced.try_reserve(handles)?;
        self.retries.try_reserve(handles)?;
        self.failed.try_reserve(handles)?;
        Ok(())
    }

    /// Makes sure that a descriptor of this number can be owned without memory.
    #[inline]
    pub(crate) fn reserve_number(&mut self, number: i32) -> Result<()> {
        let numbers = usize::try_from(number).map_or(0, |number| number + 1);
        if numbers <= self.owners.len() { Ok(()) } else { self.grow(numbers) }
    }

    #[cold]
    fn grow(&mut self, numbers: usize) -> Result<()> {
        self.owners.try_reserve(numbers - self.owners.len())?;
        self.owners.resize(numbers, NOBODY);
        Ok(())
    }
}

impl Watches {
    /// True if there is something that a wait must not last for.
    #[inline]
    pub(crate) fn must_look_after(&self) -> bool {
        !self.retries.is_empty() || self.must_tell()
    }

    /// True if there is something to tell of, whatever the kernel says.
    #[inline]
    pub(crate) fn must_tell(&self) -> bool {
        !self.failed.is_empty() || self.has_changes
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// The watch of a handle that has a descriptor.
    #[inline]
    pub(crate) fn watch_mut(&mut self, index: u32) -> &mut Watch {
        let slot = &self.slots[index];
        match slot.kind {
            Kind::Poll => &mut self.polls[slot.state],
            Kind::Udp => &mut self.udps[slot.state].watch,
            Kind::Process => &mut self.processes.slab[slot.state].watch,
            _ => &mut self.streams[slot.state].watch,
        }
    }

    fn watch(&self, index: u32) -> &Watch {
        let slot = &self.slots[index];
        match slot.kind {
            Kind::Poll => &self.polls[slot.state],
            Kind::Udp => &self.udps[slot.state].watch,
            Kind::Process => &self.processes.slab[slot.state].watch,
            _ => &self.streams[slot.state].watch,
        }
    }

    /// The number of handles that have a watch, or could have one without memory.
    #[inline]
    pub(crate) fn watchers(&self) -> usize {
        self.streams.bound() + self.udps.bound() + self.polls.bound() + self.processes.slab.bound()
    }

    /// The number of the descriptor that a handle has, be it its own or somebody else's.
    ///
    /// # Errors
    /// EBADF when it has none (yet, or any more); EINVAL for a stale key, and for kinds that never have one.
    #[doc(alias = "uv_fileno")]
    pub fn descriptor_number(&self, key: Key) -> Result<i32> {
        let index = Self::find_watcher(&self.slots, key).ok_or(Errno::EINVAL)?;
        if self.slots[index].kind == Kind::Process {
            // What it has is for us.
            return Err(Errno::EINVAL);
        }
        let number = self.watch(index).number;
        if number < 0 { Err(Errno::EBADF) } else { Ok(number) }
    }

    /// The handle that watches a descriptor under this key, if it still does.
    #[inline]
    pub(crate) fn find_watcher(slots: &Slots<U>, key: Key) -> Option<u32> {
        let index = slots.find(key).ok()?;
        let kind = slots[index].kind;
        (kind.is_stream() || matches!(kind, Kind::Udp | Kind::Poll | Kind::Process)).then_some(index)
    }

    /// Adds to what we want to know of a handle's descriptor.
    #[inline]
    pub(crate) fn want(&mut self, index: u32, readiness: Readiness) {
        self.want_unsaid(index, readiness);
        self.mark_unsynced(index);
    }

    /// As [`Core::want`], but the kernel is not told for now.
    #[inline]
    pub(crate) fn want_unsaid(&mut self, index: u32, readiness: Readiness) {
        let watch = self.watch_mut(index);
        let (number, is_new) = (watch.number, watch.wanted.is_empty());
        watch.wanted |= readiness;
        if is_new {
            self.own(number, index);
        }
    }

    /// The kernel is about to be told that this handle wants to know of a descriptor.
    #[inline]
    fn own(&mut self, number: i32, index: u32) {
        let Some(owner) = self.watches.owners.get_mut(number as usize) else { return };
        let before = std::mem::replace(owner, index);
        if before != index && self.watch_of(before, number).is_some() {
            // It has lost interest, of which the kernel was not told. Nor will it be: the entry is another's now.
            self.watch_mut(before).watched = Readiness::empty();
        }
    }

    /// What the handle at this slot wants to know of a descriptor, if that is its own.
    fn watch_of(&self, slot: u32, number: i32) -> Option<&Watch> {
        if slot == NOBODY {
            return None;
        }
        let Slot { kind, state, .. } = self.slots[slot];
        let watch = match kind {
            Kind::Udp => &self.udps[state].watch,
            Kind::Poll => &self.polls[state],
            Kind::Process => &self.processes.slab[state].watch,
            kind if kind.is_stream() => &self.streams[state].watch,
            _ => return None,
        };
        (watch.number == number).then_some(watch)
    }

    /// EEXIST if a handle other than `slot` wants to know of the descriptor.
    pub(crate) fn check_free(&self, number: i32, slot: Option<u32>) -> Result<()> {
        let owner = usize::try_from(number).ok().and_then(|number| self.watches.owners.get(number));
        let other = owner.filter(|&&owner| Some(owner) != slot).and_then(|&owner| self.watch_of(owner, number));
        if other.is_some_and(|watch| !watch.wanted.is_empty()) { Err(Errno::EEXIST) } else { Ok(()) }
    }

    /// Takes away from what we want to know of a handle's descriptor.
    #[inline]
    pub(crate) fn unwant(&mut self, index: u32, readiness: Readiness) {
        let watch = self.watch_mut(index);
        if !watch.wanted.intersects(readiness) {
            return;
        }
        debug_assert!(!watch.wanted.contains(Readiness::EDGE), "of what is told by edges all or nothing is wanted");
        watch.wanted -= readiness;
        self.mark_unsynced(index);
    }

    /// True if the kernel is to be told something before the next wait, or something is left to be told to the front.
    pub(crate) fn must_sync(&self) -> bool {
        let is_new = |watch: &Watch| !watch.wanted.is_empty() && watch.wanted != watch.watched;
        let find = |&key| Self::find_watcher(&self.slots, key);
        self.watches.has_changes || self.watches.unsynced.iter().filter_map(find).any(|index| is_new(self.watch(index)))
    }

    #[inline]
    pub(crate) fn mark_unsynced(&mut self, index: u32) {
        let key = self.slots.key(index);
        let watch = self.watch_mut(index);
        if watch.wanted != watch.watched && !watch.is_unsynced {
            watch.is_unsynced = true;
            self.watches.unsynced.push(key);
        }
    }

    /// Wants to know nothing of a handle's descriptor, and has the kernel forget it at once: it is about to be closed,
    /// by us or by its owner. (That alone would do, were there no copy of the descriptor in another process.)
    pub(crate) fn forget(&mut self, index: u32) {
        self.watch_mut(index).wanted = Readiness::empty();
        self.unwatch(index);
    }

    /// Takes a descriptor out of the kernel's set. It is put in again when somebody wants to know of it.
    pub(crate) fn unwatch(&mut self, index: u32) {
        if let Some(number) = self.watch_mut(index).take_watched() {
            self.kernel.unwatch(number);
        }
    }

    /// Takes a descriptor out of the kernel's set, to be put in again after the next wait.
    #[cold]
    pub(crate) fn retry_later(&mut self, index: u32) {
        self.unwatch(index);
        self.watches.retries.push(self.slots.key(index));
        self.poll.care = Care::Look;
    }

    /// The kernel has forgotten what it was told: has it told anew. There is room in the list for all.
    pub(crate) fn watch_anew(&mut self) {
        let mut walk = self.slots.walk_all();
        while let Some(index) = self.slots.step_all(&mut walk) {
            if Self::find_watcher(&self.slots, self.slots.key(index)).is_some() {
                self.watch_mut(index).watched = Readiness::empty();
                self.mark_unsynced(index);
            }
        }
    }

    /// Lets those that are to be tried again be told to the kernel.
    pub(crate) fn mark_retries(&mut self) {
        while let Some(key) = self.watches.retries.pop() {
            if let Some(index) = Self::find_watcher(&self.slots, key) {
                self.mark_unsynced(index);
            }
        }
    }

    /// Tells the kernel what has changed in what we want to know.
    #[inline]
    pub(crate) fn sync(&mut self) {
        if !self.watches.unsynced.is_empty() {
            self.sync_all();
        }
    }

    #[inline(never)]
    fn sync_all(&mut self) {
        for nth in 0..self.watches.unsynced.len() {
            let key = self.watches.unsynced[nth];
            let Some(index) = Self::find_watcher(&self.slots, key) else { continue };
            self.watch_mut(index).is_unsynced = false;
            match self.watch_now(index) {
                Ok(()) => {}
                Err(Errno::EBADF | Errno::EPERM) if self.slots[index].kind == Kind::Poll => self.fail_to_poll(index),
                // Short of memory, or of the watches that the system allows a user.
                Err(_) => {
                    self.watches.retries.push(key);
                    self.poll.care = Care::Look;
                }
            }
        }
        self.watches.unsynced.clear();
    }

    /// Tells the kernel what we want to know of a handle's descriptor, if that is something new.
    fn watch_now(&mut self, index: u32) -> Result<()> {
        let key = self.slots.key(index);
        let watch = self.watch_mut(index);
        let (number, wanted, known) = (watch.number, watch.wanted, !watch.watched.is_empty());
        if !wanted.is_empty() && wanted != watch.watched {
            self.kernel.watch(number, key.to_u64(), wanted, known)?;
            self.watch_mut(index).watched = wanted;
        }
        Ok(())
    }
}
