//! What goes into requests and comes out of them. All of it may go to another thread.

use std::ffi::CString;

use oxuv::fs::{EntryKind, Metadata, Time};
use rquickjs::function::This;
use rquickjs::{Array, ArrayBuffer, BigInt, Ctx, Error, FromJs, Function, IntoJs, Result, String as Text, Value};

/// Bytes. Into the script they go as an `ArrayBuffer`.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    /// Of a text its UTF-8; else those of a `Uint8Array`. The engine has no safe way to its memory: it writes them as
    /// Base64, at about the speed of a copy.
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Bytes> {
        if let Some(text) = value.as_string() {
            return Ok(Bytes(text_of(text)?.into_bytes()));
        }
        let Some(object) = value.as_object() else { return Err(Error::new_from_js(value.type_name(), "bytes")) };
        let encode: Function<'js> = object.get("toBase64")?;
        let encoded: Text<'js> = encode.call((This(object.clone()),))?;
        decode(text_of(&encoded)?.as_bytes())
            .map(Bytes)
            .ok_or_else(|| rquickjs::Exception::throw_range(ctx, "no memory for so many bytes"))
    }
}

impl<'js> IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        // A copy, in memory that counts towards what the script may use.
        ArrayBuffer::new_copy(ctx.clone(), &self.0).map(ArrayBuffer::into_value)
    }
}

/// A text of the script's. What is half a character in it has no UTF-8, and is replaced.
pub(crate) fn text_of(text: &Text<'_>) -> Result<String> {
    match text.to_string() {
        Err(Error::Utf8(_)) => {
            let mend: Function<'_> = text.as_value().get_member("toWellFormed")?;
            mend.call::<_, Text<'_>>((This(text.clone()),))?.to_string()
        }
        found => found,
    }
}

trait Member<'js> {
    fn get_member(&self, name: &str) -> Result<Function<'js>>;
}

impl<'js> Member<'js> for Value<'js> {
    /// A method that a primitive value has.
    fn get_member(&self, name: &str) -> Result<Function<'js>> {
        let class: rquickjs::Object<'js> = self.ctx().globals().get("String")?;
        class.get::<_, rquickjs::Object<'js>>("prototype")?.get(name)
    }
}

/// The bytes that Base64 stands for, as the engine writes it: whole groups of four. `None` without memory.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    const VALUES: [u8; 256] = values();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(text.len() / 4 * 3).ok()?;
    let value = |digit: u8| u32::from(VALUES[usize::from(digit)]);
    for group in text.chunks_exact(4) {
        let bits = value(group[0]) << 18 | value(group[1]) << 12 | value(group[2]) << 6 | value(group[3]);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    let padding = text.iter().rev().take_while(|digit| **digit == b'=').count();
    bytes.truncate(bytes.len().saturating_sub(padding));
    Some(bytes)
}

const fn values() -> [u8; 256] {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [0; 256];
    let mut at = 0;
    while at < digits.len() {
        values[digits[at] as usize] = at as u8;
        at += 1;
    }
    values
}

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

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_read_as_the_engine_writes_it() {
        assert_eq!(decode(b"").unwrap(), b"");
        assert_eq!(decode(b"aA==").unwrap(), b"h");
        assert_eq!(decode(b"aGk=").unwrap(), b"hi");
        assert_eq!(decode(b"+/+/").unwrap(), [0xfb, 0xff, 0xbf]);
    }
}
