//! The modules that scripts find built in, and those that these stand on: the files of `lib/`.

/// The text of a module of `lib/`.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
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
    "cjs_exports",
    "console",
    "errors",
    "esm",
    "events",
    "internal/abort_controller",
    "internal/assert_source",
    "internal/assertion_error",
    "internal/codes",
    "internal/comparisons",
    "internal/console",
    "internal/dom_exception",
    "internal/event_target",
    "internal/events_async",
    "internal/flags",
    "internal/format",
    "internal/inspect",
    "internal/inspect_errors",
    "internal/inspect_kinds",
    "internal/layout",
    "internal/parse_args",
    "internal/performance",
    "internal/process",
    "internal/structured_clone",
    "internal/table",
    "internal/timers_old",
    "internal/types",
    "internal/util_functions",
    "internal/validators",
    "modules",
    "perf_hooks",
    "process",
    "prompt",
    "report",
    "resolve",
    "ticks",
    "timers",
    "timers/promises",
    "util",
    "util/types",
};

/// Those that scripts may require, also as `node:name`. `module` is [`MODULES`]' `modules`.
pub(crate) const PUBLIC: &[&str] = &[
    "assert",
    "assert/strict",
    "console",
    "events",
    "module",
    "perf_hooks",
    "process",
    "timers",
    "timers/promises",
    "util",
    "util/types",
];
