//! A simulated kernel: sockets in memory, a clock that only waiting moves, and faults drawn from a seed.
//!
//! The test plays the outside: it holds a clone of the [`Sim`] that the core owns, connects, sends and closes as a
//! [`Peer`], or [plans](Sim::later) to do so while the core waits. The same seed, faults and calls give the same
//! [trace](Sim::trace).
//!
//! ```
//! use oxuv_core::sim::{Faults, Sim};
//! use oxuv_core::{Config, Core, Event, Mode, One};
//!
//! let sim = Sim::new(1, Faults::none());
//! let mut core: Core<Sim, (), One<Vec<u8>>> = Core::new(sim.clone(), Config::default())?;
//! let server = core.tcp_init(())?;
//! core.tcp_bind(server, &([127, 0, 0, 1], 80).into(), Default::default())?;
//! core.listen(server, 16)?;
//! sim.later(5_000, |sim| drop(sim.connect(([127, 0, 0, 1], 80).into())));
//! core.begin(Mode::Once);
//! assert_eq!(core.next(), Some(Event::Connection { key: server, user: (), result: Ok(()) }));
//! # Ok::<(), oxuv_core::Errno>(())
//! ```
//!
//! A wait without a time-out while nothing can ever happen is a deadlock of the program under test. It fails with
//! EDEADLK, so that the run ends with that error.

mod calls;
mod connect;
mod connection;
mod datagram;
mod faults;
mod files;
mod gather;
mod note;
mod outside;
mod pool;
mod probe;
mod process;
mod random;
mod signal;
mod socket;
#[cfg(test)]
mod tests;
mod unix;
mod wait;
mod world;

use std::cell::RefCell;
use std::fmt;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Release};

#[cfg(doc)]
use crate::kernel::Kernel;
use crate::kernel::{Readiness, Wake};
use gather::Gathering;
use world::World;

pub use datagram::{Letter, Offload};
pub use faults::{Fault, Faults};
pub use note::Note;
pub use outside::Peer;
pub use process::Child;
pub use random::Random;

type Plan = Box<dyn FnOnce(&Sim)>;

/// The simulated [`Kernel`]. Clones are handles on the same kernel.
#[derive(Clone)]
pub struct Sim {
    world: Rc<RefCell<World>>,
    waker: Waker,
    gathering: Gathering,
}

/// Wakes a [`Sim`].
#[derive(Debug, Clone)]
pub struct Waker(Arc<AtomicBool>);

impl Wake for Waker {
    fn wake(&self) {
        self.0.store(true, Release);
    }
}

/// A descriptor of a [`Sim`], closed when dropped. The lowest free number is the next one's.
pub struct Fd {
    number: i32,
    world: Rc<RefCell<World>>,
    /// Somebody else closes it.
    is_let_go: bool,
}

impl Fd {
    /// The descriptor's number.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Leaves it open, for somebody else to close: [`Sim::own`] takes it back.
    pub fn let_go(mut self) {
        self.is_let_go = true;
    }
}

impl AsRawFd for Fd {
    fn as_raw_fd(&self) -> RawFd {
        self.number
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        if !self.is_let_go {
            self.world.borrow_mut().close(self.number);
        }
    }
}

impl fmt::Debug for Fd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fd").field(&self.number).finish()
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.world.borrow();
        f.debug_struct("Sim").field("now", &world.now).field("open", &world.open_numbers()).finish_non_exhaustive()
    }
}

impl Sim {
    /// A kernel that draws everything that is left to chance from this seed.
    pub fn new(seed: u64, faults: Faults) -> Sim {
        let waker = Waker(Arc::new(AtomicBool::new(false)));
        Sim { world: Rc::new(RefCell::new(World::new(seed, faults))), waker, gathering: Gathering::default() }
    }

    /// Sets what goes wrong from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.world.borrow_mut().faults = faults;
    }

    /// How often a fault was committed so far.
    pub fn committed(&self, fault: Fault) -> u64 {
        self.world.borrow().committed[fault as usize]
    }

    /// Sets the clock, before a loop is made of this kernel: it never goes back.
    pub fn set_time(&self, nanoseconds: u64) {
        self.world.borrow_mut().now = nanoseconds.min(u64::MAX - 1);
    }

    /// How many of the open descriptors are the loop's own: they tell the end of a child, or changes of files.
    pub fn own_descriptors(&self) -> usize {
        self.world.borrow().count_own()
    }

    /// Sets how many bytes each direction of a new connection holds. 64 KiB unless set.
    pub fn set_capacity(&self, bytes: usize) {
        self.world.borrow_mut().capacity = bytes.max(1);
    }

    /// Sets how many descriptors may be open at a time: one more is EMFILE. 1024 unless set.
    pub fn set_descriptor_limit(&self, limit: usize) {
        self.world.borrow_mut().descriptor_limit = limit;
    }

    /// Sets how many waits there may be: one more fails with ELOOP, so that a loop that turns for ever is seen.
    pub fn set_wait_limit(&self, limit: u64) {
        self.world.borrow_mut().waits_left = limit;
    }

    /// The clock's time, without reading the clock: that might make it jump.
    pub fn time(&self) -> u64 {
        self.world.borrow().now
    }

    /// Lets time pass.
    pub fn advance(&self, nanoseconds: u64) {
        self.world.borrow_mut().advance(nanoseconds);
    }

    /// The numbers of the open descriptors.
    pub fn open_descriptors(&self) -> Vec<i32> {
        self.world.borrow().open_numbers()
    }

    /// What a descriptor is ready for, watched or not.
    pub fn readiness(&self, fd: &Fd) -> Readiness {
        self.world.borrow().readiness(fd.number)
    }

    /// What the kernel was asked and has answered so far.
    pub fn trace(&self) -> Vec<Note> {
        self.world.borrow().trace.clone()
    }

    /// Takes the trace, which begins anew.
    pub fn take_trace(&self) -> Vec<Note> {
        std::mem::take(&mut self.world.borrow_mut().trace)
    }

    /// The descriptor of this number, for somebody who knows that nobody else owns it.
    pub fn own(&self, number: i32) -> Fd {
        Fd { number, world: Rc::clone(&self.world), is_let_go: false }
    }
}
