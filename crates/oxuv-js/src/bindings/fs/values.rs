//! What goes into requests and comes out of them. All of it may go to another thread.

use std::ffi::CString;

use oxuv::fs::{EntryKind, Metadata, Time};
use oxuv_js_engine::Bytes;
use rquickjs::{Array, BigInt, Ctx, Error, FromJs, IntoJs, Result, Value};

/// A path: a text, or the bytes of a `Uint8Array`. The script's side has made sure that no zero is in it.
pub(crate) struct Path(pub(crate) CString);

impl<'js> FromJs<'js> for Path {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Path> {
        let kind = value.type_name();
        let Bytes(bytes) = Bytes::from_js(ctx, value)?;
        CString::new(bytes).map(Path).map_err(|_| Error::new_from_js(kind, "path"))
    }
}

/// A name or path that the system gave: into the script it goes as text, or `raw` as bytes.
pub(crate) struct Name {
    pub(crate) bytes: Vec<u8>,
    pub(crate) raw: bool,
}

impl<'js> IntoJs<'js> for Name {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        if self.raw {
            return Bytes(self.bytes).into_js(ctx);
        }
        String::from_utf8_lossy(&self.bytes).into_js(ctx)
    }
}

/// What a directory has: names, and their kinds as numbers of `fs.constants.UV_DIRENT_*`.
pub(crate) struct Names(pub(crate) Vec<(Name, EntryKind)>);

impl<'js> IntoJs<'js> for Names {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let (names, kinds) = (Array::new(ctx.clone())?, Array::new(ctx.clone())?);
        for (at, (name, kind)) in self.0.into_iter().enumerate() {
            names.set(at, name)?;
            kinds.set(at, number_of(kind))?;
        }
        vec![names, kinds].into_js(ctx)
    }
}

fn number_of(kind: EntryKind) -> i32 {
    match kind {
        EntryKind::Unknown => 0,
        EntryKind::File => 1,
        EntryKind::Directory => 2,
        EntryKind::Symlink => 3,
        EntryKind::Fifo => 4,
        EntryKind::Socket => 5,
        EntryKind::CharacterDevice => 6,
        EntryKind::BlockDevice => 7,
    }
}

/// Numbers in the order of the constructor of `Stats`, as numbers or as big ones.
pub(crate) struct Numbers {
    pub(crate) all: Vec<i128>,
    pub(crate) is_big: bool,
}

impl Numbers {
    pub(crate) fn of_file(found: &Metadata, is_big: bool) -> Numbers {
        let mut all: Vec<i128> = vec![
            found.dev.into(),
            found.mode.into(),
            found.nlink.into(),
            found.uid.into(),
            found.gid.into(),
            found.rdev.into(),
            found.blksize.into(),
            found.ino.into(),
            found.size.into(),
            found.blocks.into(),
        ];
        let times = [found.accessed, found.modified, found.changed, found.created];
        all.extend(
            times.iter().flat_map(|Time { seconds, nanoseconds }| [i128::from(*seconds), i128::from(*nanoseconds)]),
        );
        Numbers { all, is_big }
    }
}

impl<'js> IntoJs<'js> for Numbers {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let array = Array::new(ctx.clone())?;
        for (at, number) in self.all.into_iter().enumerate() {
            match (self.is_big, i64::try_from(number)) {
                (false, _) => array.set(at, number as f64)?,
                (true, Ok(number)) => array.set(at, BigInt::from_i64(ctx.clone(), number)?)?,
                (true, Err(_)) => array.set(at, BigInt::from_u64(ctx.clone(), number as u64)?)?,
            }
        }
        Ok(array.into_value())
    }
}
