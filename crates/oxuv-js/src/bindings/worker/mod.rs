//! Workers, and the messages between threads: `lib/worker_threads.js` stands on these.
//!
//! A worker is a program of its own, with its loop, its engine and its host, on its own thread. Nothing of the engine's is
//! shared: what goes from thread to thread are bytes.

mod channel;
mod life;
mod port;
mod thread;

pub(crate) use channel::Endpoint;
pub(crate) use life::{Life, Problem};
pub(crate) use thread::Threads;

use rquickjs::function::Func;
use rquickjs::{Class, Ctx, Object, Result};

use crate::host::host;
use port::Port;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("channel", Func::from(port::channel))?;
    object.set("named", Func::from(port::named))?;
    object.set("start", Func::from(thread::start))?;
    object.set("ownPort", Func::from(own_port))?;
    object.set("threadId", Func::from(|ctx: Ctx<'_>| host(&ctx).life.as_ref().map_or(0, |life| life.id)))
}

/// In a worker the port to the one who started it; once.
fn own_port(ctx: Ctx<'_>) -> Result<Option<Class<'_, Port>>> {
    host(&ctx).parent.take().map(|end| Port::wrap(&ctx, end)).transpose()
}
