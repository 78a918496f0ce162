//! How a connect goes on, for all streams that can: each kind of them begins it in its own way.

use oxuv_os::Errno;

use crate::kernel::Kernel;
use crate::slots::flag;
use crate::stream::{Stage, Step, StreamFlags};
use crate::{Buffers, Core, Event, Key};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// The stream connects from now on: the kernel will say how that ends, or a delayed error is to be told.
    pub(crate) fn begin_connect(&mut self, key: Key, user: U) {
        let index = key.index;
        let stream = &mut self.streams[self.slots[index].state];
        stream.put_connect(user);
        self.requests += 1;
        if self.step.stage == Stage::Read && self.step.key == key {
            // Reading what has failed before could now take the error that tells how the connect ends.
            self.step.stage = Stage::None;
        }
        if stream.delayed_error.is_some() {
            self.feed(index);
        } else {
            self.want_room(index, self.slots[index].state);
        }
    }

    /// A connecting stream is ready, or has a delayed error: tells how it ended.
    #[inline(never)]
    pub(crate) fn end_connect(&mut self, key: Key, state: u32) -> Option<Event<U>> {
        let stream = &mut self.streams[state];
        let result = match (stream.delayed_error.take(), &stream.fd) {
            (Some(error), _) => Err(error),
            (None, Some(fd)) => self.kernel.take_error(fd),
            (None, None) => Err(Errno::EBADF),
        };
        if result == Err(Errno::EINPROGRESS) {
            return None;
        }
        let user = stream.take_connect()?;
        self.requests -= 1;
        if result.is_err() {
            // Now, since what the callback writes is not part of this failure.
            self.cancel_writes(state);
            self.step = Step { stage: Stage::ConnectFailed, key, state, ..Step::default() };
        }
        let stream = &self.streams[state];
        if stream.writes.is_empty() {
            let has_more = stream.ended() > 0 || stream.is(StreamFlags::SHUTTING_DOWN);
            self.unwant_writing(key.index);
            if has_more {
                self.feed(key.index);
            }
        }
        Some(Event::Connected { key, user, result })
    }

    /// A connect has failed and was told: so is what was written in vain.
    pub(crate) fn step_connect_failed(&mut self) -> Option<Event<U>> {
        if self.slots[self.step.key.index].has(flag::CLOSING) {
            self.step.stage = Stage::None;
            return None;
        }
        // Its callback may have written.
        self.flush_writes();
        self.begin_report()
    }
}
