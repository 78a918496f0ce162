//! Child processes: who they are, and what the test has them do.

use oxuv_os::process::SIGCHLD;
use oxuv_os::{Errno, Result};

use super::outside::Peer;
use super::world::World;
use super::{Fd, Sim};
use crate::kernel::{Exit, Slot};

/// The number of the first child's process.
const FIRST: i32 = 1000;

/// A child of a [`Sim`].
#[derive(Debug)]
pub struct Child {
    number: usize,
    /// It tells the end; `None` where the kernel has none.
    fd: Option<Fd>,
}

/// What the world knows of a child.
#[derive(Debug)]
pub(super) struct Process {
    /// The connections whose other end it has, by its descriptors.
    ends: Vec<Option<usize>>,
    exit: Option<Exit>,
    was_waited_for: bool,
    /// Nobody in particular waits for it any more.
    is_left: bool,
    /// The signals that were sent to it.
    signals: Vec<i32>,
}

impl Sim {
    /// The processes of the children that have not ended.
    pub fn children(&self) -> Vec<i32> {
        let world = self.world.borrow();
        (FIRST..).zip(&world.processes).filter(|(_, process)| process.exit.is_none()).map(|(id, _)| id).collect()
    }

    /// The children that have ended and that nobody has waited for.
    pub fn zombies(&self) -> usize {
        let world = self.world.borrow();
        world.processes.iter().filter(|process| process.exit.is_some() && !process.was_waited_for).count()
    }

    /// What a child has as this descriptor, if that is an end of a connection.
    pub fn child_end(&self, id: i32, descriptor: usize) -> Option<Peer> {
        self.world.borrow().process(id)?.ends.get(descriptor).copied().flatten().map(Peer::of)
    }

    /// Takes the signals that were sent to a child.
    pub fn take_signals(&self, id: i32) -> Vec<i32> {
        self.world.borrow_mut().process_mut(id).map(|process| std::mem::take(&mut process.signals)).unwrap_or_default()
    }

    /// A child ends: it closes what it has, and can be waited for. Nothing happens if it has ended.
    pub fn exit(&self, id: i32, exit: Exit) {
        let ends = match self.world.borrow_mut().process_mut(id) {
            Some(process) if process.exit.is_none() => {
                process.exit = Some(exit);
                std::mem::take(&mut process.ends)
            }
            _ => return,
        };
        self.raise(SIGCHLD);
        ends.into_iter().flatten().for_each(|end| Peer::of(end).close(self));
    }

    /// Somebody else waits for a child that has ended.
    pub fn wait_for_child(&self, id: i32) {
        if let Some(process) = self.world.borrow_mut().process_mut(id) {
            process.was_waited_for = true;
        }
    }

    pub(super) fn make_connection(&self) -> Result<(Fd, Fd)> {
        self.world.borrow_mut().lacks_descriptor()?;
        let (ours, peer) = self.pair()?;
        let theirs = self.world.borrow_mut().open_end(peer.number())?;
        Ok((ours, self.own(theirs)))
    }

    pub(super) fn spawn_child(&self, slots: &[Slot]) -> Result<Child> {
        let mut world = self.world.borrow_mut();
        world.lacks_descriptor()?;
        let ends = slots.iter().map(|slot| match *slot {
            Slot::Copy(number) if world.is_open(number) => world.end_of(number),
            _ => None,
        });
        let (ends, number) = (ends.collect(), world.processes.len());
        world.processes.push(Process { ends, exit: None, was_waited_for: false, is_left: false, signals: Vec::new() });
        let opened = world.lacks_descriptor().and_then(|()| world.open_process(number));
        drop(world);
        Ok(Child { number, fd: opened.ok().map(|fd| self.own(fd)) })
    }
}

impl Child {
    pub(super) fn id(&self) -> i32 {
        FIRST + self.number as i32
    }

    pub(super) fn descriptor(&self) -> Option<i32> {
        self.fd.as_ref().map(Fd::number)
    }
}

impl World {
    pub(super) fn has_ended(&self, number: usize) -> bool {
        self.processes[number].exit.is_some()
    }

    /// Whether a child has the other end of a connection.
    pub(super) fn is_end_of_a_child(&self, connection: usize) -> bool {
        self.processes.iter().any(|process| process.ends.contains(&Some(connection)))
    }

    pub(super) fn wait_for(&mut self, child: &Child) -> Result<Option<Exit>> {
        let process = &mut self.processes[child.number];
        if process.was_waited_for {
            return Err(Errno::ECHILD);
        }
        process.was_waited_for = process.exit.is_some();
        Ok(process.exit)
    }

    pub(super) fn leave(&mut self, children: &[Child]) {
        for child in children {
            self.processes[child.number].is_left = true;
        }
    }

    pub(super) fn wait_for_left(&mut self) {
        for process in self.processes.iter_mut().filter(|process| process.is_left) {
            process.was_waited_for |= process.exit.is_some();
        }
    }

    pub(super) fn signal(&mut self, child: &Child, signal: i32) -> Result<()> {
        let process = &mut self.processes[child.number];
        if process.was_waited_for {
            return Err(Errno::ESRCH);
        }
        process.signals.push(signal);
        Ok(())
    }

    fn process(&self, id: i32) -> Option<&Process> {
        self.processes.get(usize::try_from(id - FIRST).ok()?)
    }

    fn process_mut(&mut self, id: i32) -> Option<&mut Process> {
        self.processes.get_mut(usize::try_from(id - FIRST).ok()?)
    }
}
