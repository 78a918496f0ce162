//! What all handles have in common.

use std::fmt;
use std::os::fd::RawFd;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use oxuv_core::{Key, Kind};

use crate::callbacks::Callback;
use crate::loop_::Core;
use crate::{Errno, LoopRef, Result};

/// A handle of any kind; [`Timer`](crate::Timer), [`Tcp`](crate::Tcp) and the others deref to it.
#[doc(alias = "uv_handle_t")]
#[derive(Clone)]
pub struct Handle {
    owner: LoopRef,
    key: Key,
}

impl Handle {
    #[inline]
    pub(crate) fn new(owner: &LoopRef, key: Key) -> Handle {
        Handle { owner: owner.clone(), key }
    }

    /// Makes this value refer to another handle of the same loop.
    #[inline]
    pub(crate) fn point_at(&mut self, key: Key) -> &Handle {
        self.key = key;
        self
    }

    /// Makes a handle, asking the loop's core for its key.
    #[track_caller]
    pub(crate) fn make(owner: &LoopRef, init: impl FnOnce(&mut Core) -> Result<Key>) -> Result<Handle> {
        let place = Location::caller();
        let (key, now) = owner.0.with(|core| Ok((init(core)?, core.time())))?;
        owner.0.callbacks.made.set(key.index(), place, now);
        Ok(Handle::new(owner, key))
    }

    /// Asks the core one thing about this handle.
    #[inline]
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&mut Core, Key) -> Result<T>) -> Result<T> {
        self.owner.0.with(|core| ask(core, self.key))
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// EALREADY for a handle that tasks have: with a closure in their place they would wait for ever.
    pub(crate) fn check_no_tasks(&self) -> Result<()> {
        let are_tasks = self.owner.0.callbacks.are_tasks(self.key.index()) && !self.is_closing();
        if are_tasks { Err(Errno::EALREADY) } else { Ok(()) }
    }

    pub(crate) fn set_callback(&self, callback: Callback) {
        self.owner.0.callbacks.set(self.key.index(), callback);
    }

    /// The loop that the handle belongs to.
    pub fn owner(&self) -> &LoopRef {
        &self.owner
    }

    /// The kind of handle this is; [`Kind::None`] once it is closed.
    pub fn kind(&self) -> Kind {
        self.with(|core, key| Ok(core.kind(key))).ok().flatten().unwrap_or(Kind::None)
    }

    /// True for a handle that was started and has something to wait for.
    #[doc(alias = "uv_is_active")]
    pub fn is_active(&self) -> bool {
        self.with(|core, key| Ok(core.is_active(key))).unwrap_or(false)
    }

    /// True from the call of [`Handle::close`] on, for ever.
    #[doc(alias = "uv_is_closing")]
    pub fn is_closing(&self) -> bool {
        self.with(|core, key| Ok(core.is_closing(key))).unwrap_or(true)
    }

    /// The number of its descriptor, which stays the handle's.
    ///
    /// # Errors
    /// EBADF when it has none, not yet or not any more; EINVAL when it is closed, and for kinds that never have one.
    #[doc(alias = "uv_fileno")]
    pub fn raw_fd(&self) -> Result<RawFd> {
        self.with(|core, key| {
            // Whoever asks may write to it.
            core.flush_writes();
            core.descriptor_number(key)
        })
    }

    /// Whether the handle keeps the loop running while it is active. True from the beginning.
    #[doc(alias = "uv_has_ref")]
    pub fn has_ref(&self) -> bool {
        self.with(|core, key| Ok(core.is_referenced(key))).unwrap_or(false)
    }

    /// Lets the handle keep the loop running while it is active. Again is the same as once.
    ///
    /// # Errors
    /// EINVAL when it is closed.
    #[doc(alias = "uv_ref")]
    pub fn r#ref(&self) -> Result<()> {
        self.with(|core, key| core.reference(key))
    }

    /// Lets the loop's run end although the handle is active. Again is the same as once.
    ///
    /// # Errors
    /// EINVAL when it is closed.
    #[doc(alias = "uv_unref")]
    pub fn unref(&self) -> Result<()> {
        self.with(|core, key| core.unreference(key))
    }

    /// Closes the handle: it stops at once, and its descriptor is closed at once. In the closing phase its unfinished
    /// requests are told ECANCELED, and then its closures are dropped.
    ///
    /// # Errors
    /// EINVAL when it is closing or closed already.
    #[doc(alias = "uv_close")]
    pub fn close(&self) -> Result<()> {
        self.with(|core, key| core.close(key))
    }

    /// As [`Handle::close`], and calls `on_close` in the closing phase: the last that is heard of the handle.
    ///
    /// # Errors
    /// EINVAL when it is closing or closed already; `on_close` is not called then.
    #[doc(alias = "uv_close")]
    pub fn close_then(&self, on_close: impl FnOnce(&Handle) + 'static) -> Result<()> {
        self.close()?;
        self.on_close(on_close);
        Ok(())
    }

    /// Has `on_close` called in the closing phase: the handle is closing.
    pub(crate) fn on_close(&self, on_close: impl FnOnce(&Handle) + 'static) {
        self.owner.0.callbacks.set_on_close(self.key.index(), Box::new(on_close));
    }
}

/// Two values are equal if they refer to the same handle.
impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.key == other.key && Rc::ptr_eq(&self.owner.0, &other.owner.0)
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({}", self.kind(), self.key.index())?;
        for (holds, word) in [(self.is_active(), "active"), (!self.has_ref(), "unref"), (self.is_closing(), "closing")]
        {
            if holds {
                write!(f, ", {word}")?;
            }
        }
        f.write_str(")")
    }
}

/// Lets a kind of handle be used where any handle is.
macro_rules! is_a_handle {
    ($kind:ident) => {
        impl std::ops::Deref for $kind {
            type Target = $crate::Handle;

            #[inline]
            fn deref(&self) -> &$crate::Handle {
                &self.0
            }
        }

        impl std::fmt::Debug for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use is_a_handle;

/// A duration as the core counts it; longer than 584 years is for ever.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
