//! Bytes as text and text as bytes, where that is work for Rust.

use oxuv_js_engine::{Bytes, text_of};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, String as Text};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    // UTF-8. What is half a character becomes U+FFFD.
    object.set("encode", Func::from(|bytes: Bytes| bytes))?;
    object.set("length", Func::from(|text: Text<'_>| text_of(&text).map(|text| text.len() as f64)))?;
    object.set("decode", Func::from(decode))?;
    object.set("isValid", Func::from(|bytes: Bytes| std::str::from_utf8(&bytes.0).is_ok()))?;
    object.set("compare", Func::from(|one: Bytes, other: Bytes| one.0.cmp(&other.0) as i32))?;
    object.set("decodeLatin1", Func::from(decode_latin1))
}

/// The text whose UTF-8 these bytes are. What is none becomes U+FFFD, as the WHATWG's rules have it; `undefined` if
/// `is_strict` and there is some.
fn decode<'js>(ctx: Ctx<'js>, bytes: Bytes, is_strict: bool) -> Result<Option<Text<'js>>> {
    match String::from_utf8(bytes.0) {
        Ok(text) => Text::from_str(ctx, &text).map(Some),
        Err(_) if is_strict => Ok(None),
        Err(error) => Text::from_str(ctx, &String::from_utf8_lossy(error.as_bytes())).map(Some),
    }
}

fn decode_latin1<'js>(ctx: Ctx<'js>, bytes: Bytes) -> Result<Text<'js>> {
    let text: String = bytes.0.into_iter().map(char::from).collect();
    Text::from_str(ctx, &text)
}
