//! Watching everything beneath a directory: the kernel's watches are of single directories, so each needs one of its own.
//!
//! A start looks through all that is there. What comes later is learnt from the directory that it comes to be in: it is
//! watched first and looked through then, so that nothing falls between the two; only what comes between them is told of
//! twice. A directory that goes is forgotten with all that is beneath, and found anew if it comes to be elsewhere in the
//! tree. Looking through counts among the steps of a turn, so that the loop goes on meanwhile.
//!
//! Directories are found by path, since the kernel knows no other way. What is at a path by now may be another directory
//! than the one that was told of; what is told later puts that right. But nothing is looked for beneath a root that was
//! moved away: that might be a neighbour's by now.

use std::ffi::{CStr, CString};

use oxuv_os::fs::EntryKind;
use oxuv_os::inotify::Happened;
use oxuv_os::{Errno, Result};

use crate::fs_event::{FsEvents, Listener};
use crate::fs_event_told::OPENING;
use crate::kernel::{Kernel, Listing, Only};
use crate::slab::Slab;
use crate::{Buffers, Core, Event, Kind};

#[derive(Debug, Default)]
struct Dir {
    /// 0 of one that is forgotten; the kernel's numbers begin with 1.
    watch: i32,
    /// No other directory of the loop ever has the same.
    serial: u64,
    parent: u32,
    name: Vec<u8>,
    /// In the order of their names.
    children: Vec<u32>,
}

/// The directories that a handle watches. The root is number 0.
#[derive(Debug)]
pub(crate) struct Tree {
    dirs: Slab<Dir>,
    /// The root is not at its path any more.
    has_moved: bool,
}

/// A directory that is to be looked through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    slot: u32,
    dir: u32,
    serial: u64,
    /// Only for directories that are not watched yet: the program was told that it has to look for itself.
    is_quiet: bool,
}

/// A directory that is being looked through.
#[derive(Debug)]
pub(crate) struct Look {
    scan: Scan,
    listing: Listing,
    next: usize,
}

/// What has become of a name that may be a directory's.
enum Adopted {
    New(u32),
    Known(u32),
    /// It is none, or must not be watched.
    Nothing,
}

/// Whether a directory that cannot be watched or read for this reason is left out: it is none or gone, or not for us.
fn is_left_out(error: Errno) -> bool {
    matches!(error, Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EACCES | Errno::EPERM)
}

fn may_be_directory(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Directory | EntryKind::Unknown)
}

impl Tree {
    fn new(watch: i32, serial: u64) -> Result<Tree> {
        let mut dirs = Slab::new();
        dirs.insert(Dir { watch, serial, ..Dir::default() })?;
        Ok(Tree { dirs, has_moved: false })
    }

    /// The watches of all directories.
    pub(crate) fn watches(&self) -> impl Iterator<Item = i32> {
        self.dirs.iter().map(|dir| dir.watch).filter(|&watch| watch != 0)
    }

    /// The place of a name among the children of a directory, or where it would be.
    fn place(&self, dir: u32, name: &[u8]) -> Result<usize, usize> {
        self.dirs[dir].children.binary_search_by(|&child| self.dirs[child].name.as_slice().cmp(name))
    }

    fn child(&self, dir: u32, name: &[u8]) -> Option<u32> {
        self.place(dir, name).ok().map(|place| self.dirs[dir].children[place])
    }

    fn insert(&mut self, parent: u32, name: &[u8], watch: i32, serial: u64) -> Result<u32> {
        let (Ok(place) | Err(place)) = self.place(parent, name);
        let mut copy = Vec::new();
        copy.try_reserve_exact(name.len())?;
        copy.extend_from_slice(name);
        self.dirs[parent].children.try_reserve(1)?;
        let dir = self.dirs.insert(Dir { watch, serial, parent, name: copy, children: Vec::new() })?;
        self.dirs[parent].children.insert(place, dir);
        Ok(dir)
    }

    /// Whether `dir` is `above`, or somewhere beneath.
    fn is_within(&self, mut dir: u32, above: u32) -> bool {
        while dir != above && dir != 0 {
            dir = self.dirs[dir].parent;
        }
        dir == above
    }

    /// Takes out one directory that has none beneath: `dir`, or one beneath that. Returns its watch, and whether it was
    /// `dir`.
    fn remove_leaf(&mut self, dir: u32) -> (i32, bool) {
        let mut leaf = dir;
        while let Some(&child) = self.dirs[leaf].children.last() {
            leaf = child;
        }
        let removed = self.dirs.remove(leaf);
        let siblings = &mut self.dirs[removed.parent].children;
        siblings.retain(|&sibling| sibling != leaf);
        (removed.watch, leaf == dir)
    }

    /// The parts of the name of something in a directory, or of the directory itself for an empty one: the last one first.
    fn parts<'a>(&'a self, dir: u32, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let parent = |&dir: &u32| Some(self.dirs[dir].parent);
        let above = std::iter::successors(Some(dir), parent).take_while(|&dir| dir != 0);
        Some(name).into_iter().filter(|name| !name.is_empty()).chain(above.map(|dir| &*self.dirs[dir].name))
    }

    /// How long such a name is.
    fn name_len(&self, dir: u32, name: &[u8]) -> usize {
        self.parts(dir, name).map(|part| part.len() + 1).sum::<usize>().saturating_sub(1)
    }

    /// Appends such a name, from the root on.
    pub(crate) fn write_name(&self, dir: u32, name: &[u8], into: &mut Vec<u8>) -> Result<()> {
        let len = self.name_len(dir, name);
        let mut end = into.len() + len;
        into.try_reserve(len)?;
        into.resize(end, b'/');
        for part in self.parts(dir, name) {
            into[end - part.len()..end].copy_from_slice(part);
            end = (end - part.len()).saturating_sub(1);
        }
        Ok(())
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Watches all directories beneath the one that the handle at this slot has begun to watch. If that is none, there is
    /// nothing to do.
    pub(crate) fn plant_tree(&mut self, slot: u32, watch: i32) -> Result<()> {
        let root = Tree::new(watch, self.new_serial())?;
        let state = self.slots[slot].state;
        self.changes.handles[state].tree = Some(root);
        let mut rest = Vec::new();
        rest.try_reserve(1)?;
        rest.push(0);
        while let Some(dir) = rest.pop() {
            let path = self.path_in_tree(slot, dir, b"")?;
            let listing = match self.kernel.list_directory(&path) {
                Ok(listing) => listing,
                Err(Errno::ENOTDIR) if dir == 0 => {
                    self.changes.handles[state].tree = None;
                    return Ok(());
                }
                Err(error) if is_left_out(error) => continue,
                Err(error) => return Err(error),
            };
            for entry in listing.iter().filter(|entry| may_be_directory(entry.kind)) {
                rest.try_reserve(1)?;
                if let Adopted::New(child) = self.adopt(slot, dir, entry.name.to_bytes())? {
                    rest.push(child);
                }
            }
        }
        Ok(())
    }

    fn new_serial(&mut self) -> u64 {
        self.changes.next_serial += 1;
        self.changes.next_serial
    }

    fn tree(&self, slot: u32) -> Option<&Tree> {
        self.changes.handles[self.slots[slot].state].tree.as_ref()
    }

    fn tree_mut(&mut self, slot: u32) -> Option<&mut Tree> {
        self.changes.handles[self.slots[slot].state].tree.as_mut()
    }

    /// The path of something in a directory of a tree; of the directory itself for an empty name.
    fn path_in_tree(&self, slot: u32, dir: u32, name: &[u8]) -> Result<CString> {
        let handle = &self.changes.handles[self.slots[slot].state];
        let (Some(root), Some(tree)) = (&handle.path, &handle.tree) else { return Err(Errno::EINVAL) };
        let (root, len) = (root.to_bytes(), tree.name_len(dir, name));
        let mut path = Vec::new();
        // As much as it takes, since a text that has more is moved.
        path.try_reserve_exact(root.len() + usize::from(len > 0) + len + 1)?;
        path.extend_from_slice(root);
        if len > 0 {
            path.push(b'/');
        }
        tree.write_name(dir, name, &mut path)?;
        path.push(0);
        CString::from_vec_with_nul(path).map_err(|_| Errno::EINVAL)
    }

    /// Watches a directory in a directory of a tree.
    fn adopt(&mut self, slot: u32, parent: u32, name: &[u8]) -> Result<Adopted> {
        let path = self.path_in_tree(slot, parent, name)?;
        // Again if it was elsewhere in the tree so far.
        for _ in 0..2 {
            let watch = match self.add_watch(&path, Only::Directory) {
                Ok(watch) => watch,
                Err(error) if is_left_out(error) => {
                    if let Some(old) = self.tree(slot).and_then(|tree| tree.child(parent, name)) {
                        self.forget_directory(slot, old);
                    }
                    return Ok(Adopted::Nothing);
                }
                Err(error) => return Err(error),
            };
            let Some(tree) = self.tree(slot) else { return Ok(Adopted::Nothing) };
            let namesake = tree.child(parent, name);
            match self.changes.listens(watch, slot) {
                Some(dir) if namesake == Some(dir) => return Ok(Adopted::Known(dir)),
                // It is mounted inside itself; or it was moved, of which more is still to be heard.
                Some(dir) if tree.is_within(parent, dir) => return Ok(Adopted::Nothing),
                Some(dir) => self.forget_directory(slot, dir),
                None => {
                    if let Some(old) = namesake {
                        self.forget_directory(slot, old);
                    }
                    let added = self.add_directory(slot, parent, name, watch);
                    if added.is_err() {
                        self.end_if_unheard(watch);
                    }
                    return added.map(Adopted::New);
                }
            }
        }
        Ok(Adopted::Nothing)
    }

    fn add_directory(&mut self, slot: u32, parent: u32, name: &[u8], watch: i32) -> Result<u32> {
        let serial = self.new_serial();
        let tree = self.tree_mut(slot).ok_or(Errno::EINVAL)?;
        let dir = tree.insert(parent, name, watch, serial)?;
        let heard = self.changes.listen(watch, Listener { slot, dir });
        if heard.is_err() {
            self.tree_mut(slot).map(|tree| tree.remove_leaf(dir));
        }
        heard.map(|()| dir)
    }

    /// Watches a directory, which is not the root, no longer, nor what is beneath.
    fn forget_directory(&mut self, slot: u32, dir: u32) {
        while let Some(tree) = self.tree_mut(slot) {
            let (watch, is_last) = tree.remove_leaf(dir);
            self.unlisten(watch, slot);
            if is_last {
                return;
            }
        }
    }

    /// Something has happened to a directory of a tree itself.
    pub(crate) fn happened_to_directory(&mut self, slot: u32, dir: u32, happened: Happened) {
        if dir != 0 && happened.intersects(Happened::IGNORED | Happened::UNMOUNTED) {
            self.forget_directory(slot, dir);
        } else if dir == 0
            && happened.contains(Happened::SELF_MOVED)
            && let Some(tree) = self.tree_mut(slot)
        {
            tree.has_moved = true;
        }
    }

    /// Something has happened to a directory in a directory of a tree. An error means that it cannot be watched.
    pub(crate) fn happened_to_name(&mut self, slot: u32, dir: u32, happened: Happened, name: &[u8]) -> Result<()> {
        let Some(tree) = self.tree(slot).filter(|tree| !tree.has_moved) else { return Ok(()) };
        if happened.intersects(Happened::MOVED_FROM | Happened::DELETED) {
            if let Some(child) = tree.child(dir, name) {
                self.forget_directory(slot, child);
            }
        } else if happened.intersects(Happened::MOVED_TO | Happened::CREATED) {
            self.changes.scans.try_reserve(1)?;
            if let Adopted::New(child) = self.adopt(slot, dir, name)? {
                self.look_later(slot, child, false);
            }
        }
        Ok(())
    }

    /// Has a directory looked through later. There is room for it.
    fn look_later(&mut self, slot: u32, dir: u32, is_quiet: bool) {
        if let Some(tree) = self.tree(slot) {
            let serial = tree.dirs[dir].serial;
            self.changes.scans.push_back(Scan { slot, dir, serial, is_quiet });
        }
    }

    /// Events were lost: the tree of a handle, if it has one, is to be looked through for directories that have come and
    /// gone.
    pub(crate) fn note_loss(&mut self, slot: u32) {
        let Some(serial) = self.tree(slot).map(|tree| tree.dirs[0].serial) else { return };
        if self.changes.lossy.try_reserve(1).is_ok() {
            self.changes.lossy.push_back(Scan { slot, dir: 0, serial, is_quiet: true });
        }
    }

    /// Begins to look through the next such tree. False if there is none.
    pub(crate) fn look_through_lossy(&mut self) -> bool {
        if self.changes.scans.try_reserve(1).is_err() {
            return false;
        }
        let scan = self.changes.lossy.pop_front();
        self.changes.scans.extend(scan);
        scan.is_some()
    }

    /// The tree that a scan is about, if that is still to be done.
    fn tree_of(&self, scan: &Scan) -> Option<&Tree> {
        let is_handle = self.slots[scan.slot].kind == Kind::FsEvent;
        let tree = if is_handle { self.tree(scan.slot) } else { None };
        tree.filter(|tree| !tree.has_moved && tree.dirs.get(scan.dir).is_some_and(|dir| dir.serial == scan.serial))
    }

    /// Goes on to look through directories, by one name.
    pub(crate) fn look_on(&mut self) -> Option<Event<U>> {
        let Some(Look { scan, listing, next }) = self.changes.look.take() else { return self.begin_look() };
        let Scan { slot, dir, is_quiet, .. } = scan;
        self.tree_of(&scan)?;
        let Some(entry) = listing.get(next) else {
            if is_quiet {
                self.forget_missing(&scan, &listing);
            }
            return None;
        };
        let result = if may_be_directory(entry.kind) { self.look_at(&scan, entry.name) } else { Ok(!is_quiet) };
        if result != Ok(false) {
            self.name_in_tree(slot, dir, entry.name.to_bytes());
        }
        self.changes.look = Some(Look { scan, listing, next: next + 1 });
        match result {
            Ok(false) => None,
            Ok(true) => Some(self.found_in_tree(slot, Ok(FsEvents::RENAME))),
            Err(error) => Some(self.found_in_tree(slot, Err(error))),
        }
    }

    /// Opens the next directory to be looked through.
    fn begin_look(&mut self) -> Option<Event<U>> {
        let scan = self.changes.scans.pop_front()?;
        self.tree_of(&scan)?;
        self.changes.told.steps = self.changes.told.steps.saturating_sub(OPENING);
        let listed = self.path_in_tree(scan.slot, scan.dir, b"").and_then(|path| self.kernel.list_directory(&path));
        match listed {
            Ok(listing) => self.changes.look = Some(Look { scan, listing, next: 0 }),
            Err(error) if is_left_out(error) => {}
            Err(error) => {
                self.name_in_tree(scan.slot, scan.dir, b"");
                return Some(self.found_in_tree(scan.slot, Err(error)));
            }
        }
        None
    }

    /// Looks at a name that may be a directory's. True if it is to be told of.
    fn look_at(&mut self, scan: &Scan, name: &CStr) -> Result<bool> {
        self.changes.scans.try_reserve(1)?;
        match self.adopt(scan.slot, scan.dir, name.to_bytes())? {
            Adopted::New(child) => self.look_later(scan.slot, child, scan.is_quiet),
            Adopted::Known(child) if scan.is_quiet => self.look_later(scan.slot, child, true),
            // It was told of when it was made.
            Adopted::Known(_) => return Ok(false),
            Adopted::Nothing => {}
        }
        Ok(!scan.is_quiet)
    }

    /// Forgets directories that are not there any more.
    fn forget_missing(&mut self, scan: &Scan, listing: &Listing) {
        let Scan { slot, dir, .. } = *scan;
        while let Some(tree) = self.tree(slot) {
            let entry = |child: u32| listing.find(&tree.dirs[child].name);
            let is_missing = |&&child: &&u32| !entry(child).is_some_and(|entry| may_be_directory(entry.kind));
            let Some(&child) = tree.dirs[dir].children.iter().find(is_missing) else { return };
            self.forget_directory(slot, child);
        }
    }

    /// Puts down the name of something in a tree, for the front to ask for.
    pub(crate) fn name_in_tree(&mut self, slot: u32, dir: u32, name: &[u8]) {
        let tree = self.changes.handles[self.slots[slot].state].tree.as_ref();
        self.changes.told.put_name(|into| tree.map_or(Ok(()), |tree| tree.write_name(dir, name, into)));
    }

    fn found_in_tree(&self, slot: u32, result: Result<FsEvents>) -> Event<U> {
        Event::FsEvent { key: self.slots.key(slot), user: self.slots[slot].user, result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_from_the_root_on() {
        let mut tree = Tree::new(1, 1).unwrap();
        let a = tree.insert(0, b"a", 2, 2).unwrap();
        let bc = tree.insert(a, b"bc", 3, 3).unwrap();
        let name = |dir, name: &[u8]| {
            let mut text = b"root:".to_vec();
            tree.write_name(dir, name, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(name(0, b"x"), "root:x");
        assert_eq!(name(0, b""), "root:");
        assert_eq!(name(a, b"x"), "root:a/x");
        assert_eq!(name(bc, b"xyz"), "root:a/bc/xyz");
        assert_eq!(name(bc, b""), "root:a/bc");
    }

    #[test]
    fn a_directory_is_taken_out_with_what_is_beneath() {
        let mut tree = Tree::new(1, 1).unwrap();
        let a = tree.insert(0, b"a", 2, 2).unwrap();
        let b = tree.insert(0, b"b", 3, 3).unwrap();
        let c = tree.insert(a, b"c", 4, 4).unwrap();
        tree.insert(c, b"d", 5, 5).unwrap();
        assert!(tree.is_within(c, a) && tree.is_within(c, c) && tree.is_within(c, 0) && !tree.is_within(c, b));
        assert_eq!(
            [tree.remove_leaf(a), tree.remove_leaf(a), tree.remove_leaf(a)],
            [(5, false), (4, false), (2, true)]
        );
        assert_eq!((tree.child(0, b"a"), tree.child(0, b"b")), (None, Some(b)));
        assert_eq!(tree.watches().collect::<Vec<_>>(), [1, 3]);
    }
}
