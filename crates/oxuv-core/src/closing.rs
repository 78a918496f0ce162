//! The closing phase: the last that is heard of a handle.

use oxuv_os::Errno;

use crate::kernel::Kernel;
use crate::slots::{List, PHASE, flag};
use crate::{Buffers, Core, Event, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Begins a pass of closing: it is about the handles closed by now, newest first. False if there are none.
    #[inline]
    pub(crate) fn begin_closing(&mut self) -> bool {
        self.slots.move_to_front(List::Closing, List::ClosingPass)
    }

    /// The next request of the handle at the head of the pass, or, when it has none any more, its end.
    #[inline(never)]
    pub(crate) fn next_closing(&mut self) -> Option<Event<U>> {
        let index = self.next_to_close()?;
        let (kind, state) = (self.slots[index].kind, self.slots[index].state);
        let (key, user) = (self.slots.key(index), self.slots[index].user);
        let canceled = match kind {
            kind if kind.is_stream() && self.streams[state].owes() => self.next_canceled(index, state),
            Kind::Udp => {
                self.cancel_sends(state);
                self.report_datagram(key, state)
            }
            _ => None,
        };
        if canceled.is_some() {
            return canceled;
        }
        self.slots.unlink::<PHASE>(index);
        match kind {
            Kind::Timer => drop(self.timers.timers.remove(state)),
            Kind::Async => self.mailbox.remove(state),
            Kind::Tcp | Kind::Pipe | Kind::Tty => drop(self.streams.remove(state)),
            Kind::Udp => drop(self.udps.remove(state)),
            Kind::Poll => drop(self.polls.remove(state)),
            Kind::Process => drop(self.processes.slab.remove(state)),
            Kind::FsEvent => drop(self.changes.handles.remove(state)),
            Kind::FsPoll => self.remove_fs_poll(state),
            Kind::Signal => self.signals.remove(state),
            Kind::Idle | Kind::Prepare | Kind::Check | Kind::None => {}
        }
        // From here on the slot is free, and the key stale: the callback may do with the handle's memory as it likes.
        self.slots.remove(index);
        Some(Event::Closed { key, user })
    }

    /// The handle at the head of the pass. Those that are not told yet of all that they have caught wait for the next, and
    /// those that look at files until their series have ended.
    fn next_to_close(&mut self) -> Option<u32> {
        loop {
            let index = self.slots.front(List::ClosingPass)?;
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
