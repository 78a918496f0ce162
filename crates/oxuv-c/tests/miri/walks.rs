//! Walks that re-enter, handles that are zero, stale or gone with their loop, and the counts that programs see.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use uv::{
    UV_RUN_DEFAULT, UV_RUN_NOWAIT, UV_RUN_ONCE, uv_async_init, uv_async_send, uv_async_t, uv_backend_fd,
    uv_backend_timeout, uv_close, uv_fileno, uv_handle_get_loop, uv_handle_t, uv_has_ref, uv_idle_start, uv_idle_stop,
    uv_idle_t, uv_is_active, uv_is_closing, uv_loop_alive, uv_loop_close, uv_loop_configure, uv_loop_delete,
    uv_loop_new, uv_loop_t, uv_metrics_idle_time, uv_metrics_info, uv_metrics_t, uv_now, uv_ref, uv_run, uv_stop,
    uv_timer_again, uv_timer_get_due_in, uv_timer_init, uv_timer_set_repeat, uv_timer_start, uv_timer_stop, uv_timer_t,
    uv_unref, uv_update_time, uv_walk,
};

use crate::memory::{close, free, free_loop, freed, log, logged, new, new_loop};

const EINVAL: c_int = -libc::EINVAL;

unsafe fn new_timer(loop_: *mut uv_loop_t) -> *mut uv_timer_t {
    let timer = new::<uv_timer_t>();
    assert_eq!(uv_timer_init(loop_, timer), 0);
    timer
}

unsafe extern "C-unwind" fn never(_: *mut uv_timer_t) {
    panic!("this timer is not due");
}

unsafe extern "C-unwind" fn close_each(handle: *mut uv_handle_t, _: *mut c_void) {
    log("walked");
    if uv_is_closing(handle) == 0 {
        close(handle.cast::<uv_timer_t>());
    }
}

/// Closes this handle and the next, lets both be freed, and makes another one.
unsafe extern "C-unwind" fn free_two_and_make_one(handle: *mut uv_handle_t, arg: *mut c_void) {
    log("walked");
    let timers = &mut *arg.cast::<Vec<*mut uv_timer_t>>();
    if timers.len() == 4 {
        assert_eq!(handle, timers[0].cast());
        let loop_ = uv_handle_get_loop(handle);
        close(timers[0]);
        close(timers[1]);
        assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 0);
        timers.push(new_timer(loop_));
    }
}

#[test]
fn a_run_inside_a_walk_frees_what_the_walk_is_at() {
    unsafe fn test() {
        let loop_ = new_loop();
        let mut timers: Vec<_> = (0..4).map(|_| new_timer(loop_)).collect();
        uv_walk(loop_, Some(free_two_and_make_one), (&raw mut timers).cast());
        assert_eq!(logged(), "walked freed freed walked walked");
        uv_walk(loop_, Some(close_each), null_mut());
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "walked walked walked freed freed freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn count(_: *mut uv_handle_t, arg: *mut c_void) {
    *arg.cast::<u32>() += 1;
}

unsafe extern "C-unwind" fn walk_inside(handle: *mut uv_handle_t, arg: *mut c_void) {
    uv_walk(uv_handle_get_loop(handle), Some(count), arg);
    log("walked");
}

unsafe extern "C-unwind" fn leave(_: *mut uv_handle_t, _: *mut c_void) {
    std::panic::resume_unwind(Box::new("left"));
}

#[test]
fn walks_nest_and_may_be_left() {
    unsafe fn test() {
        let loop_ = new_loop();
        let timers = [new_timer(loop_), new_timer(loop_), new_timer(loop_)];
        let mut counted = 0_u32;
        let left = catch_unwind(AssertUnwindSafe(|| uv_walk(loop_, Some(leave), null_mut())));
        assert_eq!(left.unwrap_err().downcast_ref(), Some(&"left"));
        uv_walk(loop_, Some(walk_inside), (&raw mut counted).cast());
        assert_eq!((counted, logged().as_str()), (9, "walked walked walked"));
        timers.iter().for_each(|&timer| close(timer));
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed freed freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn close_the_loop(handle: *mut uv_handle_t) {
    let loop_ = uv_handle_get_loop(handle);
    freed::<uv_timer_t>(handle);
    assert_eq!(uv_loop_close(loop_), 0);
}

unsafe extern "C-unwind" fn end_everything(handle: *mut uv_handle_t, _: *mut c_void) {
    uv_close(handle, Some(close_the_loop));
    assert_eq!(uv_run(uv_handle_get_loop(handle), UV_RUN_DEFAULT), 0);
}

#[test]
fn the_loop_is_closed_during_a_walk() {
    unsafe fn test() {
        let loop_ = new_loop();
        new_timer(loop_);
        uv_walk(loop_, Some(end_everything), null_mut());
        assert_eq!(logged(), "freed");
        free(loop_);
    }
    // SAFETY: the loop's memory outlives the walk, the timer's its close callback.
    unsafe { test() }
}

/// All that can be asked of a timer that is zero, or closed and perhaps without a loop.
unsafe fn ask(timer: *mut uv_timer_t, is_closed: bool) {
    let handle: *mut uv_handle_t = timer.cast();
    let stopped = if is_closed { 0 } else { EINVAL };
    assert_eq!((uv_is_active(handle), uv_is_closing(handle), uv_has_ref(handle)), (0, is_closed.into(), 0));
    uv_ref(handle);
    uv_unref(handle);
    uv_close(handle, None);
    assert_eq!(uv_fileno(handle, &mut 0), EINVAL);
    assert_eq!(uv_timer_start(timer, Some(never), 0, 0), EINVAL);
    assert_eq!(uv_timer_stop(timer), stopped);
    assert_eq!(uv_timer_again(timer), stopped);
    uv_timer_set_repeat(timer, 1);
    assert_eq!(uv_timer_get_due_in(timer), 0);
    assert_eq!(uv_idle_start(timer.cast::<uv_idle_t>(), None), EINVAL);
    assert_eq!(uv_idle_stop(timer.cast::<uv_idle_t>()), stopped);
}

#[test]
fn zero_and_closed_handles_are_known_for_what_they_are() {
    unsafe fn test() {
        let mut zero = std::mem::zeroed::<uv_timer_t>();
        ask(&raw mut zero, false);
        let mut zero = std::mem::zeroed::<uv_async_t>();
        assert_eq!(uv_async_send(&raw mut zero), EINVAL);

        let loop_ = uv_loop_new();
        let timer = new_timer(loop_);
        assert_eq!(uv_timer_start(timer, Some(never), 1, 0), 0);
        assert_eq!(uv_timer_start(timer, None, 1, 0), EINVAL);
        uv_loop_delete(loop_); // It has a handle, and stays.
        uv_close(timer.cast(), None);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        ask(timer, true);
        uv_loop_delete(loop_);
        ask(timer, true);
        free(timer);
    }
    // SAFETY: the handles' memory is there as long as they are asked, and the loop's until it is deleted.
    unsafe { test() }
}

#[test]
fn closed_and_zero_loops_have_nothing_to_do() {
    unsafe fn ask(loop_: *mut uv_loop_t) {
        let timer = new::<uv_timer_t>();
        assert_eq!(uv_timer_init(loop_, timer), EINVAL);
        free(timer);
        assert_eq!([UV_RUN_DEFAULT, UV_RUN_ONCE, UV_RUN_NOWAIT].map(|mode| uv_run(loop_, mode)), [0; 3]);
        assert_eq!((uv_loop_alive(loop_), uv_now(loop_), uv_backend_timeout(loop_)), (0, 0, 0));
        uv_stop(loop_);
        uv_update_time(loop_);
        uv_walk(loop_, Some(close_each), null_mut());
        uv_walk(loop_, None, null_mut());
        assert_eq!(uv_backend_fd(loop_), -1);
        let metrics = new::<uv_metrics_t>();
        assert_eq!(uv_metrics_info(loop_, metrics), EINVAL);
        free(metrics);
        assert_eq!((uv_metrics_idle_time(loop_), uv_loop_configure(loop_, 1, 0)), (0, EINVAL));
        assert_eq!(uv_loop_close(loop_), EINVAL);
    }
    unsafe fn test() {
        ask(&raw mut *Box::new(std::mem::zeroed::<uv_loop_t>()));
        let loop_ = new_loop();
        assert_eq!(uv_metrics_info(loop_, null_mut()), EINVAL);
        assert_eq!(uv_run(loop_, 3), EINVAL);
        assert_eq!(uv_loop_close(loop_), 0);
        ask(loop_);
        free(loop_);
    }
    // SAFETY: the memory of both loops is there as long as they are asked.
    unsafe { test() }
}

unsafe extern "C-unwind" fn give_back(timer: *mut uv_timer_t) {
    log("fired");
    let loop_ = uv_handle_get_loop(timer.cast());
    assert_eq!(((*loop_).active_handles, (*loop_).active_reqs), (1, 0));
    (*loop_).active_handles -= 1;
    close(timer);
}

#[test]
fn a_program_changes_the_count_of_active_handles() {
    unsafe fn test() {
        let loop_ = new_loop();
        (*loop_).active_handles += 1;
        assert_eq!((uv_loop_alive(loop_), uv_run(loop_, UV_RUN_NOWAIT)), (1, 1));
        assert_eq!(uv_backend_timeout(loop_), -1);
        let timer = new_timer(loop_);
        assert_eq!(uv_timer_start(timer, Some(give_back), 5, 0), 0);
        assert_eq!((*loop_).active_handles, 2);
        assert_eq!((uv_backend_timeout(loop_), uv_timer_get_due_in(timer)), (5, 5));
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "fired freed");
        assert_eq!((*loop_).active_handles, 0);
        let sender = new::<uv_async_t>();
        assert_eq!(uv_async_init(loop_, sender, None), 0);
        assert_eq!((*loop_).active_handles, 1);
        close(sender);
        assert_eq!((*loop_).active_handles, 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the handles are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}

unsafe extern "C-unwind" fn stop_by_flag(timer: *mut uv_timer_t) {
    log("fired");
    (*uv_handle_get_loop(timer.cast())).stop_flag = 1;
    assert_eq!(uv_timer_stop(timer), 0);
}

#[test]
fn a_program_sets_the_stop_flag() {
    unsafe fn test() {
        let loop_ = new_loop();
        let timers = [new_timer(loop_), new_timer(loop_)];
        assert_eq!(uv_timer_start(timers[0], Some(stop_by_flag), 1, 1), 0);
        assert_eq!(uv_timer_start(timers[1], Some(never), 1_000_000, 0), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 1);
        assert_eq!(((*loop_).stop_flag, logged().as_str()), (0, "fired"));
        uv_stop(loop_);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 1);
        timers.iter().for_each(|&timer| close(timer));
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), "freed freed");
        free_loop(loop_);
    }
    // SAFETY: the loop and the timers are alive as long as `test` and the callbacks use them.
    unsafe { test() }
}
