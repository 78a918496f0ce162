//! Watchers of files: `lib/internal/fs/watch.js` and `watch_file.js` stand on these.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use oxuv::fs::Metadata;
use oxuv::{FsChange, FsEvent, FsEvents, FsHappened, FsPoll, Handle};
use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, JsLifetime, Object, Result};

use super::throw;
use super::values::{Name, Numbers, Path};
use crate::bindings::stream::Caller;
use crate::host::{Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("watch", Func::from(watch))?;
    object.set("watchFile", Func::from(watch_file))
}

/// A watcher that is started. It goes on when the script forgets it, until it is closed.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "FileWatcher")]
pub struct Watcher {
    #[qjs(skip_trace)]
    handle: Handle,
}

#[rquickjs::methods]
impl Watcher {
    fn close(&self) {
        // Closed is closed.
        let _ = self.handle.close();
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        let _ = self.handle.r#ref();
    }

    fn unref(&self) {
        let _ = self.handle.unref();
    }

    #[qjs(rename = "hasRef")]
    fn has_ref(&self) -> bool {
        self.handle.has_ref()
    }
}

/// A path as the loop takes it.
fn path_buf(path: Path) -> std::path::PathBuf {
    std::ffi::OsString::from_vec(path.0.into_bytes()).into()
}

/// The handle, if it was started; else it is closed.
fn open_if(started: oxuv::Result<()>, handle: &Handle) -> oxuv::Result<Handle> {
    if started.is_err() {
        let _ = handle.close();
    }
    started.map(|()| handle.clone())
}

fn handed(ctx: Ctx<'_>, made: oxuv::Result<Handle>) -> Result<Class<'_, Watcher>> {
    let handle = made.map_err(|errno| throw(&ctx, errno))?;
    Class::instance(ctx, Watcher { handle })
}

/// Calls `callback(errno, isRename, name)`: a name as text or `raw`, undefined if it is not known. Throws the number of an error.
fn watch<'js>(ctx: Ctx<'js>, path: Path, is_recursive: bool, raw: bool, callback: Kept) -> Result<Class<'js, Watcher>> {
    let caller = Caller::new(&ctx, callback);
    let tell = move |_: &FsEvent, happened: oxuv::Result<FsHappened<'_>>| {
        caller.call(|_| match happened {
            Ok(FsHappened { name, events }) => {
                let name = name.map(|name| Name { bytes: name.as_bytes().to_vec(), raw });
                Ok((0, events.intersects(FsEvents::RENAME | FsEvents::LOST), name))
            }
            Err(errno) => Ok((errno.code(), false, None)),
        });
    };
    let made = host(&ctx).make(&ctx, FsEvent::new).and_then(|handle| {
        let started = handle.recursive(is_recursive).and_then(|()| handle.start(path_buf(path), tell));
        open_if(started, &handle)
    });
    handed(ctx, made)
}

/// Calls `callback(errno, current, previous)` with numbers as those of `stat`, undefined for a file that was or is not there.
fn watch_file<'js>(
    ctx: Ctx<'js>,
    path: Path,
    interval: f64,
    is_big: bool,
    callback: Kept,
) -> Result<Class<'js, Watcher>> {
    let caller = Caller::new(&ctx, callback);
    let tell = move |handle: &FsPoll, change: oxuv::Result<FsChange>| {
        let numbers = |found: Option<Metadata>| found.map(|found| Numbers::of_file(&found, is_big));
        let previous = numbers(handle.previous());
        caller.call(|_| match change {
            Ok(change) => Ok((0, numbers(Some(change.current)), previous)),
            Err(errno) => Ok((errno.code(), None, previous)),
        });
    };
    let interval = Duration::from_millis(interval as u64);
    let made = host(&ctx).make(&ctx, FsPoll::new).and_then(|handle| {
        let started = handle.start(path_buf(path), interval, tell);
        open_if(started, &handle)
    });
    handed(ctx, made)
}
