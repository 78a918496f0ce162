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
        Err(error) => Err(throw_errno(&ctx, error.into(), &path)),
    }
}

/// Throws an error like those of the module `fs`.
fn throw_errno(ctx: &Ctx<'_>, errno: oxuv::Errno, path: &str) -> rquickjs::Error {
    let name = errno.name().unwrap_or("UNKNOWN");
    let syscall = if name == "EISDIR" { "read" } else { "open" };
    let place = if syscall == "open" { format!(" '{path}'") } else { String::new() };
    let text = format!("{name}: {}, {syscall}{place}", errno.message().unwrap_or("unknown error"));
    let made = Exception::from_message(ctx.clone(), &text).and_then(|exception| {
        exception.set("errno", errno.code())?;
        exception.set("code", name)?;
        exception.set("syscall", syscall)?;
        if syscall == "open" {
            exception.set("path", path)?;
        }
        Ok(exception)
    });
    match made {
        Ok(exception) => exception.throw(),
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
