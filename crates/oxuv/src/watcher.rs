//! Idle, prepare and check: the handles that run in each turn.

use crate::callbacks::Callback;
use crate::drive::Subjects;
use crate::handle::is_a_handle;
use crate::{Handle, LoopRef, Result};

macro_rules! watcher {
    ($(#[$doc:meta])* $kind:ident, $subject:ident, $init:ident) => {
        $(#[$doc])*
        ///
        /// Handles of this kind run newest first: the one started last comes first.
        #[derive(Clone, PartialEq, Eq)]
        pub struct $kind(pub(crate) Handle);

        is_a_handle!($kind);

        impl $kind {
            /// A new handle, stopped.
            ///
            /// # Errors
            /// ENOMEM; EINVAL when the loop is gone.
            #[track_caller]
            pub fn new(owner: &LoopRef) -> Result<$kind> {
                Ok($kind(Handle::make(owner, |core| core.$init(0))?))
            }

            /// Calls `callback` in each turn from now on. If the handle is active already, nothing changes, and it
            /// keeps the closure that it has.
            ///
            /// # Errors
            /// EINVAL when closing.
            pub fn start(&self, mut callback: impl FnMut(&$kind) + 'static) -> Result<()> {
                if self.with(|core, key| core.watcher_start(key))? {
                    let callback = move |subjects: &mut Subjects, key| {
                        subjects.$subject.0.point_at(key);
                        callback(&subjects.$subject);
                    };
                    self.set_callback(Callback::Watcher(Box::new(callback)));
                    self.owner().0.tasks.overtake();
                }
                Ok(())
            }

            /// Stops the handle. Stopped is stopped: again does nothing.
            ///
            /// # Errors
            /// EINVAL when closed.
            pub fn stop(&self) -> Result<()> {
                self.with(|core, key| core.watcher_stop(key))
            }
        }
    };
}

watcher! {
    /// Calls a closure in each turn, before prepare. While one is active, the loop does not wait for events.
    ///
    /// ```
    /// use oxuv::{Idle, Loop, Mode};
    ///
    /// let lp = Loop::new()?;
    /// let mut work = 0..1000;
    /// Idle::new(&lp)?.start(move |idle| {
    ///     if work.next().is_none() {
    ///         idle.close().unwrap();
    ///     }
    /// })?;
    /// lp.run(Mode::Default)?;
    /// assert_eq!(lp.turns(), 1001);
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    #[doc(alias = "uv_idle_t")]
    Idle, idle, idle_init
}

watcher! {
    /// Calls a closure in each turn, right before the loop waits for events.
    ///
    /// ```
    /// use oxuv::{Loop, Mode, Prepare};
    ///
    /// let lp = Loop::new()?;
    /// let prepare = Prepare::new(&lp)?;
    /// prepare.start(|_| println!("about to wait"))?;
    /// lp.run(Mode::NoWait)?;
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    #[doc(alias = "uv_prepare_t")]
    Prepare, prepare, prepare_init
}

watcher! {
    /// Calls a closure in each turn, after the loop has waited for events and these were worked off.
    ///
    /// ```
    /// use oxuv::{Check, Loop, Mode};
    ///
    /// let lp = Loop::new()?;
    /// let check = Check::new(&lp)?;
    /// check.start(|_| println!("everything that came was worked off"))?;
    /// lp.run(Mode::NoWait)?;
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    #[doc(alias = "uv_check_t")]
    Check, check, check_init
}
