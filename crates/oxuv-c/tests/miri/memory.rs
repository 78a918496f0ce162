//! Memory for handles and requests, and a log.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use uv::{uv_close, uv_close_cb, uv_handle_t, uv_is_active, uv_is_closing, uv_loop_close, uv_loop_init, uv_loop_t};

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes that something has happened.
pub(crate) fn log(what: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(what.into()));
}

/// What has happened, in its order, since the last question.
pub(crate) fn logged() -> String {
    LOG.take().join(" ")
}

/// Memory for a `T`, uninitialised.
pub(crate) fn new<T>() -> *mut T {
    Box::into_raw(Box::<T>::new_uninit()).cast()
}

pub(crate) unsafe fn free<T>(memory: *mut T) {
    drop(Box::from_raw(memory.cast::<MaybeUninit<T>>()));
}

/// A close callback for a handle of this type from [`new`].
pub(crate) unsafe extern "C-unwind" fn freed<T>(handle: *mut uv_handle_t) {
    assert_eq!((uv_is_closing(handle), uv_is_active(handle)), (1, 0));
    free(handle.cast::<T>());
    log("freed");
}

/// Closes a handle from [`new`], and frees it when that is done.
pub(crate) unsafe fn close<T>(handle: *mut T) {
    let freed: uv_close_cb = Some(freed::<T>);
    uv_close(handle.cast(), freed);
}

pub(crate) unsafe fn new_loop() -> *mut uv_loop_t {
    let loop_ = new();
    assert_eq!(uv_loop_init(loop_), 0);
    loop_
}

pub(crate) unsafe fn free_loop(loop_: *mut uv_loop_t) {
    assert_eq!(uv_loop_close(loop_), 0);
    free(loop_);
}
