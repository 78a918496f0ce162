//! The datagrams of a handle that were given to be sent, until that is reported.

use std::mem::replace;

use oxuv_os::{Errno, InternetAddress, Result};

use crate::Buffers;

/// One of them.
#[derive(Debug)]
pub(crate) struct Send<U, B> {
    pub(crate) user: U,
    /// What is kept of it, to be handed back with the report; nothing if it was sent by its call.
    pub(crate) buffers: Option<B>,
    /// Where it is to be sent to; none: where the handle is connected to, or what is special about it says.
    pub(crate) to: InternetAddress,
    /// Its bytes: 2^31-1 at most.
    pub(crate) total: u32,
    /// How it has ended, once it has.
    pub(crate) result: Result<()>,
    /// Where in [`Core::specials`](crate::Core) what is special about it is, or [`PLAIN`].
    pub(crate) special: u32,
}

/// No place in a slab.
pub(crate) const PLAIN: u32 = u32::MAX;

/// All of them, in their order.
#[derive(Debug)]
pub(crate) struct Sends<U, B> {
    /// What is told stays until everything is, or its place is needed: so to take one out is to count.
    sends: Vec<Send<U, B>>,
    /// So many are told, the first ones.
    told: usize,
    /// So many have ended, those told included.
    ended: usize,
}

impl<U, B> Default for Sends<U, B> {
    fn default() -> Self {
        Sends { sends: Vec::new(), told: 0, ended: 0 }
    }
}

impl<U: Copy, B: Buffers> Sends<U, B> {
    /// Those that are not told.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.sends.len() - self.told
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.sends.len() == self.told
    }

    /// Those that have ended and are not told.
    #[inline]
    pub(crate) fn ended(&self) -> usize {
        self.ended - self.told
    }

    /// Those that are still to be sent.
    #[inline]
    pub(crate) fn waiting(&self) -> &[Send<U, B>] {
        &self.sends[self.ended..]
    }

    /// True if there are none of those.
    #[inline]
    pub(crate) fn is_all_sent(&self) -> bool {
        self.ended == self.sends.len()
    }

    /// True if there is room for one more.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.sends.len() < self.sends.capacity()
    }

    /// Makes sure of that.
    #[cold]
    pub(crate) fn reserve(&mut self) -> Result<()> {
        // Where half are told, to move the others is not much for each.
        if self.told > self.sends.len() / 2 {
            self.ended -= self.told;
            self.sends.drain(..replace(&mut self.told, 0));
        }
        Ok(self.sends.try_reserve(1)?)
    }

    /// Puts one behind the others, for which there is room. True if nothing else waits to be sent.
    #[inline]
    pub(crate) fn push(&mut self, send: Send<U, B>) -> bool {
        let is_first = self.is_all_sent();
        self.sends.push(send);
        is_first
    }

    /// So many more are sent.
    #[inline]
    pub(crate) fn end(&mut self, count: usize) {
        self.ended += count;
    }

    /// The first of those that wait ends like this.
    pub(crate) fn end_first(&mut self, result: Result<()>) {
        if let Some(send) = self.sends.get_mut(self.ended) {
            send.result = result;
            self.ended += 1;
        }
    }

    /// All that wait end, as they are not sent any more.
    pub(crate) fn cancel(&mut self) {
        self.sends[self.ended..].iter_mut().for_each(|send| send.result = Err(Errno::ECANCELED));
        self.ended = self.sends.len();
    }

    /// Takes out the first, if it has ended, but for its place: there `use_it` finds it.
    #[inline(always)] // Where many are reported, this is most of it.
    pub(crate) fn take_ended<R>(&mut self, use_it: impl FnOnce(&mut Send<U, B>) -> R) -> Option<R> {
        if self.told == self.ended {
            return None;
        }
        let used = use_it(self.sends.get_mut(self.told)?);
        self.told += 1;
        if self.told == self.sends.len() {
            self.sends.clear();
            (self.told, self.ended) = (0, 0);
        }
        Some(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::One;
    use crate::testing::Random;
    use std::collections::VecDeque;

    fn send(user: u32) -> Send<u32, One<[u8; 1]>> {
        let (to, result) = (InternetAddress::none(), Ok(()));
        Send { user, buffers: Some(One([0])), to, total: 1, result, special: PLAIN }
    }

    #[test]
    fn agrees_with_a_queue_under_random_operations() {
        let mut random = Random::new(3);
        let (mut sends, mut waiting, mut ended) = (Sends::default(), VecDeque::new(), VecDeque::new());
        for step in 0..50_000 {
            match random.below(5) {
                0 | 1 => {
                    if !sends.has_room() {
                        sends.reserve().unwrap();
                    }
                    assert_eq!(sends.push(send(step)), waiting.is_empty());
                    waiting.push_back(step);
                }
                2 => {
                    let count = random.below(waiting.len() + 1);
                    sends.end(count);
                    ended.extend(waiting.drain(..count).map(|user| (user, Ok(()))));
                }
                3 if random.below(50) == 0 => {
                    sends.cancel();
                    ended.extend(waiting.drain(..).map(|user| (user, Err(Errno::ECANCELED))));
                }
                3 => {
                    sends.end_first(Err(Errno::EPERM));
                    ended.extend(waiting.pop_front().map(|user| (user, Err(Errno::EPERM))));
                }
                _ => assert_eq!(sends.take_ended(|send| (send.user, send.result)), ended.pop_front()),
            }
            assert_eq!((sends.len(), sends.ended()), (waiting.len() + ended.len(), ended.len()));
            assert!(sends.waiting().iter().map(|send| send.user).eq(waiting.iter().copied()));
        }
    }

    #[test]
    fn what_is_told_takes_no_room_for_ever() {
        let mut sends = Sends::default();
        sends.reserve().unwrap();
        sends.push(send(0));
        // One is always there, so it never comes to nothing.
        for user in 1..10_000 {
            if !sends.has_room() {
                sends.reserve().unwrap();
            }
            sends.push(send(user));
            sends.end(1);
            assert_eq!(sends.take_ended(|send| send.user), Some(user - 1));
        }
        assert!(sends.sends.capacity() < 20, "{}", sends.sends.capacity());
    }
}
