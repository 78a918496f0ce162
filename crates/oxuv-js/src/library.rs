//! The modules that scripts find built in, and those that these stand on: the files of `lib/`, compiled by `build.rs`.

use rquickjs::loader::Loader;
use rquickjs::loader::bundle::{Bundle, ScaBundleData};
use rquickjs::{Ctx, Function, Result};

/// The function that a file of `lib/` is the body of; nothing if there is no such file.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Option<Function<'js>>> {
    if !MODULES.iter().any(|(known, _)| *known == name) {
        return Ok(None);
    }
    let (module, _) = Bundle(MODULES).load(ctx, name, None)?.eval()?;
    module.get("default").map(Some)
}

const MODULES: ScaBundleData<&[u8]> = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Those that scripts may require, also as `node:name`. `module` is the file `modules`. One a line: `build.rs` reads this list, too.
pub(crate) const PUBLIC: &[&str] = &[
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_writable",
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "console",
    "constants",
    "dgram",
    "dns",
    "dns/promises",
    "diagnostics_channel",
    "events",
    "fs",
    "fs/promises",
    "http",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "stream",
    "stream/consumers",
    "stream/promises",
    "string_decoder",
    "sys",
    "timers",
    "timers/promises",
    "tty",
    "url",
    "util",
    "util/types",
    "worker_threads",
];
