//! Who waits for a stream or a socket, and whether that is ready.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::loop_::Inner;
use crate::task::Waiters;
use crate::{Errno, Readiness, Result};

/// Those who read, or accept, and those who write. Who reads has a cache line to itself: that is what each request looks at, twice.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct Gate {
    pub(super) reader: Side,
    pub(super) writer: Side,
    /// How far the end of the writing side has come.
    pub(super) end: Cell<End>,
    /// What a listener was told instead of a connection.
    pub(super) failed: Cell<Option<Errno>>,
}

#[derive(Clone, Copy, PartialEq, Default)]
pub(super) enum End {
    #[default]
    No,
    Asked,
    Done(Result<()>),
}

const _: () = assert!(size_of::<Side>() <= 64);

/// So many gates are kept for later.
const SPARE: usize = 256;

/// A loop's gates that nobody has now: an allocation that begins with a cache line takes several times as long as another.
#[derive(Default)]
pub(crate) struct Gates(RefCell<Vec<Rc<Gate>>>);

impl Gates {
    #[inline]
    pub(crate) fn make(&self) -> Rc<Gate> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Its handle is closed.
    pub(crate) fn keep(&self, mut gate: Rc<Gate>) {
        // Whoever else still has it is to find it as it is.
        let Some(used) = Rc::get_mut(&mut gate) else { return };
        // It may own wakers, whose drop may make another gate: nothing is borrowed.
        *used = Gate::default();
        let mut spare = self.0.borrow_mut();
        if spare.len() < SPARE {
            spare.push(gate);
        }
    }
}

#[derive(Default)]
pub(super) struct Side {
    /// There may be something: it is tried before it is waited for.
    pub(super) is_open: Cell<bool>,
    pub(super) waiters: Waiters,
}

impl Gate {
    pub(crate) fn open(&self, inner: &Inner, readiness: Readiness) {
        if readiness.contains(Readiness::READ) {
            self.reader.open(inner);
        }
        if readiness.contains(Readiness::WRITE) {
            self.writer.open(inner);
        }
    }
}

impl Side {
    #[inline]
    pub(super) fn open(&self, inner: &Inner) {
        self.is_open.set(true);
        self.waiters.wake(inner);
    }
}
