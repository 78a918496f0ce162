//! Where another thread is: the functions that it is in.
//!
//! One that computes is sent a signal, SIGURG, which programs ignore as a rule; its handler takes the addresses. One that waits in
//! the kernel would be disturbed by that: `sleep`, `poll` and the like return early for any signal that is handled. So its stack is
//! looked through for what may be the addresses of functions that have called others.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::fs::FileExt;
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
/// Among those of a thread that waits in the kernel there may be some of functions that it has been in before.
pub fn of(thread: i32) -> Vec<usize> {
    match state(thread) {
        Some(State::Runs) => ask(thread),
        Some(State::Waits { function, stack }) => look_through(function, stack).unwrap_or_default(),
        None => Vec::new(),
    }
}

/// What a thread does.
enum State {
    /// It runs, or waits in a way that a signal does not end.
    Runs,
    /// It waits in the kernel: where it has called that, and where its stack begins.
    Waits { function: usize, stack: usize },
}

/// What the kernel says that a thread does.
fn state(thread: i32) -> Option<State> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
    if text.starts_with("running") {
        return Some(State::Runs);
    }
    // The number of the call, six arguments, the beginning of the stack, where it goes on.
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let address = |nth: usize| usize::from_str_radix(words.get(nth)?.trim_start_matches("0x"), 16).ok();
    let is_lock = words.first()?.parse() == Ok(libc::SYS_futex) && address(4) == Some(0);
    if is_lock {
        // Without a timeout it is gone on with after a signal.
        return Some(State::Runs);
    }
    Some(State::Waits { function: address(words.len() - 1)?, stack: address(words.len() - 2)? })
}

/// So much of a stack is looked through, in bytes.
const REACH: usize = 128 * 1024;

/// The addresses on a stack behind which a function goes on that has called another.
fn look_through(function: usize, stack: usize) -> Option<Vec<usize>> {
    let memory = File::open("/proc/self/mem").ok()?;
    let code = code()?;
    let mut bytes = vec![0; REACH];
    let length = memory.read_at(&mut bytes, stack as u64).ok()?;
    let mut found = vec![function];
    let (words, _) = bytes[..length].as_chunks();
    for word in words.iter().map(|&word| usize::from_ne_bytes(word)) {
        let mut before = [0; CALL];
        let is_code = code.iter().any(|range| range.contains(&word));
        if is_code && memory.read_exact_at(&mut before, (word - CALL) as u64).is_ok() && ends_with_call(before) {
            found.push(word);
        }
        if found.len() == DEPTH {
            break;
        }
    }
    Some(found)
}

/// Where code is.
fn code() -> Option<Vec<Range<usize>>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let range = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        rest.starts_with("r-x").then_some(number(begin)? + CALL..number(end)?)
    };
    Some(maps.lines().filter_map(range).collect())
}

/// The most bytes that an instruction has which calls.
const CALL: usize = 7;

/// Whether these bytes of code end with an instruction that calls.
fn ends_with_call(code: [u8; CALL]) -> bool {
    if cfg!(target_arch = "aarch64") {
        let [.., a, b, c, d] = code;
        let instruction = u32::from_le_bytes([a, b, c, d]);
        return instruction >> 26 == 0b10_0101 || instruction & 0xffff_fc1f == 0xd63f_0000;
    }
    // A call to a place so far away, or one by a register or memory.
    code[2] == 0xe8 || code.windows(2).any(|pair| pair[0] == 0xff && pair[1] >> 3 & 7 == 2)
}

/// Has the thread say it.
fn ask(thread: i32) -> Vec<usize> {
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

    /// What `poll` says at its end, after 600 milliseconds.
    #[inline(never)]
    fn a_function_that_waits() -> i32 {
        // SAFETY: there is nothing that it is to look at.
        std::hint::black_box(unsafe { libc::poll(null_mut(), 0, 600) })
    }

    /// The functions that a thread is in which calls this, and what that gives.
    fn functions_in<T: Send + 'static>(call: fn() -> T) -> (Vec<String>, T) {
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            sender.send(this_thread()).unwrap();
            call()
        });
        let number = receiver.recv().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let found = of(number);
        MAY_END.store(true, Relaxed);
        let mut symbols = Symbols::default();
        let name = |address| String::from_utf8_lossy(symbols.name_of(address)).into_owned();
        (found.into_iter().map(name).collect(), thread.join().unwrap())
    }

    #[test]
    fn a_thread_tells_where_it_is() {
        let (names, ()) = functions_in(a_function_that_does_not_end);
        assert!(names.iter().any(|name| name.contains("a_function_that_does_not_end")), "{names:?}");
        assert!(of(i32::MAX).is_empty());
    }

    #[test]
    fn a_thread_that_waits_is_seen_and_not_disturbed() {
        let (names, polled) = functions_in(a_function_that_waits);
        assert!(names.iter().any(|name| name.contains("a_function_that_waits")), "{names:?}");
        // An error, had a signal come.
        assert_eq!(polled, 0);
    }

    #[test]
    fn what_goes_before_an_address_to_return_to_is_a_call() {
        if cfg!(target_arch = "x86_64") {
            assert!(ends_with_call([0x90, 0x90, 0xe8, 1, 2, 3, 4]));
            assert!(ends_with_call([0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0]));
            assert!(!ends_with_call([0x90, 0xe8, 0x90, 0x90, 0x90, 0xff, 0xc0]));
        }
    }
}
