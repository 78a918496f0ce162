//! Signal handles: their callbacks stop, close and free them, run the loop, and leave it.

use std::ffi::c_int;

use uv::{
    UV_RUN_DEFAULT, UV_RUN_NOWAIT, simulated_kernel, uv_is_active, uv_loop_fork, uv_loop_t, uv_run, uv_signal_cb,
    uv_signal_init, uv_signal_start, uv_signal_start_oneshot, uv_signal_stop, uv_signal_t,
};

use crate::memory::{close, free_loop, log, logged, new, new_loop};

const INT: c_int = 2;
const TERM: c_int = 15;
const EINVAL: c_int = -libc::EINVAL;

unsafe fn new_signal(loop_: *mut uv_loop_t, cb: uv_signal_cb, number: c_int) -> *mut uv_signal_t {
    let signal = new::<uv_signal_t>();
    assert_eq!(uv_signal_init(loop_, signal), 0);
    assert_eq!((*signal).signum, 0);
    assert_eq!(uv_signal_start(signal, cb, number), 0);
    assert_eq!((*signal).signum, number);
    signal
}

unsafe extern "C-unwind" fn note(signal: *mut uv_signal_t, number: c_int) {
    assert_eq!((*signal).signum, number);
    log(if number == INT { "int" } else { "term" });
}

unsafe extern "C-unwind" fn close_and_run(signal: *mut uv_signal_t, _: c_int) {
    log("closing");
    let loop_ = (*signal).handle.r#loop;
    close(signal);
    assert_eq!((*signal).signum, 0);
    assert_eq!(uv_signal_start(signal, Some(note), INT), EINVAL);
    // The handle is freed in here.
    uv_run(loop_, UV_RUN_NOWAIT);
}

unsafe extern "C-unwind" fn start_other(signal: *mut uv_signal_t, _: c_int) {
    log("other");
    assert_eq!(uv_signal_start_oneshot(signal, Some(note), TERM), 0);
}

#[test]
fn a_handle_may_be_freed_in_a_run_inside_its_callback() {
    unsafe fn test() {
        let loop_ = new_loop();
        let sim = simulated_kernel(loop_);
        new_signal(loop_, Some(close_and_run), INT);
        let second = new_signal(loop_, Some(note), TERM);
        assert_eq!(uv_signal_start_oneshot(second, Some(start_other), INT), 0);
        assert!(sim.raise(INT) && sim.raise(INT));
        assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
        assert_eq!(logged(), "closing other freed");
        assert_eq!(((*second).signum, uv_is_active(second.cast())), (TERM, 1));
        assert!(sim.raise(TERM));
        assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 0);
        assert_eq!(logged(), "term");
        assert_eq!(((*second).signum, uv_is_active(second.cast())), (0, 0));
        close(second);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed");
        free_loop(loop_);
    }
    // SAFETY: the loop is alive as long as `test` uses it, and the handles until they are freed in their last callback.
    unsafe { test() }
}

#[test]
fn a_child_hears_of_its_own_signals() {
    unsafe fn test() {
        let loop_ = new_loop();
        let sim = simulated_kernel(loop_);
        let signal = new_signal(loop_, Some(note), INT);
        sim.raise(INT);
        assert_eq!(uv_loop_fork(loop_), 0);
        uv_run(loop_, UV_RUN_NOWAIT);
        assert_eq!(logged(), "");
        sim.raise(INT);
        uv_run(loop_, UV_RUN_NOWAIT);
        assert_eq!(logged(), "int");
        assert_eq!((uv_signal_stop(signal), uv_signal_stop(signal), (*signal).signum), (0, 0, 0));
        close(signal);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the handle are alive until they are freed here.
    unsafe { test() }
}
