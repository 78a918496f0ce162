//! What all handles have in common: active, referenced, closing.

use oxuv_os::{Errno, Result};

use crate::kernel::Kernel;
use crate::slots::{ALL, List, PHASE, flag};
use crate::{Buffers, Core, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// True for a handle that was started and has something to wait for. False for a stale key.
    #[doc(alias = "uv_is_active")]
    pub fn is_active(&self, key: Key) -> bool {
        self.has_flag(key, flag::ACTIVE)
    }

    /// True from the call of [`Core::close`] on, for ever. False for a key that never was one.
    #[doc(alias = "uv_is_closing")]
    pub fn is_closing(&self, key: Key) -> bool {
        match self.slots.find(key) {
            Ok(index) => self.slots[index].has(flag::CLOSING),
            Err(_) => key != Key::default(),
        }
    }

    /// True if the handle keeps the loop alive while it is active. False for a stale key.
    #[doc(alias = "uv_has_ref")]
    pub fn is_referenced(&self, key: Key) -> bool {
        self.has_flag(key, flag::REFERENCED)
    }

    /// The handle's kind; `None` for a stale key.
    pub fn kind(&self, key: Key) -> Option<Kind> {
        self.slots.find(key).ok().map(|index| self.slots[index].kind)
    }

    /// Lets the handle keep the loop alive while it is active. Again is the same as once.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_ref")]
    pub fn reference(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find(key)?;
        let slot = &mut self.slots[index];
        if !slot.has(flag::REFERENCED) {
            slot.flags |= flag::REFERENCED;
            self.active += u32::from(slot.has(flag::ACTIVE));
        }
        Ok(())
    }

    /// Lets the loop end although the handle is active. Again is the same as once.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_unref")]
    pub fn unreference(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find(key)?;
        let slot = &mut self.slots[index];
        if slot.has(flag::REFERENCED) {
            slot.flags &= !flag::REFERENCED;
            self.active -= u32::from(slot.has(flag::ACTIVE));
        }
        Ok(())
    }

    /// Takes a handle out of what [`Core::walk_next`] visits and [`Core::check_closable`] asks for: it is the front's own, made
    /// on nobody's behalf.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "UV_HANDLE_INTERNAL")]
    pub fn hide(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find(key)?;
        self.slots.unlink::<ALL>(index);
        Ok(())
    }

    /// Closes a handle: it stops at once, and its descriptor is closed at once. In the closing phase its unfinished
    /// requests are reported as ECANCELED, and then [`Event::Closed`](crate::Event::Closed) is the last of it.
    ///
    /// # Errors
    /// EINVAL when it is closing or closed already.
    #[doc(alias = "uv_close")]
    pub fn close(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find(key)?;
        let slot = &mut self.slots[index];
        if slot.has(flag::CLOSING) {
            return Err(Errno::EINVAL);
        }
        slot.flags |= flag::CLOSING;
        let (kind, state) = (slot.kind, slot.state);
        if !kind.is_stream() {
            self.close_other(index, kind, state);
            return Ok(());
        }
        self.close_stream(key, kind, state);
        self.set_inactive(index);
        // It was in no list of a phase.
        self.slots.push_front(List::Closing, index);
        Ok(())
    }

    /// Closes a handle that is no stream.
    #[inline(never)]
    fn close_other(&mut self, index: u32, kind: Kind, state: u32) {
        match kind {
            Kind::Timer => self.timers.heap.remove(state),
            Kind::Async => self.mailbox.close(state),
            Kind::Udp => self.close_udp(index),
            Kind::Poll => self.forget(index),
            Kind::Process => self.close_process(index),
            Kind::FsEvent => self.stop_fs_event(index),
            Kind::FsPoll => self.stop_fs_poll(index),
            Kind::Signal => self.close_signal(index),
            Kind::Tcp | Kind::Pipe | Kind::Tty => {}
            Kind::Idle | Kind::Prepare | Kind::Check | Kind::None => {}
        }
        self.set_inactive(index);
        if kind == Kind::FsPoll {
            self.close_fs_poll(index);
            return;
        }
        self.slots.unlink::<PHASE>(index);
        self.slots.push_front(List::Closing, index);
    }

    #[inline]
    pub(crate) fn set_active(&mut self, index: u32) {
        let slot = &mut self.slots[index];
        if !slot.has(flag::ACTIVE) {
            slot.flags |= flag::ACTIVE;
            self.active += u32::from(slot.has(flag::REFERENCED));
        }
    }

    #[inline]
    pub(crate) fn set_inactive(&mut self, index: u32) {
        let slot = &mut self.slots[index];
        if slot.has(flag::ACTIVE) {
            slot.flags &= !flag::ACTIVE;
            self.active -= u32::from(slot.has(flag::REFERENCED));
        }
    }

    /// The index of an open handle of this kind: EINVAL when the key is stale, of another kind, or closing.
    #[inline]
    pub(crate) fn open_handle(&self, key: Key, kind: Kind) -> Result<u32> {
        let index = self.slots.find_kind(key, kind)?;
        if self.slots[index].has(flag::CLOSING) { Err(Errno::EINVAL) } else { Ok(index) }
    }

    /// As [`Core::open_handle`], for a stream of any kind.
    #[inline]
    pub(crate) fn open_stream(&self, key: Key) -> Result<u32> {
        let index = self.slots.find_stream(key)?;
        if self.slots[index].has(flag::CLOSING) { Err(Errno::EINVAL) } else { Ok(index) }
    }

    fn has_flag(&self, key: Key, flag: u8) -> bool {
        self.slots.find(key).is_ok_and(|index| self.slots[index].has(flag))
    }
}
