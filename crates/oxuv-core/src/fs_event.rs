//! Handles that tell of changes of files: starting, stopping, and who listens to which watch of the kernel's.
//!
//! A loop has one descriptor for all of them, made when it is first needed. What is watched twice has one watch in the
//! kernel, with several [`Listener`]s. `fs_event_told.rs` tells of what has happened, `fs_event_tree.rs` keeps the
//! directories beneath one that is watched recursively.

use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, CString};

use oxuv_os::{Errno, Result};

use crate::fs_event_told::Told;
use crate::fs_event_tree::{Look, Scan, Tree};
use crate::fs_poll::owned;
use crate::kernel::{CHANGES, Kernel, Only, Readiness};
use crate::slab::Slab;
use crate::slots::flag;
use crate::{Buffers, Core, Key, Kind};

bitflags::bitflags! {
    /// What has happened to a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[doc(alias = "uv_fs_event")]
    pub struct FsEvents: u8 {
        /// A name has come or gone: something was made, removed or renamed. Also what the kernel tells of a watch that
        /// has ended, and, but for recursive watches, of the attributes of a directory.
        const RENAME = 1;
        /// Bytes or attributes have changed.
        const CHANGE = 2;
        /// So much has happened at once that the kernel did not keep it all: what is watched should be looked at anew.
        const LOST = 4;
    }
}

/// Who hears of a watch: the handle at a slot, for a directory of its [`Tree`]; 0 if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) slot: u32,
    pub(crate) dir: u32,
}

/// A watch of the kernel's.
#[derive(Debug, Default)]
pub(crate) struct FileWatch {
    /// In the order in which they are told.
    pub(crate) listeners: Vec<Listener>,
    /// The kernel has ended it: what it was about is gone.
    pub(crate) has_ended: bool,
}

/// A handle.
#[derive(Debug, Default)]
pub(crate) struct FsEvent {
    /// What it watches; `None` when it is stopped.
    pub(crate) path: Option<CString>,
    /// The kernel's watch of that.
    pub(crate) watch: i32,
    /// What is beneath it is watched, too, at the next start.
    is_recursive: bool,
    /// The directories that it watches, if it does so recursively.
    pub(crate) tree: Option<Tree>,
}

/// What a loop has for all of its handles.
#[derive(Debug)]
pub(crate) struct Changes<F> {
    pub(crate) fd: Option<F>,
    pub(crate) handles: Slab<FsEvent>,
    /// By the kernel's numbers.
    pub(crate) watches: HashMap<i32, FileWatch>,
    pub(crate) told: Told,
    /// Directories that are to be looked through for what has come to be in them, and the one of them that is being.
    pub(crate) scans: VecDeque<Scan>,
    pub(crate) look: Option<Look>,
    /// Roots of trees that something was lost of. They are looked through when all that has come is told: it is older.
    pub(crate) lossy: VecDeque<Scan>,
    /// What the directories of trees are numbered with.
    pub(crate) next_serial: u64,
}

impl<F> Default for Changes<F> {
    fn default() -> Self {
        Changes {
            fd: None,
            handles: Slab::new(),
            watches: HashMap::new(),
            told: Told::default(),
            scans: VecDeque::new(),
            look: None,
            lossy: VecDeque::new(),
            next_serial: 0,
        }
    }
}

impl<F> Changes<F> {
    /// Lets somebody hear of a watch. While its listeners are being told of something, a new one comes behind the one that
    /// was told last, and hears from the next event on.
    pub(crate) fn listen(&mut self, number: i32, listener: Listener) -> Result<()> {
        self.watches.try_reserve(1)?;
        let watch = self.watches.entry(number).or_default();
        watch.listeners.try_reserve(1)?;
        match self.told.place_in(number) {
            Some(next) => {
                watch.listeners.insert(*next, listener);
                *next += 1;
            }
            None => watch.listeners.push(listener),
        }
        Ok(())
    }

    /// The directory, in the tree of the handle at this slot, that the watch is about.
    pub(crate) fn listens(&self, number: i32, slot: u32) -> Option<u32> {
        let listeners = &self.watches.get(&number)?.listeners;
        listeners.iter().find(|listener| listener.slot == slot).map(|listener| listener.dir)
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new handle, stopped.
    ///
    /// # Errors
    /// ENOMEM.
    #[doc(alias = "uv_fs_event_init")]
    pub fn fs_event_init(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        self.changes.told.reserve(self.changes.handles.len() + 1)?;
        let state = self.changes.handles.insert(FsEvent::default())?;
        Ok(self.add_handle(Kind::FsEvent, state, user))
    }

    /// Whether the next start is also about everything beneath a directory. No at first.
    ///
    /// # Errors
    /// EINVAL when closing.
    #[doc(alias = "UV_FS_EVENT_RECURSIVE")]
    pub fn fs_event_set_recursive(&mut self, key: Key, is_recursive: bool) -> Result<()> {
        let index = self.open_handle(key, Kind::FsEvent)?;
        self.changes.handles[self.slots[index].state].is_recursive = is_recursive;
        Ok(())
    }

    /// Tells by [`Event::FsEvent`](crate::Event::FsEvent) of what happens, from now on, to the file at a path, or to the
    /// directory and what is directly in it. A symbolic link stands for what it leads to.
    ///
    /// Recursively, all directories beneath are watched before this returns: symbolic links and directories that must not
    /// be read are left out. It blocks while it looks through them, for seconds where they are tens of thousands. Those that
    /// come to be there later are looked through some time after they are told of, and what is in them is told of as made. It
    /// may be told of twice.
    ///
    /// # Errors
    /// EINVAL when it is started, or closing; ENOENT, EACCES, ENOTDIR, ELOOP, ENAMETOOLONG; EMFILE, ENOSPC when the user has
    /// as many descriptors for this, or watches, as the system allows; ENFILE, ENOMEM.
    #[doc(alias = "uv_fs_event_start")]
    pub fn fs_event_start(&mut self, key: Key, path: &CStr) -> Result<()> {
        let index = self.open_handle(key, Kind::FsEvent)?;
        if self.slots[index].has(flag::ACTIVE) {
            return Err(Errno::EINVAL);
        }
        self.open_watcher()?;
        self.watch_path(index, owned(path)?)?;
        self.set_active(index);
        Ok(())
    }

    /// Stops a handle: it tells of nothing more. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_fs_event_stop")]
    pub fn fs_event_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::FsEvent)?;
        self.stop_fs_event(index);
        self.set_inactive(index);
        Ok(())
    }

    /// The path that a handle watches, as it was given.
    ///
    /// # Errors
    /// EINVAL when it is not started.
    #[doc(alias = "uv_fs_event_getpath")]
    pub fn fs_event_path(&self, key: Key) -> Result<&CStr> {
        let index = self.slots.find_kind(key, Kind::FsEvent)?;
        self.changes.handles[self.slots[index].state].path.as_deref().ok_or(Errno::EINVAL)
    }

    /// After a fork, in the child, when the kernel is made anew: has everything watched again, since the descriptor so far
    /// is the parent's, too. What the parent has not told of yet is not told here. A handle whose path cannot be watched
    /// any more is told so.
    pub(crate) fn watch_files_anew(&mut self) {
        if self.changes.fd.take().is_none() {
            return;
        }
        self.changes.watches.clear();
        self.changes.scans.clear();
        self.changes.lossy.clear();
        (self.changes.look, self.watches.has_changes) = (None, false);
        self.changes.told.forget();
        let opened = self.open_watcher();
        let mut walk = self.walk_begin();
        while let Some((key, _)) = self.walk_next(&mut walk) {
            let slot = &self.slots[key.index];
            if slot.kind != Kind::FsEvent {
                continue;
            }
            let handle = &mut self.changes.handles[slot.state];
            handle.is_recursive = handle.tree.take().is_some();
            let Some(path) = handle.path.take() else { continue };
            if let Err(error) = opened.and_then(|()| self.watch_path(key.index, path)) {
                self.changes.told.fail(key, error);
                self.note_changes();
            }
        }
    }

    /// Makes the loop's descriptor if there is none.
    fn open_watcher(&mut self) -> Result<()> {
        if self.changes.fd.is_none() {
            self.changes.told.prepare()?;
            let fd = self.kernel.file_watcher()?;
            self.kernel.watch(K::number(&fd), CHANGES, Readiness::READ, false)?;
            self.changes.fd = Some(fd);
        }
        Ok(())
    }

    /// The kernel has forgotten what it polls, but the loop's descriptor is as it was.
    pub(crate) fn poll_changes_anew(&mut self) -> Result<()> {
        match &self.changes.fd {
            Some(fd) => self.kernel.watch(K::number(fd), CHANGES, Readiness::READ, false),
            None => Ok(()),
        }
    }

    /// Watches what is at a path for a handle that is stopped. Without effect if that fails.
    fn watch_path(&mut self, slot: u32, path: CString) -> Result<()> {
        let watch = self.add_watch(&path, Only::Anything)?;
        if let Err(error) = self.changes.listen(watch, Listener { slot, dir: 0 }) {
            self.end_if_unheard(watch);
            return Err(error);
        }
        let state = self.slots[slot].state;
        let handle = &mut self.changes.handles[state];
        (handle.path, handle.watch) = (Some(path), watch);
        if handle.is_recursive
            && let Err(error) = self.plant_tree(slot, watch)
        {
            self.stop_fs_event(slot);
            return Err(error);
        }
        Ok(())
    }

    pub(crate) fn add_watch(&mut self, path: &CStr, only: Only) -> Result<i32> {
        let fd = self.changes.fd.as_ref().ok_or(Errno::EBADF)?;
        self.kernel.add_file_watch(fd, path, only)
    }

    /// The handle at this slot watches nothing any more.
    pub(crate) fn stop_fs_event(&mut self, slot: u32) {
        let handle = &mut self.changes.handles[self.slots[slot].state];
        if handle.path.take().is_none() {
            return;
        }
        match handle.tree.take() {
            None => {
                let watch = handle.watch;
                self.unlisten(watch, slot);
            }
            Some(tree) => tree.watches().for_each(|watch| self.unlisten(watch, slot)),
        }
    }

    /// The handle at this slot is to hear no more of a watch. That ends if nobody else does.
    pub(crate) fn unlisten(&mut self, number: i32, slot: u32) {
        let Some(watch) = self.changes.watches.get_mut(&number) else { return };
        let Some(place) = watch.listeners.iter().position(|listener| listener.slot == slot) else { return };
        watch.listeners.remove(place);
        if let Some(next) = self.changes.told.place_in(number)
            && place < *next
        {
            *next -= 1;
        }
        self.end_if_unheard(number);
    }

    /// Ends a watch that nobody hears of, but for the one whose listeners are being told of something: one of them may
    /// start to listen to it anew.
    pub(crate) fn end_if_unheard(&mut self, number: i32) {
        let watch = self.changes.watches.get(&number);
        if watch.is_some_and(|watch| !watch.listeners.is_empty()) || self.changes.told.place_in(number).is_some() {
            return;
        }
        let has_ended = watch.is_some_and(|watch| watch.has_ended);
        self.changes.watches.remove(&number);
        if !has_ended && let Some(fd) = &self.changes.fd {
            self.kernel.remove_file_watch(fd, number);
        }
    }
}
