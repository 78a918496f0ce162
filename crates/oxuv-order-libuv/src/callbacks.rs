//! The callbacks that the library is given: they tell the runner.

use std::cell::{RefCell, UnsafeCell};
use std::ffi::{CStr, c_char, c_int, c_void};

use libuv_sys2::*;
use oxuv_order::{Callback, Listener, What};

use crate::library::Library;

/// A handle's memory, and what its callbacks need. The handle's `data` points here.
pub(crate) struct Slot {
    memory: UnsafeCell<uv_any_handle>,
    pub(crate) name: String,
    listener: Listener,
    /// What reads read into: one at a time.
    buffer: RefCell<Vec<u8>>,
}

impl Slot {
    pub(crate) fn new(name: &str, listener: &Listener) -> Slot {
        // SAFETY: all its variants are made of numbers, pointers that may be null, and optional functions.
        let memory = UnsafeCell::new(unsafe { std::mem::zeroed() });
        let (name, listener) = (name.to_owned(), listener.clone());
        Slot { memory, name, listener, buffer: RefCell::default() }
    }

    /// The handle, as whatever kind it is.
    pub(crate) fn handle<T>(&self) -> *mut T {
        self.memory.get().cast()
    }

    pub(crate) fn tell(&self, other: bool, what: What, number: Option<u32>, result: String) {
        let callback = Callback { name: self.name.clone(), other };
        self.listener.tell(&callback, what, number, result);
    }
}

/// The slot of a handle that the library calls back with.
unsafe fn slot<'a, T>(handle: *mut T) -> &'a Slot {
    // SAFETY: every handle begins with what `uv_handle_t` has; its `data` was set to its slot right after init, and
    // slots live longer than the loop.
    unsafe { &*(*handle.cast::<uv_handle_t>()).data.cast::<Slot>() }
}

pub(crate) fn error_name(status: c_int) -> String {
    // SAFETY: it takes any number, and returns a C string that nobody frees.
    unsafe { CStr::from_ptr((Library::get().uv_err_name)(status)) }.to_string_lossy().into_owned()
}

/// Empty for success.
pub(crate) fn result(status: c_int) -> String {
    if status < 0 { error_name(status) } else { String::new() }
}

/// For all kinds of handles whose callback gets nothing but the handle.
pub(crate) unsafe extern "C" fn on_itself<T, const OTHER: bool>(handle: *mut T) {
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(OTHER, What::Itself, None, String::new());
}

pub(crate) unsafe extern "C" fn on_close(handle: *mut uv_handle_t) {
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(false, What::Close, None, String::new());
}

pub(crate) unsafe extern "C" fn on_poll<const OTHER: bool>(handle: *mut uv_poll_t, status: c_int, events: c_int) {
    let letters = LETTERS.iter().filter(|(_, bit)| events & *bit as c_int != 0).map(|(letter, _)| letter);
    let text = if status < 0 { error_name(status) } else { letters.collect() };
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(OTHER, What::Itself, None, text);
}

pub(crate) const LETTERS: [(char, uv_poll_event); 4] = [
    ('r', uv_poll_event_UV_READABLE),
    ('w', uv_poll_event_UV_WRITABLE),
    ('d', uv_poll_event_UV_DISCONNECT),
    ('p', uv_poll_event_UV_PRIORITIZED),
];

pub(crate) unsafe extern "C" fn on_connection<const OTHER: bool>(server: *mut uv_stream_t, status: c_int) {
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(server) }.tell(OTHER, What::Connection, None, result(status));
}

pub(crate) unsafe extern "C" fn on_alloc(handle: *mut uv_handle_t, size: usize, buffer: *mut uv_buf_t) {
    // SAFETY: the library passes a handle of ours.
    let mut memory = unsafe { slot(handle) }.buffer.borrow_mut();
    memory.resize(size, 0);
    let filled = uv_buf_t { base: memory.as_mut_ptr().cast::<c_char>(), len: size };
    // SAFETY: the library passes a place for the answer. The memory stays where it is until the next alloc callback of
    // this stream, since nobody else touches it.
    unsafe { buffer.write(filled) };
}

pub(crate) unsafe extern "C" fn on_read<const OTHER: bool>(
    stream: *mut uv_stream_t,
    count: isize,
    _buffer: *const uv_buf_t,
) {
    let text = match count {
        // A buffer that was handed back: nothing that a script is about.
        0 => return,
        1.. => count.to_string(),
        _ => error_name(count as c_int),
    };
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(stream) }.tell(OTHER, What::Read, None, text);
}

/// Puts the handle's name into the list that the walk was given.
pub(crate) unsafe extern "C" fn on_walk(handle: *mut uv_handle_t, names: *mut c_void) {
    // SAFETY: `Libuv::walk` passes a list, which it does not use meanwhile, and every handle of the loop is ours.
    unsafe { (*names.cast::<Vec<String>>()).push(slot(handle).name.clone()) };
}

/// Closes a handle that the script has left open.
pub(crate) unsafe extern "C" fn on_walk_to_close(handle: *mut uv_handle_t, _: *mut c_void) {
    let library = Library::get();
    // SAFETY: the library passes a handle of the loop, and whatever is not closing may be closed.
    unsafe {
        if (library.uv_is_closing)(handle) == 0 {
            (library.uv_close)(handle, None);
        }
    }
}
