//! What the loops have counted, in a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, PoisonError};

use oxuv_core::{Errno, Result};
use oxuv_observe::{Numbers, path_for_process};
use oxuv_os::file;

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
    // The program may be in another directory when it is written.
    let path = if path == "-" { None } else { Some(absolute(path_for_process(path))?) };
    if let Some(path) = &path {
        file::write_whole(path, b"")?;
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
        Some(path) => file::write_whole(path, text.as_bytes()),
        None => file::write_to_standard_error(text.as_bytes()),
    };
    if let Err(error) = written {
        let path = path.as_deref().unwrap_or(Path::new("-")).display();
        say(format_args!("OXUV_METRICS={path}: {}", Errno::from(error)));
    }
}
