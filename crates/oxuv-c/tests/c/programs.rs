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
fn addresses_have_texts() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("address.c", link)), "ok\n");
    }
}

#[test]
fn errors_have_names_and_messages() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("errors.c", link)), "ok\n");
    }
}

#[test]
fn units_of_16_bits_become_bytes_and_come_back() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("strings.c", link)), "ok\n");
    }
}

#[test]
fn libraries_are_loaded_and_searched() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("dl.c", link)), "ok\n");
    }
}

#[test]
fn clocks_sleep_and_random_bytes() {
    for link in [Link::Static, Link::Shared] {
        assert_eq!(build::run(&build::program("clock.c", link)), "ok\n");
    }
}

#[test]
fn the_system_tells_of_itself() {
    let programs = [
        "cpu.c",
        "env.c",
        "interfaces.c",
        "paths.c",
        "process_title.c",
        "short_memory.c",
        "system_memory.c",
        "uname.c",
        "users.c",
    ];
    for program in programs {
        for link in [Link::Static, Link::Shared] {
            assert_eq!(build::run(&build::program(program, link)), "ok\n", "{program}");
        }
    }
}
