//! What a file is, and to whom it belongs: by its path, or by the number of an open file.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use oxuv::Result as Done;
use oxuv::fs::NewTime;
use oxuv::fs::blocking;
use rquickjs::function::Func;
use rquickjs::{Ctx, FromJs, Object, Result, Value};

use super::descriptors::Descriptor;
use super::values::{Numbers, Path};
use super::{Callback, perform};
use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("stat", Func::from(stat))?;
    object.set("chmod", Func::from(set_mode))?;
    object.set("chown", Func::from(set_owner))?;
    object.set("utimes", Func::from(set_times))
}

/// The file that is meant.
enum Target {
    Path(Path),
    /// A wrong number is an error like others: it comes when its time has come.
    Open(Done<Descriptor>),
}

impl<'js> FromJs<'js> for Target {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Target> {
        match value.as_int() {
            Some(number) => Ok(Target::Open(host(ctx).files.get(number))),
            None => Path::from_js(ctx, value).map(Target::Path),
        }
    }
}

impl Target {
    fn act<T>(
        self,
        on_path: impl FnOnce(&CStr) -> Done<T>,
        on_open: impl FnOnce(BorrowedFd<'_>) -> Done<T>,
    ) -> Done<T> {
        match self {
            Target::Path(path) => on_path(&path.0),
            Target::Open(found) => on_open(found?.as_fd()),
        }
    }
}

/// `is_link`: what is at the path itself, also where that is a symbolic link.
fn stat<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    target: Target,
    is_big: bool,
    is_link: bool,
) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        let on_path = if is_link { blocking::link_metadata } else { blocking::metadata };
        target.act(on_path, blocking::file_metadata).map(|found| Numbers::of_file(&found, is_big))
    })
}

fn set_mode<'js>(ctx: Ctx<'js>, callback: Callback<'js>, target: Target, mode: u32) -> Result<Value<'js>> {
    perform(ctx, callback, move || {
        target.act(|path| blocking::set_mode(path, mode), |fd| blocking::set_file_mode(fd, mode))
    })
}

fn set_owner<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    target: Target,
    owner: f64,
    group: f64,
    is_link: bool,
) -> Result<Value<'js>> {
    // -1 stands for the largest number: no change.
    let (owner, group) = (owner as i64 as u32, group as i64 as u32);
    perform(ctx, callback, move || {
        let on_path = if is_link { blocking::set_link_owner } else { blocking::set_owner };
        target.act(|path| on_path(path, owner, group), |fd| blocking::set_file_owner(fd, owner, group))
    })
}

fn set_times<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    target: Target,
    accessed: f64,
    modified: f64,
    is_link: bool,
) -> Result<Value<'js>> {
    let (accessed, modified) = (NewTime::from_seconds(accessed), NewTime::from_seconds(modified));
    perform(ctx, callback, move || {
        let on_path = if is_link { blocking::set_link_times } else { blocking::set_times };
        target.act(|path| on_path(path, accessed, modified), |fd| blocking::set_file_times(fd, accessed, modified))
    })
}
