//! Poll handles: readiness of a descriptor that somebody else owns.

use oxuv_os::{Errno, Result};

use crate::kernel::{Kernel, Readiness};
use crate::poll::Care;
use crate::watch::Watch;
use crate::{Buffers, Core, Event, Key, Kind};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new poll handle for the descriptor of this number, stopped. The descriptor stays its owner's: it is made
    /// non-blocking, but never closed, and the owner stops or closes the handle before closing it.
    ///
    /// # Errors
    /// EEXIST when a handle of this loop waits for the descriptor; EPERM when it cannot be polled, as a regular file;
    /// EBADF; ENOMEM.
    #[doc(alias = "uv_poll_init")]
    pub fn poll_init(&mut self, user: U, number: i32) -> Result<Key> {
        self.check_free(number, None)?;
        self.kernel.check_watchable(number)?;
        self.slots.reserve()?;
        self.watches.reserve(self.watchers() + 1)?;
        self.watches.reserve_number(number)?;
        let state = self.polls.insert(Watch::new(number))?;
        Ok(self.add_handle(Kind::Poll, state, user))
    }

    /// Waits for any of `interest`, anew if it was started before; of nothing, it stops. [`Event::Poll`] comes in each
    /// turn in which the descriptor is ready.
    ///
    /// # Errors
    /// EINVAL when closing, or for an `interest` that is not one of [`Readiness::INTERESTS`]; EEXIST when another handle of this loop
    /// waits for the descriptor.
    #[doc(alias = "uv_poll_start")]
    pub fn poll_start(&mut self, key: Key, interest: Readiness) -> Result<()> {
        let index = self.open_handle(key, Kind::Poll)?;
        if !Readiness::INTERESTS.contains(interest) {
            return Err(Errno::EINVAL);
        }
        let number = self.watch_mut(index).number;
        self.check_free(number, Some(index))?;
        let surplus = Readiness::INTERESTS - interest;
        self.unwant(index, surplus);
        if interest.is_empty() {
            return self.poll_stop(key);
        }
        self.want(index, interest);
        self.set_active(index);
        Ok(())
    }

    /// Stops the handle. The kernel forgets the descriptor at once: its owner may close it. Stopped is stopped: again
    /// does nothing.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_poll_stop")]
    pub fn poll_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Poll)?;
        self.forget(index);
        self.set_inactive(index);
        Ok(())
    }

    /// The descriptor is somebody else's, and was closed before the kernel was told to watch it: that is to be learnt
    /// now, not never.
    #[cold]
    pub(crate) fn fail_to_poll(&mut self, index: u32) {
        self.forget(index);
        let key = self.slots.key(index);
        if !self.watches.failed.contains(&key) {
            self.watches.failed.push(key);
            self.poll.care = Care::Look;
        }
    }

    /// The next poll handle that has failed to watch its descriptor, unless it was stopped, closed or started since.
    #[inline]
    pub(crate) fn next_failed_poll(&mut self) -> Option<Event<U>> {
        if self.watches.failed.is_empty() { None } else { self.tell_failed_poll() }
    }

    #[cold]
    fn tell_failed_poll(&mut self) -> Option<Event<U>> {
        while let Some(key) = self.watches.failed.pop() {
            if self.is_active(key) && self.watch_mut(key.index).wanted.is_empty() {
                self.poll.events += 1;
                self.set_inactive(key.index);
                let user = self.slots[key.index].user;
                return Some(Event::Poll { key, user, result: Err(Errno::EBADF) });
            }
        }
        None
    }

    /// A poll handle's descriptor is ready.
    #[inline(never)]
    pub(crate) fn ready_to_poll(&mut self, key: Key, ready: Readiness) -> Option<Event<U>> {
        let (index, user) = (key.index, self.slots[key.index].user);
        let wanted = self.watch_mut(index).wanted;
        let readiness = ready & (wanted | Readiness::ERROR | Readiness::HANG_UP);
        if wanted.is_empty() || readiness.is_empty() {
            return self.not_wanted(index);
        }
        self.poll.events += 1;
        // sysfs reports changes as an error with priority; an error without it is one.
        if readiness.contains(Readiness::ERROR) && !readiness.contains(Readiness::PRIORITY) {
            self.forget(index);
            self.set_inactive(index);
            return Some(Event::Poll { key, user, result: Err(Errno::EBADF) });
        }
        // Whoever waits for anything is to find out about an end by trying.
        let ended = readiness.intersects(Readiness::ERROR | Readiness::HANG_UP);
        let result = Ok(if ended { wanted } else { readiness & wanted });
        Some(Event::Poll { key, user, result })
    }
}
