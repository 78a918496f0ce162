//! Timers, idle, prepare and check handles, and runs that are left or nested.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use uv::{
    UV_RUN_DEFAULT, uv_check_init, uv_check_start, uv_check_stop, uv_check_t, uv_close, uv_handle_t, uv_idle_init,
    uv_idle_start, uv_idle_stop, uv_idle_t, uv_is_active, uv_loop_close, uv_loop_t, uv_prepare_init, uv_prepare_start,
    uv_prepare_t, uv_run, uv_timer_again, uv_timer_cb, uv_timer_get_repeat, uv_timer_init, uv_timer_set_repeat,
    uv_timer_start, uv_timer_stop, uv_timer_t,
};

use crate::memory::{close, free, free_loop, freed, log, logged, new, new_loop};

const EINVAL: c_int = -libc::EINVAL;

unsafe fn new_timer(loop_: *mut uv_loop_t, cb: uv_timer_cb, timeout: u64) -> *mut uv_timer_t {
    let timer = new::<uv_timer_t>();
    assert_eq!(uv_timer_init(loop_, timer), 0);
    assert_eq!(uv_timer_start(timer, cb, timeout, 0), 0);
    timer
}

unsafe extern "C-unwind" fn never(_: *mut uv_timer_t) {
    panic!("this timer was stopped or closed");
}

unsafe extern "C-unwind" fn close_itself(timer: *mut uv_timer_t) {
    log("last");
    close(timer);
    assert_eq!(uv_timer_start(timer, Some(never), 0, 0), EINVAL);
}

/// All three timers of `data` are due in one pass, this one first.
unsafe extern "C-unwind" fn close_stop_and_restart(timer: *mut uv_timer_t) {
    log("first");
    let timers = *(*timer).handle.data.cast::<[*mut uv_timer_t; 3]>();
    close(timers[1]);
    assert_eq!(uv_timer_stop(timers[2]), 0);
    assert_eq!(uv_timer_start(timers[2], Some(close_itself), 1, 0), 0);
    assert_eq!(uv_timer_start(timer, Some(close_itself), 0, 7), 0);
}

#[test]
fn timers_close_stop_and_restart_each_other() {
    unsafe fn test() {
        let loop_ = new_loop();
        let first = new_timer(loop_, Some(close_stop_and_restart), 0);
        let mut timers = [first, new_timer(loop_, Some(never), 0), new_timer(loop_, Some(never), 0)];
        (*first).handle.data = (&raw mut timers).cast();
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "first freed last freed last freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

#[test]
fn a_repeat_comes_back_as_it_was_given() {
    unsafe fn test() {
        let loop_ = new_loop();
        let timer = new::<uv_timer_t>();
        assert_eq!(uv_timer_init(loop_, timer), 0);
        assert_eq!(uv_timer_again(timer), EINVAL);
        for repeat in [u64::MAX, 1, 0, u64::MAX / 1_000_000 + 1] {
            assert_eq!(uv_timer_start(timer, Some(never), u64::MAX, repeat), 0);
            assert_eq!(uv_timer_get_repeat(timer), repeat);
            uv_timer_set_repeat(timer, !repeat);
            assert_eq!(uv_timer_get_repeat(timer), !repeat);
        }
        close(timer);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timer are alive until they are freed here.
    unsafe { test() }
}

unsafe extern "C-unwind" fn idle_once(idle: *mut uv_idle_t) {
    log("again");
    close(idle);
}

unsafe extern "C-unwind" fn close_others_and_restart(idle: *mut uv_idle_t) {
    log("idle");
    for other in *(*idle).handle.data.cast::<[*mut uv_idle_t; 3]>() {
        if other != idle {
            close(other);
        }
    }
    assert_eq!(uv_idle_stop(idle), 0);
    assert_eq!(uv_idle_start(idle, Some(idle_once)), 0);
}

unsafe extern "C-unwind" fn start_check(prepare: *mut uv_prepare_t) {
    log("prepare");
    assert_eq!(uv_check_start((*prepare).handle.data.cast(), Some(check_once)), 0);
    close(prepare);
}

unsafe extern "C-unwind" fn check_once(check: *mut uv_check_t) {
    log("check");
    assert_eq!(uv_check_stop(check), 0);
    close(check);
}

#[test]
fn watchers_close_stop_and_restart_each_other() {
    unsafe fn test() {
        let loop_ = new_loop();
        let mut idles = [new::<uv_idle_t>(), new(), new()];
        for idle in idles {
            assert_eq!(uv_idle_init(loop_, idle), 0);
            (*idle).handle.data = (&raw mut idles).cast();
            assert_eq!(uv_idle_start(idle, Some(close_others_and_restart)), 0);
        }
        let (prepare, check) = (new::<uv_prepare_t>(), new::<uv_check_t>());
        assert_eq!(uv_check_init(loop_, check), 0);
        assert_eq!(uv_prepare_init(loop_, prepare), 0);
        (*prepare).handle.data = check.cast();
        assert_eq!(uv_prepare_start(prepare, Some(start_check)), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "idle prepare check freed freed freed freed again freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the handles are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

/// The memory is the caller's by now: here it becomes another handle, of another kind.
unsafe extern "C-unwind" fn begin_again(handle: *mut uv_handle_t) {
    log("again");
    let loop_ = (*handle).r#loop;
    free(handle.cast::<uv_timer_t>());
    let timer = new_timer(loop_, Some(close_itself), 0);
    assert_eq!(uv_is_active(timer.cast()), 1);
}

#[test]
fn a_close_callback_makes_a_new_handle() {
    unsafe fn test() {
        let loop_ = new_loop();
        uv_close(new_timer(loop_, Some(never), 5).cast(), Some(begin_again));
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "again last freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn run_inside(timer: *mut uv_timer_t) {
    log("inside");
    let loop_ = (*timer).handle.r#loop;
    close(timer);
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    log("outside");
}

#[test]
fn a_run_in_a_callback_frees_the_handle_of_that_callback() {
    unsafe fn test() {
        let loop_ = new_loop();
        new_timer(loop_, Some(run_inside), 0);
        new_timer(loop_, Some(close_itself), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "inside last freed freed outside");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn throw(_: *mut uv_timer_t) {
    // Not a panic of the library's: something foreign that unwinds.
    std::panic::resume_unwind(Box::new("thrown"));
}

#[test]
fn what_a_callback_throws_passes_through_the_run() {
    unsafe fn test() {
        let loop_ = new_loop();
        let timer = new_timer(loop_, Some(throw), 0);
        new_timer(loop_, Some(close_itself), 0);
        let thrown = catch_unwind(AssertUnwindSafe(|| uv_run(loop_, UV_RUN_DEFAULT)));
        assert_eq!(thrown.unwrap_err().downcast_ref(), Some(&"thrown"));
        close(timer);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "last freed freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn close_loop(handle: *mut uv_handle_t) {
    let loop_ = (*handle).r#loop;
    freed::<uv_timer_t>(handle);
    assert_eq!(uv_loop_close(loop_), 0);
}

#[test]
fn the_last_callback_closes_the_loop() {
    unsafe fn test() {
        let loop_ = new_loop();
        uv_close(new_timer(loop_, Some(never), 5).cast(), Some(close_loop));
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed");
        free(loop_);
    }
    // SAFETY: the loop's memory outlives the run, the timer's its last callback.
    unsafe { test() }
}
