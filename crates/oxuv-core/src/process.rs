//! Child processes.
//!
//! The end of a child is learnt by a descriptor of the kernel's, which is watched as any other. Where there is none for it
//! it is looked for whenever SIGCHLD has come. Ends are told last in a batch, in the order in which the children were
//! made: by then everything is heard that they have written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use oxuv_os::process::SIGCHLD;
use oxuv_os::signal::KILL;
use oxuv_os::{Errno, Result};

use crate::kernel::{Command, Exit, Kernel, Medium, Readiness, Slot};
use crate::poll::Care;
use crate::slab::Slab;
use crate::slots::{Slot as Handle, flag};
use crate::stream::StreamFlags;
use crate::watch::Watch;
use crate::{Buffers, Core, Event, Key, Kind};

/// What a child has as a descriptor, whose number is its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "uv_stdio_container_t")]
pub enum Stdio {
    /// Of 0, 1 and 2: `/dev/null`; any other is left alone.
    #[doc(alias = "UV_IGNORE")]
    Ignore,
    /// One end of a new connection, whose other end a pipe handle gets.
    #[doc(alias = "UV_CREATE_PIPE")]
    Pipe {
        /// The pipe, which has no descriptor yet.
        key: Key,
        /// The pipe is readable: what the child writes can be read.
        readable: bool,
        /// The pipe is writable, for the child to read.
        writable: bool,
    },
    /// A copy of the descriptor of this number.
    #[doc(alias = "UV_INHERIT_FD")]
    Descriptor(i32),
    /// A copy of the descriptor of this handle.
    #[doc(alias = "UV_INHERIT_STREAM")]
    Handle(Key),
}

/// What the core keeps of a child.
#[derive(Debug)]
pub(crate) struct Process<C> {
    pub(crate) watch: Watch,
    /// `None` when its end has been told.
    child: Option<C>,
    id: i32,
    /// How many were made before.
    order: u64,
    /// Its end, to be told.
    exit: Option<Result<Exit>>,
    /// It shall not outlive its handle.
    is_bound: bool,
}

impl<C> Default for Process<C> {
    fn default() -> Self {
        Process { watch: Watch::default(), child: None, id: 0, order: 0, exit: None, is_bound: false }
    }
}

#[derive(Debug)]
pub(crate) struct Processes<C> {
    pub(crate) slab: Slab<Process<C>>,
    /// The children made so far.
    made: u64,
    /// Ends to be told: when the child was made, and its key as a number. There is room for one of each.
    ended: BinaryHeap<Reverse<(u64, u64)>>,
    /// Children whose end no descriptor tells. While there are any, the core hears of SIGCHLD.
    unwatched: Vec<Key>,
    /// Children whose handle was closed before their end, for us to wait for.
    orphans: Vec<C>,
}

impl<C> Default for Processes<C> {
    fn default() -> Self {
        Processes { slab: Slab::new(), made: 0, ended: BinaryHeap::new(), unwatched: Vec::new(), orphans: Vec::new() }
    }
}

impl<C> Processes<C> {
    /// Room for one more child, and for its end.
    fn reserve(&mut self) -> Result<()> {
        let children = self.slab.len() + 1;
        self.ended.try_reserve(children)?;
        self.unwatched.try_reserve(1)?;
        self.orphans.try_reserve(children)?;
        Ok(())
    }

    /// True if there are ends to be told.
    #[inline]
    pub(crate) fn have_ended(&self) -> bool {
        !self.ended.is_empty()
    }
}

/// A connection between a pipe of ours and a child.
struct Connection<F> {
    pipe: u32,
    ours: F,
    flags: StreamFlags,
    _theirs: F,
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Makes a child process that runs a program, and a handle for it, which is active until [`Event::Exited`] tells its
    /// end. The child has the descriptors of the list, and 0, 1 and 2 in any case. When this returns, its program runs.
    ///
    /// # Errors
    /// What keeps the program from running, see [`Kernel::spawn`]: there is no handle and no child then, and the pipes are
    /// as before (but see [`Config::opens_pipes_always`](crate::Config)). EINVAL for a key that is no open pipe's, or no open
    /// handle's with a descriptor; EBUSY for a pipe that has one; EBADF; EMFILE, ENFILE, ENOMEM.
    #[doc(alias = "uv_spawn")]
    pub fn process_spawn(&mut self, user: U, command: &Command<'_>, stdio: &[Stdio]) -> Result<Key> {
        // It may be given a stream that something was written to.
        self.flush_writes();
        self.wait_for_orphans();
        self.slots.reserve()?;
        self.processes.reserve()?;
        self.watches.reserve(self.watchers() + 1)?;
        let checked = self.check_numbers(stdio);
        if !self.opens_pipes_always {
            checked?;
        }
        let (slots, connections) = self.prepare_slots(stdio)?;
        let state = self.processes.slab.insert(Process::default())?;
        let spawned = checked.and_then(|()| self.kernel.spawn(command, &slots));
        if spawned.is_ok() || self.opens_pipes_always {
            for Connection { pipe, ours, flags, .. } in connections {
                self.put_pipe(pipe, ours, Medium::Socket, flags);
            }
        }
        match spawned {
            Ok(child) => Ok(self.insert_process(user, state, child)),
            Err(error) => {
                self.processes.slab.remove(state);
                Err(error)
            }
        }
    }

    /// A handle for a child that could not be made, to be closed.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn process_without_child(&mut self, user: U) -> Result<Key> {
        self.slots.reserve()?;
        let state = self.processes.slab.insert(Process::default())?;
        Ok(self.add_handle(Kind::Process, state, user))
    }

    /// Whether there are the descriptors that a child is to have. It is asked before any are made: a number that is free now would be
    /// one of ours then.
    fn check_numbers(&self, stdio: &[Stdio]) -> Result<()> {
        stdio.iter().try_for_each(|stdio| match *stdio {
            Stdio::Descriptor(number) => self.kernel.check_open(number).map(drop),
            _ => Ok(()),
        })
    }

    /// What the kernel is to give the child, and the connections made for it.
    #[allow(clippy::type_complexity)]
    fn prepare_slots(&mut self, stdio: &[Stdio]) -> Result<(Vec<Slot>, Vec<Connection<K::Fd>>)> {
        let (mut slots, mut connections) = (Vec::new(), Vec::new());
        slots.try_reserve_exact(stdio.len())?;
        for &stdio in stdio {
            slots.push(match stdio {
                Stdio::Descriptor(number) => Slot::Copy(number),
                Stdio::Handle(key) => Slot::Copy(self.number_to_inherit(key)?),
                Stdio::Pipe { .. } | Stdio::Ignore => Slot::Ignore,
            });
        }
        for (slot, &stdio) in slots.iter_mut().zip(stdio) {
            let Stdio::Pipe { key, readable, writable } = stdio else { continue };
            let pipe = self.open_handle(key, Kind::Pipe)?;
            let is_taken = connections.iter().any(|other: &Connection<K::Fd>| other.pipe == pipe);
            if is_taken || self.streams[self.slots[pipe].state].fd.is_some() {
                return Err(Errno::EBUSY);
            }
            connections.try_reserve(1)?;
            let (ours, theirs) = self.kernel.connection()?;
            self.prepare_descriptor(pipe, &ours)?;
            *slot = Slot::Copy(K::number(&theirs));
            let mut flags = StreamFlags::empty();
            flags.set(StreamFlags::READABLE, readable);
            flags.set(StreamFlags::WRITABLE, writable);
            connections.push(Connection { pipe, ours, flags, _theirs: theirs });
        }
        Ok((slots, connections))
    }

    /// The descriptor of an open handle, to be copied.
    fn number_to_inherit(&self, key: Key) -> Result<i32> {
        let index = self.slots.find(key)?;
        if self.slots[index].has(flag::CLOSING) {
            return Err(Errno::EINVAL);
        }
        self.descriptor_number(key).map_err(|_| Errno::EINVAL)
    }

    fn insert_process(&mut self, user: U, state: u32, child: K::Child) -> Key {
        let order = self.processes.made;
        self.processes.made += 1;
        let number = K::child_descriptor(&child);
        if let Some(number) = number {
            // It is nobody else's, so it does no harm if there is no room to note whose it is.
            let _ = self.watches.reserve_number(number);
        }
        let (watch, id) = (Watch::new(number.unwrap_or(-1)), K::child_id(&child));
        self.processes.slab[state] = Process { watch, child: Some(child), id, order, ..Process::default() };
        let key = self.add_handle(Kind::Process, state, user);
        self.set_active(key.index);
        if number.is_some() {
            self.want(key.index, Readiness::READ);
        } else {
            if self.processes.unwatched.is_empty() {
                // Without memory there is nothing that tells of it.
                let _ = self.hear_signal(SIGCHLD);
            }
            self.processes.unwatched.push(key);
            // It may have ended before anybody listened.
            self.look_after(key.index);
        }
        key
    }

    /// The number of the child's process, also after its end; 0 if there never was one.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_process_get_pid")]
    pub fn process_id(&self, key: Key) -> Result<i32> {
        let index = self.slots.find_kind(key, Kind::Process)?;
        Ok(self.processes.slab[self.slots[index].state].id)
    }

    /// Sends the child a signal; 0 only looks whether it is there.
    ///
    /// # Errors
    /// ESRCH when it has ended; EINVAL for a number that is no signal, and for a stale key; EPERM.
    #[doc(alias = "uv_process_kill")]
    pub fn process_kill(&mut self, key: Key, signal: i32) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Process)?;
        let process = &self.processes.slab[self.slots[index].state];
        match &process.child {
            Some(child) if process.exit.is_none() => self.kernel.kill_child(child, signal),
            _ => Err(Errno::ESRCH),
        }
    }

    /// The child shall not outlive its handle: it is killed if that is closed before its end, by a loop that
    /// [reaps orphans](crate::Config::reaps_orphans), or by [`Core::leave_children`].
    ///
    /// # Errors
    /// EINVAL for a stale key.
    pub fn process_bind(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Process)?;
        self.processes.slab[self.slots[index].state].is_bound = true;
        Ok(())
    }

    /// A child's descriptor is ready.
    pub(crate) fn ready_to_exit(&mut self, index: u32) -> Option<Event<U>> {
        let is_watched = !self.watch_mut(index).watched.is_empty();
        if !self.look_after(index) && is_watched {
            // It says that the child has ended, which cannot be waited for yet: a debugger has it.
            self.retry_later(index);
        }
        None
    }

    /// SIGCHLD has come: looks after the children that nothing else tells of.
    pub(crate) fn look_after_unwatched(&mut self) {
        let mut nth = 0;
        while let Some(&key) = self.processes.unwatched.get(nth) {
            // One that has ended is not in the list any more.
            nth += usize::from(!self.look_after(key.index));
        }
    }

    /// Waits for a child if it has ended, for its end to be told. True if it has.
    fn look_after(&mut self, index: u32) -> bool {
        let state = self.slots[index].state;
        let process = &self.processes.slab[state];
        let Some(child) = process.child.as_ref().filter(|_| process.exit.is_none()) else { return false };
        let exit = match self.kernel.wait_child(child) {
            Ok(None) => return false,
            Ok(Some(exit)) => Ok(exit),
            Err(error) => Err(error),
        };
        let ended = Reverse((process.order, self.slots.key(index).to_u64()));
        self.forget(index);
        self.forget_unwatched(index);
        self.processes.slab[state].exit = Some(exit);
        self.processes.ended.push(ended);
        self.poll.care = Care::Look;
        true
    }

    fn forget_unwatched(&mut self, index: u32) {
        let unwatched = &mut self.processes.unwatched;
        if let Some(place) = unwatched.iter().position(|key| key.index == index) {
            unwatched.remove(place);
            if unwatched.is_empty() {
                self.unhear_signal(SIGCHLD);
            }
        }
    }

    /// The next end to be told, when the batch is worked off.
    #[inline]
    pub(crate) fn next_exit(&mut self) -> Option<Event<U>> {
        if self.processes.have_ended() { self.tell_exit() } else { None }
    }

    #[cold]
    fn tell_exit(&mut self) -> Option<Event<U>> {
        // The last event may have been a signal, whose callback has made a child or gone on after a fork.
        self.end_one_shot();
        while let Some(Reverse((_, key))) = self.processes.ended.pop() {
            let key = Key::from_u64(key);
            // Who has closed the handle hears nothing.
            let Ok(index) = self.open_handle(key, Kind::Process) else { continue };
            let Handle { state, user, .. } = self.slots[index];
            let Some(result) = self.processes.slab[state].exit.take() else { continue };
            // Its descriptor is not watched any more.
            self.processes.slab[state].child = None;
            self.set_inactive(index);
            self.poll.events += 1;
            return Some(Event::Exited { key, user, result });
        }
        None
    }

    /// The handle is being closed. The child goes on.
    pub(crate) fn close_process(&mut self, index: u32) {
        self.forget(index);
        self.forget_unwatched(index);
        if self.reaps_orphans {
            self.give_up_child(self.slots[index].state);
        }
        self.wait_for_orphans();
    }

    /// Nobody will hear of this child's end, if it has not ended.
    fn give_up_child(&mut self, state: u32) {
        let process = &mut self.processes.slab[state];
        if process.exit.is_some() {
            return;
        }
        let Some(child) = process.child.take() else { return };
        // After a fork it is another's, and none of ours to kill.
        if process.is_bound && self.kernel.wait_child(&child) == Ok(None) {
            // It fails for one that is about to end.
            let _ = self.kernel.kill_child(&child, KILL);
        }
        self.processes.orphans.push(child);
    }

    /// Waits for those that have ended of the children that have no handle any more.
    fn wait_for_orphans(&mut self) {
        let kernel = &mut self.kernel;
        self.processes.orphans.retain(|child| kernel.wait_child(child) == Ok(None));
        kernel.wait_for_left();
    }

    /// Before the loop goes: its children go on, but for [bound](Core::process_bind) ones, which are killed. Whichever loop of the
    /// program next makes a child, closes one's handle or goes waits for those that have ended by then.
    pub fn leave_children(&mut self) {
        for state in 0..self.processes.slab.bound() {
            // There is room in the list for all.
            self.give_up_child(state as u32);
        }
        self.wait_for_orphans();
        self.kernel.leave_children(std::mem::take(&mut self.processes.orphans));
    }
}
