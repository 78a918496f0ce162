//! The pending phase: streams of which something has completed, to be told of outside the call that completed it.

use std::collections::VecDeque;

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::slots::Slot;
use crate::stream::StreamFlags;
use crate::udp::UdpFlags;
use crate::{Buffers, Core, Event, Key, Kind};

#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The streams that were fed, in that order. Those that were closed since are in it still, and skipped.
    queue: VecDeque<Key>,
    /// Streams that were fed and are open.
    fed: usize,
    /// What of the queue belongs to the round under way.
    round: usize,
}

impl Pending {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fed == 0
    }

    /// Makes sure that each of this many streams can be fed without memory.
    pub(crate) fn reserve(&mut self, streams: usize) -> Result<()> {
        Ok(self.queue.try_reserve(streams)?)
    }

    /// What is left of a round that was left is for the next one.
    pub(crate) fn abandon(&mut self) {
        self.round = 0;
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Has the stream worked on in the next round, once.
    #[inline]
    pub(crate) fn feed(&mut self, index: u32) {
        let key = self.slots.key(index);
        if !self.set_fed(index, true) {
            self.pending.fed += 1;
            self.pending.queue.push_back(key);
        }
    }

    /// Takes a stream out of the queue: it is closed, or its turn has come.
    #[inline]
    pub(crate) fn unfeed(&mut self, index: u32) -> bool {
        let was_fed = self.set_fed(index, false);
        self.pending.fed -= usize::from(was_fed);
        was_fed
    }

    /// Notes whether a handle is in the queue; returns whether it was.
    #[inline]
    fn set_fed(&mut self, index: u32, is_fed: bool) -> bool {
        let Slot { kind, state, .. } = self.slots[index];
        if kind == Kind::Udp {
            let flags = &mut self.udps[state].flags;
            let was_fed = flags.contains(UdpFlags::FED);
            flags.set(UdpFlags::FED, is_fed);
            return was_fed;
        }
        let flags = &mut self.streams[state].flags;
        let was_fed = flags.contains(StreamFlags::FED);
        flags.set(StreamFlags::FED, is_fed);
        was_fed
    }

    /// Begins a round: it is about the streams fed by now. False if there are none.
    #[inline]
    pub(crate) fn begin_pending(&mut self) -> bool {
        if self.pending.fed == 0 {
            // Those that were closed since they were fed.
            self.pending.queue.clear();
            return false;
        }
        self.pending.round = self.pending.queue.len();
        true
    }

    pub(crate) fn next_pending(&mut self) -> Option<Event<U>> {
        loop {
            if let Some(event) = self.next_step() {
                return Some(event);
            }
            if self.pending.round == 0 {
                return None;
            }
            self.pending.round -= 1;
            let key = self.pending.queue.pop_front()?;
            let Ok(index) = self.slots.find(key) else { continue };
            if !self.unfeed(index) {
                continue;
            }
            let event = match self.slots[index].kind {
                Kind::Udp => self.begin_pending_udp_step(key),
                _ => self.begin_pending_step(key),
            };
            if event.is_some() {
                return event;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::{Faults, Sim};
    use crate::{Config, Core, Mode, One};

    #[test]
    fn streams_that_are_written_to_and_closed_do_not_pile_up() {
        let sim = Sim::new(1, Faults::none());
        let mut core: Core<Sim, u32, One<Vec<u8>>> = Core::new(sim.clone(), Config::default()).unwrap();
        for _ in 0..100 {
            let (fd, _peer) = sim.pair().unwrap();
            let tcp = core.tcp_init(0).unwrap();
            core.tcp_open(tcp, fd).unwrap();
            core.write(tcp, 0, One(vec![1]), |bytes| bytes).unwrap();
            core.close(tcp).unwrap();
            core.begin(Mode::Default);
            while core.next().is_some() {}
            assert_eq!(core.end(), Ok(false));
        }
        assert!(core.pending.queue.len() <= 1, "{} are left", core.pending.queue.len());
    }
}
