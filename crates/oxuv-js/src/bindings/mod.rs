//! What the script's side can ask of the loop's: one object of functions per area, made when it is first asked for.

mod child;
mod dns;
mod engine;
mod files;
mod fs;
mod http;
#[cfg(fuzzing)]
pub use http::told::{Http, tell_http};
mod modules;
mod net;
mod observing;
mod os;
mod perf;
mod process;
mod resources;
mod signals;
mod stdio;
pub(crate) mod stream;
mod stream_write;
mod text;
mod timers;
mod tty;
mod udp;
mod url;
mod util;
mod worker;

pub(crate) use fs::Descriptors;
pub(crate) use modules::{Load, Resolve};
pub(crate) use process::nanoseconds;
pub(crate) use resources::Requests;
pub(crate) use worker::{Endpoint, Life, Problem, Threads};

use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, Object, Result};

/// The function `binding(name)` of the library.
pub(crate) fn all<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("binding", Func::from(binding))?;
    Ok(object)
}

fn binding<'js>(ctx: Ctx<'js>, name: String) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    match name.as_str() {
        "child" => child::fill(&object)?,
        "dns" => dns::fill(&object)?,
        "engine" => engine::fill(&object)?,
        "files" => files::fill(&object)?,
        "fs" => fs::fill(&object)?,
        "net" => net::fill(&object)?,
        "http" => http::fill(&object)?,
        "observing" => observing::fill(&object)?,
        "os" => os::fill(&object)?,
        "perf" => perf::fill(&object)?,
        "process" => process::fill(&object)?,
        "signals" => signals::fill(&object)?,
        "stdio" => stdio::fill(&object)?,
        "text" => text::fill(&object)?,
        "timers" => timers::fill(&object)?,
        "tty" => tty::fill(&object)?,
        "udp" => udp::fill(&object)?,
        "url" => url::fill(&object)?,
        "worker" => worker::fill(&object)?,
        "util" => util::fill(&object)?,
        _ => return Err(Exception::throw_reference(&ctx, &format!("no binding {name}"))),
    }
    Ok(object)
}

/// An error of the loop, thrown in the script.
trait OrThrow<T> {
    fn or_throw(self, ctx: &Ctx<'_>) -> Result<T>;
}

impl<T> OrThrow<T> for oxuv::Result<T> {
    fn or_throw(self, ctx: &Ctx<'_>) -> Result<T> {
        self.map_err(|errno| Exception::throw_message(ctx, &errno.to_string()))
    }
}
