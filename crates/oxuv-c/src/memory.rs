//! Where all memory of this library comes from: the functions that the program gave to [`uv_replace_allocator`], or
//! the C library's.
//!
//! They are the allocator of Rust's own collections here, too: what grows with handles and requests is the program's
//! to count and to refuse.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

use oxuv_core::Errno;

/// What `malloc` does.
pub type uv_malloc_func = Option<unsafe extern "C" fn(usize) -> *mut c_void>;
/// What `realloc` does.
pub type uv_realloc_func = Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>;
/// What `calloc` does.
pub type uv_calloc_func = Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>;
/// What `free` does.
pub type uv_free_func = Option<unsafe extern "C" fn(*mut c_void)>;

// Null: the C library's.
static MALLOC: AtomicPtr<()> = AtomicPtr::new(null_mut());
static REALLOC: AtomicPtr<()> = AtomicPtr::new(null_mut());
static CALLOC: AtomicPtr<()> = AtomicPtr::new(null_mut());
static FREE: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Memory is taken from these functions from now on.
///
/// UV_EINVAL when one is null. To be called before all else, as memory that was taken before is given back to the new
/// functions. They must be safe to call from any thread, and must not call into this library.
///
/// # Safety
/// The functions do what those of the C library do.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_replace_allocator(
    malloc: uv_malloc_func,
    realloc: uv_realloc_func,
    calloc: uv_calloc_func,
    free: uv_free_func,
) -> c_int {
    let (Some(malloc), Some(realloc), Some(calloc), Some(free)) = (malloc, realloc, calloc, free) else {
        return Errno::EINVAL.code();
    };
    MALLOC.store(malloc as *mut (), Release);
    REALLOC.store(realloc as *mut (), Release);
    CALLOC.store(calloc as *mut (), Release);
    FREE.store(free as *mut (), Release);
    0
}

/// `malloc`: null when memory is short.
pub(crate) fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the place holds null or what `uv_replace_allocator` stored there: a function of this type, which by the
    // caller's word there may be called as the C library's.
    unsafe {
        match transmute::<*mut (), uv_malloc_func>(MALLOC.load(Acquire)) {
            Some(malloc) => malloc(size),
            None => libc::malloc(size),
        }
    }
}

/// `calloc`: zeroed memory for `count` times `size` bytes, null when memory is short.
pub(crate) fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: as in `malloc`, with the type of this place.
    unsafe {
        match transmute::<*mut (), uv_calloc_func>(CALLOC.load(Acquire)) {
            Some(calloc) => calloc(count, size),
            None => libc::calloc(count, size),
        }
    }
}

/// `realloc`: null when memory is short, and then the old memory stays.
///
/// # Safety
/// `memory` came from these functions and was not freed; it is out of use if the result is not null.
pub(crate) unsafe fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as in `malloc`, with the type of this place; the memory is the caller's to give.
    unsafe {
        match transmute::<*mut (), uv_realloc_func>(REALLOC.load(Acquire)) {
            Some(realloc) => realloc(memory, size),
            None => libc::realloc(memory, size),
        }
    }
}

/// `free`: null is fine.
///
/// # Safety
/// `memory` is null, or came from these functions, was not freed, and is out of use.
pub(crate) unsafe fn free(memory: *mut c_void) {
    // SAFETY: as in `malloc`, with the type of this place; the memory is the caller's to give.
    unsafe {
        match transmute::<*mut (), uv_free_func>(FREE.load(Acquire)) {
            Some(free) => free(memory),
            None => libc::free(memory),
        }
    }
}

/// A text in memory of its own; null when memory is short.
pub(crate) fn copy_of(text: &CStr) -> *mut c_char {
    let text = text.to_bytes_with_nul();
    let copy: *mut c_char = malloc(text.len()).cast();
    if !copy.is_null() {
        // SAFETY: the new memory has this size.
        unsafe { copy.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
    }
    copy
}

/// The functions above as the allocator of Rust's collections: what one of them has leaked of bytes or a text may be given
/// to [`free`].
struct Replaceable;

// Not under Miri: what a block of higher alignment keeps before its place lies outside of what an owner may touch there.
#[cfg_attr(not(miri), global_allocator)]
static ALLOCATOR: Replaceable = Replaceable;

/// The alignment that `malloc` promises: that of C's `max_align_t`.
const MALLOC_ALIGN: usize = align_of::<libc::max_align_t>();

// SAFETY: memory of `malloc` is what an allocator owes; where more alignment is asked for, the block is larger by that
// much, and its own address is kept just below what is given out, to be found again by `dealloc` with the same layout.
unsafe impl GlobalAlloc for Replaceable {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            return malloc(layout.size()).cast();
        }
        // No overflow: a layout's size, rounded up to its alignment, fits an isize.
        let block: *mut u8 = malloc(layout.size() + layout.align()).cast();
        if block.is_null() {
            return null_mut();
        }
        // SAFETY: an aligned address lies at most `align` bytes behind the block's, and at least 16 bytes, since both
        // are multiples of 16: there is room for a pointer before it, and for `size` bytes behind it.
        unsafe {
            let place = block.add(layout.align() - block.addr() % layout.align());
            place.cast::<*mut u8>().sub(1).write(block);
            place
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the place came from `alloc` with this layout, which put the block's address before it if it is more
        // aligned than `malloc`'s memory.
        unsafe {
            let block = if layout.align() <= MALLOC_ALIGN { place } else { place.cast::<*mut u8>().sub(1).read() };
            free(block.cast());
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            return calloc(1, layout.size()).cast();
        }
        // SAFETY: what `alloc` gives has `size` bytes.
        unsafe {
            let place = self.alloc(layout);
            if !place.is_null() {
                place.write_bytes(0, layout.size());
            }
            place
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the place came from `malloc` if it is not more aligned; else a new one is made by `alloc` (the caller
        // says that the size is fit for a layout), filled with what both have room for, and the old one freed.
        unsafe {
            if layout.align() <= MALLOC_ALIGN {
                return realloc(place.cast(), size).cast();
            }
            let wider = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !wider.is_null() {
                wider.copy_from_nonoverlapping(place, size.min(layout.size()));
                self.dealloc(place, layout);
            }
            wider
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_keeps_its_bytes_as_it_grows() {
        for align in [1, 8, 16, 32, 64, 4096] {
            let layout = Layout::from_size_align(100, align).unwrap();
            // SAFETY: each place is used within its size, and given back with its own layout.
            unsafe {
                let place = ALLOCATOR.alloc_zeroed(layout);
                assert_eq!(place.addr() % align, 0);
                assert!((0..100).all(|nth| *place.add(nth) == 0));
                place.write_bytes(7, 100);
                let wider = ALLOCATOR.realloc(place, layout, 10_000);
                assert_eq!(wider.addr() % align, 0);
                assert!((0..100).all(|nth| *wider.add(nth) == 7));
                let layout = Layout::from_size_align(10_000, align).unwrap();
                let narrower = ALLOCATOR.realloc(wider, layout, 10);
                assert!((0..10).all(|nth| *narrower.add(nth) == 7));
                ALLOCATOR.dealloc(narrower, Layout::from_size_align(10, align).unwrap());
            }
        }
    }

    #[test]
    fn an_allocator_is_replaced_whole_or_not_at_all() {
        // SAFETY: the C library's own function; nothing is replaced.
        let result = unsafe { uv_replace_allocator(Some(libc::malloc), None, None, None) };
        assert_eq!(result, Errno::EINVAL.code());
        assert!(MALLOC.load(Acquire).is_null());
    }
}
