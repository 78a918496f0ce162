//! Signals, caught by one handler for the whole process, and handed to the loops that watch them.
//!
//! The handler may run on any thread and at any time. It goes through a list of inboxes, one for each loop that has ever
//! watched a signal, writes the number into those of them that watch it, and wakes their loops. It takes no lock, has no
//! memory of its own, and writes to nobody's inbox in a child that has inherited it.
//!
//! An inbox is never freed: the handler may be about to look at it. When its loop is gone, another one gets it. Starting and
//! stopping change the process's signal actions; that is done under a lock, which forks hold, too, so that a child finds it
//! free.

mod action;
mod inbox;
#[cfg(all(test, loom))]
mod races;
#[cfg(test)]
mod tests;

use crate::fork::Process;
use crate::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use crate::{Errno, EventFd, Result, Shared};

use action::Lock;
use inbox::Inbox;

/// The highest number of a signal.
pub const LAST: i32 = 64;

pub use libc::{
    SIGALRM as ALRM, SIGCHLD as CHLD, SIGCONT as CONT, SIGHUP as HUP, SIGINT as INT, SIGKILL as KILL, SIGPIPE as PIPE,
    SIGQUIT as QUIT, SIGTERM as TERM, SIGTSTP as TSTP, SIGUSR1 as USR1, SIGUSR2 as USR2, SIGWINCH as WINCH,
    SIGXFSZ as XFSZ,
};

/// The number of a real-time signal, counted from 0; `None` if there are not so many.
pub fn real_time(nth: u8) -> Option<i32> {
    let number = libc::SIGRTMIN() + i32::from(nth);
    (number <= libc::SIGRTMAX()).then_some(number)
}

/// The number of a signal that a program may be sent, by its name with or without `SIG`, or by its number.
pub fn number_of(name: &str) -> Option<i32> {
    Some(match name.strip_prefix("SIG").unwrap_or(name) {
        "HUP" => HUP,
        "INT" => INT,
        "QUIT" => QUIT,
        "USR1" => USR1,
        "USR2" => USR2,
        "ALRM" => ALRM,
        "TERM" => TERM,
        number => number.parse().ok().filter(|number| (1..=LAST).contains(number))?,
    })
}

/// Sends a signal to the calling thread, which has it when this returns, unless it blocks it.
///
/// # Errors
/// EINVAL for what is no signal.
pub fn raise(number: i32) -> Result<()> {
    // SAFETY: a number. What comes of it the process has said by its actions.
    let refused = unsafe { libc::pthread_kill(libc::pthread_self(), number) };
    if refused != 0 { Err(Errno::from_raw(refused)) } else { Ok(()) }
}

/// Has a signal ignored that would have its default action, as long as no loop watches it. Children that are
/// [spawned](crate::spawn) have the default action.
///
/// # Errors
/// EINVAL for a number that is no signal, SIGKILL, SIGSTOP, and those that the C library keeps for itself.
pub fn ignore(number: i32) -> Result<()> {
    replace_default(number, libc::SIG_IGN, 0)
}

/// Has a signal that ends the process by its default action [give the terminal its settings back](crate::tty::reset_mode) before
/// that. Where the signal is ignored, has another handler or is watched by a loop, nothing else becomes of it; once the last
/// loop stops watching it, this goes for it again.
///
/// # Errors
/// As [`ignore`].
pub fn reset_terminal_before(number: i32) -> Result<()> {
    replace_default(number, end as *const () as libc::sighandler_t, libc::SA_RESETHAND | libc::SA_ONSTACK)
}

fn replace_default(number: i32, handler: libc::sighandler_t, flags: libc::c_int) -> Result<()> {
    action::prepare_for_forks()?;
    // SAFETY: zero is a value for all its fields.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    (new.sa_sigaction, new.sa_flags) = (handler, flags);
    action::replace_default(&Lock::take(), number, &new)
}

/// The handler of what ends the process: the default action is back when it runs, and comes when it returns.
extern "C" fn end(number: libc::c_int) {
    // One who is changing a mode at this moment has the terminal stay as it is.
    let _ = crate::tty::reset_mode();
    let _ = raise(number);
}

/// How a loop watches a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watching {
    /// Not at all.
    #[default]
    No,
    /// It wants to hear of it once. If all loops that watch the number do so like this, its action is the default one from
    /// the moment on that it is caught (`SA_RESETHAND`).
    Once,
    /// As long as it says nothing else.
    Always,
}

/// The bit of a signal in a set.
///
/// # Errors
/// EINVAL for what is no signal.
fn bit(number: i32) -> Result<u64> {
    if (1..=LAST).contains(&number) { Ok(1 << (number - 1)) } else { Err(Errno::EINVAL) }
}

/// The signals that a loop watches, and those that have come for it.
#[derive(Debug)]
pub struct Signals {
    inbox: &'static Inbox,
    /// The inbox has its address.
    _wake: Shared<EventFd>,
}

impl Signals {
    /// Nothing is watched yet. What has come is written to `wake`, once until [`Signals::have_come`] is asked.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(wake: &Shared<EventFd>) -> Result<Signals> {
        action::prepare_for_forks()?;
        let lock = Lock::take();
        let inbox = match Inbox::all().find(|inbox| !inbox.is_taken.load(Relaxed)) {
            Some(inbox) => inbox,
            None => Inbox::add(&lock)?,
        };
        inbox.is_taken.store(true, Relaxed);
        inbox.reset(Process::current(), wake);
        Ok(Signals { inbox, _wake: wake.clone() })
    }

    /// Watches a signal like this from now on. The first loop that watches it has its action changed; the last one that
    /// stops has the old one put back, unless somebody else has changed it meanwhile.
    ///
    /// # Errors
    /// EINVAL for a number that is no signal, SIGKILL, SIGSTOP, and those that the C library keeps for itself.
    pub fn watch(&mut self, number: i32, how: Watching) -> Result<()> {
        let bit = bit(number)?;
        let lock = Lock::take();
        let before = (self.inbox.watched.load(Relaxed), self.inbox.lasting.load(Relaxed));
        let with = |set: u64, on: bool| if on { set | bit } else { set & !bit };
        self.inbox.lasting.store(with(before.1, how == Watching::Always), Relaxed);
        self.inbox.watched.store(with(before.0, how != Watching::No), Release);
        let settled = action::settle(&lock, number);
        if settled.is_err() {
            self.inbox.watched.store(before.0, Release);
            self.inbox.lasting.store(before.1, Relaxed);
        }
        settled
    }

    /// True if any has come since this was last asked. One that comes later wakes the loop again.
    pub fn have_come(&self) -> bool {
        self.inbox.is_rung.load(Relaxed) && self.inbox.is_rung.swap(false, AcqRel)
    }

    /// The next one that has come, in the order in which they came. Those beyond a thousand that wait are counted, and
    /// their order is lost.
    pub fn take_next(&mut self) -> Option<i32> {
        self.inbox.take()
    }

    /// In a child: the loop is the child's from now on, and so is what comes. What has come to the parent is forgotten.
    pub fn after_fork(&mut self) {
        let lock = Lock::take();
        let watched = self.inbox.watched.swap(0, AcqRel);
        self.inbox.wait_for_readers();
        self.inbox.reset(Process::current(), &self._wake);
        self.inbox.watched.store(watched, Release);
        for number in (1..=LAST).filter(|&number| bit(number).is_ok_and(|bit| watched & bit != 0)) {
            // It was settled in the parent: there is such a signal.
            let _ = action::settle(&lock, number);
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let lock = Lock::take();
        let watched = self.inbox.watched.swap(0, AcqRel);
        self.inbox.lasting.store(0, Relaxed);
        for number in (1..=LAST).filter(|&number| bit(number).is_ok_and(|bit| watched & bit != 0)) {
            let _ = action::settle(&lock, number);
        }
        // A handler on another thread may be about to wake the loop, by a descriptor that is closed after this.
        self.inbox.wait_for_readers();
        self.inbox.is_taken.store(false, Relaxed);
    }
}

/// What the kernel calls.
extern "C" fn catch(number: libc::c_int) {
    let errno = errno::errno();
    let process = Process::current();
    Inbox::all().for_each(|inbox| inbox.hear(number, process));
    errno::set_errno(errno);
}
