//! What a test may ask of a core that runs on a simulated kernel.

use super::Sim;
use crate::slots::List;
use crate::{Buffers, Core, Key};

impl<U: Copy + Default, B: Buffers> Core<Sim, U, B> {
    /// In the closing phase: the handle whose open requests are being reported, before its close event. The events
    /// alone do not tell these reports from those of the phases before.
    pub fn being_closed(&self) -> Option<Key> {
        self.slots.front(List::ClosingPass).map(|index| self.slots.key(index))
    }
}
