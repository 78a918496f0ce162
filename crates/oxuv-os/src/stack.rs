//! Where another thread is: the functions that it is in.
//!
//! The thread is sent a signal, SIGURG, which programs ignore as a rule; its handler takes the addresses.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock;

/// So many functions are told, the innermost first.
const DEPTH: usize = 48;

/// The addresses, written by the handler, and how many: -1 when it is to write some, -2 else.
static ADDRESSES: [AtomicUsize; DEPTH] = [const { AtomicUsize::new(0) }; DEPTH];
static COUNT: AtomicI32 = AtomicI32::new(IDLE);
const ASKED: i32 = -1;
const IDLE: i32 = -2;

/// The functions of the handler itself, and of the signal.
const OWN: usize = 2;

/// So long the thread has for its answer: it may be in the kernel, uninterruptible.
const PATIENCE: Duration = Duration::from_millis(200);

/// The calling thread, for [`of`].
pub fn this_thread() -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() }
}

/// The addresses in the functions that a thread of this process is in, the innermost first; none if the program does
/// something about SIGURG itself, or the thread does not answer.
///
/// The thread is interrupted: calls that a signal cuts short, `sleep` and `poll` among them, return early.
pub fn of(thread: i32) -> Vec<usize> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !listen() {
        return Vec::new();
    }
    COUNT.store(ASKED, Release);
    // SAFETY: sends a signal to a thread of this process; one that is gone is an error.
    if unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) } != 0 {
        COUNT.store(IDLE, Relaxed);
        return Vec::new();
    }
    let end = clock::now() + PATIENCE.as_nanos() as u64;
    while COUNT.load(Acquire) < 0 && clock::now() < end {
        clock::sleep(Duration::from_millis(1));
    }
    let count = COUNT.swap(IDLE, Acquire).max(0) as usize;
    ADDRESSES[..count].iter().skip(OWN).map(|address| address.load(Relaxed)).collect()
}

/// Has the handler called; false if the signal is somebody else's.
fn listen() -> bool {
    // SAFETY: the actions are whole before they are used; the handler does what a handler may, once `backtrace` has been called
    // outside of one, where it may load what it needs.
    unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        if libc::sigaction(libc::SIGURG, null_mut(), before.as_mut_ptr()) != 0 {
            return false;
        }
        let handler = answer as *const () as usize;
        match before.assume_init().sa_sigaction {
            libc::SIG_DFL => {}
            known => return known == handler,
        }
        let mut room = [null_mut::<c_void>(); 4];
        libc::backtrace(room.as_mut_ptr(), room.len() as c_int);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGURG, &raw const action, null_mut()) == 0
    }
}

extern "C" fn answer(_: c_int) {
    if COUNT.load(Acquire) != ASKED {
        return;
    }
    let mut found = [null_mut::<c_void>(); DEPTH];
    // SAFETY: there is room for so many, and the errno is put back.
    let count = unsafe {
        let errno = *libc::__errno_location();
        let count = libc::backtrace(found.as_mut_ptr(), DEPTH as c_int);
        *libc::__errno_location() = errno;
        count.clamp(0, DEPTH as c_int)
    };
    for (place, address) in ADDRESSES.iter().zip(&found[..count as usize]) {
        place.store(*address as usize, Relaxed);
    }
    COUNT.store(count, Release);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::symbol::Symbols;

    static MAY_END: AtomicBool = AtomicBool::new(false);

    #[inline(never)]
    fn a_function_that_does_not_end() {
        while !MAY_END.load(Relaxed) {
            std::hint::black_box(());
        }
    }

    #[test]
    fn a_thread_tells_where_it_is() {
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            sender.send(this_thread()).unwrap();
            a_function_that_does_not_end();
        });
        let number = receiver.recv().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let found = of(number);
        MAY_END.store(true, Relaxed);
        thread.join().unwrap();
        let mut symbols = Symbols::default();
        let names: Vec<_> =
            found.iter().map(|&address| String::from_utf8_lossy(symbols.name_of(address)).into_owned()).collect();
        assert!(names.iter().any(|name| name.contains("a_function_that_does_not_end")), "{names:?}");
        assert!(of(i32::MAX).is_empty());
    }
}
