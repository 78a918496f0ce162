//! What the loops have counted, in a file.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use oxuv_core::Result;
use oxuv_observe::{Numbers, path_for_process};

use super::say;

/// The file, and the loops by their numbers.
struct Book {
    /// `None` is standard error.
    path: Option<PathBuf>,
    loops: Vec<(String, Numbers)>,
}

static BOOK: Mutex<Option<Book>> = Mutex::new(None);

/// So many loops are told apart, also when they are gone; those that are made later are one to whoever reads. A loop's numbers
/// take half a megabyte.
const MOST: usize = 16;

/// Has loops count that are made from now on, for this file.
///
/// Those of writing a file.
pub(super) fn begin(path: &OsStr) -> Result<()> {
    let path = (path != "-").then(|| path_for_process(path));
    if let Some(path) = &path {
        std::fs::write(path, "")?;
    }
    *BOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Book { path, loops: Vec::new() });
    Ok(())
}

/// What a new loop counts in, if it is to count.
pub(super) fn add_loop() -> Option<Numbers> {
    let mut book = BOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let loops = &mut book.as_mut()?.loops;
    let numbers = match loops.get(MOST) {
        Some((_, numbers)) => numbers.clone(),
        None => {
            let number = loops.len() + 1;
            let name = if number > MOST { "others".to_owned() } else { number.to_string() };
            loops.push((name, Numbers::new()));
            loops[number - 1].1.clone()
        }
    };
    Some(numbers)
}

/// Writes what has been counted by now.
pub(super) fn write() {
    let book = BOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Book { path, loops }) = &*book else { return };
    let text = Numbers::prometheus_of(loops);
    let written = match path {
        Some(path) => std::fs::write(path, text),
        None => io::stderr().write_all(text.as_bytes()),
    };
    if let Err(error) = written {
        say(format_args!("OXUV_METRICS: {error}"));
    }
}
