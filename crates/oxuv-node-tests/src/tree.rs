//! A copy of Node's tests with our own `common` and `internal/...` beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders of tests.
const FOLDERS: &[&str] = &["parallel", "sequential"];

/// The copy. It goes when this is dropped.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    tests: Vec<String>,
}

impl Tree {
    /// The tests, as paths below `root`.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().map(String::as_str)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = fs::remove_dir_all(&self.root);
    }
}

pub(crate) fn make(checkout: &Path) -> Result<Tree, String> {
    let from = if checkout.join("test/parallel").is_dir() { checkout.join("test") } else { checkout.to_owned() };
    if !from.join("parallel").is_dir() {
        return Err(format!("no tests in {:?}: give the path of a checkout of Node's tests by --tests", checkout));
    }
    let root = std::env::temp_dir().join(format!("oxuv-node-tests-{}", std::process::id()));
    fill(&from, &root).map_err(|error| format!("cannot copy the tests to {}: {error}", root.display()))
}

fn fill(from: &Path, root: &Path) -> io::Result<Tree> {
    let mut tests = Vec::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&own.join("common"), &root.join("test/common"))?;
    // There the names `internal/...` lead to.
    copy(&own.join("internals"), &root.join("test/node_modules/internal"))?;
    copy(&from.join("fixtures"), &root.join("test/fixtures"))?;
    for folder in FOLDERS.iter().filter(|folder| from.join(folder).is_dir()) {
        copy(&from.join(folder), &root.join("test").join(folder))?;
        for entry in fs::read_dir(from.join(folder))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with("test-") && (name.ends_with(".js") || name.ends_with(".mjs")) {
                tests.push(format!("{folder}/{name}"));
            }
        }
    }
    tests.sort();
    Ok(Tree { root: root.to_owned(), tests })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
