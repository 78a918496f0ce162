//! Handles that go to another process along with the bytes of a channel.

use oxuv::{Errno, Passed, Pipe};
use rquickjs::{Class, Ctx, Result};

use crate::bindings::stream::{AnyStream, Caller, Stream, code};
use crate::host::Kept;
use oxuv_js_engine::Bytes;

fn pipe(channel: &Class<'_, Stream>) -> Option<Pipe> {
    match &channel.borrow().stream {
        AnyStream::Pipe(pipe) => Some(pipe.clone()),
        _ => None,
    }
}

/// Writes bytes with a handle. 0, and `done(status)` is called when they are sent; or the negative number of an error.
pub(super) fn write_with_handle<'js>(
    ctx: Ctx<'js>,
    channel: Class<'js, Stream>,
    bytes: Bytes,
    handle: Class<'js, Stream>,
    done: Kept,
) -> i32 {
    let Some(channel) = pipe(&channel) else { return Errno::EINVAL.code() };
    let done = Caller::new(&ctx, done);
    let on_done = move |_: &Pipe, result| done.status(result);
    let sent = match handle.borrow().stream.clone() {
        AnyStream::Tcp(tcp) => channel.write_with_handle(bytes.0, &tcp, on_done),
        AnyStream::Pipe(pipe) => channel.write_with_handle(bytes.0, &pipe, on_done),
        AnyStream::Tty(_) => Err(Errno::ENOTSUP),
    };
    code(sent)
}

/// The next handle that has come along with what was read, if there is one. What scripts have no handle for is closed.
pub(super) fn take_handle<'js>(ctx: Ctx<'js>, channel: Class<'js, Stream>) -> Result<Option<Class<'js, Stream>>> {
    let taken = pipe(&channel).and_then(|channel| channel.take_handle().ok());
    let stream = match taken {
        Some(Passed::Tcp(tcp)) => AnyStream::Tcp(tcp),
        Some(Passed::Pipe(pipe)) => AnyStream::Pipe(pipe),
        Some(Passed::Udp(udp)) => {
            // It was made a moment ago, so it can be closed.
            let _ = udp.close();
            return Ok(None);
        }
        Some(Passed::Other(_)) | None => return Ok(None),
    };
    Stream::wrap(&ctx, stream).map(Some)
}
