//! The kinds of handles and requests: their names and sizes.
//!
//! The tables have all kinds of the interface, in the order of their numbers, whether or not there are functions for them
//! by now: a program may ask for the sizes before anything else.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null;

use oxuv_os::DescriptorKind;

use crate::types::{UV_NAMED_PIPE, UV_TCP, UV_TTY, uv_handle_type, uv_req_type};
use crate::udp::UV_UDP;

/// A kind's name, and the size of its structure in bytes.
type Kind = (&'static CStr, usize);

/// From `UV_ASYNC`, 1, on.
const HANDLES: [Kind; 16] = [
    (c"async", 128),
    (c"check", 120),
    (c"fs_event", 136),
    (c"fs_poll", 104),
    (c"handle", 96),
    (c"idle", 120),
    (c"pipe", 264),
    (c"poll", 160),
    (c"prepare", 120),
    (c"process", 136),
    (c"stream", 248),
    (c"tcp", 248),
    (c"timer", 152),
    (c"tty", 312),
    (c"udp", 216),
    (c"signal", 152),
];

/// From `UV_REQ`, 1, on.
const REQUESTS: [Kind; 10] = [
    (c"req", 64),
    (c"connect", 96),
    (c"write", 192),
    (c"shutdown", 80),
    (c"udp_send", 320),
    (c"fs", 440),
    (c"work", 128),
    (c"getaddrinfo", 160),
    (c"getnameinfo", 1320),
    (c"random", 144),
];

/// No handle: what `uv_guess_handle` says of a regular file.
const UV_FILE: uv_handle_type = 17;
/// No handle at all.
const UV_UNKNOWN_HANDLE: uv_handle_type = 0;

fn find(kinds: &'static [Kind], number: u32) -> Option<&'static Kind> {
    kinds.get((number as usize).checked_sub(1)?)
}

/// The name of a kind of handles.
pub(crate) fn handle_name(r#type: uv_handle_type) -> Option<&'static CStr> {
    find(&HANDLES, r#type).map(|&(name, _)| name)
}

/// The size of a handle of this kind in bytes, `SIZE_MAX` for a number that is no kind.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_handle_size(r#type: uv_handle_type) -> usize {
    find(&HANDLES, r#type).map_or(usize::MAX, |&(_, size)| size)
}

/// The name of a kind of handles, as in the name of its type; null for a number that is no kind. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_handle_type_name(r#type: uv_handle_type) -> *const c_char {
    let name = if r#type == UV_FILE { Some(c"file") } else { handle_name(r#type) };
    name.map_or(null(), CStr::as_ptr)
}

/// The kind of handle that fits a descriptor: UV_TTY, UV_NAMED_PIPE, UV_TCP or UV_UDP; UV_FILE for a file or a device, which
/// none fits; UV_UNKNOWN_HANDLE for anything else, or nothing.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_guess_handle(file: c_int) -> uv_handle_type {
    match DescriptorKind::of(file) {
        DescriptorKind::Terminal => UV_TTY,
        DescriptorKind::Pipe => UV_NAMED_PIPE,
        DescriptorKind::Tcp => UV_TCP,
        DescriptorKind::Udp => UV_UDP,
        DescriptorKind::File => UV_FILE,
        DescriptorKind::Unknown => UV_UNKNOWN_HANDLE,
    }
}

/// The size of a request of this kind in bytes, `SIZE_MAX` for a number that is no kind.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_req_size(r#type: uv_req_type) -> usize {
    find(&REQUESTS, r#type).map_or(usize::MAX, |&(_, size)| size)
}

/// The name of a kind of requests, as in the name of its type; null for a number that is no kind. The text is never
/// freed.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_req_type_name(r#type: uv_req_type) -> *const c_char {
    find(&REQUESTS, r#type).map_or(null(), |&(name, _)| name.as_ptr())
}
