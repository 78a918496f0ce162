//! Telling of changes of files: from the bytes that the kernel has written to one event for each listener.
//!
//! Each step of [`Core::next_change`] does one thing and keeps its place, so a callback may stop, start and close whatever it
//! likes, or never come back. A turn tells of so much and no more; the rest is for the next one, which does not wait.

use std::ffi::CStr;

use oxuv_os::inotify::{Event as Raw, Happened, LONGEST};
use oxuv_os::{Errno, Result};

use crate::fs_event::{FsEvents, Listener};
use crate::kernel::Kernel;
use crate::poll::Care;
use crate::slots::flag;
use crate::{Buffers, Core, Event, Key, Kind};

/// The bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// What a turn may do: tell a listener of something, or look at a name in a directory.
const STEPS: usize = 2048;

/// What opening a directory counts for.
pub(crate) const OPENING: usize = 16;

/// What was read, and how far it is told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    buffer: Vec<u8>,
    /// What of it is taken apart.
    at: usize,
    /// The descriptor may have more.
    may_read: bool,
    /// The event whose listeners are being told.
    current: Option<Current>,
    /// Handles that are still to hear that something was lost.
    lost: Vec<Key>,
    /// Handles that watch nothing any more, and are still to hear why.
    failed: Vec<(Key, Errno)>,
    /// What is left of the turn's steps.
    pub(crate) steps: usize,
    /// The name that was last told, with a zero behind it; empty if there was none.
    name: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    watch: i32,
    happened: Happened,
    /// Where its bytes are in the buffer.
    at: usize,
    /// The place of the listener that is next.
    next: usize,
}

impl Told {
    /// Makes sure that this many handles can hear that something was lost, or has failed.
    pub(crate) fn reserve(&mut self, handles: usize) -> Result<()> {
        self.failed.try_reserve(handles.saturating_sub(self.failed.len()))?;
        Ok(self.lost.try_reserve(handles.saturating_sub(self.lost.len()))?)
    }

    /// A handle is to hear that it watches nothing any more.
    pub(crate) fn fail(&mut self, key: Key, error: Errno) {
        if self.failed.len() < self.failed.capacity() {
            self.failed.push((key, error));
        }
    }

    /// Makes the buffer.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        Ok(self.buffer.try_reserve_exact(BUFFER)?)
    }

    /// Forgets everything that is not told yet.
    pub(crate) fn forget(&mut self) {
        self.buffer.clear();
        (self.at, self.may_read, self.current) = (0, false, None);
        self.lost.clear();
        self.failed.clear();
    }

    /// Of the watch whose listeners are being told, the place of the next of them.
    pub(crate) fn place_in(&mut self, watch: i32) -> Option<&mut usize> {
        self.current.as_mut().filter(|current| current.watch == watch).map(|current| &mut current.next)
    }

    /// Puts down the name that is told next. Without memory there is none.
    pub(crate) fn put_name(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) {
        self.name.clear();
        let written = write(&mut self.name).and_then(|()| Ok(self.name.try_reserve(1)?));
        match written {
            Ok(()) => self.name.push(0),
            Err(_) => self.name.clear(),
        }
    }

    fn put_simple_name(&mut self, name: &[u8]) {
        self.put_name(|into| {
            into.try_reserve(name.len())?;
            into.extend_from_slice(name);
            Ok(())
        });
    }
}

/// What a path ends with, as libuv has it: nothing, if that is a slash.
fn last_part(path: &CStr) -> &[u8] {
    let path = path.to_bytes();
    path.iter().rposition(|&byte| byte == b'/').map_or(path, |slash| &path[slash + 1..])
}

/// What the kernel's bits mean to a program. libuv takes whatever is no change for a renaming, that the name is a
/// directory's included.
fn events_of(happened: Happened, is_recursive: bool) -> FsEvents {
    let changes = Happened::ATTRIBUTES | Happened::MODIFIED;
    let rest = if is_recursive { happened - changes - Happened::DIRECTORY } else { happened - changes };
    let mut events = FsEvents::empty();
    events.set(FsEvents::CHANGE, happened.intersects(changes));
    events.set(FsEvents::RENAME, !rest.is_empty());
    events
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// The name that [`Event::FsEvent`] was last told of: within the directory that the handle watches, with slashes if that
    /// is recursive; the last part of what the handle watches, if it was about that. `None` if it is not known.
    pub fn fs_event_name(&self) -> Option<&CStr> {
        CStr::from_bytes_with_nul(&self.changes.told.name).ok()
    }

    /// The descriptor is readable.
    #[cold]
    pub(crate) fn begin_changes(&mut self) {
        self.changes.told.may_read = true;
        self.go_on_with_changes();
        self.note_changes();
    }

    /// There are changes to tell of, or directories to look through.
    pub(crate) fn note_changes(&mut self) {
        self.watches.has_changes = true;
        (self.poll.care, self.poll.has_others) = (Care::Look, true);
    }

    /// A turn begins to tell of changes.
    pub(crate) fn go_on_with_changes(&mut self) {
        self.changes.told.steps = STEPS;
    }

    /// Tells of the next thing, if the turn has steps left.
    #[inline(never)]
    pub(crate) fn next_change(&mut self) -> Option<Event<U>> {
        // After a fork in its callback, this may come before the next signal is looked for.
        self.end_one_shot();
        while self.changes.told.steps > 0 {
            self.changes.told.steps -= 1;
            if self.changes.told.current.is_some() {
                if let Some(event) = self.tell_next_listener() {
                    return Some(event);
                }
            } else if let Some((key, error)) = self.changes.told.failed.pop() {
                if let Some(event) = self.tell_of_failure(key, error) {
                    return Some(event);
                }
            } else if !self.changes.told.lost.is_empty() {
                if let Some(event) = self.tell_of_loss() {
                    return Some(event);
                }
            } else if self.changes.look.is_some() || !self.changes.scans.is_empty() {
                if let Some(event) = self.look_on() {
                    return Some(event);
                }
            } else if !self.take_next() && !self.read_changes() && !self.look_through_lossy() {
                self.watches.has_changes = false;
                return None;
            }
        }
        None
    }

    /// Reads what has come. False if there is nothing.
    fn read_changes(&mut self) -> bool {
        let told = &mut self.changes.told;
        told.buffer.clear();
        told.at = 0;
        let Some(fd) = self.changes.fd.as_ref().filter(|_| told.may_read) else { return false };
        let has_some = self.kernel.read_changes(fd, &mut told.buffer).is_ok();
        // With so much room left, it was all.
        told.may_read = told.buffer.len() + LONGEST > told.buffer.capacity();
        has_some
    }

    /// Takes the next event out of the buffer. False if there is none.
    fn take_next(&mut self) -> bool {
        let told = &mut self.changes.told;
        let Some((raw, rest)) = Raw::parse(&told.buffer[told.at..]) else { return false };
        let current = Current { watch: raw.watch, happened: raw.happened, at: told.at, next: 0 };
        told.at = told.buffer.len() - rest.len();
        if raw.happened.contains(Happened::OVERFLOWED) {
            self.list_the_lost();
        } else if let Some(watch) = self.changes.watches.get_mut(&raw.watch) {
            watch.has_ended |= raw.happened.contains(Happened::IGNORED);
            self.changes.told.current = Some(current);
        }
        // Any other event is of a watch that was ended since.
        true
    }

    /// All handles that watch something are to hear that they have missed something.
    fn list_the_lost(&mut self) {
        self.changes.told.lost.clear();
        let mut walk = self.walk_begin();
        while let Some((key, _)) = self.walk_next(&mut walk) {
            let slot = &self.slots[key.index];
            let has_room = self.changes.told.lost.len() < self.changes.told.lost.capacity();
            if slot.kind == Kind::FsEvent && slot.has(flag::ACTIVE) && has_room {
                self.changes.told.lost.push(key);
            }
        }
        self.changes.told.lost.reverse();
    }

    /// A handle is told that it watches nothing any more, unless it was stopped, closed or started since.
    fn tell_of_failure(&mut self, key: Key, error: Errno) -> Option<Event<U>> {
        let index =
            self.slots.find_kind(key, Kind::FsEvent).ok().filter(|&index| self.slots[index].has(flag::ACTIVE))?;
        if self.changes.handles[self.slots[index].state].path.is_some() {
            return None;
        }
        self.set_inactive(index);
        self.changes.told.name.clear();
        Some(Event::FsEvent { key, user: self.slots[index].user, result: Err(error) })
    }

    fn tell_of_loss(&mut self) -> Option<Event<U>> {
        let key = self.changes.told.lost.pop()?;
        let index =
            self.slots.find_kind(key, Kind::FsEvent).ok().filter(|&index| self.slots[index].has(flag::ACTIVE))?;
        self.note_loss(index);
        self.changes.told.name.clear();
        Some(Event::FsEvent { key, user: self.slots[index].user, result: Ok(FsEvents::LOST) })
    }

    /// Tells the next listener of the event under way, or ends that.
    fn tell_next_listener(&mut self) -> Option<Event<U>> {
        let current = self.changes.told.current.as_mut()?;
        let Current { watch, happened, at, next } = *current;
        current.next += 1;
        let listener = self.changes.watches.get(&watch).and_then(|watch| watch.listeners.get(next)).copied();
        let Some(Listener { slot, dir }) = listener else {
            self.changes.told.current = None;
            self.end_if_unheard(watch);
            return None;
        };
        // Out of its place for the time being, since the name in it is looked at while the rest changes.
        let buffer = std::mem::take(&mut self.changes.told.buffer);
        let name = Raw::parse(&buffer[at..]).and_then(|(raw, _)| raw.name).map(CStr::to_bytes);
        let events = self.tell(slot, dir, happened, name);
        self.changes.told.buffer = buffer;
        let (key, user) = (self.slots.key(slot), self.slots[slot].user);
        events.map(|result| Event::FsEvent { key, user, result })
    }

    /// What a handle is told of something that has happened in a directory of its tree, or to what it watches.
    fn tell(&mut self, slot: u32, dir: u32, happened: Happened, name: Option<&[u8]>) -> Option<Result<FsEvents>> {
        let handle = &self.changes.handles[self.slots[slot].state];
        let path = handle.path.as_deref().unwrap_or_default();
        if handle.tree.is_none() {
            self.changes.told.put_simple_name(name.unwrap_or(last_part(path)));
            return Some(Ok(events_of(happened, false)));
        }
        let Some(name) = name else {
            if dir == 0 {
                self.changes.told.put_simple_name(last_part(path));
            }
            self.happened_to_directory(slot, dir, happened);
            // What has happened to a directory beneath is told by the one that it is in.
            return (dir == 0).then_some(Ok(events_of(happened, true)));
        };
        self.name_in_tree(slot, dir, name);
        let failure = if happened.contains(Happened::DIRECTORY) {
            self.happened_to_name(slot, dir, happened, name)
        } else {
            Ok(())
        };
        Some(failure.map(|()| events_of(happened, true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_path_is_what_is_behind_its_last_slash() {
        for (path, part) in [(c"/a/b", "b"), (c"b", "b"), (c"a/", ""), (c"/", ""), (c"", "")] {
            assert_eq!(last_part(path), part.as_bytes());
        }
    }

    #[test]
    fn what_is_no_change_is_a_renaming() {
        let (both, made) = (FsEvents::CHANGE | FsEvents::RENAME, Happened::CREATED);
        assert_eq!(events_of(Happened::MODIFIED, false), FsEvents::CHANGE);
        assert_eq!(events_of(Happened::ATTRIBUTES, true), FsEvents::CHANGE);
        assert_eq!(events_of(Happened::ATTRIBUTES | Happened::DIRECTORY, false), both);
        assert_eq!(events_of(Happened::ATTRIBUTES | Happened::DIRECTORY, true), FsEvents::CHANGE);
        for gone in [made, Happened::IGNORED, Happened::SELF_MOVED, Happened::UNMOUNTED, Happened::DELETED] {
            assert_eq!(events_of(gone, true), FsEvents::RENAME);
            assert_eq!(events_of(gone, false), FsEvents::RENAME);
        }
    }
}
