//! Handles that go to another process along with the bytes of a channel.

use oxuv::{Errno, Passed, Pipe};
use rquickjs::{Class, Ctx, IntoJs, Result, Value};

use crate::bindings::stream::{AnyStream, Caller, Stream, code};
use crate::bindings::udp::Udp;
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
    handle: Value<'js>,
    done: Kept,
) -> i32 {
    let Some(channel) = pipe(&channel) else { return Errno::EINVAL.code() };
    let done = Caller::new(&ctx, done);
    let on_done = move |_: &Pipe, result| done.status(result);
    let sent = if let Ok(udp) = Class::<Udp>::from_value(&handle) {
        channel.write_with_handle(bytes.0, &udp.borrow().handle, on_done)
    } else if let Ok(stream) = Class::<Stream>::from_value(&handle) {
        match stream.borrow().stream.clone() {
            AnyStream::Tcp(tcp) => channel.write_with_handle(bytes.0, &tcp, on_done),
            AnyStream::Pipe(pipe) => channel.write_with_handle(bytes.0, &pipe, on_done),
            AnyStream::Tty(_) => Err(Errno::ENOTSUP),
        }
    } else {
        Err(Errno::EINVAL)
    };
    code(sent)
}

/// The next handle that has come along with what was read, if there is one. What scripts have no handle for is closed.
pub(super) fn take_handle<'js>(ctx: Ctx<'js>, channel: Class<'js, Stream>) -> Result<Option<Value<'js>>> {
    let taken = pipe(&channel).and_then(|channel| channel.take_handle().ok());
    let stream = match taken {
        Some(Passed::Tcp(tcp)) => AnyStream::Tcp(tcp),
        Some(Passed::Pipe(pipe)) => AnyStream::Pipe(pipe),
        Some(Passed::Udp(handle)) => return Class::instance(ctx.clone(), Udp { handle })?.into_js(&ctx).map(Some),
        Some(Passed::Other(_)) | None => return Ok(None),
    };
    Stream::wrap(&ctx, stream)?.into_js(&ctx).map(Some)
}
