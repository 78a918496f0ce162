//! The modules that scripts find built in, and those that these stand on: the files of `lib/`.

/// The text of a module of `lib/`.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    MODULES.iter().chain(VENDORED).find(|(known, _)| *known == name).map(|(_, source)| *source)
}

macro_rules! modules {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../lib/", $name, ".js"))),)*]
    };
}

const MODULES: &[(&str, &str)] = modules! {
    "assert",
    "assert/strict",
    "bootstrap",
    "buffer",
    "cjs_exports",
    "console",
    "errors",
    "esm",
    "events",
    "fs",
    "fs/promises",
    "internal/abort_controller",
    "internal/assert_source",
    "internal/assertion_error",
    "internal/blob",
    "internal/buffer_numbers",
    "internal/buffer_text",
    "internal/codes",
    "internal/comparisons",
    "internal/console",
    "internal/dom_exception",
    "internal/encoding",
    "internal/event_target",
    "internal/events_async",
    "internal/flags",
    "internal/format",
    "internal/fs/constants",
    "internal/fs/directory",
    "internal/fs/file_handle",
    "internal/fs/requests",
    "internal/fs/several",
    "internal/fs/stats",
    "internal/fs/transfer",
    "internal/fs/util",
    "internal/fs/whole",
    "internal/inspect",
    "internal/inspect_errors",
    "internal/inspect_kinds",
    "internal/layout",
    "internal/os_constants",
    "internal/parse_args",
    "internal/path_parts",
    "internal/path_win32",
    "internal/performance",
    "internal/process",
    "internal/structured_clone",
    "internal/table",
    "internal/timers_old",
    "internal/types",
    "internal/util_functions",
    "internal/validators",
    "modules",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "prompt",
    "report",
    "resolve",
    "string_decoder",
    "ticks",
    "timers",
    "timers/promises",
    "util",
    "util/types",
};

/// Packages of others, by the names under which they and the library require each other.
const VENDORED: &[(&str, &str)] = &[
    ("base64-js", include_str!("../vendor/base64-js/index.js")),
    ("ieee754", include_str!("../vendor/ieee754/index.js")),
    ("safe-buffer", "module.exports = require('buffer');"),
    ("vendor/buffer", include_str!("../vendor/buffer/index.js")),
    ("vendor/string_decoder", include_str!("../vendor/string_decoder/lib/string_decoder.js")),
];

/// Those that scripts may require, also as `node:name`. `module` is [`MODULES`]' `modules`.
pub(crate) const PUBLIC: &[&str] = &[
    "assert",
    "assert/strict",
    "buffer",
    "console",
    "events",
    "fs",
    "fs/promises",
    "module",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "string_decoder",
    "timers",
    "timers/promises",
    "util",
    "util/types",
];
