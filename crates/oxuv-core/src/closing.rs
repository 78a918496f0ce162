//! The closing phase: the last that is heard of a handle.

use oxuv_os::Errno;

use crate::kernel::Kernel;
use crate::slots::{List, PHASE, Slot, flag};
use crate::{Buffers, Core, Event, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Begins a pass of closing: it is about the handles closed by now, newest first. False if there are none.
    #[inline]
    pub(crate) fn begin_closing(&mut self) -> bool {
        self.slots.move_to_front(List::Closing, List::ClosingPass)
    }

    /// The next request of the handle at the head of the pass, or, when it has none any more, its end.
    #[inline]
    pub(crate) fn next_closing(&mut self) -> Option<Event<U>> {
        let index = self.slots.front(List::ClosingPass)?;
        self.end_of(index)
    }

    /// As [`Core::next_closing`], of a pass that has this handle at its head.
    #[inline(never)] // The driver needs its registers.
    fn end_of(&mut self, index: u32) -> Option<Event<U>> {
        let &Slot { kind, state, user, .. } = &self.slots[index];
        if !kind.is_stream() {
            return self.end_of_other(index);
        }
        if self.streams[state].owes()
            && let Some(canceled) = self.next_canceled(index, state)
        {
            return Some(canceled);
        }
        drop(self.streams.remove(state));
        Some(Event::Closed { key: self.free(index), user })
    }

    /// As [`Core::end_of`], where it is no stream.
    #[inline(never)]
    fn end_of_other(&mut self, index: u32) -> Option<Event<U>> {
        let index = self.next_to_close(index)?;
        let &Slot { kind, state, user, .. } = &self.slots[index];
        match kind {
            Kind::Timer => drop(self.timers.timers.remove(state)),
            Kind::Async => self.mailbox.remove(state),
            Kind::Tcp | Kind::Pipe | Kind::Tty => return self.end_of(index),
            Kind::Udp => {
                self.cancel_sends(state);
                if let Some(canceled) = self.report_datagram(self.slots.key(index), state) {
                    return Some(canceled);
                }
                drop(self.udps.remove(state));
            }
            Kind::Poll => drop(self.polls.remove(state)),
            Kind::Process => drop(self.processes.slab.remove(state)),
            Kind::FsEvent => drop(self.changes.handles.remove(state)),
            Kind::FsPoll => self.remove_fs_poll(state),
            Kind::Signal => self.signals.remove(state),
            Kind::Idle | Kind::Prepare | Kind::Check | Kind::None => {}
        }
        Some(Event::Closed { key: self.free(index), user })
    }

    /// From here on the slot at the head of the pass is free, and the key stale: the callback may do with the handle's memory as it
    /// likes.
    #[inline(always)] // Into both of its callers.
    fn free(&mut self, index: u32) -> Key {
        let key = self.slots.key(index);
        self.slots.take_front(List::ClosingPass, index);
        self.slots.remove(index);
        key
    }

    /// The first handle of the pass, from the one at its head on, that can end. Those that are not told yet of all that they have
    /// caught wait for the next, and those that look at files until their series have ended.
    fn next_to_close(&mut self, mut index: u32) -> Option<u32> {
        loop {
            let (kind, state) = (self.slots[index].kind, self.slots[index].state);
            match kind {
                Kind::Signal if self.signals.owes(state) => {
                    self.slots.unlink::<PHASE>(index);
                    self.slots.push_front(List::Closing, index);
                }
                Kind::FsPoll if self.has_ended_series(state) => {
                    self.slots.unlink::<PHASE>(index);
                    if self.slots[index].has(flag::CLOSING) {
                        self.close_fs_poll(index);
                    }
                }
                _ => return Some(index),
            }
            index = self.slots.front(List::ClosingPass)?;
        }
    }

    fn next_canceled(&mut self, index: u32, state: u32) -> Option<Event<U>> {
        if let Some(user) = self.streams[state].take_connect() {
            self.requests -= 1;
            return Some(Event::Connected { key: self.slots.key(index), user, result: Err(Errno::ECANCELED) });
        }
        self.cancel_writes(state);
        if let Some(event) = self.report_write(self.slots.key(index), state) {
            return Some(event);
        }
        let user = self.streams[state].take_shutdown()?;
        self.requests -= 1;
        Some(Event::ShutDown { key: self.slots.key(index), user, result: Err(Errno::ECANCELED) })
    }

    /// Puts the rest of a pass that was left back where it came from.
    pub(crate) fn abandon_closing(&mut self) {
        self.slots.move_to_front(List::ClosingPass, List::Closing);
    }
}
