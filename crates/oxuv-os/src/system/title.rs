//! The title of the process: what `ps` shows. It lies where the kernel has put the program's arguments, and can be no
//! longer than these.

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, PoisonError};

use crate::{Errno, Result};

/// The memory of the arguments, once it was given.
static AREA: Mutex<Option<Area>> = Mutex::new(None);

struct Area {
    start: *mut u8,
    /// Bytes, with the zero at the end; not 0.
    size: usize,
    /// Bytes of the title now, without the zero.
    length: usize,
}

// SAFETY: the memory is the program's arguments, which belong to no thread; it is used under the lock.
unsafe impl Send for Area {}

/// Takes the memory of a program's arguments for the title, which is the first of them until [`set`] is called. Without
/// arguments nothing is taken.
///
/// # Safety
/// The arguments are texts that stay where they are until [`give_back`], and nobody else uses them until then.
#[doc(alias = "uv_setup_args")]
pub unsafe fn give(arguments: &[*mut c_char]) {
    let Some(&first) = arguments.first() else { return };
    // SAFETY: they are texts, says the caller.
    let (length, size) = unsafe { (CStr::from_ptr(first).count_bytes(), contiguous(arguments)) };
    *AREA.lock().unwrap_or_else(PoisonError::into_inner) = Some(Area { start: first.cast(), size, length });
}

/// The size of the first texts that lie one directly behind the other. The kernel puts all arguments so; but a program
/// may call its main function with arguments of its own making.
///
/// # Safety
/// They are texts.
unsafe fn contiguous(texts: &[*mut c_char]) -> usize {
    let Some(&first) = texts.first() else { return 0 };
    let mut end = first;
    for &text in texts {
        if text != end {
            break;
        }
        // SAFETY: it is a text, says the caller.
        end = end.wrapping_add(unsafe { CStr::from_ptr(text) }.count_bytes() + 1);
    }
    end.addr() - first.addr()
}

/// Leaves the arguments' memory alone from now on. Without it there is no title.
pub fn give_back() {
    *AREA.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Sets the title, as much of it as fits, and names the calling thread by it.
///
/// # Errors
/// ENOBUFS when no memory was given for it.
#[doc(alias = "uv_set_process_title")]
pub fn set(title: &CStr) -> Result<()> {
    let mut area = AREA.lock().unwrap_or_else(PoisonError::into_inner);
    let area = area.as_mut().ok_or(Errno::ENOBUFS)?;
    area.length = title.count_bytes().min(area.size - 1);
    // SAFETY: the area has `size` bytes, which are ours by the word of who gave it, and the lock is held.
    let name = unsafe {
        area.start.copy_from_nonoverlapping(title.as_ptr().cast(), area.length);
        area.start.add(area.length).write_bytes(0, area.size - area.length);
        CStr::from_ptr(area.start.cast())
    };
    // For the sake of `top`, which shows this one; no title is wrong for the lack of it.
    let _ = rustix::thread::set_name(name);
    Ok(())
}

/// Calls `look` with the title.
///
/// # Errors
/// ENOBUFS when no memory was given for it.
#[doc(alias = "uv_get_process_title")]
pub fn get<R>(look: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let area = AREA.lock().unwrap_or_else(PoisonError::into_inner);
    let area = area.as_ref().ok_or(Errno::ENOBUFS)?;
    // SAFETY: the title's bytes lie in the area, which is ours by the word of who gave it, and the lock is held.
    Ok(look(unsafe { std::slice::from_raw_parts(area.start, area.length) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since there is one title.
    #[test]
    fn the_title_lies_in_the_arguments() {
        let title = || get(<[u8]>::to_vec);
        assert_eq!(title(), Err(Errno::ENOBUFS));
        assert_eq!(set(c"early"), Err(Errno::ENOBUFS));

        let mut memory = *b"program\0-a\0b\0 \0elsewhere\0";
        let start: *mut c_char = memory.as_mut_ptr().cast();
        let at = |place: usize| start.wrapping_add(place);
        // SAFETY: the texts are in `memory`, which is used by nothing else until `give_back`.
        unsafe {
            give(&[]);
            assert_eq!(title(), Err(Errno::ENOBUFS));
            give(&[at(0), at(8), at(11), at(15)]);
        }
        assert_eq!(title().unwrap(), b"program");
        set(c"short").unwrap();
        assert_eq!(title().unwrap(), b"short");
        set(c"longer than there is room").unwrap();
        assert_eq!(title().unwrap(), b"longer than ");
        set(c"").unwrap();
        assert_eq!(title().unwrap(), b"");
        set(c"end").unwrap();
        give_back();
        assert_eq!(title(), Err(Errno::ENOBUFS));
        assert_eq!(memory, *b"end\0\0\0\0\0\0\0\0\0\0 \0elsewhere\0");
    }
}
