//! Starting a thread, without the memory that the standard library takes for granted.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use crate::{Errno, Result};

/// A thread that was started here. Dropped without a [`Thread::join`], it goes on by itself.
pub struct Thread(Option<libc::pthread_t>);

struct Start<T> {
    entry: fn(T),
    argument: T,
    name: &'static CStr,
}

impl Thread {
    /// Starts a thread of this name, of which the kernel keeps 15 bytes, with so many bytes of stack. It calls
    /// `entry(argument)` and ends; a panic in it aborts the process.
    ///
    /// # Errors
    /// EAGAIN when the system has no room for another thread; ENOMEM; EINVAL for a stack too small.
    pub fn start<T: Send + 'static>(
        name: &'static CStr,
        stack_size: usize,
        entry: fn(T),
        argument: T,
    ) -> Result<Thread> {
        let mut place = Vec::new();
        place.try_reserve_exact(1)?;
        place.push(Start { entry, argument, name });
        let start: Box<[Start<T>]> = place.into_boxed_slice();
        let start: *mut Start<T> = Box::into_raw(start).cast();
        let mut attributes = MaybeUninit::uninit();
        let mut thread = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised before they are used, and destroyed after. `run` gets what it asks for:
        // a start of the same `T`, which is its own from then on.
        let refused = unsafe {
            let mut refused = libc::pthread_attr_init(attributes.as_mut_ptr());
            if refused == 0 {
                refused = libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack_size);
                if refused == 0 {
                    refused = libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run::<T>, start.cast());
                }
                libc::pthread_attr_destroy(attributes.as_mut_ptr());
            }
            refused
        };
        if refused != 0 {
            // SAFETY: no thread has got it, so it is ours still; a boxed slice of one element.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, 1)) });
            return Err(Errno::from_raw(refused));
        }
        // SAFETY: it was started, so its number is written.
        Ok(Thread(Some(unsafe { thread.assume_init() })))
    }

    /// Waits until the thread has ended; a thread does not wait for itself.
    pub fn join(mut self) {
        if let Some(thread) = self.0.take() {
            // SAFETY: started here, and neither detached nor joined before. What it returns is nothing.
            unsafe { libc::pthread_join(thread, null_mut()) };
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // SAFETY: started here, and neither detached nor joined before.
            unsafe { libc::pthread_detach(thread) };
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Thread")
    }
}

extern "C" fn run<T>(start: *mut c_void) -> *mut c_void {
    // SAFETY: `start` made it a boxed slice of one element and has given it to this thread alone.
    let start = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start.cast::<Start<T>>(), 1)) };
    // The memory is freed before the thread does anything: in a child of a fork it would be lost.
    let start = start.into_iter().next();
    if let Some(Start { entry, argument, name }) = start {
        // SAFETY: a text, for the calling thread; one that is too long is refused, and then it has no name.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), null::<c_void>(), null::<c_void>(), null::<c_void>()) };
        entry(argument);
    }
    null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_has_its_name_and_its_stack_and_is_joined() {
        let (sender, receiver) = mpsc::channel();
        let thread = Thread::start(
            c"some-worker",
            8 << 20,
            |sender: mpsc::Sender<String>| {
                // Deeper than the usual 2 MiB.
                let mut deep = [1_u8; 5 << 20];
                std::hint::black_box(&mut deep);
                assert_eq!(deep[1 << 20], 1);
                sender.send(std::fs::read_to_string("/proc/thread-self/comm").unwrap()).unwrap();
            },
            sender,
        );
        thread.unwrap().join();
        assert_eq!(receiver.try_recv().unwrap(), "some-worker\n");
    }

    #[test]
    fn what_was_given_to_a_thread_that_cannot_be_is_dropped() {
        let (sender, receiver) = mpsc::channel::<()>();
        let refused = Thread::start(c"none", 1, |_| {}, sender);
        assert_eq!(refused.unwrap_err(), Errno::EINVAL);
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }
}
