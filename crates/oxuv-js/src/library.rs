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

const MODULES: &[(&str, &str)] = modules![
    "assert",
    "bootstrap",
    "console",
    "errors",
    "events",
    "internal/assert_source",
    "internal/assertion_error",
    "internal/codes",
    "internal/comparisons",
    "internal/console",
    "internal/events_async",
    "internal/format",
    "internal/inspect",
    "internal/inspect_errors",
    "internal/inspect_kinds",
    "internal/layout",
    "internal/parse_args",
    "internal/table",
    "internal/types",
    "internal/util_functions",
    "internal/validators",
    "modules",
    "process",
    "ticks",
    "timers",
    "util",
];
