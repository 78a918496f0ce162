//! The numbers of all loops, for `--metrics`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oxuv::observe::Numbers;

use super::say;

/// The numbers of each loop by its name, and where they are written to.
#[derive(Clone)]
pub(super) struct Metrics {
    path: Arc<Path>,
    loops: Arc<Mutex<Vec<(String, Numbers)>>>,
}

impl Metrics {
    pub(super) fn to(path: PathBuf) -> Metrics {
        Metrics { path: path.into(), loops: Arc::default() }
    }

    pub(super) fn add(&self, name: String, numbers: Numbers) {
        self.loops.lock().unwrap_or_else(PoisonError::into_inner).push((name, numbers));
    }

    /// Writes all, as they are now.
    pub(super) fn write(&self) {
        let text = Numbers::prometheus_of(&self.loops.lock().unwrap_or_else(PoisonError::into_inner));
        if *self.path == *Path::new("-") {
            // There is nobody to tell if standard error is gone.
            let _ = std::io::stderr().write_all(text.as_bytes());
        } else if let Err(error) = std::fs::write(&self.path, text) {
            say(format_args!("{}: {error}", self.path.display()));
        }
    }
}
