//! The title of the process, which lies where its arguments were.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use oxuv_core::{Errno, Result};
use oxuv_os::system::title;

use super::block::Block;
use crate::error::code;
use crate::memory::free;

/// The copy that was made last. It stays until the library is shut down.
static COPY: AtomicPtr<*mut c_char> = AtomicPtr::new(null_mut());

/// Takes the memory of the program's arguments for the title, and returns a copy of them to be used instead. If there is
/// nothing to take or no memory for a copy, they are returned as they are, and there is no title.
/// Given its own copy, it returns that, and the title stays where it is.
///
/// # Safety
/// `argv` points to `argc` texts, which stay where they are, and which the program leaves alone from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_setup_args(argc: c_int, argv: *mut *mut c_char) -> *mut *mut c_char {
    let count = usize::try_from(argc).unwrap_or(0);
    if argv.is_null() || count == 0 || argv == COPY.load(Relaxed) {
        return argv;
    }
    // SAFETY: the caller says that there are as many.
    let arguments = unsafe { slice::from_raw_parts(argv, count) };
    // A null ends the arguments, whatever their number.
    let arguments = arguments.split(|argument| argument.is_null()).next().unwrap_or_default();
    if arguments.is_empty() {
        return argv;
    }
    // SAFETY: they are texts, which from now on are the title's.
    unsafe {
        let Ok(copy) = copy(arguments) else { return argv };
        title::give(arguments);
        let copy = copy.finish();
        COPY.store(copy, Relaxed);
        copy
    }
}

/// Frees the copy of the arguments, and leaves the arguments themselves alone from now on.
pub(crate) fn give_back() {
    title::give_back();
    let copy = COPY.swap(null_mut(), Relaxed);
    // SAFETY: it came from `Block::finish`, which took the memory from `malloc`, and nobody else frees it. The program has
    // shut the library down, after which it does not use what the library gave.
    unsafe { free(copy.cast()) };
}

/// # Safety
/// `arguments` are texts.
unsafe fn copy(arguments: &[*mut c_char]) -> Result<Block<*mut c_char>> {
    // SAFETY: they are texts, says the caller.
    let texts = arguments.iter().map(|&argument| unsafe { CStr::from_ptr(argument) }.to_bytes());
    let mut block = Block::new(arguments.len() + 1, texts.clone().map(Block::<*mut c_char>::room_of).sum())?;
    for text in texts {
        let text = block.text(text)?;
        block.push(text)?;
    }
    block.push(null_mut())?;
    Ok(block)
}

/// Sets the title, as much of it as fits where the arguments were, and names the calling thread by it.
///
/// UV_ENOBUFS if [`uv_setup_args`] has taken no memory; UV_EINVAL for null.
///
/// # Safety
/// `title` is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_set_process_title(title: *const c_char) -> c_int {
    if title.is_null() {
        return Errno::EINVAL.code();
    }
    // SAFETY: a text, says the caller.
    code(title::set(unsafe { CStr::from_ptr(title) }))
}

/// Writes the title to the `size` bytes at `buffer`.
///
/// UV_ENOBUFS if they are too few, and if [`uv_setup_args`] has taken no memory; UV_EINVAL for null and for a size of 0.
///
/// # Safety
/// `buffer` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_get_process_title(buffer: *mut c_char, mut size: usize) -> c_int {
    // SAFETY: passed on to our caller word for word; the place of the size is ours.
    let room = unsafe { super::room::Room::new(buffer, &mut size) };
    code(room.and_then(|room| title::get(|title| room.fill(title))?))
}
