//! The numbers of all loops, for `--metrics`.

use std::path::{Path, absolute};
use std::sync::{Arc, Mutex, PoisonError};

use oxuv::observe::Numbers;
use oxuv_os::file;

use super::say;
use crate::program::Error;

const OPTION: &str = "--metrics";

/// In place of a file.
const STANDARD_ERROR: &str = "-";

/// The numbers of each loop by its name, and where they are written to.
#[derive(Clone)]
pub(super) struct Metrics {
    path: Arc<Path>,
    loops: Arc<Mutex<Vec<(String, Numbers)>>>,
}

impl Metrics {
    /// # Errors
    /// Those of making the file.
    pub(super) fn to(path: &Path) -> Result<Metrics, Error> {
        let mut path = path.to_owned();
        if path != Path::new(STANDARD_ERROR) {
            // The script may be in another directory when it is written.
            let made = absolute(&path).and_then(|absolute| file::write_whole(&absolute, b"").map(|()| absolute));
            path = made.map_err(|error| Error::of_option(OPTION, &path, error.into()))?;
        }
        Ok(Metrics { path: path.into(), loops: Arc::default() })
    }

    pub(super) fn add(&self, name: String, numbers: Numbers) {
        self.loops.lock().unwrap_or_else(PoisonError::into_inner).push((name, numbers));
    }

    /// Writes all, as they are now.
    pub(super) fn write(&self) {
        let text = Numbers::prometheus_of(&self.loops.lock().unwrap_or_else(PoisonError::into_inner));
        let is_error = *self.path == *Path::new(STANDARD_ERROR);
        let written = if is_error {
            file::write_to_standard_error(text.as_bytes())
        } else {
            file::write_whole(&self.path, text.as_bytes())
        };
        if let Err(error) = written {
            say(Error::of_option(OPTION, &self.path, error.into()));
        }
    }
}
