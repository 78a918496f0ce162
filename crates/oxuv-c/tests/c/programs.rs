//! Programs that check for themselves, with both libraries.

use crate::build::{self, Link};

#[test]
fn timers_and_watchers() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("timer.c", link)), "ok\n");
    }
}

#[test]
fn callbacks_may_do_anything_to_any_handle() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("reentrant.c", link)), "ok\n");
    }
}

#[test]
fn callbacks_may_be_left_by_longjmp() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("jump.c", link)), "ok\n");
    }
}

#[test]
fn callbacks_may_be_left_by_an_exception() {
    if !build::has_cplusplus() {
        println!("left out: there is no C++ compiler here");
        return;
    }
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("throw.cc", link)), "ok\n");
    }
}

#[test]
fn threads_may_end_in_a_callback() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("end_thread.c", link)), "ok\n");
    }
}

#[test]
fn async_handles_are_sent_to_from_anywhere() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("async.c", link)), "ok\n");
    }
}

#[test]
fn memory_comes_from_the_programs_allocator() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("allocator.c", link)), "ok\n");
    }
}

#[test]
fn poll_handles() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("poll.c", link)), "ok\n");
    }
}

#[test]
fn tcp_connections_are_made_and_refused() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("tcp_connect.c", link)), "ok\n");
    }
}

#[test]
fn tcp_handles_have_options() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("tcp_options.c", link)), "ok\n");
    }
}

#[test]
fn streams_refuse_what_they_cannot_do() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("stream_state.c", link)), "ok\n");
    }
}

#[test]
fn streams_are_closed_on_one_side() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("half_close.c", link)), "ok\n");
    }
}

#[test]
fn writes_are_sent_at_once_or_queued() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("try_write.c", link)), "ok\n");
    }
}

#[test]
fn connections_are_reset() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("close_reset.c", link)), "ok\n");
    }
}
