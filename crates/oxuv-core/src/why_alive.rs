//! Why a run does not end: what keeps the loop alive, one by one.

use std::fmt;
use std::net::SocketAddr;

use crate::job::Asker;
use crate::kernel::Kernel;
use crate::slots::{Slot, flag};
use crate::stream::StreamFlags;
use crate::udp::UdpFlags;
use crate::{Buffers, Core, Key, Kind};

bitflags::bitflags! {
    /// What something that keeps a loop alive does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Doing: u16 {
        /// A handle that is started and referenced.
        const ACTIVE = 0x001;
        /// A listener waits for connections.
        const LISTENING = 0x002;
        /// A stream waits for something to read.
        const READING = 0x004;
        /// A connect is not done.
        const CONNECTING = 0x008;
        /// A write is not done.
        const WRITING = 0x010;
        /// A shutdown is not done.
        const SHUTTING_DOWN = 0x020;
        /// A UDP handle waits for datagrams.
        const RECEIVING = 0x040;
        /// A datagram is not sent.
        const SENDING = 0x080;
        /// The close callback has not been called.
        const CLOSING = 0x100;
        /// A job waits for a thread, runs, or is to be told of.
        const WORKING = 0x200;
        /// A task of the front's waits to be woken, or for its turn.
        const WAITING = 0x400;
        /// A task of the front's is being polled.
        const RUNNING = 0x800;
    }
}

/// The words, in the order of the bits, but for active: that is said of what has no other. What does nothing is open.
impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("open");
        }
        let mut separator = "";
        for (name, doing) in self.iter_names() {
            if doing == Doing::ACTIVE && *self != Doing::ACTIVE {
                continue;
            }
            f.write_str(separator)?;
            separator = ", ";
            name.chars().try_for_each(|letter| match letter {
                '_' => f.write_str(" "),
                letter => write!(f, "{}", letter.to_ascii_lowercase()),
            })?;
        }
        Ok(())
    }
}

/// What somebody wants to know of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Why its run does not end: [`Core::why_alive`].
    Alive,
    /// Why it cannot be closed: [`Core::why_open`].
    Open,
}

/// A handle or a request that keeps a loop alive, or open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alive<U> {
    /// The handle; `None` for a job or a task.
    pub key: Option<Key>,
    /// Its kind; [`Kind::None`] for a job or a task.
    pub kind: Kind,
    /// The front's value of the handle or of the job; of a task, what that says.
    pub user: U,
    /// What it does.
    pub doing: Doing,
    /// The number of its descriptor.
    pub descriptor: Option<i32>,
    /// The address that it is bound to.
    pub local: Option<SocketAddr>,
    /// The address of the other end.
    pub peer: Option<SocketAddr>,
    /// In how many nanoseconds a timer is due, from the loop's time on.
    pub due_in: Option<u64>,
    /// A timer's repeat in nanoseconds, if it has one.
    pub repeat: Option<u64>,
    /// The number of the signal, or the id of the process, that it waits for.
    pub number: Option<i32>,
}

/// A line such as `tcp 12: reading, descriptor 9, 127.0.0.1:80 to 127.0.0.1:51000`.
impl<U> fmt::Display for Alive<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
        match self.key {
            Some(key) => write!(f, "{} {}: {}", self.kind.name(), key.index(), self.doing)?,
            None if self.is_task() => write!(f, "task: {}", self.doing)?,
            None => write!(f, "job: {}", self.doing)?,
        }
        if let Some(due_in) = self.due_in {
            write!(f, ", due in {:.1} ms", milliseconds(due_in))?;
        }
        if let Some(repeat) = self.repeat {
            write!(f, ", every {:.1} ms", milliseconds(repeat))?;
        }
        if let Some(number) = self.number {
            write!(f, ", {} {number}", if self.kind == Kind::Signal { "signal" } else { "process" })?;
        }
        if let Some(descriptor) = self.descriptor {
            write!(f, ", descriptor {descriptor}")?;
        }
        if let Some(local) = self.local {
            write!(f, ", {local}")?;
        }
        if let Some(peer) = self.peer {
            write!(f, " to {peer}")?;
        }
        Ok(())
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Tells of each handle and each job that keeps the loop alive: handles in the order of their initialisation, then jobs. With
    /// nothing to tell [`Core::alive`] is false, but for handles that a front counts itself.
    pub fn why_alive(&mut self, tell: impl FnMut(Alive<U>)) {
        self.keepers(Why::Alive, tell);
    }

    /// Tells of all for which [`Core::check_closable`] says EBUSY: each handle, also one that does nothing, then each job.
    pub fn why_open(&mut self, tell: impl FnMut(Alive<U>)) {
        self.keepers(Why::Open, tell);
    }

    pub(crate) fn keepers(&mut self, why: Why, mut tell: impl FnMut(Alive<U>)) {
        let mut walk = self.walk_begin();
        while let Some((key, _)) = self.walk_next(&mut walk) {
            let alive = self.alive_handle(key);
            if why == Why::Open || !alive.doing.is_empty() {
                tell(alive);
            }
        }
        for asker in self.jobs.askers.iter().flatten() {
            let (key, kind, user) = match *asker {
                Asker::Front(user) => (None, Kind::None, user),
                Asker::FsPoll { key, .. } => (Some(key), Kind::FsPoll, U::default()),
            };
            tell(Alive { key, kind, doing: Doing::WORKING, ..Alive::nothing(user) });
        }
    }

    /// What a handle does that keeps the loop alive.
    fn alive_handle(&self, key: Key) -> Alive<U> {
        let &Slot { kind, state, flags, user, .. } = &self.slots[key.index];
        let mut alive = Alive { key: Some(key), kind, ..Alive::nothing(user) };
        let keeps = flag::ACTIVE | flag::REFERENCED;
        let is_kept = flags & keeps == keeps;
        alive.doing.set(Doing::ACTIVE, is_kept);
        alive.doing.set(Doing::CLOSING, flags & flag::CLOSING != 0);
        match kind {
            Kind::Timer if is_kept => {
                alive.due_in = self.timer_due_in(key).ok();
                alive.repeat = self.timer_repeat(key).ok().filter(|&repeat| repeat > 0);
            }
            Kind::Process if is_kept => alive.number = self.process_id(key).ok(),
            Kind::Signal if is_kept => alive.number = self.signal_number(key).ok(),
            Kind::Tcp | Kind::Pipe | Kind::Tty => {
                let stream = &self.streams[state];
                let is = |flag| stream.flags.contains(flag);
                let writes = stream.writes.len() + stream.ended();
                alive.doing.set(Doing::LISTENING, is_kept && is(StreamFlags::LISTENING));
                alive.doing.set(Doing::READING, is_kept && is(StreamFlags::READING));
                alive.doing.set(Doing::CONNECTING, is(StreamFlags::CONNECTING));
                alive.doing.set(Doing::WRITING, writes > 0);
                alive.doing.set(Doing::SHUTTING_DOWN, is(StreamFlags::SHUTTING_DOWN));
                if let (Kind::Tcp, Some(fd)) = (kind, &stream.fd) {
                    alive.local = self.kernel.local_address(fd).ok();
                    alive.peer = self.kernel.peer_address(fd).ok();
                }
            }
            Kind::Udp => {
                let udp = &self.udps[state];
                alive.doing.set(Doing::RECEIVING, is_kept && udp.flags.contains(UdpFlags::RECEIVING));
                alive.doing.set(Doing::SENDING, !udp.sends.is_empty());
                if let Some(fd) = &udp.fd {
                    alive.local = self.kernel.local_address(fd).ok();
                    alive.peer = self.kernel.peer_address(fd).ok();
                }
            }
            _ => {}
        }
        alive.descriptor = self.descriptor_number(key).ok();
        alive
    }
}

impl<U> Alive<U> {
    /// A task, of which only its front knows.
    pub fn task(user: U, is_running: bool) -> Alive<U> {
        let doing = if is_running { Doing::RUNNING } else { Doing::WAITING };
        Alive { doing, ..Alive::nothing(user) }
    }

    /// Whether it is a task.
    pub fn is_task(&self) -> bool {
        self.doing.intersects(Doing::WAITING | Doing::RUNNING)
    }

    fn nothing(user: U) -> Alive<U> {
        let (kind, doing) = (Kind::None, Doing::empty());
        let (descriptor, local, peer, due_in, repeat, number) = (None, None, None, None, None, None);
        Alive { key: None, kind, user, doing, descriptor, local, peer, due_in, repeat, number }
    }
}
