//! Ending a script from another thread.
//!
//! The engine asks whether a script is to end once in many thousand steps of the script. A step may be a call of a function of the
//! engine's that takes long, and then that is not often enough. But what takes long takes memory as a rule: while an end is wanted
//! there is none, which each such call notices, and soon the engine asks.

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rquickjs::allocator::{Allocator, RustAllocator};
use rquickjs::{Result, Runtime};

/// Ends the script of a runtime, from any thread.
#[derive(Clone)]
pub struct End(Arc<AtomicUsize>);

/// How often there is memory: always, if no end is wanted.
const ALWAYS: usize = usize::MAX;
/// When the engine has asked: enough to throw an exception. If somebody swallows that, there is none again.
const SOME: usize = 100;

impl Default for End {
    fn default() -> End {
        End(Arc::new(AtomicUsize::new(ALWAYS)))
    }
}

impl End {
    /// From now on the script has no memory.
    pub fn want(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// The engine asks whether the script is to end: if so, it has memory for the exception.
    pub fn is_wanted(&self) -> bool {
        let is_wanted = self.0.load(Ordering::Acquire) != ALWAYS;
        if is_wanted {
            self.0.store(SOME, Ordering::Release);
        }
        is_wanted
    }

    /// There is memory again, as the script is over.
    pub fn forget(&self) {
        self.0.store(ALWAYS, Ordering::Release);
    }

    fn has_memory(&self) -> bool {
        match self.0.load(Ordering::Relaxed) {
            ALWAYS => true,
            0 => false,
            // Whoever wants the end once more at the same time has it anyway.
            left => {
                self.0.store(left - 1, Ordering::Release);
                true
            }
        }
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("End").field(&self.0).finish()
    }
}

/// A runtime whose script can be ended so. What the engine asks, and what it is told, is up to its interrupt handler.
///
/// # Errors
/// No memory.
pub fn runtime_with_end(end: &End) -> Result<Runtime> {
    Runtime::new_with_alloc(Ending(end.clone()))
}

/// Rust's memory while no end is wanted.
struct Ending(End);

// SAFETY: all is left to an allocator that keeps the promises, but for null, which any of these may return. A failed `realloc`
// leaves the memory as it was.
unsafe impl Allocator for Ending {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if self.0.has_memory() { RustAllocator.alloc(size) } else { ptr::null_mut() }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        if self.0.has_memory() { RustAllocator.calloc(count, size) } else { ptr::null_mut() }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: as promised by the caller, it is ours, and so from there.
        unsafe { RustAllocator.dealloc(ptr) }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as promised by the caller, it is ours, and so from there.
        if self.0.has_memory() { unsafe { RustAllocator.realloc(ptr, new_size) } } else { ptr::null_mut() }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: as promised by the caller, it is ours, and so from there.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use rquickjs::Context;

    use super::*;

    #[test]
    fn slow_calls_end_soon_and_memory_comes_back() {
        let end = End::default();
        let runtime = runtime_with_end(&end).unwrap();
        let asked = end.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || asked.is_wanted())));
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let begin = Instant::now();
            let wants = end.clone();
            let other = thread::spawn(move || {
                thread::sleep(Duration::from_millis(100));
                wants.want();
            });
            let code = "const s = '[' + '1,'.repeat(1e5) + '1]'; for (;;) { try { JSON.parse(s); } catch {} }";
            assert!(ctx.eval::<(), _>(code).is_err());
            assert!(begin.elapsed() < Duration::from_secs(10));
            other.join().unwrap();
            let _ = ctx.catch();
            end.forget();
            assert_eq!(ctx.eval::<usize, _>("JSON.parse(s).length").unwrap(), 100_001);
        });
    }
}
