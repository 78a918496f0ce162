//! Simulated files: a tree of names that the outside changes, and descriptors that tell of what happens in it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, CString};

use oxuv_os::fs::{Entry, EntryKind, Listing, Metadata, Time};
use oxuv_os::inotify::{Event, Happened, Only};
use oxuv_os::{Errno, Result};

use super::world::World;
use super::{Fault, Sim};
use crate::kernel::Readiness;

/// The root's number.
const ROOT: usize = 0;

#[derive(Debug, Default)]
struct Node {
    is_directory: bool,
    names: BTreeMap<CString, usize>,
    /// How often it was written.
    changes: u64,
}

/// All files that ever were: a file is known by its number here.
#[derive(Debug)]
pub(super) struct Files {
    nodes: Vec<Node>,
    /// How many watches a descriptor may have, and how many events it keeps.
    pub(super) watch_limit: usize,
    pub(super) event_limit: usize,
}

impl Default for Files {
    fn default() -> Self {
        let root = Node { is_directory: true, ..Node::default() };
        Files { nodes: vec![root], watch_limit: 8192, event_limit: 16384 }
    }
}

/// A descriptor that tells of changes.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    watches: BTreeMap<i32, usize>,
    last: i32,
    /// Each as the kernel writes it.
    events: VecDeque<Vec<u8>>,
    has_overflowed: bool,
}

impl Watcher {
    pub(super) fn readiness(&self) -> Readiness {
        if self.events.is_empty() { Readiness::empty() } else { Readiness::READ }
    }

    fn push(&mut self, event: Event<'_>, limit: usize) {
        let event = if self.events.len() < limit {
            event
        } else if self.has_overflowed {
            return;
        } else {
            self.has_overflowed = true;
            Event { watch: -1, happened: Happened::OVERFLOWED, name: None }
        };
        let mut bytes = Vec::new();
        event.write_to(&mut bytes);
        self.events.push_back(bytes);
    }

    fn end(&mut self, watch: i32, limit: usize) -> bool {
        let was_there = self.watches.remove(&watch).is_some();
        if was_there {
            self.push(Event { watch, happened: Happened::IGNORED, name: None }, limit);
        }
        was_there
    }

    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> Result<()> {
        let first = self.events.front().ok_or(Errno::EAGAIN)?;
        if first.len() > into.capacity() - into.len() {
            return Err(Errno::EINVAL);
        }
        while let Some(event) = self.events.pop_front_if(|event| event.len() <= into.capacity() - into.len()) {
            into.extend(event);
        }
        self.has_overflowed &= !self.events.is_empty();
        Ok(())
    }
}

impl Files {
    fn find(&self, path: &[u8]) -> Result<usize> {
        let mut at = ROOT;
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            let node = &self.nodes[at];
            if !node.is_directory {
                return Err(Errno::ENOTDIR);
            }
            let name = CString::new(name).map_err(|_| Errno::EINVAL)?;
            at = *node.names.get(&name).ok_or(Errno::ENOENT)?;
        }
        Ok(at)
    }

    /// The directory that a path is in, and its name there.
    fn split(&self, path: &str) -> Result<(usize, CString)> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = self.find(above.as_bytes())?;
        if !self.nodes[directory].is_directory {
            return Err(Errno::ENOTDIR);
        }
        Ok((directory, CString::new(name).map_err(|_| Errno::EINVAL)?))
    }

    /// The paths of what is picked.
    fn paths(&self, pick: impl Fn(usize, &Node) -> bool) -> Vec<String> {
        let (mut rest, mut found) = (vec![(ROOT, String::new())], Vec::new());
        while let Some((number, path)) = rest.pop() {
            let node = &self.nodes[number];
            rest.extend(node.names.iter().map(|(name, &child)| (child, format!("{path}/{}", name.to_string_lossy()))));
            if pick(number, node) {
                found.push(path);
            }
        }
        found
    }

    pub(super) fn list(&self, path: &CStr) -> Result<Listing> {
        let node = &self.nodes[self.find(path.to_bytes())?];
        if !node.is_directory {
            return Err(Errno::ENOTDIR);
        }
        Listing::of(node.names.iter().map(|(name, &number)| {
            let kind = if self.nodes[number].is_directory { EntryKind::Directory } else { EntryKind::File };
            Entry { name, kind }
        }))
    }

    /// What is known of a file. `None` while there are no files, so that tests may look at real ones.
    pub(super) fn look(&self, path: &CStr) -> Option<Result<Metadata>> {
        let found = |number: usize| {
            let Node { is_directory, changes, .. } = self.nodes[number];
            let time = Time { seconds: i64::try_from(changes).unwrap_or(i64::MAX), nanoseconds: 0 };
            Metadata {
                dev: 1,
                ino: number as u64,
                mode: if is_directory { 0o040_755 } else { 0o100_644 },
                nlink: 1,
                uid: 0,
                gid: 0,
                rdev: 0,
                size: changes,
                blksize: 4096,
                blocks: 0,
                accessed: time,
                modified: time,
                changed: time,
                created: Time::default(),
            }
        };
        (!self.nodes[ROOT].names.is_empty()).then(|| self.find(path.to_bytes()).map(found))
    }

    pub(super) fn add_watch(&self, watcher: &mut Watcher, path: &CStr, only: Only) -> Result<i32> {
        let node = self.find(path.to_bytes())?;
        if only == Only::Directory && !self.nodes[node].is_directory {
            return Err(Errno::ENOTDIR);
        }
        if let Some((&watch, _)) = watcher.watches.iter().find(|&(_, &watched)| watched == node) {
            return Ok(watch);
        }
        if watcher.watches.len() >= self.watch_limit {
            return Err(Errno::ENOSPC);
        }
        watcher.last += 1;
        watcher.watches.insert(watcher.last, node);
        Ok(watcher.last)
    }

    pub(super) fn remove_watch(&self, watcher: &mut Watcher, watch: i32) {
        watcher.end(watch, self.event_limit);
    }
}

impl World {
    /// Tells all descriptors that watch this file.
    fn happen(&mut self, node: usize, happened: Happened, name: Option<&CStr>) {
        let limit = self.disk.event_limit;
        let kept = if self.commits(Fault::Overflow) { 0 } else { limit };
        for watcher in self.watchers() {
            let watch = watcher.watches.iter().find(|&(_, &watched)| watched == node).map(|(&watch, _)| watch);
            if let Some(watch) = watch {
                watcher.push(Event { watch, happened, name }, kept);
                if happened == Happened::SELF_DELETED {
                    watcher.end(watch, limit);
                }
            }
        }
    }

    fn make(&mut self, path: &str, is_directory: bool) -> Result<()> {
        let (above, name) = self.disk.split(path)?;
        if self.disk.nodes[above].names.contains_key(&name) {
            return Err(Errno::EEXIST);
        }
        self.disk.nodes.push(Node { is_directory, ..Node::default() });
        let number = self.disk.nodes.len() - 1;
        self.disk.nodes[above].names.insert(name.clone(), number);
        self.happen(above, Happened::CREATED | self.kind_of(number), Some(&name));
        Ok(())
    }

    fn kind_of(&self, node: usize) -> Happened {
        if self.disk.nodes[node].is_directory { Happened::DIRECTORY } else { Happened::empty() }
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        let (above, name) = self.disk.split(path)?;
        let &number = self.disk.nodes[above].names.get(&name).ok_or(Errno::ENOENT)?;
        if !self.disk.nodes[number].names.is_empty() {
            return Err(ENOTEMPTY);
        }
        self.disk.nodes[above].names.remove(&name);
        self.happen(number, Happened::SELF_DELETED, None);
        self.happen(above, Happened::DELETED | self.kind_of(number), Some(&name));
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let ((above, name), (below, new_name)) = (self.disk.split(from)?, self.disk.split(to)?);
        let &number = self.disk.nodes[above].names.get(&name).ok_or(Errno::ENOENT)?;
        if self.disk.nodes[below].names.contains_key(&new_name) {
            return Err(Errno::EEXIST);
        }
        if format!("{to}/").starts_with(&format!("{from}/")) {
            return Err(Errno::EINVAL);
        }
        self.disk.nodes[above].names.remove(&name);
        self.disk.nodes[below].names.insert(new_name.clone(), number);
        let kind = self.kind_of(number);
        self.happen(above, Happened::MOVED_FROM | kind, Some(&name));
        self.happen(below, Happened::MOVED_TO | kind, Some(&new_name));
        self.happen(number, Happened::SELF_MOVED, None);
        Ok(())
    }
}

const ENOTEMPTY: Errno = Errno::from_raw(39);

/// What the outside does to files, by their paths, which begin with a slash.
impl Sim {
    /// # Errors
    /// EEXIST, ENOENT, ENOTDIR.
    pub fn make_directory(&self, path: &str) -> Result<()> {
        self.world.borrow_mut().make(path, true)
    }

    /// # Errors
    /// EEXIST, ENOENT, ENOTDIR.
    pub fn make_file(&self, path: &str) -> Result<()> {
        self.world.borrow_mut().make(path, false)
    }

    /// # Errors
    /// ENOENT, ENOTDIR.
    pub fn write_file(&self, path: &str) -> Result<()> {
        let mut world = self.world.borrow_mut();
        let (above, name) = world.disk.split(path)?;
        let &number = world.disk.nodes[above].names.get(&name).ok_or(Errno::ENOENT)?;
        world.disk.nodes[number].changes += 1;
        world.happen(above, Happened::MODIFIED, Some(&name));
        world.happen(number, Happened::MODIFIED, None);
        Ok(())
    }

    /// Removes a file or an empty directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, ENOTEMPTY.
    pub fn remove(&self, path: &str) -> Result<()> {
        self.world.borrow_mut().remove(path)
    }

    /// # Errors
    /// EEXIST, ENOENT, ENOTDIR; EINVAL for a directory and something beneath it.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.world.borrow_mut().rename(from, to)
    }

    /// Whether there is something at a path.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR.
    pub fn find(&self, path: &str) -> Result<()> {
        self.world.borrow().disk.find(path.as_bytes()).map(drop)
    }

    /// All files and directories that are watched, by their paths, in the order of these.
    pub fn watched(&self) -> Vec<String> {
        let mut world = self.world.borrow_mut();
        let watched: Vec<usize> = world.watchers().flat_map(|watcher| watcher.watches.values().copied()).collect();
        let mut found = world.disk.paths(|number, _| watched.contains(&number));
        found.sort();
        found
    }

    /// All directories, by their paths, in the order of these.
    pub fn directories(&self) -> Vec<String> {
        let mut found = self.world.borrow().disk.paths(|_, node| node.is_directory);
        found.sort();
        found
    }

    /// Sets how many watches a descriptor may have, and how many events it keeps.
    pub fn set_watch_limits(&self, watches: usize, events: usize) {
        let mut world = self.world.borrow_mut();
        (world.disk.watch_limit, world.disk.event_limit) = (watches, events);
    }
}
