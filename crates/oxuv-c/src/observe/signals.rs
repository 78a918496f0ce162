//! Signals that have the loops asked, or their numbers written.
//!
//! The handler wakes a thread of this module's, which does it.

use std::ffi::{OsStr, c_int};
use std::io::{PipeReader, Read, pipe};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::Relaxed};

use oxuv_core::{Errno, Result};
use oxuv_os::{Thread, signal};

use super::{keepers, numbers};

/// What is done when a signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Duty(u8);

impl Duty {
    /// The loops are asked why they are alive.
    pub(super) const ASK: Duty = Duty(1);
    /// Their numbers are written.
    pub(super) const WRITE: Duty = Duty(2);
    /// And the process is ended, as by the signal.
    const END: Duty = Duty(4);

    fn is_of(self, signal: c_int) -> bool {
        DUTIES[signal as usize].load(Relaxed) & self.0 != 0
    }
}

/// By the numbers of signals.
static DUTIES: [AtomicU8; 65] = [const { AtomicU8::new(0) }; 65];

/// The end of a pipe that the handler writes to, and the process whose it is.
static BELL: AtomicI32 = AtomicI32::new(-1);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// What the thread has as its stack, in bytes.
const STACK: usize = 256 * 1024;

/// Has this done when a signal comes: by its name or number; or, for 1, before SIGINT or SIGTERM ends the process.
///
/// EINVAL for what is no signal; EAGAIN, ENOMEM, EMFILE.
pub(super) fn begin(text: &OsStr, duty: Duty) -> Result<()> {
    if text == "1" {
        return [libc::SIGINT, libc::SIGTERM].iter().try_for_each(|&signal| attend_to(signal, duty.0 | Duty::END.0));
    }
    let signal = text.to_str().and_then(signal::number_of).ok_or(Errno::EINVAL)?;
    attend_to(signal, duty.0)
}

fn attend_to(signal: c_int, duties: u8) -> Result<()> {
    if BELL.load(Relaxed) == -1 {
        start_thread()?;
    }
    DUTIES[signal as usize].fetch_or(duties, Relaxed);
    listen(signal)
}

fn start_thread() -> Result<()> {
    let (reader, writer) = pipe()?;
    Thread::start(c"oxuv-signals", STACK, attend, reader)?;
    // SAFETY: asks for a number.
    PROCESS.store(unsafe { libc::getpid() }, Relaxed);
    // The handler has it from now on, which may be called as long as there is the process.
    BELL.store(writer.into_raw_fd(), Relaxed);
    Ok(())
}

/// Takes the signal, unless the program does something with it. What it does about it later has precedence.
fn listen(signal: c_int) -> Result<()> {
    // SAFETY: the handler does what a handler may. The actions are whole before they are used.
    unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        if libc::sigaction(signal, null_mut(), before.as_mut_ptr()) != 0 {
            return Err(last_error());
        }
        let handler = ring as *const () as usize;
        if ![libc::SIG_DFL, handler].contains(&before.assume_init().sa_sigaction) {
            return Ok(());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
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

/// What the thread does: waits for signals, and does what is to be done.
fn attend(mut reader: PipeReader) {
    let mut signal = [0];
    while reader.read_exact(&mut signal).is_ok() {
        let signal = c_int::from(signal[0]);
        if Duty::ASK.is_of(signal) {
            keepers::ask_all();
        }
        if Duty::WRITE.is_of(signal) {
            numbers::write();
        }
        if Duty::END.is_of(signal) {
            // SAFETY: ends the process as the signal would have.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::kill(libc::getpid(), signal);
            }
        }
    }
}

fn last_error() -> Errno {
    std::io::Error::last_os_error().into()
}
