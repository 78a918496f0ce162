//! Handles that tell of changes of files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use oxuv_core::Key;

use crate::callbacks::{Callback, Table, call};
use crate::fs::{c_path, path_buf};
use crate::handle::is_a_handle;
use crate::loop_::Inner;
use crate::{FsEvents, Handle, LoopRef, Result};

/// Something that has happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsHappened<'a> {
    /// To which: its name in the directory that is watched, with slashes if that is recursive; the last part of the path
    /// that is watched, if it was about that. `None` if it is not known, as it is when something was lost.
    pub name: Option<&'a OsStr>,
    /// What it was.
    pub events: FsEvents,
}

/// Calls a closure whenever something happens to a file, or to a directory and what is in it. Phase: poll.
///
/// Of a directory it is told of what is directly in it, and with [`FsEvent::recursive`] of everything beneath. Any number of
/// handles may watch the same. What happens in quick succession comes one by one, in its order; a look at the file tells
/// what has come of it all. If so much happens at once that the system does not keep it, the closure hears of
/// [`FsEvents::LOST`], and what is watched should be looked at anew.
///
/// A handle whose file is removed stays started, and hears of nothing any more, also when another one gets the name. To
/// follow a name, watch the directory that it is in.
///
/// ```
/// use oxuv::{FsEvent, Loop, Mode};
///
/// let place = std::env::temp_dir().join(format!("oxuv-fs-event-{}", std::process::id()));
/// std::fs::create_dir(&place)?;
/// let lp = Loop::new()?;
/// let watch = FsEvent::new(&lp)?;
/// watch.start(&place, |watch, happened| {
///     println!("{:?}", happened.unwrap());
///     watch.close().unwrap();
/// })?;
/// std::fs::write(place.join("news"), "here I am")?;
/// lp.run(Mode::Default)?;
/// std::fs::remove_dir_all(&place)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "uv_fs_event_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct FsEvent(pub(crate) Handle);

is_a_handle!(FsEvent);

impl FsEvent {
    /// A new handle, stopped.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_fs_event_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<FsEvent> {
        Ok(FsEvent(Handle::make(owner, |core| core.fs_event_init(0))?))
    }

    /// Whether the next start is also about everything beneath the directory. No at first.
    ///
    /// libuv does this on macOS and Windows only. Here each directory takes one of the system's watches, of which a user has
    /// so many (`/proc/sys/fs/inotify/max_user_watches`). Symbolic links are not followed, and directories that must not be
    /// read are left out.
    ///
    /// # Errors
    /// EINVAL when closing.
    #[doc(alias = "UV_FS_EVENT_RECURSIVE")]
    pub fn recursive(&self, on: bool) -> Result<()> {
        self.with(|core, key| core.fs_event_set_recursive(key, on))
    }

    /// Calls `callback` for all that happens from now on. A symbolic link stands for what it leads to.
    ///
    /// Recursively, this returns when all directories that are there are watched, and blocks while it looks through them: 3.8
    /// seconds for the 15,000 of a `/usr` on a busy machine. What comes to be beneath later, in whatever way, is told of with
    /// all that is in it, as [`FsEvents::RENAME`]; that may be twice. The closure hears of an error if such a directory cannot
    /// be watched, ENOSPC at the limit, and the rest is watched all the same.
    ///
    /// # Errors
    /// EINVAL when it is started, closing, or for a path with a zero byte inside; ENOENT, EACCES, ENOTDIR, ELOOP,
    /// ENAMETOOLONG; ENOSPC, EMFILE when the user has as many watches, or descriptors for them, as the system allows;
    /// ENFILE, ENOMEM.
    #[doc(alias = "uv_fs_event_start")]
    pub fn start(
        &self,
        path: impl AsRef<Path>,
        callback: impl FnMut(&FsEvent, Result<FsHappened<'_>>) + 'static,
    ) -> Result<()> {
        let path = c_path(path)?;
        self.with(|core, key| core.fs_event_start(key, &path))?;
        self.set_callback(Callback::FsEvent(Box::new(callback)));
        Ok(())
    }

    /// Stops the handle: the closure is not called any more. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_fs_event_stop")]
    pub fn stop(&self) -> Result<()> {
        self.with(|core, key| core.fs_event_stop(key))
    }

    /// The path that is watched, as it was given.
    ///
    /// # Errors
    /// EINVAL when it is not started.
    #[doc(alias = "uv_fs_event_getpath")]
    pub fn path(&self) -> Result<PathBuf> {
        self.with(|core, key| core.fs_event_path(key).map(path_buf))
    }

    /// Something has happened, of which the core has the name.
    pub(crate) fn happened(&mut self, inner: &Inner, table: &Table, key: Key, result: Result<FsEvents>) {
        // Out of the loop for the time of the call, so that the closure may hold on to it.
        let mut bytes = inner.name.take();
        bytes.clear();
        let known = inner.with(|core| {
            let name = core.fs_event_name();
            bytes.extend_from_slice(name.map_or(b"", |name| name.to_bytes()));
            Ok(name.is_some())
        });
        let name = (known == Ok(true)).then(|| OsStr::from_bytes(&bytes));
        self.0.point_at(key);
        let happened = result.map(|events| FsHappened { name, events });
        call!(table, key, FsEvent, |callback| callback(self, happened));
        inner.name.set(bytes);
    }
}
