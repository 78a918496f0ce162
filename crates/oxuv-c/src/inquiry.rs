//! Asking the loops of a program, by a signal, why they are alive.
//!
//! The signal's handler wakes a thread of this module's, that has all loops asked. Each answers on its own thread when it
//! has next waited; of one that is in a callback, the thread says which.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use oxuv_core::kernel::{Kernel as _, Wake};
use oxuv_core::{Errno, Result};
use oxuv_observe::{Inquiry, Pulse};
use oxuv_os::{Thread, clock, signal};

use crate::loop_::{Loop, kernel::Kernel};
use crate::observe::say;

/// A loop that can be asked.
struct Asked {
    inquiry: Inquiry,
    pulse: Pulse,
    waker: <Kernel as oxuv_core::kernel::Kernel>::Waker,
}

static LOOPS: Mutex<Vec<Asked>> = Mutex::new(Vec::new());

/// The end of a pipe that the handler writes to, and the process whose it is.
static BELL: AtomicI32 = AtomicI32::new(-1);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// So long the loops have for their answers.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the thread has as its stack, in bytes.
const STACK: usize = 256 * 1024;

/// Has the loops asked when the signals come that this text speaks of.
///
/// EINVAL for what is no signal; EAGAIN, ENOMEM, EMFILE.
pub(crate) fn begin(text: &str) -> Result<()> {
    let (signals, ends): (&[c_int], bool) = match text {
        "1" => (&[libc::SIGINT, libc::SIGTERM], true),
        text => (&[signal::number_of(text).ok_or(Errno::EINVAL)?], false),
    };
    let mut ends_of_pipe = [-1; 2];
    // SAFETY: there is memory for both numbers.
    if unsafe { libc::pipe2(ends_of_pipe.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(last_error());
    }
    let [reader, writer] = ends_of_pipe;
    // SAFETY: asks for a number.
    PROCESS.store(unsafe { libc::getpid() }, Relaxed);
    BELL.store(writer, Relaxed);
    Thread::start(c"oxuv-why-alive", STACK, |(reader, ends)| attend(reader, ends), (reader, ends))?;
    signals.iter().try_for_each(|&signal| listen(signal))
}

/// Takes the signal, unless the program does something with it. What it does about it later has precedence.
fn listen(signal: c_int) -> Result<()> {
    // SAFETY: the handler does what a handler may. The actions are whole before they are used.
    unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        if libc::sigaction(signal, null_mut(), before.as_mut_ptr()) != 0 {
            return Err(last_error());
        }
        if before.assume_init().sa_sigaction != libc::SIG_DFL {
            return Ok(());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ring as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigfillset(&raw mut action.sa_mask);
        if libc::sigaction(signal, &raw const action, null_mut()) != 0 { Err(last_error()) } else { Ok(()) }
    }
}

extern "C" fn ring(signal: c_int) {
    // SAFETY: all of it a handler may do. A child of a fork has the handler and the pipe, but not the thread.
    unsafe {
        let errno = *libc::__errno_location();
        if libc::getpid() == PROCESS.load(Relaxed) {
            let number = signal as u8;
            libc::write(BELL.load(Relaxed), (&raw const number).cast(), 1);
        } else {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// A loop that is to be asked from now on.
pub(crate) fn add_loop(core: &Loop, pulse: Pulse) -> Option<Inquiry> {
    let inquiry = Inquiry::new(|keepers| {
        say(format_args!("the loop is alive because of {} handles and requests", keepers.len()));
        keepers.iter().for_each(|keeper| say(format_args!("  {keeper}")));
    });
    let waker = core.kernel().waker();
    let mut loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    // Those whose loop is gone have no other owner.
    loops.retain(|asked| !asked.inquiry.is_orphaned());
    loops.try_reserve(1).ok()?;
    loops.push(Asked { inquiry: inquiry.clone(), pulse, waker });
    Some(inquiry)
}

/// What the thread does: waits for signals, and asks.
fn attend(reader: c_int, ends: bool) {
    let mut signal = 0_u8;
    loop {
        // SAFETY: the end of a pipe that is this thread's, and memory for a byte.
        match unsafe { libc::read(reader, (&raw mut signal).cast(), 1) } {
            1 => {}
            -1 if last_error() == Errno::EINTR => continue,
            _ => return,
        }
        ask_all();
        if ends {
            // SAFETY: ends the process as the signal would have.
            unsafe {
                libc::signal(c_int::from(signal), libc::SIG_DFL);
                libc::kill(libc::getpid(), c_int::from(signal));
            }
        }
    }
}

fn ask_all() {
    let mut loops = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    loops.retain(|asked| !asked.inquiry.is_orphaned());
    for asked in &*loops {
        asked.inquiry.ask();
        asked.waker.wake();
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && !loops.iter().all(|asked| asked.inquiry.is_answered()) {
        clock::sleep(Duration::from_millis(5));
    }
    for asked in loops.iter().filter(|asked| !asked.inquiry.is_answered()) {
        match asked.pulse.under_way() {
            Some(stuck) => say(stuck),
            None => say("a loop is not being run"),
        }
    }
}

fn last_error() -> Errno {
    std::io::Error::last_os_error().into()
}
