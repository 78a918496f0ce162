//! Shared ownership whose making can fail.

use std::alloc::{Layout, alloc};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;

use crate::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use crate::{Errno, Result};

/// An `Arc` that reports short memory instead of ending the process. There are no weak references.
pub struct Shared<T> {
    place: NonNull<Counted<T>>,
    /// The last owner drops the value.
    owns: PhantomData<Counted<T>>,
}

struct Counted<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: an owner gives out `&T`, and the last one, on whatever thread, drops the `T`: the same needs as Arc's.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: from a `&Shared` one gets a `&T` and another owner; both are covered by `T: Send + Sync`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The first owner of this value.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(value: T) -> Result<Self> {
        let layout = Layout::new::<Counted<T>>();
        // SAFETY: the layout has room for a counter, so its size is not zero.
        let place = NonNull::new(unsafe { alloc(layout) }.cast::<Counted<T>>()).ok_or(Errno::ENOMEM)?;
        // SAFETY: memory of this layout that nobody else knows of.
        unsafe { place.write(Counted { owners: AtomicUsize::new(1), value }) };
        Ok(Shared { place, owns: PhantomData })
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: the memory lives as long as it has an owner, and this is one.
        unsafe { self.place.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Whoever clones has an owner already; nothing is published by it.
        let before = self.counted().owners.fetch_add(1, Relaxed);
        if before > isize::MAX as usize {
            // So many owners can only be forgotten ones. Wrapping to zero would free what is in use.
            abort();
        }
        Shared { place: self.place, owns: PhantomData }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.counted().owners.fetch_sub(1, Release) == 1 {
            // All that other owners did happened before they left. A fence would say the same, but not to ThreadSanitizer.
            self.counted().owners.load(Acquire);
            // SAFETY: this was the last owner. The memory came from `alloc` with the layout that the box frees it with.
            drop(unsafe { Box::from_raw(self.place.as_ptr()) });
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_value_is_dropped_with_its_last_owner() {
        let value = Arc::new(7);
        let first = Shared::new(Arc::clone(&value)).unwrap();
        let second = first.clone();
        drop(first);
        assert_eq!((**second, Arc::strong_count(&value)), (7, 2));
        drop(second);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn owners_may_come_and_go_on_many_threads() {
        let value = Arc::new(AtomicUsize::new(0));
        let shared = Shared::new(Arc::clone(&value)).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for _ in 0..100 {
                        shared.clone().fetch_add(1, Relaxed);
                    }
                })
            })
            .collect();
        drop(shared);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!((value.load(Relaxed), Arc::strong_count(&value)), (400, 1));
    }
}
