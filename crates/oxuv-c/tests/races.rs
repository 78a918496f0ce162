//! Threads that send to async handles of C, which are closed and freed meanwhile: loom tries the orders in which they can go on.

#![cfg(loom)]
#![allow(unsafe_op_in_unsafe_fn, reason = "the tests are C programs in Rust's clothes")]

use std::cell::Cell;
use std::mem::MaybeUninit;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use loom::thread;
use oxuv_os::sync::UnsafeCell;
use uv::{
    UV_RUN_DEFAULT, uv_async_cb, uv_async_init, uv_async_send, uv_async_t, uv_close, uv_handle_t, uv_loop_close,
    uv_loop_init, uv_loop_t, uv_run,
};

/// Tries the orders with so few threads that stop where they need not; `LOOM_MAX_PREEMPTIONS` says otherwise.
fn try_orders(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.max_branches = 5000;
    model.check(test);
}

type Memory<T> = std::cell::UnsafeCell<MaybeUninit<T>>;

/// Memory of C's: whoever uses it has to see to the order. loom sees whether that is so for `written`.
struct Place {
    lp: Memory<uv_loop_t>,
    handle: Memory<uv_async_t>,
    written: UnsafeCell<u32>,
    calls: Cell<u32>,
    /// What others say of themselves.
    is_sent: AtomicBool,
}

/// The place, for several threads.
#[derive(Clone)]
struct Shared(Arc<Place>);

// SAFETY: that is what the tests are about.
unsafe impl Send for Shared {}

impl Shared {
    /// A loop with an async handle.
    fn new(cb: uv_async_cb) -> Shared {
        let place = Place {
            lp: MaybeUninit::uninit().into(),
            handle: MaybeUninit::uninit().into(),
            written: UnsafeCell::new(0),
            calls: Cell::new(0),
            is_sent: AtomicBool::new(false),
        };
        let shared = Shared(Arc::new(place));
        // SAFETY: memory for both, which stays where it is.
        unsafe {
            assert_eq!(uv_loop_init(shared.lp()), 0);
            assert_eq!(uv_async_init(shared.lp(), shared.handle(), cb), 0);
            (*shared.handle()).handle.data = std::ptr::from_ref::<Place>(&shared.0).cast_mut().cast();
        }
        shared
    }

    fn lp(&self) -> *mut uv_loop_t {
        self.0.lp.get().cast()
    }

    fn handle(&self) -> *mut uv_async_t {
        self.0.handle.get().cast()
    }

    fn write_and_send(self) {
        // SAFETY: loom looks at the first, and the second is what is tested.
        unsafe {
            self.0.written.with_mut(|written| *written += 1);
            assert_eq!(uv_async_send(self.handle()), 0);
        }
    }

    /// Runs until nothing is there, and closes the loop.
    fn run(&self) {
        // SAFETY: it was initialised.
        unsafe {
            assert_eq!(uv_run(self.lp(), UV_RUN_DEFAULT), 0);
            assert_eq!(uv_loop_close(self.lp()), 0);
        }
    }
}

unsafe fn place<'a>(handle: *mut uv_handle_t) -> &'a Place {
    &*(*handle).data.cast::<Place>()
}

unsafe extern "C-unwind" fn read_and_close(handle: *mut uv_async_t) {
    let place = place(handle.cast());
    place.written.with(|written| assert_eq!(*written, 1));
    place.calls.set(place.calls.get() + 1);
    uv_close(handle.cast(), None);
}

#[test]
fn a_callback_sees_what_was_written_before_the_send() {
    try_orders(|| {
        let shared = Shared::new(Some(read_and_close));
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.write_and_send()
        });
        shared.run();
        assert_eq!(shared.0.calls.get(), 1);
        other.join().unwrap();
    });
}

#[test]
fn a_close_waits_for_sends_that_are_under_way() {
    try_orders(|| {
        let shared = Shared::new(None);
        let others: [_; 2] = std::array::from_fn(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                // SAFETY: the memory is there until both have ended.
                assert_eq!(unsafe { uv_async_send(shared.handle()) }, 0);
            })
        });
        // SAFETY: it was initialised.
        unsafe { uv_close(shared.handle().cast(), None) };
        shared.run();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

unsafe extern "C-unwind" fn close_when_sent(handle: *mut uv_async_t) {
    let place = place(handle.cast());
    place.calls.set(place.calls.get() + 1);
    if place.is_sent.load(Relaxed) {
        uv_close(handle.cast(), None);
    }
}

#[test]
fn a_send_behind_another_one_is_not_lost() {
    try_orders(|| {
        let shared = Shared::new(Some(close_when_sent));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the memory is there until this has ended.
                unsafe {
                    assert_eq!(uv_async_send(shared.handle()), 0);
                    shared.0.is_sent.store(true, Relaxed);
                    assert_eq!(uv_async_send(shared.handle()), 0);
                }
            }
        });
        shared.run();
        assert!(shared.0.calls.get() <= 3, "{}", shared.0.calls.get());
        other.join().unwrap();
    });
}

#[test]
fn a_callback_may_send_to_its_own_handle_while_others_do() {
    unsafe extern "C-unwind" fn send_again(handle: *mut uv_async_t) {
        let place = place(handle.cast());
        place.calls.set(place.calls.get() + 1);
        if place.calls.get() == 1 {
            assert_eq!(uv_async_send(handle), 0);
        } else {
            uv_close(handle.cast(), None);
        }
    }
    try_orders(|| {
        let shared = Shared::new(Some(send_again));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the memory is there until this has ended.
                assert_eq!(unsafe { uv_async_send(shared.handle()) }, 0);
            }
        });
        shared.run();
        assert_eq!(shared.0.calls.get(), 2);
        other.join().unwrap();
    });
}
