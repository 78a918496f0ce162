//! The pending phase: streams of which something has completed, to be told of outside the call that completed it.

use std::collections::VecDeque;

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::stream::StreamFlags;
use crate::{Buffers, Core, Event, Key};

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
        let stream = &mut self.streams[self.slots[index].state];
        if !stream.is(StreamFlags::FED) {
            stream.flags |= StreamFlags::FED;
            self.pending.fed += 1;
            self.pending.queue.push_back(key);
        }
    }

    /// Takes a stream out of the queue: it is closed, or its turn has come.
    #[inline]
    pub(crate) fn unfeed(&mut self, state: u32) -> bool {
        let stream = &mut self.streams[state];
        let was_fed = stream.is(StreamFlags::FED);
        if was_fed {
            stream.flags -= StreamFlags::FED;
            self.pending.fed -= 1;
        }
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
            let Ok(index) = self.slots.find_stream(key) else { continue };
            if self.unfeed(self.slots[index].state)
                && let Some(event) = self.begin_pending_step(key)
            {
                return Some(event);
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
