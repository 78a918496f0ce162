//! What is done with open files.

use std::os::fd::AsFd;
use std::sync::Arc;

use oxuv::fs::blocking::{self, WriteBuf};
use oxuv::{Errno, Result as Done};
use oxuv_js_engine::Bytes;
use rquickjs::function::Func;
use rquickjs::{Ctx, FromJs, Object, Result, Value};

use super::descriptors::Descriptor;
use super::values::Path;
use super::{Callback, perform, perform_with};
use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("open", Func::from(open))?;
    object.set("close", Func::from(close))?;
    object.set("read", Func::from(read))?;
    object.set("write", Func::from(write))?;
    object.set("writev", Func::from(write_all_of))?;
    object.set("ftruncate", Func::from(truncate))?;
    object.set("fsync", Func::from(sync_all))?;
    object.set("fdatasync", Func::from(sync_data))
}

/// Does something with the file of a number.
fn with<'js, T>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    number: i32,
    act: impl FnOnce(&Descriptor) -> Done<T> + Send + 'static,
) -> Result<Value<'js>>
where
    T: for<'a> rquickjs::IntoJs<'a> + Send + 'static,
{
    // A wrong number is an error like others: it comes when its time has come.
    let found = host(&ctx).files.get(number);
    perform(ctx, callback, move || act(&found?))
}

/// The place of a request in the file; none is the file's own position, for which the script has a negative number.
struct Place(Option<u64>);

impl<'js> FromJs<'js> for Place {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Place> {
        let number = match value.as_big_int() {
            Some(number) => number.clone().to_i64()?,
            None => value.get::<f64>()? as i64,
        };
        Ok(Place(u64::try_from(number).ok()))
    }
}

fn open<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path, flags: i32, mode: u32) -> Result<Value<'js>> {
    perform_with(ctx, callback, move || blocking::open(&path.0, flags, mode), |files, fd| files.add(fd))
}

fn close<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32) -> Result<Value<'js>> {
    let taken = host(&ctx).files.take(number);
    perform(ctx, callback, move || match taken? {
        // While a request is under way, its end closes the file.
        Descriptor::Owned(fd) => Arc::try_unwrap(fd).map_or(Ok(()), blocking::close),
        Descriptor::Standard(_) => Ok(()),
    })
}

fn read<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32, length: f64, place: Place) -> Result<Value<'js>> {
    with(ctx, callback, number, move |fd| {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length as usize)?;
        blocking::read_to_vec(fd.as_fd(), &mut bytes, place.0)?;
        Ok(Bytes(bytes))
    })
}

fn write<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32, bytes: Bytes, place: Place) -> Result<Value<'js>> {
    with(ctx, callback, number, move |fd| write_bufs(fd, &[WriteBuf::new(&bytes.0)], place.0))
}

fn write_all_of<'js>(
    ctx: Ctx<'js>,
    callback: Callback<'js>,
    number: i32,
    parts: Vec<Bytes>,
    place: Place,
) -> Result<Value<'js>> {
    with(ctx, callback, number, move |fd| {
        let bufs: Vec<WriteBuf<'_>> = parts.iter().map(|part| WriteBuf::new(&part.0)).collect();
        write_bufs(fd, &bufs, place.0)
    })
}

/// Writes, and waits where a descriptor that others share was made non-blocking. How many bytes.
fn write_bufs(fd: &Descriptor, bufs: &[WriteBuf<'_>], place: Option<u64>) -> Done<f64> {
    loop {
        match blocking::write(fd.as_fd(), bufs, place) {
            Err(Errno::EAGAIN) => wait_for_room(fd)?,
            done => return done.map(|count| count as f64),
        }
    }
}

/// Writes all of the bytes, however long that takes.
pub(crate) fn write_all(fd: &Descriptor, bytes: &[u8]) -> Done<()> {
    let mut written = 0;
    while written < bytes.len() {
        written += write_bufs(fd, &[WriteBuf::new(&bytes[written..])], None)? as usize;
    }
    Ok(())
}

fn wait_for_room(fd: &Descriptor) -> Done<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(fd, PollFlags::OUT)], None))?;
    Ok(())
}

fn truncate<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32, length: f64) -> Result<Value<'js>> {
    with(ctx, callback, number, move |fd| blocking::truncate(fd.as_fd(), length as i64))
}

fn sync_all<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32) -> Result<Value<'js>> {
    with(ctx, callback, number, |fd| blocking::sync_all(fd.as_fd()))
}

fn sync_data<'js>(ctx: Ctx<'js>, callback: Callback<'js>, number: i32) -> Result<Value<'js>> {
    with(ctx, callback, number, |fd| blocking::sync_data(fd.as_fd()))
}
