//! The pending phase: streams of which something has completed, to be told of outside the call that completed it.

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::slots::Slot;
use crate::stream::{Stage, Stream, StreamFlags};
use crate::udp::UdpFlags;
use crate::{Buffers, Core, Event, Key, Kind};

#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// What was fed, in that order. Those that were closed since are in it still, and skipped. It is empty whenever nothing is
    /// fed.
    queue: Vec<Fed>,
    /// How many of them are fed, and not closed since.
    fed: usize,
    /// The round under way is about these places of the queue: what is before them is worked off.
    at: usize,
    end: usize,
}

/// A stream or a UDP handle in the queue.
#[derive(Debug, Clone, Copy)]
struct Fed {
    /// The key, as its number.
    key: u64,
    /// Where the stream's state is; [`NO_STREAM`] for a UDP handle.
    stream: u32,
}

const NO_STREAM: u32 = u32::MAX;

impl Pending {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fed == 0
    }

    /// Makes sure that each of this many streams can be fed without memory.
    #[inline]
    pub(crate) fn reserve(&mut self, streams: usize) -> Result<()> {
        // A stream can be in the queue twice: worked off in the round under way, and fed for the next.
        let room = self.queue.capacity() - self.queue.len();
        if room >= 2 * streams { Ok(()) } else { self.grow(2 * streams) }
    }

    #[cold]
    fn grow(&mut self, places: usize) -> Result<()> {
        Ok(self.queue.try_reserve(places)?)
    }

    /// Has the stream of this key, whose state is there, worked on in the next round, once.
    #[inline]
    pub(crate) fn feed<F, U: Copy>(&mut self, stream: &mut Stream<F, U>, key: Key, state: u32) {
        if !stream.is(StreamFlags::FED) {
            stream.flags |= StreamFlags::FED;
            self.push(key, state);
        }
    }

    /// As [`Pending::feed`], for a stream that is not fed: a write was sent by its call, with no other that has ended.
    #[inline]
    pub(crate) fn feed_sent<F, U: Copy>(&mut self, stream: &mut Stream<F, U>, key: Key, state: u32, user: U) {
        debug_assert!(!stream.is(StreamFlags::FED));
        stream.put_sent(user);
        stream.flags |= StreamFlags::FED;
        self.push(key, state);
    }

    /// As [`Pending::feed`], for a UDP handle with these flags.
    #[inline]
    pub(crate) fn feed_udp(&mut self, flags: &mut UdpFlags, key: Key) {
        if !flags.contains(UdpFlags::FED) {
            flags.insert(UdpFlags::FED);
            self.push(key, NO_STREAM);
        }
    }

    #[inline]
    fn push(&mut self, key: Key, stream: u32) {
        self.fed += 1;
        self.queue.push(Fed { key: key.to_u64(), stream });
    }

    /// Takes a stream out of the queue, if it is in there: it is closed, or its turn has come.
    #[inline]
    pub(crate) fn unfeed<F, U: Copy>(&mut self, stream: &mut Stream<F, U>) {
        if stream.is(StreamFlags::FED) {
            stream.flags -= StreamFlags::FED;
            self.take_out();
        }
    }

    /// Takes a stream out of the queue again that was fed for the next round: there is nothing to be told of yet.
    pub(crate) fn withdraw<F, U: Copy>(&mut self, stream: &mut Stream<F, U>) {
        self.unfeed(stream);
        if let Some(place) = self.queue.iter().rposition(|fed| fed.key == stream.key.to_u64())
            && place >= self.end
        {
            self.queue.remove(place);
        }
    }

    /// As [`Pending::unfeed`], for a UDP handle with these flags.
    pub(crate) fn unfeed_udp(&mut self, flags: &mut UdpFlags) -> bool {
        let was_fed = flags.contains(UdpFlags::FED);
        if was_fed {
            flags.remove(UdpFlags::FED);
            self.take_out();
        }
        was_fed
    }

    #[inline]
    fn take_out(&mut self) {
        self.fed -= 1;
        if self.fed == 0 {
            self.queue.clear();
            (self.at, self.end) = (0, 0);
        }
    }

    /// A round is about the streams fed by now.
    #[inline]
    fn begin_round(&mut self) {
        if self.at > 0 {
            self.drop_worked_off();
        }
        (self.at, self.end) = (0, self.queue.len());
    }

    #[inline(never)]
    fn drop_worked_off(&mut self) {
        self.queue.drain(..self.at);
    }

    /// The next of the round under way.
    #[inline]
    fn next(&mut self) -> Option<Fed> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// As [`Pending::next`], which is left where it is.
    #[inline]
    fn peek(&self) -> Option<Fed> {
        if self.has_next() { self.queue.get(self.at).copied() } else { None }
    }

    /// True if the round under way is not over.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        self.at != self.end
    }

    /// What is left of a round that was left is for the next one.
    pub(crate) fn abandon(&mut self) {
        self.end = self.at;
    }
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Has the stream worked on in the next round, once.
    #[inline]
    pub(crate) fn feed(&mut self, index: u32) {
        let state = self.slots[index].state;
        self.pending.feed(&mut self.streams[state], self.slots.key(index), state);
    }

    /// Begins a round: it is about the streams fed by now. False if there are none.
    #[inline]
    pub(crate) fn begin_pending(&mut self) -> bool {
        let has_some = self.pending.fed > 0;
        if has_some {
            self.flush_writes();
            self.pending.begin_round();
        }
        has_some
    }

    #[inline(always)] // As `Core::advance`.
    pub(crate) fn next_pending(&mut self) -> Option<Event<U>> {
        loop {
            if self.step.stage <= Stage::Told {
                self.step.stage = Stage::None;
            } else if let Some(event) = self.next_step() {
                return Some(event);
            }
            let Fed { key: number, stream: state } = self.pending.next()?;
            let key = Key::from_u64(number);
            let event = match self.streams.get_mut(state) {
                Some(stream) if stream.key.to_u64() == number => {
                    if let Some(user) = stream.take_only_sent() {
                        self.tell_only_sent(key, state);
                        return Some(Event::Written { key, user, result: Ok(()) });
                    }
                    if !stream.is(StreamFlags::FED) {
                        continue;
                    }
                    self.pending.unfeed(stream);
                    self.begin_pending_step(key, state)
                }
                Some(_) => continue,
                None => self.next_pending_udp(key),
            };
            if event.is_some() {
                return event;
            }
        }
    }

    /// That the one write of a stream was sent is told now.
    #[inline(always)] // As `Core::advance`.
    fn tell_only_sent(&mut self, key: Key, state: u32) {
        self.pending.take_out();
        (self.step.stage, self.step.key, self.step.state) = (Stage::Told, key, state);
        self.count_sent();
    }

    /// The user value of the next stream's write, if that was sent by its call and is all that there is to tell of the stream.
    #[inline]
    pub(crate) fn next_only_sent(&mut self) -> Option<U> {
        let Fed { key: number, stream: state } = self.pending.peek()?;
        let stream = self.streams.get_mut(state).filter(|stream| stream.key.to_u64() == number)?;
        let user = stream.take_only_sent()?;
        self.pending.at += 1;
        self.tell_only_sent(Key::from_u64(number), state);
        Some(user)
    }

    /// Begins to work on a UDP handle that is still fed.
    #[inline]
    fn next_pending_udp(&mut self, key: Key) -> Option<Event<U>> {
        match self.slots.get(key) {
            Some(&Slot { kind: Kind::Udp, state, .. }) if self.pending.unfeed_udp(&mut self.udps[state].flags) => {
                self.begin_pending_udp_step(key, state)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::{Faults, Sim};
    use crate::{Config, Core, Event, Key, Mode, One};

    type Loop = Core<Sim, u32, One<Vec<u8>>>;

    /// A connection that is written to, by a request of this number.
    fn written_to(core: &mut Loop, sim: &Sim, number: u32) -> Key {
        let (fd, _peer) = sim.pair().unwrap();
        let tcp = core.tcp_init(0).unwrap();
        core.tcp_open(tcp, fd).unwrap();
        core.write(tcp, number, One(vec![1]), |bytes| bytes).unwrap();
        tcp
    }

    #[test]
    fn a_stream_in_the_place_of_a_closed_one_waits_for_its_own_turn() {
        let sim = Sim::new(1, Faults::none());
        let mut core: Loop = Core::new(sim.clone(), Config::default()).unwrap();
        let check = core.check_init(0).unwrap();
        core.watcher_start(check).unwrap();
        let (mut first, mut told) = (Key::default(), Vec::new());
        for _turn in 0..2 {
            core.begin(Mode::NoWait);
            while let Some(event) = core.next() {
                match event {
                    Event::Check { .. } => {
                        first = written_to(&mut core, &sim, 1);
                        written_to(&mut core, &sim, 2);
                        core.close(first).unwrap();
                        core.close(check).unwrap();
                    }
                    Event::Closed { key, .. } if key == first => {
                        let third = written_to(&mut core, &sim, 3);
                        let state = |key: Key| core.slots[key.index].state;
                        assert_eq!(state(third), 0, "it is in the place of the first");
                    }
                    Event::Written { user, .. } => told.push(user),
                    _ => {}
                }
            }
            core.end().unwrap();
        }
        assert_eq!(told, [1, 2, 3]);
    }

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
