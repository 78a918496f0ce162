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
    "bootstrap",
    "cjs_exports",
    "console",
    "errors",
    "esm",
    "events",
    "modules",
    "process",
    "prompt",
    "report",
    "resolve",
    "ticks",
    "timers",
};

/// Those that scripts may require, also as `node:name`. `module` is [`MODULES`]' `modules`.
pub(crate) const PUBLIC: &[&str] = &["console", "events", "module", "process", "timers"];
