//! What threads share: the standard library's types; or, with `--cfg loom`, loom's, by which `scripts/races` tries the orders in
//! which threads can go on, and the values that they can see.

#[cfg(not(loom))]
pub use std::{
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread::yield_now,
    thread_local,
};

#[cfg(loom)]
pub use {
    crate::thread_local_tried as thread_local,
    loom::cell::UnsafeCell,
    loom::sync::{Mutex, MutexGuard, atomic},
    loom::thread::yield_now,
    loom::thread_local as thread_local_of_loom,
    tried::{Condvar, Thread},
};

/// As the standard library's `thread_local`. That the value is a constant is nothing to loom.
#[cfg(loom)]
#[macro_export]
macro_rules! thread_local_tried {
    ($($(#[$meta:meta])* static $name:ident: $kind:ty = const $init:block;)+) => {
        $crate::sync::thread_local_of_loom! { $($(#[$meta])* static $name: $kind = $init;)+ }
    };
}

/// Memory that its users keep in order themselves. loom sees whether they do.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(transparent)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// Memory with this value.
    #[inline]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Shows where the value is, for reading.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Shows where the value is, for writing.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// What loom has not, or has otherwise.
#[cfg(loom)]
mod tried {
    use std::ffi::CStr;
    use std::sync::LockResult;
    use std::time::Duration;

    use super::MutexGuard;
    use crate::Result;

    /// Waiting for something under a lock. No time is ever over.
    #[derive(Debug)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Nobody waits.
        pub fn new() -> Condvar {
            Condvar(loom::sync::Condvar::new())
        }

        /// As `std::sync::Condvar::wait`.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            self.0.wait(guard)
        }

        /// As `std::sync::Condvar::wait_timeout_while`, without end.
        pub fn wait_timeout_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            _: Duration,
            mut is_to_wait: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, ())> {
            while is_to_wait(&mut guard) {
                guard = self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            Ok((guard, ()))
        }

        /// As `std::sync::Condvar::notify_one`.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// As `std::sync::Condvar::notify_all`.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// A thread of loom's.
    #[derive(Debug)]
    pub struct Thread(loom::thread::JoinHandle<()>);

    impl Thread {
        /// Starts a thread that calls `entry(argument)`.
        ///
        /// # Errors
        /// None.
        pub fn start<T: Send + 'static>(_: &'static CStr, _: usize, entry: fn(T), argument: T) -> Result<Thread> {
            Ok(Thread(loom::thread::spawn(move || entry(argument))))
        }

        /// Waits until the thread has ended.
        pub fn join(self) {
            // A panic of its own is the test's.
            let _ = self.0.join();
        }
    }
}
