//! The programs about threads and what they synchronise by, with both libraries.

use crate::build::{self, Link};

macro_rules! programs {
    ($($test:ident: $source:literal;)*) => {$(
        #[test]
        fn $test() {
            for link in [Link::Static, Link::Shared] {
                assert_eq!(build::run(&build::program($source, link)), "ok\n");
            }
        }
    )*};
}

programs! {
    threads: "thread.c";
    affinity: "thread_affinity.c";
    names: "thread_name.c";
    priorities: "thread_priority.c";
    locks: "thread_lock.c";
    semaphores: "thread_semaphore.c";
    conditions: "thread_condition.c";
    barriers: "thread_barrier.c";
    once_and_keys: "thread_once.c";
}
