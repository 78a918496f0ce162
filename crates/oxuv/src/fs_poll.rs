//! Handles that look at a file again and again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oxuv_core::Key;

use crate::callbacks::{Callback, Table, call};
use crate::fs::{Metadata, c_path, path_buf};
use crate::handle::{is_a_handle, nanoseconds};
use crate::loop_::Inner;
use crate::{Errno, Handle, LoopRef, Result};

/// What a file was and is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsChange {
    /// When it was last seen; `None` if it has not been since the start.
    pub previous: Option<Metadata>,
    /// Now.
    pub current: Metadata,
}

/// Looks at a file again and again, and calls a closure when it has changed. Phase: poll.
///
/// This works where nobody tells of changes, as on network file systems; where somebody does, [`FsEvent`](crate::FsEvent) is
/// cheaper, quicker, and misses nothing. The looks are on a thread of the pool, so the loop does not wait for them.
///
/// The first look is not told: later ones are compared with it, by times, size, permissions, owner, device and number (not
/// by the time of the last reading, or the number of names). While the file cannot be looked at, the closure hears of the
/// error once, and when that is over, of the file.
///
/// ```
/// use oxuv::{FsPoll, Loop, Mode};
/// use std::time::Duration;
///
/// let path = std::env::temp_dir().join(format!("oxuv-fs-poll-{}", std::process::id()));
/// let lp = Loop::new()?;
/// let (watch, made) = (FsPoll::new(&lp)?, path.clone());
/// watch.start(&path, Duration::from_millis(10), move |watch, change| match change {
///     // It is not there yet: a moment to make it.
///     Err(error) => std::fs::write(&made, error.to_string()).unwrap(),
///     Ok(change) => {
///         println!("{} bytes", change.current.size);
///         watch.close().unwrap();
///     }
/// })?;
/// lp.run(Mode::Default)?;
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "uv_fs_poll_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct FsPoll(pub(crate) Handle);

is_a_handle!(FsPoll);

impl FsPoll {
    /// A new handle, stopped.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_fs_poll_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<FsPoll> {
        Ok(FsPoll(Handle::make(owner, |core| core.fs_poll_init(0))?))
    }

    /// Looks at what is at a path now and every so often, and calls `callback` with what has changed. A millisecond takes the
    /// place of no time at all. If the handle is started already, nothing changes, and it keeps path and closure.
    ///
    /// # Errors
    /// EINVAL when closing, or for a path with a zero byte inside; EAGAIN when there is no room for a thread; ENOMEM. That
    /// the file is not there is for the closure.
    #[doc(alias = "uv_fs_poll_start")]
    pub fn start(
        &self,
        path: impl AsRef<Path>,
        every: Duration,
        callback: impl FnMut(&FsPoll, Result<FsChange>) + 'static,
    ) -> Result<()> {
        let path = c_path(path)?;
        let every = if every.is_zero() { Duration::from_millis(1) } else { every };
        if self.with(|core, key| core.fs_poll_start(key, &path, nanoseconds(every)))? {
            self.set_callback(Callback::FsPoll(Box::new(callback)));
        }
        Ok(())
    }

    /// Stops looking. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_fs_poll_stop")]
    pub fn stop(&self) -> Result<()> {
        self.with(|core, key| core.fs_poll_stop(key))
    }

    /// The path that is looked at, as it was given.
    ///
    /// # Errors
    /// EINVAL when it is not started.
    #[doc(alias = "uv_fs_poll_getpath")]
    pub fn path(&self) -> Result<PathBuf> {
        self.with(|core, key| core.fs_poll_path(key).map(path_buf))
    }

    /// What the file was when it was last seen, before the change or the error that was told last. `None` if it had not been
    /// seen since the start, or nothing was told.
    #[must_use]
    pub fn previous(&self) -> Option<Metadata> {
        self.with(|core, key| Ok(core.fs_poll_change(key))).ok().flatten().and_then(|change| change.previous)
    }

    /// The file has changed, of which the core knows more.
    pub(crate) fn changed(&mut self, inner: &Inner, table: &Table, key: Key, result: Result<()>) {
        let change = result.and_then(|()| {
            let change = inner.with(|core| core.fs_poll_change(key).ok_or(Errno::EINVAL))?;
            let current = change.current.ok_or(Errno::EINVAL)?;
            Ok(FsChange { previous: change.previous, current })
        });
        self.0.point_at(key);
        call!(table, key, FsPoll, |callback| callback(self, change));
    }
}
