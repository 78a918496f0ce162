//! The callbacks that the library is given: they tell the runner.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

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
    /// The script wants to hear of memory that is asked for.
    pub(crate) hears_alloc: Cell<bool>,
}

impl Slot {
    pub(crate) fn new(name: &str, listener: &Listener) -> Slot {
        // SAFETY: all its variants are made of numbers, pointers that may be null, and optional functions.
        let memory = UnsafeCell::new(unsafe { std::mem::zeroed() });
        let (name, listener) = (name.to_owned(), listener.clone());
        Slot { memory, name, listener, buffer: RefCell::default(), hears_alloc: Cell::default() }
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

pub(crate) unsafe extern "C" fn on_signal<const OTHER: bool>(handle: *mut uv_signal_t, _signum: c_int) {
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(OTHER, What::Itself, None, String::new());
}

pub(crate) unsafe extern "C" fn on_fs_event<const OTHER: bool>(
    handle: *mut uv_fs_event_t,
    name: *const c_char,
    _events: c_int,
    status: c_int,
) {
    // SAFETY: a name that is not null is a C string.
    let name = || unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    let text = if status < 0 { error_name(status) } else { name() };
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(OTHER, What::Itself, None, text);
}

pub(crate) unsafe extern "C" fn on_fs_poll<const OTHER: bool>(
    handle: *mut uv_fs_poll_t,
    status: c_int,
    _before: *const uv_stat_t,
    _now: *const uv_stat_t,
) {
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(handle) }.tell(OTHER, What::Itself, None, result(status));
}

pub(crate) unsafe extern "C" fn on_exit(process: *mut uv_process_t, code: i64, signal: c_int) {
    let text = if signal == 0 { code.to_string() } else { format!("signal {signal}") };
    // SAFETY: the library passes a handle of ours.
    unsafe { slot(process) }.tell(false, What::Exit, None, text);
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
    let slot = unsafe { slot(handle) };
    let mut memory = slot.buffer.borrow_mut();
    // SAFETY: it is a handle of the kind that it says.
    let is_udp = unsafe { (*handle).type_ } == uv_handle_type_UV_UDP;
    // SAFETY: it is asked of a UDP handle only.
    let several = is_udp && unsafe { (Library::get().uv_udp_using_recvmmsg)(handle.cast()) } != 0;
    memory.resize(if several { 4 * size } else { size }, 0);
    let filled = uv_buf_t { base: memory.as_mut_ptr().cast::<c_char>(), len: memory.len() };
    drop(memory);
    // SAFETY: the library passes a place for the answer. The memory stays where it is until the next alloc callback of
    // this handle, since nobody else touches it.
    unsafe { buffer.write(filled) };
    if slot.hears_alloc.get() {
        slot.tell(false, What::Alloc, None, String::new());
    }
}

pub(crate) unsafe extern "C" fn on_read<const OTHER: bool>(
    stream: *mut uv_stream_t,
    count: isize,
    _buffer: *const uv_buf_t,
) {
    // SAFETY: the library passes a handle of ours.
    let slot = unsafe { slot(stream) };
    let text = match count {
        // A buffer that was handed back: of interest only to who hears that it was asked for.
        0 if !slot.hears_alloc.get() => return,
        0.. => count.to_string(),
        _ => error_name(count as c_int),
    };
    slot.tell(OTHER, What::Read, None, text);
}

pub(crate) unsafe extern "C" fn on_receive<const OTHER: bool>(
    udp: *mut uv_udp_t,
    count: isize,
    _buffer: *const uv_buf_t,
    from: *const sockaddr,
    flags: c_uint,
) {
    // SAFETY: the library passes a handle of ours.
    let slot = unsafe { slot(udp) };
    let text = match count {
        // As for streams. A datagram may be empty, but it has a sender.
        0 if from.is_null() && !slot.hears_alloc.get() => return,
        0 if from.is_null() && flags & uv_udp_flags_UV_UDP_MMSG_FREE as c_uint != 0 => "free".to_owned(),
        0 if from.is_null() => "none".to_owned(),
        0.. => count.to_string(),
        _ => error_name(count as c_int),
    };
    slot.tell(OTHER, What::Receive, None, text);
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
