//! Files as the module loader needs them: whole texts, and what a path is.

use std::path::Path;

use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, Object, Result};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("readText", Func::from(read_text))?;
    object.set("kind", Func::from(kind))?;
    object.set("realPath", Func::from(real_path))
}

/// The text of a file; what is no UTF-8 in it is replaced. An empty path is the standard input.
fn read_text(ctx: Ctx<'_>, path: String) -> Result<String> {
    let bytes = if path.is_empty() {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(&path)
    };
    match bytes {
        Ok(bytes) => {
            Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
        }
        Err(error) => Err(throw(&ctx, error.into(), &path)),
    }
}

/// Throws what Node throws when a file cannot be read.
fn throw(ctx: &Ctx<'_>, errno: oxuv::Errno, path: &str) -> rquickjs::Error {
    let (name, message) = (errno.name().unwrap_or("UNKNOWN"), errno.message().unwrap_or("unknown error"));
    // A directory can be opened, but not read.
    let (call, place) = match name {
        "EISDIR" => ("read", String::new()),
        _ => ("open", format!(" '{path}'")),
    };
    let made = Exception::from_message(ctx.clone(), &format!("{name}: {message}, {call}{place}")).and_then(|error| {
        error.set("errno", errno.code())?;
        error.set("code", name)?;
        error.set("syscall", call)?;
        if call == "open" {
            error.set("path", path)?;
        }
        Ok(error)
    });
    match made {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

/// 0 for a file, 1 for a directory, -1 for what is not there.
fn kind(path: String) -> i32 {
    match Path::new(&path).metadata() {
        Ok(metadata) => i32::from(metadata.is_dir()),
        Err(_) => -1,
    }
}

fn real_path(path: String) -> String {
    std::fs::canonicalize(&path).map(|real| real.to_string_lossy().into_owned()).unwrap_or(path)
}
