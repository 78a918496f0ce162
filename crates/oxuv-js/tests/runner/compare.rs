//! Folders of scripts that print what Node prints of them.

use std::fs;
use std::path::Path;

use crate::runner::{program, run};

/// Runs the scripts of a folder in `tests/scripts`: they print what Node prints of them, which stands in NAME.out.
///
/// # Panics
/// When one prints something else, or there are fewer than `least`.
pub(crate) fn compare(folder: &str, least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "js")).collect();
    assert!(scripts.len() >= least);
    for script in scripts {
        let ran = run(program().arg(&script), None);
        let expected = fs::read_to_string(script.with_extension("out")).unwrap();
        assert_eq!(ran.text(), expected, "{}\n{}", script.display(), ran.err);
    }
}
