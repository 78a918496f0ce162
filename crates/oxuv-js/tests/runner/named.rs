//! Scripts by their names, run in ways of their own.

use std::path::{Path, PathBuf};

use crate::runner::Ran;

/// The script of this name, as `http/limits`, in `tests/scripts`.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name).with_extension("js")
}

/// # Panics
/// When it printed something else than it should, which is what Node prints.
pub(crate) fn check(name: &str, ran: &Ran) {
    let expected = std::fs::read_to_string(script(name).with_extension("out")).unwrap();
    assert_eq!(ran.text(), expected, "{name}: {}", ran.err);
    assert_eq!(ran.err, "", "{name}");
}
