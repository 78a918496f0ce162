//! Signals that the simulated process catches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::Release;

use oxuv_os::{Errno, Result};

use super::Sim;
use crate::kernel::Watching;

const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;

#[derive(Debug, Default)]
pub(super) struct Signals {
    watched: BTreeMap<i32, Watching>,
    pub(super) caught: VecDeque<i32>,
    /// One has come since this was last asked.
    pub(super) are_rung: bool,
}

impl Signals {
    pub(super) fn watch(&mut self, number: i32, how: Watching) -> Result<()> {
        if !(1..=64).contains(&number) || matches!(number, SIGKILL | SIGSTOP) {
            return Err(Errno::EINVAL);
        }
        self.watched.insert(number, how);
        Ok(())
    }

    pub(super) fn forget_caught(&mut self) {
        self.caught.clear();
        self.are_rung = false;
    }
}

impl Sim {
    /// The process gets a signal. False if nobody watches it: then it has its default action, of which the simulation knows
    /// none.
    pub fn raise(&self, number: i32) -> bool {
        let mut world = self.world.borrow_mut();
        let signals = &mut world.signals;
        match signals.watched.get_mut(&number) {
            None | Some(Watching::No) => return false,
            Some(how @ Watching::Once) => *how = Watching::No,
            Some(Watching::Always) => {}
        }
        signals.caught.push_back(number);
        signals.are_rung = true;
        self.waker.0.store(true, Release);
        true
    }
}
