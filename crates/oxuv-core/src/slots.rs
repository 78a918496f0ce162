//! The slots of all handles, their keys, and the lists that link them.
//!
//! Every handle has a slot. A slot is in up to two lists at a time: the list of all handles, and that of its phase
//! (or of what it waits for). Lists are circular, linked by index, each with a sentinel that is a slot itself, so
//! taking an element out needs neither its list nor a branch.

use oxuv_os::{Errno, Result};

/// The name of a handle, good until its close callback. A key is never good again once its handle is closed, even if
/// the slot is reused.
///
/// The default key is the one that was never initialised: nothing is ever known under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Key {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Key {
    /// A small number that no other open handle of the loop has; it is reused after the handle is closed.
    #[inline]
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The key as one number, never 0 for a handle.
    #[inline]
    pub const fn to_u64(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The key that [`Key::to_u64`] made the number of.
    #[inline]
    pub const fn from_u64(number: u64) -> Key {
        Key { index: number as u32, generation: (number >> 32) as u32 }
    }
}

/// What kind of handle a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No handle, or one that is closed.
    None,
    /// Runs a callback later, once or repeatedly.
    Timer,
    /// Runs a callback in each turn, before prepare; the loop does not wait while one is active.
    Idle,
    /// Runs a callback in each turn, before waiting.
    Prepare,
    /// Runs a callback in each turn, after waiting.
    Check,
    /// Runs a callback when another thread asks for it.
    Async,
    /// A TCP listener or connection.
    Tcp,
    /// A listener or connection of the Unix domain, a FIFO, or an end of a pipe.
    Pipe,
    /// A terminal.
    Tty,
    /// Waits for readiness of a descriptor that somebody else owns.
    Poll,
    /// Sends and receives datagrams.
    Udp,
    /// A child process.
    Process,
    /// Tells of changes of a file or a directory.
    FsEvent,
    /// Looks at a file again and again.
    FsPoll,
    /// Waits for a signal that the process catches.
    Signal,
}

impl Kind {
    /// True for what is read, written and shut down.
    #[inline]
    pub fn is_stream(self) -> bool {
        matches!(self, Kind::Tcp | Kind::Pipe | Kind::Tty)
    }
}

/// Flags of a slot.
pub(crate) mod flag {
    /// Started: it keeps the loop alive if it is referenced.
    pub(crate) const ACTIVE: u8 = 1;
    /// Referenced: it keeps the loop alive while it is active.
    pub(crate) const REFERENCED: u8 = 2;
    /// `close` was called.
    pub(crate) const CLOSING: u8 = 4;
    /// A timer that was started at least once.
    pub(crate) const WAS_STARTED: u8 = 8;
}

/// The lists. The number of each is the index of its sentinel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum List {
    /// All handles, in the order of their initialisation. The only list of the set [`ALL`].
    Handles,
    /// Started idle handles, newest first.
    Idle,
    /// Started prepare handles, newest first.
    Prepare,
    /// Started check handles, newest first.
    Check,
    /// Async handles, in the order of their initialisation.
    Async,
    /// Timers of the pass under way whose turn has not come.
    Due,
    /// Handles to be closed, newest first, for the next pass.
    Closing,
    /// Handles of the closing pass under way.
    ClosingPass,
}

impl List {
    /// The list's bit in a set of lists.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u32
    }
}

const SENTINELS: u32 = List::ClosingPass as u32 + 1;

/// The set of links of the phase lists.
pub(crate) const PHASE: usize = 0;
/// The set of links of the list of all handles.
pub(crate) const ALL: usize = 1;

/// What is walked over. Each has a cursor of its own, so one walk of each kind can be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Idle, prepare or check.
    Watchers,
    /// Async handles.
    Asyncs,
    /// All handles: the walk that was last stepped, see [`AllHandles`].
    Handles,
    /// That of watchers, while a callback runs that an observer has been told of.
    Told,
}

impl Walk {
    const fn set(self) -> usize {
        match self {
            Walk::Watchers | Walk::Asyncs | Walk::Told => PHASE,
            Walk::Handles => ALL,
        }
    }
}

/// A walk over all handles, see [`Core::walk_begin`](crate::Core::walk_begin). It borrows nothing, and may be dropped at
/// any time.
#[derive(Debug, Clone, Copy)]
pub struct AllHandles {
    number: u32,
    /// The handle that it comes to next; a sentinel's key at its end.
    next: Key,
    /// The number of the walk that this one is inside of, and the handle that it comes to next.
    outer: (u32, Key),
}

#[derive(Debug, Clone, Copy)]
struct Link {
    next: u32,
    prev: u32,
}

#[derive(Debug)]
pub(crate) struct Slot<U> {
    links: [Link; 2],
    generation: u32,
    /// The index in the slab of its kind; in a free slot the next free slot.
    pub(crate) state: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) user: U,
}

impl<U> Slot<U> {
    #[inline]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[derive(Debug)]
pub(crate) struct Slots<U> {
    slots: Vec<Slot<U>>,
    /// The first free slot, or the length when there is none.
    free: u32,
    /// For each [`Walk`] the element that it comes to next. Taking that one out of its list moves the cursor on; a
    /// sentinel when the walk is over.
    cursors: [u32; 4],
    /// The walks over all handles that have begun so far, and the one among them that has the cursor.
    walks: u32,
    walking: u32,
    /// The lists that may have an element, as bits: put in when one is added, taken out when the list is next found
    /// empty. Most lists are empty in most turns, and this tells it of all of them at once.
    occupied: u16,
}

impl<U: Copy + Default> Slots<U> {
    /// Empty lists.
    pub(crate) fn new() -> Result<Self> {
        let sentinel = |index| Slot {
            links: [Link { next: index, prev: index }; 2],
            generation: 0,
            state: 0,
            kind: Kind::None,
            flags: 0,
            user: U::default(),
        };
        let mut slots = Vec::new();
        slots.try_reserve(SENTINELS as usize)?;
        slots.extend((0..SENTINELS).map(sentinel));
        let cursors = [List::Handles as u32; 4];
        Ok(Slots { slots, free: SENTINELS, cursors, walks: 0, walking: 0, occupied: 0 })
    }

    /// Makes sure that the next [`Slots::insert`] needs no memory.
    #[inline]
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.has_free() { Ok(()) } else { self.grow() }
    }

    /// True if there is a slot to be used again.
    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        (self.free as usize) < self.slots.len()
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        if self.slots.len() >= u32::MAX as usize {
            return Err(Errno::ENOMEM);
        }
        Ok(self.slots.try_reserve(1)?)
    }

    /// A new slot, linked into the list of all handles. [`Slots::reserve`] goes before.
    #[inline]
    pub(crate) fn insert(&mut self, kind: Kind, state: u32, user: U) -> Key {
        if !self.has_free() {
            return self.insert_more(kind, state, user);
        }
        let index = self.free;
        let slot = &mut self.slots[index as usize];
        self.free = slot.state;
        // It is in no list: its links are right.
        (slot.state, slot.kind, slot.flags, slot.user) = (state, kind, flag::REFERENCED, user);
        let generation = slot.generation;
        self.insert_at_walk::<ALL>(Walk::Handles, List::Handles, index);
        Key { index, generation }
    }

    /// As [`Slots::insert`], where no slot is free: makes one in the room that there is.
    #[cold]
    fn insert_more(&mut self, kind: Kind, state: u32, user: U) -> Key {
        let index = self.free;
        let links = [Link { next: index, prev: index }; 2];
        self.slots.push(Slot { links, generation: 1, state: index + 1, kind: Kind::None, flags: 0, user });
        self.insert(kind, state, user)
    }

    /// Frees a slot, which is out of its phase list by now. Its key is stale from here on.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.unlink::<ALL>(index);
        let free = self.free;
        let slot = &mut self[index];
        slot.generation = slot.generation.wrapping_add(1).max(1);
        slot.kind = Kind::None;
        slot.flags = 0;
        slot.state = free;
        self.free = index;
    }

    /// The slot with this key. Of a key that was never one it may be a slot of no kind.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&Slot<U>> {
        // Written out, as the compiler makes more of `get` and `filter`.
        let index = key.index as usize;
        if index < self.slots.len() && self.slots[index].generation == key.generation {
            Some(&self.slots[index])
        } else {
            None
        }
    }

    /// The index of the handle with this key, EINVAL if there is none (any more).
    #[inline]
    pub(crate) fn find(&self, key: Key) -> Result<u32> {
        match self.get(key) {
            Some(slot) if slot.kind != Kind::None => Ok(key.index),
            _ => Err(Errno::EINVAL),
        }
    }

    /// As [`Slots::find`], for a handle of this kind.
    #[inline]
    pub(crate) fn find_kind(&self, key: Key, kind: Kind) -> Result<u32> {
        match self.get(key) {
            Some(slot) if slot.kind == kind => Ok(key.index),
            _ => Err(Errno::EINVAL),
        }
    }

    /// As [`Slots::get`], for a stream of any kind.
    #[inline]
    pub(crate) fn get_stream(&self, key: Key) -> Option<&Slot<U>> {
        self.get(key).filter(|slot| slot.kind.is_stream())
    }

    /// As [`Slots::find`], for a stream of any kind.
    #[inline]
    pub(crate) fn find_stream(&self, key: Key) -> Result<u32> {
        self.get_stream(key).map(|_| key.index).ok_or(Errno::EINVAL)
    }

    #[inline]
    pub(crate) fn key(&self, index: u32) -> Key {
        Key { index, generation: self[index].generation }
    }

    #[inline]
    pub(crate) fn is_empty(&self, list: List) -> bool {
        self.occupied & list.bit() == 0 || self.front(list).is_none()
    }

    /// True if both lists are empty.
    #[inline]
    pub(crate) fn are_empty(&self, one: List, other: List) -> bool {
        self.occupied & (one.bit() | other.bit()) == 0 || (self.is_empty(one) && self.is_empty(other))
    }

    /// True if these lists are known to be empty. Of one whose last element was just taken out that is not known yet.
    #[inline]
    pub(crate) fn are_all_empty(&self, lists: &[List]) -> bool {
        self.occupied & lists.iter().fold(0, |bits, list| bits | list.bit()) == 0
    }

    /// As [`Slots::is_empty`], and remembers the answer.
    #[inline]
    pub(crate) fn check_empty(&mut self, list: List) -> bool {
        if self.occupied & list.bit() == 0 {
            return true;
        }
        let is_empty = self.front(list).is_none();
        if is_empty {
            self.occupied &= !list.bit();
        }
        is_empty
    }

    /// True if there is no handle at all.
    pub(crate) fn has_no_handles(&self) -> bool {
        self[List::Handles as u32].links[ALL].next == List::Handles as u32
    }

    #[inline]
    pub(crate) fn front(&self, list: List) -> Option<u32> {
        let first = self[list as u32].links[PHASE].next;
        (first != list as u32).then_some(first)
    }

    /// True if the slot is in no phase list.
    #[cfg(test)]
    pub(crate) fn is_unlinked(&self, index: u32) -> bool {
        self[index].links[PHASE].next == index
    }

    #[inline]
    pub(crate) fn push_front(&mut self, list: List, index: u32) {
        self.occupied |= list.bit();
        debug_assert!(self[index].links[PHASE].next == index, "the slot is in a list already");
        let (head, first) = (list as u32, self[list as u32].links[PHASE].next);
        self[head].links[PHASE].next = index;
        self[first].links[PHASE].prev = index;
        self[index].links[PHASE] = Link { next: first, prev: head };
    }

    #[inline]
    pub(crate) fn push_back(&mut self, list: List, index: u32) {
        self.occupied |= list.bit();
        self.insert_before::<PHASE>(list as u32, index);
    }

    /// Appends to a list; or, while a walk over it is under way, puts the element behind the one being visited. The walk
    /// does not come to it.
    #[inline]
    pub(crate) fn insert_at_walk<const SET: usize>(&mut self, walk: Walk, list: List, index: u32) {
        debug_assert_eq!(walk.set(), SET);
        if SET == PHASE {
            self.occupied |= list.bit();
        }
        let cursor = self.cursors[walk as usize];
        // A walk that is at its end, or none, rests at a sentinel.
        let place = if cursor < SENTINELS { list as u32 } else { cursor };
        self.insert_before::<SET>(place, index);
    }

    #[inline]
    fn insert_before<const SET: usize>(&mut self, place: u32, index: u32) {
        debug_assert!(self[index].links[SET].next == index, "the slot is in a list already");
        let prev = self[place].links[SET].prev;
        self[place].links[SET].prev = index;
        self[prev].links[SET].next = index;
        self[index].links[SET] = Link { next: place, prev };
    }

    /// Takes a slot out of its list, if it is in one.
    #[inline]
    pub(crate) fn unlink<const SET: usize>(&mut self, index: u32) {
        let link = self[index].links[SET];
        if link.next != index {
            self.take_out::<SET>(index, link);
        }
    }

    /// Takes a slot with this link out of its list.
    #[inline]
    fn take_out<const SET: usize>(&mut self, index: u32, Link { next, prev }: Link) {
        for walk in [Walk::Watchers, Walk::Asyncs, Walk::Handles, Walk::Told] {
            if walk.set() == SET && self.cursors[walk as usize] == index {
                self.cursors[walk as usize] = next;
            }
        }
        self[prev].links[SET].next = next;
        self[next].links[SET].prev = prev;
        self[index].links[SET] = Link { next: index, prev: index };
    }

    /// Takes the first element out of a list that nobody walks over.
    #[inline]
    pub(crate) fn take_front(&mut self, list: List, first: u32) {
        debug_assert_eq!(self.front(list), Some(first));
        let Link { next, .. } = self[first].links[PHASE];
        self[list as u32].links[PHASE].next = next;
        self[next].links[PHASE].prev = list as u32;
        self[first].links[PHASE] = Link { next: first, prev: first };
    }

    /// Takes the first element out of a list.
    #[inline]
    pub(crate) fn pop_front(&mut self, list: List) -> Option<u32> {
        let first = self.front(list)?;
        self.take_out::<PHASE>(first, self[first].links[PHASE]);
        Some(first)
    }

    /// Moves all elements of `from`, in their order, to the beginning of `to`. False if there were none.
    #[inline]
    pub(crate) fn move_to_front(&mut self, from: List, to: List) -> bool {
        let has_some = !self.check_empty(from);
        if has_some {
            self.occupied |= to.bit();
            self.splice(from as u32, to as u32);
        }
        has_some
    }

    fn splice(&mut self, from: u32, to: u32) {
        let Link { next: first, prev: last } = self[from].links[PHASE];
        let after = self[to].links[PHASE].next;
        self[to].links[PHASE].next = first;
        self[first].links[PHASE].prev = to;
        self[last].links[PHASE].next = after;
        self[after].links[PHASE].prev = last;
        self[from].links[PHASE] = Link { next: from, prev: from };
    }

    /// Begins a walk over a list.
    #[inline]
    pub(crate) fn walk(&mut self, walk: Walk, list: List) {
        self.cursors[walk as usize] = self[list as u32].links[walk.set()].next;
    }

    /// As [`Slots::walk`]. False if there is nothing to walk over.
    #[inline]
    pub(crate) fn begin_walk(&mut self, walk: Walk, list: List) -> bool {
        let has_some = !self.check_empty(list);
        if has_some {
            self.walk(walk, list);
        }
        has_some
    }

    /// The element that the walk comes to, `None` when it is over.
    #[inline]
    pub(crate) fn step(&mut self, walk: Walk) -> Option<u32> {
        let index = self.cursors[walk as usize];
        if index < SENTINELS {
            return None;
        }
        // It is there; `get` takes an instruction less than an index, and so do callbacks that are run in every turn.
        self.cursors[walk as usize] = self.slots.get(index as usize)?.links[walk.set()].next;
        Some(index)
    }

    /// True if a walk has no element left.
    #[inline]
    pub(crate) fn is_over(&self, walk: Walk) -> bool {
        self.cursors[walk as usize] < SENTINELS
    }

    /// Begins a walk over all handles.
    pub(crate) fn walk_all(&mut self) -> AllHandles {
        let outer = (self.walking, self.next_of_all());
        self.walks = self.walks.wrapping_add(1);
        self.walking = self.walks;
        self.walk(Walk::Handles, List::Handles);
        AllHandles { number: self.walks, next: self.next_of_all(), outer }
    }

    /// The handle that such a walk comes to.
    pub(crate) fn step_all(&mut self, walk: &mut AllHandles) -> Option<u32> {
        if self.walking != walk.number {
            // A walk inside this one was left before its end.
            self.give_cursor(walk.number, walk.next);
        }
        let index = self.step(Walk::Handles);
        walk.next = self.next_of_all();
        if index.is_none() {
            self.give_cursor(walk.outer.0, walk.outer.1);
        }
        index
    }

    /// Several walks over all handles may be under way, one inside the other: the innermost has the cursor.
    fn give_cursor(&mut self, walk: u32, next: Key) {
        self.walking = walk;
        self.cursors[Walk::Handles as usize] = self.find(next).unwrap_or(List::Handles as u32);
    }

    fn next_of_all(&self) -> Key {
        self.key(self.cursors[Walk::Handles as usize])
    }

    /// Ends all walks of a run. One over all handles is none of it.
    pub(crate) fn end_walks(&mut self) {
        self.cursors[Walk::Watchers as usize] = List::Handles as u32;
        self.cursors[Walk::Asyncs as usize] = List::Handles as u32;
        self.cursors[Walk::Told as usize] = List::Handles as u32;
    }

    /// Puts the walk over watchers by: whoever steps it finds it over, until [`Slots::take_walk_up`].
    pub(crate) fn put_walk_by(&mut self) {
        self.cursors[Walk::Told as usize] = std::mem::replace(&mut self.cursors[Walk::Watchers as usize], 0);
    }

    /// Takes up the walk over watchers that was put by.
    pub(crate) fn take_walk_up(&mut self) {
        self.cursors[Walk::Watchers as usize] = std::mem::replace(&mut self.cursors[Walk::Told as usize], 0);
    }
}

impl<U> std::ops::Index<u32> for Slots<U> {
    type Output = Slot<U>;

    #[inline]
    fn index(&self, index: u32) -> &Slot<U> {
        &self.slots[index as usize]
    }
}

impl<U> std::ops::IndexMut<u32> for Slots<U> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Slot<U> {
        &mut self.slots[index as usize]
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
