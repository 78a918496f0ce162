//! Bytes on their way between the engine's memory and Rust's.
//!
//! The engine hands out addresses of memory that any script may free. This file is the one place that follows them: it
//! copies, and returns before a script can run.

use std::ptr::NonNull;

use rquickjs::function::This;
use rquickjs::{
    ArrayBuffer, Ctx, Error, Exception, FromJs, Function, IntoJs, JsLifetime, Object, Result, String as Text,
};
use rquickjs::{TypedArray, Value};

/// Bytes. Out of the script they are copied once; into it they go as an `ArrayBuffer`, without a copy if they are many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

/// Kept with [`Ctx::store_userdata`] it has all bytes copied into memory of the engine's: only that counts towards the limit of
/// what a script may use.
#[derive(Debug, Clone, Copy, JsLifetime)]
pub struct CountAll;

/// Fewer are copied: that costs less than to keep two allocators' memory for them.
const MANY: usize = 1024;

impl<'js> FromJs<'js> for Bytes {
    /// Those of an `ArrayBuffer`, of a typed array or of a `DataView`; of a text its UTF-8.
    ///
    /// # Errors
    /// `TypeError` for anything else, `RangeError` without memory. A detached buffer has no bytes.
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Bytes> {
        if let Some(text) = value.as_string() {
            return Ok(Bytes(text_of(text)?.into_bytes()));
        }
        let Some(place) = place_of(&value)? else { return Ok(Bytes::default()) };
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(place.len()).is_err() {
            return Err(no_memory(ctx));
        }
        // SAFETY: the engine has just given this address and length, and `value` keeps the memory. No script runs before the
        // copy is made, and no other thread has an engine's memory: shared buffers are not switched on.
        bytes.extend_from_slice(unsafe { place.as_ref() });
        Ok(Bytes(bytes))
    }
}

impl<'js> IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let Bytes(mut bytes) = self;
        if bytes.len() < MANY || ctx.userdata::<CountAll>().is_some() {
            return ArrayBuffer::new_copy(ctx.clone(), &bytes).map(ArrayBuffer::into_value);
        }
        // Much room for little would stay taken as long as the script has it.
        if bytes.capacity() > 2 * bytes.len() {
            bytes.shrink_to_fit();
        }
        ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
    }
}

/// Writes bytes into an `ArrayBuffer`, a typed array or a `DataView`, as many as have room there. How many.
///
/// # Errors
/// `TypeError` for anything else.
pub fn fill(buffer: &Value<'_>, bytes: &[u8]) -> Result<usize> {
    let Some(mut place) = place_of(buffer)? else { return Ok(0) };
    let count = bytes.len().min(place.len());
    // SAFETY: the engine has just given this address and length, and `buffer` keeps the memory. No script runs before the
    // copy is made, `bytes` are Rust's, and no other thread has an engine's memory.
    let room = unsafe { place.as_mut() };
    room[..count].copy_from_slice(&bytes[..count]);
    Ok(count)
}

/// A text of the script's. What is half a character in it has no UTF-8, and is replaced.
///
/// # Errors
/// What the engine throws without memory.
pub fn text_of(text: &Text<'_>) -> Result<String> {
    match text.to_string() {
        Err(Error::Utf8(_)) => {
            let class: Object<'_> = text.ctx().globals().get("String")?;
            let mend: Function<'_> = class.get::<_, Object<'_>>("prototype")?.get("toWellFormed")?;
            mend.call::<_, Text<'_>>((This(text.clone()),))?.to_string()
        }
        found => found,
    }
}

/// Where an object has its bytes; nowhere if it has none. Valid until a script runs.
fn place_of(value: &Value<'_>) -> Result<Option<NonNull<[u8]>>> {
    let wrong = || Error::new_from_js(value.type_name(), "bytes");
    let object = value.as_object().ok_or_else(wrong)?;
    if let Ok(array) = TypedArray::<u8>::from_object(object.clone()) {
        return Ok(asked(value, || array.as_raw()).filter(|place| !place.is_empty()));
    }
    if let Some(buffer) = asked(value, || ArrayBuffer::from_object(object.clone())) {
        return Ok(asked(value, || buffer.as_raw()).filter(|place| !place.is_empty()));
    }
    // Another view of a buffer. Whatever a script has made of these properties, what is taken lies within the buffer.
    let buffer: Value<'_> = object.get("buffer")?;
    let Some(buffer) = asked(value, || ArrayBuffer::from_value(buffer)) else { return Err(wrong()) };
    let (begin, length): (usize, usize) = (object.get("byteOffset")?, object.get("byteLength")?);
    let Some(whole) = asked(value, || buffer.as_raw()) else { return Ok(None) };
    if length == 0 {
        return Ok(None);
    }
    if begin.checked_add(length).is_none_or(|end| end > whole.len()) {
        return Err(wrong());
    }
    // SAFETY: from its beginning to its end the view lies within the memory of the buffer.
    Ok(Some(NonNull::slice_from_raw_parts(unsafe { whole.cast::<u8>().add(begin) }, length)))
}

/// What the engine says when it is asked. Where it says no it has thrown as well, and nobody has taken that: the next who looks for
/// an exception would find it.
fn asked<T>(value: &Value<'_>, ask: impl FnOnce() -> Option<T>) -> Option<T> {
    let answer = ask();
    if answer.is_none() {
        drop(value.ctx().catch());
    }
    answer
}

fn no_memory(ctx: &Ctx<'_>) -> Error {
    Exception::throw_range(ctx, "no memory for so many bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::{Context, Runtime};

    fn in_engine(test: impl FnOnce(&Ctx<'_>)) {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| test(&ctx));
    }

    #[test]
    fn the_bytes_of_all_kinds_of_views_come() {
        in_engine(|ctx| {
            for (code, expected) in [
                ("new Uint8Array([1, 2, 3])", &[1, 2, 3][..]),
                ("new Uint8Array([1, 2, 3]).subarray(1, 2)", &[2]),
                ("new Uint8Array(0)", &[]),
                ("new ArrayBuffer(2)", &[0, 0]),
                ("new ArrayBuffer(0)", &[]),
                ("new Uint16Array([258])", &[2, 1]),
                ("new Float64Array(1)", &[0; 8]),
                ("new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)", &[2, 3]),
                ("'a\\u00e4'", b"a\xc3\xa4"),
                ("'\\ud800'", b"\xef\xbf\xbd"),
                ("const a = new Uint8Array(5); a.buffer.transfer(); a", &[]),
            ] {
                assert_eq!(ctx.eval::<Bytes, _>(code).unwrap().0, expected, "{code}");
            }
        });
    }

    #[test]
    fn no_exception_stays_behind() {
        in_engine(|ctx| {
            for code in [
                "new Float64Array(1)",
                "new DataView(new ArrayBuffer(2))",
                "const a = new Uint8Array(5); a.buffer.transfer(); a",
                "const b = new ArrayBuffer(5); b.transfer(); b",
                "({})",
                "1",
            ] {
                let value: Value<'_> = ctx.eval(code).unwrap();
                let _ = Bytes::from_js(ctx, value);
                assert!(!ctx.has_exception(), "{code}");
            }
        });
    }

    #[test]
    fn other_things_have_none() {
        in_engine(|ctx| {
            for code in [
                "1",
                "null",
                "({})",
                "[1]",
                "({ buffer: new ArrayBuffer(8), byteOffset: 4, byteLength: 5 })",
                "({ buffer: new ArrayBuffer(8), byteOffset: 1e300, byteLength: 5 })",
                "({ buffer: new ArrayBuffer(8), byteOffset: -1, byteLength: 5 })",
            ] {
                assert!(ctx.eval::<Bytes, _>(code).is_err(), "{code}");
                let _ = ctx.catch();
            }
        });
    }

    #[test]
    fn few_and_many_arrive_whole() {
        in_engine(|ctx| {
            for count_all in [false, true] {
                if count_all {
                    let _ = ctx.store_userdata(CountAll).unwrap();
                }
                for length in [0, 1, MANY - 1, MANY, 100_000] {
                    let bytes: Vec<u8> = (0..length).map(|nth| nth as u8).collect();
                    let mut roomy = Vec::with_capacity(3 * length);
                    roomy.extend_from_slice(&bytes);
                    ctx.globals().set("bytes", Bytes(roomy)).unwrap();
                    assert_eq!(ctx.eval::<usize, _>("bytes.byteLength").unwrap(), length);
                    assert_eq!(ctx.eval::<Bytes, _>("bytes").unwrap().0, bytes);
                    // It is a buffer like others.
                    assert_eq!(ctx.eval::<usize, _>("bytes.transfer(5).byteLength").unwrap(), 5);
                }
            }
        });
    }

    #[test]
    fn a_view_is_filled_as_far_as_it_goes() {
        in_engine(|ctx| {
            let view: Value<'_> = ctx.eval("globalThis.all = new Uint8Array(6); all.subarray(2, 5)").unwrap();
            assert_eq!(fill(&view, &[1, 2]).unwrap(), 2);
            assert_eq!(fill(&view, &[3, 4, 5, 6]).unwrap(), 3);
            assert_eq!(ctx.eval::<Bytes, _>("all").unwrap().0, [0, 0, 3, 4, 5, 0]);
            assert!(fill(&Value::new_int(ctx.clone(), 1), &[1]).is_err());
        });
    }
}
