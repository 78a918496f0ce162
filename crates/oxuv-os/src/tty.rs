//! Terminals: their modes and size, and how to read one without blocking and without making others do the same.

use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

use libc::termios;
use rustix::fs::{Mode as Permissions, OFlags, fcntl_getfl, open};
use rustix::io::retry_on_intr;
use rustix::termios::tcgetwinsize;

use crate::fork::Process;
use crate::{Descriptor, DescriptorKind, Errno, Result, set_nonblocking};

/// What a terminal does with what is typed and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TtyMode {
    /// As it was found.
    #[default]
    Normal,
    /// Each key is read at once, as it is: no lines, no echo, no signals. Printing goes on as usual.
    Raw,
    /// Bytes go through in both directions as they are.
    Io,
    /// The same as [`TtyMode::Raw`]. There is a difference on Windows.
    RawVt,
}

/// The mode that a terminal is in, and how it was found.
///
/// Dropped before the terminal's descriptor is closed, it gives back the one that [`reset_mode`] would give back.
#[derive(Debug)]
pub struct Modes {
    number: RawFd,
    mode: TtyMode,
    /// Its settings when it was last put in a mode from [`TtyMode::Normal`].
    found: Option<termios>,
    /// The process that has changed it. A child that has inherited this does not give the mode back.
    process: Process,
}

impl Modes {
    /// Of the terminal of this number, of which nothing was changed.
    pub fn new(number: RawFd) -> Modes {
        Modes { number, mode: TtyMode::Normal, found: None, process: Process::current() }
    }

    /// Changes the mode of the terminal: at once, not waiting until everything is printed.
    ///
    /// # Errors
    /// ENOTTY when it is none; EIO when it is hung up, or when this process is in the background and ignores SIGTTOU.
    pub fn set(&mut self, fd: &Descriptor, mode: TtyMode) -> Result<()> {
        let mode = if mode == TtyMode::RawVt { TtyMode::Raw } else { mode };
        if self.mode == mode {
            return Ok(());
        }
        let found = match &self.found {
            Some(found) if self.mode != TtyMode::Normal => *found,
            _ => {
                let found = settings_of(fd.as_raw_fd())?;
                FIRST.keep(fd.as_raw_fd(), found);
                self.found = Some(found);
                found
            }
        };
        apply(fd.as_raw_fd(), &changed(found, mode))?;
        self.mode = mode;
        self.process = Process::current();
        Ok(())
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        if self.found.is_some() && self.process == Process::current() {
            FIRST.give_back(self.number);
        }
    }
}

/// The settings for a mode, from those that were found.
fn changed(found: termios, mode: TtyMode) -> termios {
    let mut settings = found;
    match mode {
        TtyMode::Normal => {}
        TtyMode::Raw | TtyMode::RawVt => {
            settings.c_iflag &= !(libc::BRKINT | libc::ICRNL | libc::INPCK | libc::ISTRIP | libc::IXON);
            settings.c_oflag |= libc::ONLCR;
            settings.c_cflag |= libc::CS8;
            settings.c_lflag &= !(libc::ECHO | libc::ICANON | libc::IEXTEN | libc::ISIG);
            settings.c_cc[libc::VMIN] = 1;
            settings.c_cc[libc::VTIME] = 0;
        }
        // SAFETY: it changes a structure in memory, which is ours.
        TtyMode::Io => unsafe { libc::cfmakeraw(&raw mut settings) },
    }
    settings
}

/// The settings of the terminal of this number. Not rustix's, who would write a speed of input that was not there.
fn settings_of(number: RawFd) -> Result<termios> {
    let mut settings = MaybeUninit::<termios>::uninit();
    // SAFETY: there is room for the settings. Of a number that is no terminal it says so.
    retry(|| unsafe { libc::tcgetattr(number, settings.as_mut_ptr()) })?;
    // SAFETY: the call above has succeeded, and so has written them.
    Ok(unsafe { settings.assume_init() })
}

/// Gives the terminal of this number settings, at once. In signal handlers, too.
fn apply(number: RawFd, settings: &termios) -> Result<()> {
    // SAFETY: the settings are read only. A number that is no terminal (any more) is an error; of one that is, settings are
    // not memory of this process.
    retry(|| unsafe { libc::tcsetattr(number, libc::TCSANOW, settings) })
}

fn retry(mut call: impl FnMut() -> libc::c_int) -> Result<()> {
    loop {
        if call() == 0 {
            return Ok(());
        }
        let error = Errno::from(std::io::Error::last_os_error());
        if error != Errno::EINTR {
            return Err(error);
        }
    }
}

/// The first terminal that was put in a mode, and how it was found: for a process that ends without closing its handles.
struct First {
    is_locked: AtomicBool,
    found: UnsafeCell<Option<(RawFd, termios)>>,
}

static FIRST: First = First { is_locked: AtomicBool::new(false), found: UnsafeCell::new(None) };

// SAFETY: `found` is touched by who holds the lock alone.
unsafe impl Sync for First {}

impl First {
    /// Calls with what was kept, or not at all if another thread, or what a signal handler has interrupted, is in here.
    fn try_with<T>(&self, call: impl FnOnce(&mut Option<(RawFd, termios)>) -> T) -> Option<T> {
        if self.is_locked.swap(true, Acquire) {
            return None;
        }
        // SAFETY: the lock is ours until it is given up below, where this borrow is over. `call` does not come here again.
        let answer = call(unsafe { &mut *self.found.get() });
        self.is_locked.store(false, Release);
        Some(answer)
    }

    /// As [`First::try_with`], after others. Not for signal handlers.
    fn with<T>(&self, mut call: impl FnMut(&mut Option<(RawFd, termios)>) -> T) -> T {
        loop {
            if let Some(answer) = self.try_with(&mut call) {
                return answer;
            }
            std::hint::spin_loop();
        }
    }

    fn keep(&self, number: RawFd, settings: termios) {
        self.with(|first| {
            first.get_or_insert((number, settings));
        });
    }

    /// The terminal of this number is about to be closed.
    fn give_back(&self, number: RawFd) {
        self.with(|first| {
            if let Some((number, found)) = first.take_if(|(first, _)| *first == number) {
                // A terminal that is gone needs no settings.
                let _ = apply(number, &found);
            }
        });
    }
}

/// Gives the first terminal that was put in a mode its settings back, for the next program to find. Nothing happens if
/// there is none. To be called before the process ends, also from a signal handler; `errno` is kept.
///
/// # Errors
/// EBUSY when a mode is being changed at this moment; as [`Modes::set`].
#[doc(alias = "uv_tty_reset_mode")]
pub fn reset_mode() -> Result<()> {
    let errno = errno::errno();
    let reset = FIRST.try_with(|first| match first {
        Some((number, found)) => apply(*number, found),
        None => Ok(()),
    });
    errno::set_errno(errno);
    reset.unwrap_or(Err(Errno::EBUSY))
}

/// The size of a terminal's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// The size of the terminal's window, zero as long as nobody has set it.
///
/// # Errors
/// ENOTTY when it is no terminal, EIO when it is hung up.
pub fn window_size(fd: &Descriptor) -> Result<WindowSize> {
    let size = retry_on_intr(|| tcgetwinsize(fd))?;
    Ok(WindowSize { columns: size.ws_col, rows: size.ws_row })
}

/// Makes sure that a descriptor is a terminal.
///
/// # Errors
/// ENOTTY.
pub fn check_terminal(fd: &Descriptor) -> Result<()> {
    if DescriptorKind::of(fd.as_raw_fd()) == DescriptorKind::Terminal { Ok(()) } else { Err(Errno::ENOTTY) }
}

/// What a terminal handle is to have.
#[derive(Debug)]
pub struct Opened<F> {
    /// The terminal opened anew; `None`: the descriptor itself.
    pub reopened: Option<F>,
    /// It was opened for reading.
    pub readable: bool,
    /// It was opened for writing.
    pub writable: bool,
    /// It could not be opened anew, and was left blocking.
    pub blocking: bool,
}

/// Makes a descriptor ready for a terminal handle: a terminal is opened anew, so that it can be non-blocking without
/// being so for others, such as the shell, who share what the descriptor stands for. Where that cannot be done, as for the master
/// of a pseudo-terminal, it stays blocking. Pipes and sockets are made non-blocking as they are.
///
/// With `replace`, the descriptor of that number stands for the terminal opened anew from now on, too.
///
/// # Errors
/// EINVAL for files and anything else that cannot be waited for; what `dup3` fails with.
pub fn open_terminal(fd: &Descriptor, replace: bool) -> Result<Opened<Descriptor>> {
    let kind = DescriptorKind::of(fd.as_raw_fd());
    if matches!(kind, DescriptorKind::File | DescriptorKind::Unknown) {
        return Err(Errno::EINVAL);
    }
    let access = fcntl_getfl(fd)? & OFlags::ACCMODE;
    let (readable, writable) = (access != OFlags::WRONLY, access != OFlags::RDONLY);
    let is_terminal = kind == DescriptorKind::Terminal;
    let reopened = if is_terminal && !is_master(fd) { reopen(fd, access).ok() } else { None };
    let blocking = is_terminal && reopened.is_none() && writable;
    match &reopened {
        Some(new) if replace => dup_over(new, fd)?,
        Some(_) => {}
        None if !blocking => set_nonblocking(fd.as_raw_fd())?,
        None => {}
    }
    Ok(Opened { reopened, readable, writable, blocking })
}

/// True for the side of a pseudo-terminal that plays the user. Opened anew, it would be another terminal.
fn is_master(fd: &Descriptor) -> bool {
    let mut number: libc::c_uint = 0;
    // SAFETY: the request writes one number, which there is room for.
    unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCGPTN, &raw mut number) == 0 }
}

/// Opens a terminal anew by its descriptor, not by its name: that may be out of sight in a container.
fn reopen(fd: &Descriptor, access: OFlags) -> Result<Descriptor> {
    let mut path = [0; 40];
    let _ = write!(&mut path[..], "/proc/thread-self/fd/{}", fd.as_raw_fd());
    let path = CStr::from_bytes_until_nul(&path).map_err(|_| Errno::EINVAL)?;
    let flags = access | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(retry_on_intr(|| open(path, flags, Permissions::empty()))?.into())
}

fn dup_over(new: &Descriptor, old: &Descriptor) -> Result<()> {
    // SAFETY: `old` is owned by our caller, who asks for it to stand for something else; the call takes numbers only.
    while unsafe { libc::dup3(new.as_raw_fd(), old.as_raw_fd(), libc::O_CLOEXEC) } < 0 {
        let error = Errno::from(std::io::Error::last_os_error());
        // EBUSY: another thread is opening a descriptor of that number just now.
        if error != Errno::EINTR && error != Errno::EBUSY {
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tty_tests.rs"]
pub(crate) mod tests;
