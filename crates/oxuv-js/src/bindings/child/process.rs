//! A child that goes on beside the script.

use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use oxuv::{Errno, Pipe, Process};
use rquickjs::class::Trace;
use rquickjs::{Array, Class, Ctx, FromJs, JsLifetime, Object, Result};

use super::command::{Request, Slot};
use crate::bindings::OrThrow;
use crate::bindings::stream::{AnyStream, Caller, Stream, code};
use crate::host::{Kept, host};

/// What the script's side has of a child.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Process")]
pub(crate) struct Child {
    #[qjs(skip_trace)]
    process: Process,
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Child {
    /// Sends it a signal: 0, or the negative number of the error.
    fn kill(&self, signal: i32) -> i32 {
        code(self.process.kill(signal))
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        let _ = self.process.r#ref();
    }

    fn unref(&self) {
        let _ = self.process.unref();
    }

    fn has_ref(&self) -> bool {
        self.process.has_ref() && self.process.is_active()
    }

    #[qjs(get)]
    fn pid(&self) -> Option<i32> {
        self.process.id().ok()
    }
}

/// Makes a child, and calls `done(code, signal)` when it has ended. An object with `error`, 0 or the negative number of one,
/// `process` and `pid`, and by slot the `handles` of connections. These there are also when there is no child for the sake of
/// the system or of the program; nobody is at their other end then.
pub(super) fn spawn<'js>(ctx: Ctx<'js>, options: Object<'js>, done: Kept) -> Result<Object<'js>> {
    let slots: Array<'js> = options.get("stdio")?;
    let request = Request::from_js(&ctx, options.into_value())?;
    let host = host(&ctx);
    let result = Object::new(ctx.clone())?;
    let mut pipes = Vec::new();
    for (number, slot) in request.slots.iter().enumerate() {
        let Slot::Pipe(_) = slot else { continue };
        let is_channel = slots.get::<Object<'js>>(number)?.get::<_, Option<bool>>("ipc")?.unwrap_or(false);
        let pipe = host.make(&ctx, if is_channel { Pipe::for_handles } else { Pipe::new });
        pipes.push(pipe.inspect_err(|_| close(&pipes)).or_throw(&ctx)?);
    }
    let caller = Cell::new(Some(Caller::new(&ctx, done)));
    let made = request.command(&host, &pipes).and_then(|command| {
        let ended = move |process: &Process, status: oxuv::Result<_>| {
            let _ = process.close();
            let Some(caller) = caller.take() else { return };
            caller.call(|_| Ok(status.map_or_else(|errno| (errno.code(), 0), words)));
        };
        host.make(&ctx, |lp| command.spawn(lp, ended))
    });
    match made {
        Ok(process) => {
            result.set("error", 0)?;
            result.set("pid", process.id().ok())?;
            result.set("process", Class::instance(ctx.clone(), Child { process })?)?;
        }
        Err(errno) => {
            result.set("error", errno.code())?;
            if !matches!(errno, Errno::EACCES | Errno::EAGAIN | Errno::E2BIG | Errno::ENOENT)
                || leave_alone(&pipes).is_err()
            {
                close(&pipes);
                return Ok(result);
            }
        }
    }
    result.set("handles", handles(&ctx, &request.slots, pipes)?)?;
    Ok(result)
}

/// The exit code and the signal.
fn words(status: ExitStatus) -> (i32, i32) {
    (status.code().unwrap_or(0), status.signal().unwrap_or(0))
}

fn handles<'js>(ctx: &Ctx<'js>, slots: &[Slot], pipes: Vec<Pipe>) -> Result<Array<'js>> {
    let handles = Array::new(ctx.clone())?;
    let mut pipes = pipes.into_iter();
    for (number, slot) in slots.iter().enumerate() {
        let pipe = if let Slot::Pipe(_) = slot { pipes.next() } else { None };
        let handle = pipe.map(|pipe| Stream::wrap(ctx, AnyStream::Pipe(pipe))).transpose()?;
        handles.set(number, handle)?;
    }
    Ok(handles)
}

/// Connects each to somebody who has gone.
fn leave_alone(pipes: &[Pipe]) -> oxuv::Result<()> {
    pipes.iter().try_for_each(|pipe| pipe.open(UnixStream::pair()?.0))
}

fn close(pipes: &[Pipe]) {
    for pipe in pipes {
        let _ = pipe.close();
    }
}
