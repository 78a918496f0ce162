//! When a wait of no time is left out.

use super::*;
use crate::Lane;
use crate::kernel::{Kernel, Readiness, Watching};

/// A kernel that nothing reaches yet.
fn unreached() -> Linux {
    let mut kernel = Linux::new(false).unwrap();
    kernel.skip_vain_waits();
    kernel
}

/// Whether a wait of no time asks Linux: it finds a wake-up then, which this kernel has no reason to expect.
fn asks(kernel: &mut Linux) -> bool {
    kernel.waker().wake();
    kernel.wait(Some(0)).unwrap() > 0
}

/// A job that does nothing.
struct Nothing;

impl Job for Nothing {
    fn run(&mut self) {}
}

#[test]
fn a_wait_of_no_time_is_left_out_while_it_would_find_nothing() {
    let mut kernel = unreached();
    assert!(!asks(&mut kernel) && !asks(&mut kernel));
    // All others are not.
    assert_eq!(kernel.wait(Some(1)), Ok(1));
    assert_eq!(kernel.wait(Some(0)), Ok(0));
}

#[test]
fn it_is_not_left_out_once_something_can_come() {
    let with = |reach: fn(&mut Linux)| {
        let mut kernel = unreached();
        reach(&mut kernel);
        assert!(asks(&mut kernel) && asks(&mut kernel));
    };
    with(Kernel::expect_wakes);
    with(|kernel| {
        let fd = kernel.unix_socket().unwrap();
        kernel.watch(fd.as_raw_fd(), 1, Readiness::READ, false).unwrap();
    });
    with(|kernel| kernel.watch_signal(12, Watching::Always).unwrap());
    for lane in [Lane::Work, Lane::FastIo] {
        let mut kernel = unreached();
        kernel.submit(lane, 1, Box::new(Nothing)).map_err(|(error, _)| error).unwrap();
        assert!(asks(&mut kernel));
        while kernel.collect_finished() == 0 {
            kernel.wait(None).unwrap();
        }
        assert_eq!(kernel.next_finished().unwrap().request, 1);
        assert!(asks(&mut kernel));
    }
    with(|kernel| assert_eq!(kernel.after_fork(), Ok(false)));
}

#[test]
fn nor_by_those_that_wait_in_another_way() {
    assert!(asks(&mut Linux::new(false).unwrap()));
    let with = |choose: fn(&mut Linux)| {
        let [mut before, mut after] = [Linux::new(false).unwrap(), unreached()];
        choose(&mut before);
        before.skip_vain_waits();
        choose(&mut after);
        assert!(asks(&mut before) && asks(&mut after));
    };
    with(Linux::use_test_clock);
    with(Linux::block_sigprof);
}
