//! Terminals: what they have beside what all streams have. `lib/tty.js` stands on these and on the class `Stream`.

use std::sync::Once;

use oxuv::{Errno, Tty, TtyMode};
use oxuv_os::DescriptorKind;
use oxuv_os::signal::{HUP, INT, QUIT, TERM, reset_terminal_before};
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, IntoJs, Object, Result, Value};

use super::stream::{AnyStream, Stream, code};
use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("open", Func::from(open))?;
    object.set("setRawMode", Func::from(set_raw_mode))?;
    object.set("isTerminal", Func::from(|number| DescriptorKind::of(number) == DescriptorKind::Terminal))
}

/// A stream that reads from a terminal, or the negative number of an error.
fn open(ctx: Ctx<'_>, number: i32) -> Result<Value<'_>> {
    match open_terminal(&ctx, number) {
        Ok(tty) => Stream::wrap(&ctx, AnyStream::Tty(tty))?.into_js(&ctx),
        Err(errno) => errno.code().into_js(&ctx),
    }
}

fn open_terminal(ctx: &Ctx<'_>, number: i32) -> oxuv::Result<Tty> {
    if DescriptorKind::of(number) != DescriptorKind::Terminal {
        return Err(Errno::EINVAL);
    }
    let host = host(ctx);
    host.make(ctx, |lp| match number {
        0 => Tty::stdin(lp),
        1 => Tty::stdout(lp),
        2 => Tty::stderr(lp),
        _ => Tty::new(lp, host.files.give_away(number)?),
    })
}

/// Keys come as they are typed, or line by line. 0, or the negative number of the error.
///
/// From the first time on, a signal that ends the program leaves the terminal as it was found.
fn set_raw_mode<'js>(stream: Class<'js, Stream>, is_raw: bool) -> i32 {
    static SIGNALS: Once = Once::new();
    SIGNALS.call_once(|| {
        for number in [HUP, INT, QUIT, TERM] {
            // These signals there are.
            let _ = reset_terminal_before(number);
        }
    });
    match &stream.borrow().stream {
        AnyStream::Tty(tty) => code(tty.set_mode(if is_raw { TtyMode::Raw } else { TtyMode::Normal })),
        _ => Errno::ENOTTY.code(),
    }
}
