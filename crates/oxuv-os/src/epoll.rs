//! epoll, level-triggered unless asked otherwise, with waits to the nanosecond.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{Timespec, epoll};

use crate::{Errno, Result, descriptor};

pub use rustix::event::epoll::{EventData, EventFlags};

/// What happened to a descriptor, and the token that it was registered with.
pub type Event = epoll::Event;

/// An epoll instance.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

/// False once `epoll_pwait2` was refused: a kernel before Linux 5.11, or a seccomp filter older than the call.
static HAS_PWAIT2: AtomicBool = AtomicBool::new(true);

impl Epoll {
    /// A new, empty instance.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn new() -> Result<Epoll> {
        Ok(Epoll(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Becomes a new, empty instance under the same number: the one so far is shared with the process that this was forked
    /// from.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM.
    pub fn renew(&self) -> Result<()> {
        descriptor::replace(self.as_raw_fd(), &epoll::create(epoll::CreateFlags::CLOEXEC)?)
    }

    /// Watches a descriptor, whether or not it is in the set by now. By its number: it may be somebody else's.
    ///
    /// `known` says that it should be in the set. Foreign hands may have changed that, so a wrong guess is put right.
    ///
    /// # Errors
    /// EPERM when the descriptor cannot be polled (a regular file), EBADF, ENOMEM, ENOSPC.
    pub fn set(&self, number: RawFd, token: u64, flags: EventFlags, known: bool) -> Result<()> {
        let event = (token, flags.bits());
        let first = if known { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
        match self.control(first, number, event) {
            Err(Errno::ENOENT) => self.control(libc::EPOLL_CTL_ADD, number, event),
            Err(Errno::EEXIST) => self.control(libc::EPOLL_CTL_MOD, number, event),
            done => done,
        }
    }

    /// Stops watching a descriptor. Nothing happens if it is not in the set.
    pub fn remove(&self, number: RawFd) {
        // ENOENT and EBADF: gone already.
        let _ = self.control(libc::EPOLL_CTL_DEL, number, (0, 0));
    }

    /// Looks whether a descriptor can be polled.
    ///
    /// # Errors
    /// EPERM when it cannot (a regular file), EBADF, ENOMEM, ENOSPC.
    pub fn check(&self, number: RawFd) -> Result<()> {
        match self.control(libc::EPOLL_CTL_ADD, number, (0, 0)) {
            Ok(()) => self.control(libc::EPOLL_CTL_DEL, number, (0, 0)),
            Err(Errno::EEXIST) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn control(&self, operation: libc::c_int, number: RawFd, (token, events): (u64, u32)) -> Result<()> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: the event lives until the call returns. A number that is no descriptor of ours is an error, or harms
        // nobody but the owner's readiness: the kernel touches no memory for it.
        match unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, number, &mut event) } {
            0 => Ok(()),
            _ => Err(last_error()),
        }
    }

    /// Waits for events for up to `timeout` nanoseconds (`None`: for ever), puts those that came into `events`, as many as there is room
    /// for, and returns their number; 0 when the time is over.
    ///
    /// # Errors
    /// EINTR when a signal handler ran, EBADF or EINVAL when the epoll descriptor was closed by foreign hands.
    #[inline]
    pub fn wait(&self, events: &mut [Event], timeout: Option<u64>) -> Result<u32> {
        match timeout {
            // The older call does these as well, and is 90 ns quicker for it: that reads no time.
            #[cfg(loom)]
            None => self.wait_among_threads(events),
            #[cfg(not(loom))]
            None => self.wait_milliseconds(events, None),
            Some(0) => self.wait_milliseconds(events, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })),
            Some(nanoseconds) => self.wait_nanoseconds(events, nanoseconds),
        }
    }

    /// False once the kernel has refused to wait for anything else than milliseconds.
    pub fn is_exact() -> bool {
        HAS_PWAIT2.load(Relaxed)
    }

    #[inline]
    fn wait_milliseconds(&self, events: &mut [Event], timeout: Option<&Timespec>) -> Result<u32> {
        Ok(epoll::wait(&self.0, events, timeout)? as u32)
    }

    /// loom runs one thread at a time: while this waits, the others must go on.
    #[cfg(loom)]
    fn wait_among_threads(&self, events: &mut [Event]) -> Result<u32> {
        loop {
            let count = self.wait_milliseconds(events, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            if count > 0 {
                return Ok(count);
            }
            crate::sync::yield_now();
        }
    }

    #[inline(never)]
    fn wait_nanoseconds(&self, events: &mut [Event], nanoseconds: u64) -> Result<u32> {
        if HAS_PWAIT2.load(Relaxed) {
            match self.pwait2(events, nanoseconds, None) {
                Err(Errno::ENOSYS | Errno::EPERM) => HAS_PWAIT2.store(false, Relaxed),
                done => return done,
            }
        }
        self.wait_milliseconds(events, Some(&whole_milliseconds(nanoseconds)))
    }

    /// As [`Epoll::wait`], with SIGPROF blocked meanwhile, besides what this thread blocks anyway.
    ///
    /// # Errors
    /// As [`Epoll::wait`].
    #[cold]
    pub fn wait_without_sigprof(&self, events: &mut [Event], timeout: Option<u64>) -> Result<u32> {
        let mask = mask_with_sigprof();
        if let Some(nanoseconds) = timeout.filter(|&nanoseconds| nanoseconds > 0)
            && HAS_PWAIT2.load(Relaxed)
        {
            match self.pwait2(events, nanoseconds, Some(&mask)) {
                Err(Errno::ENOSYS | Errno::EPERM) => HAS_PWAIT2.store(false, Relaxed),
                done => return done,
            }
        }
        self.pwait(events, timeout, &mask)
    }

    fn pwait(&self, events: &mut [Event], timeout: Option<u64>, mask: &libc::sigset_t) -> Result<u32> {
        let milliseconds = timeout.map_or(-1, |nanoseconds| {
            let Timespec { tv_sec, tv_nsec } = whole_milliseconds(nanoseconds);
            (tv_sec * 1000 + tv_nsec / 1_000_000) as libc::c_int
        });
        let (room, size) = (events.as_mut_ptr().cast(), size(events));
        // SAFETY: the pointers are to `events`, whose size is passed, and to the mask; both live until the call returns.
        // `Event` has the layout of `epoll_event`, on which rustix relies, too.
        let count = unsafe { libc::epoll_pwait(self.0.as_raw_fd(), room, size, milliseconds, mask) };
        if count < 0 {
            return Err(last_error());
        }
        Ok(count as u32)
    }

    fn pwait2(&self, events: &mut [Event], nanoseconds: u64, mask: Option<&libc::sigset_t>) -> Result<u32> {
        let timeout = libc::timespec {
            tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the pointers are to `events`, whose size is passed, to `timeout`, and to a signal mask or none; all live
        // until the call returns. `Event` has the layout of `epoll_event`, on which rustix relies, too. The kernel's own
        // mask is the beginning of the C library's, a bit for each signal.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                size(events),
                &raw const timeout,
                mask.map_or(std::ptr::null(), std::ptr::from_ref),
                KERNEL_SIGNALS / 8,
            )
        };
        if count < 0 {
            return Err(last_error());
        }
        Ok(count as u32)
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Epoll {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// What is in a place of a batch before an event is.
pub const NO_EVENT: Event = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };

/// How many events there is room for.
fn size(events: &[Event]) -> libc::c_int {
    events.len().try_into().unwrap_or(libc::c_int::MAX)
}

#[cold]
fn last_error() -> Errno {
    Errno::from(std::io::Error::last_os_error())
}

/// The number of signals that the kernel has, on all machines but MIPS.
const KERNEL_SIGNALS: usize = 64;

/// This thread's signal mask, and SIGPROF.
fn mask_with_sigprof() -> libc::sigset_t {
    let mut mask = std::mem::MaybeUninit::uninit();
    // SAFETY: the set is memory for one; with no new set the call changes nothing and cannot fail, but for writing the
    // thread's set there, to which a signal that exists is added.
    unsafe {
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
        libc::sigaddset(mask.as_mut_ptr(), libc::SIGPROF);
        mask.assume_init()
    }
}

/// The timeout rounded up, so that the older call does not return early.
fn whole_milliseconds(nanoseconds: u64) -> Timespec {
    let milliseconds = nanoseconds.div_ceil(1_000_000).min(i32::MAX as u64);
    Timespec { tv_sec: (milliseconds / 1000) as i64, tv_nsec: (milliseconds % 1000) as i64 * 1_000_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventFd;
    use std::time::Instant;

    fn wait(epoll: &Epoll, timeout: Option<u64>) -> Vec<u64> {
        let mut events = [NO_EVENT; 4];
        let count = epoll.wait(&mut events, timeout).unwrap();
        events[..count as usize].iter().map(|event| { event.data }.u64()).collect()
    }

    #[test]
    fn a_wait_is_never_early_and_is_finer_than_a_millisecond() {
        let epoll = Epoll::new().unwrap();
        let mut shortest = u128::MAX;
        for _ in 0..20 {
            let start = Instant::now();
            assert!(wait(&epoll, Some(300_000)).is_empty());
            let waited = start.elapsed().as_nanos();
            assert!(waited >= 300_000, "{waited}");
            shortest = shortest.min(waited);
        }
        assert!(shortest < 1_000_000, "{shortest}");
    }

    #[test]
    fn a_profiler_does_not_interrupt_a_wait_that_blocks_its_signal() {
        static CAUGHT: AtomicBool = AtomicBool::new(false);
        extern "C" fn catch(_: libc::c_int) {
            CAUGHT.store(true, Relaxed);
        }
        let epoll = Epoll::new().unwrap();
        let mut events = [NO_EVENT];
        // Signals of other tests go to other threads.
        // SAFETY: the handler sets a flag, this is this thread's own number, and the set is memory for one, of which the thread's is made.
        let waiting = unsafe {
            let mut others = std::mem::MaybeUninit::uninit();
            libc::sigfillset(others.as_mut_ptr());
            libc::sigdelset(others.as_mut_ptr(), libc::SIGPROF);
            libc::pthread_sigmask(libc::SIG_SETMASK, others.as_ptr(), std::ptr::null_mut());
            libc::signal(libc::SIGPROF, catch as *const () as libc::sighandler_t);
            libc::pthread_self()
        };
        for is_older_call in [true, false] {
            let sender = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(30));
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(waiting, libc::SIGPROF) };
            });
            let timeout = Some(200_000_000);
            let waited = match is_older_call {
                true => epoll.pwait(&mut events, timeout, &mask_with_sigprof()),
                false => epoll.wait_without_sigprof(&mut events, timeout),
            };
            assert_eq!(waited, Ok(0));
            sender.join().unwrap();
            assert!(CAUGHT.swap(false, Relaxed), "the signal comes when the wait is over");
        }
        let wake = EventFd::new().unwrap();
        epoll.set(wake.as_raw_fd(), 7, EventFlags::IN, false).unwrap();
        wake.wake();
        for timeout in [None, Some(0), Some(1_000_000_000)] {
            assert_eq!(epoll.wait_without_sigprof(&mut events, timeout), Ok(1));
            assert_eq!({ events[0].data }.u64(), 7);
        }
    }

    #[test]
    fn without_pwait2_a_wait_is_rounded_up() {
        assert_eq!(whole_milliseconds(0).tv_nsec, 0);
        assert_eq!(whole_milliseconds(1).tv_nsec, 1_000_000);
        assert_eq!(whole_milliseconds(1_000_000).tv_nsec, 1_000_000);
        assert_eq!(whole_milliseconds(1_000_000_001).tv_sec, 1);
        assert_eq!(whole_milliseconds(u64::MAX).tv_sec, i64::from(i32::MAX / 1000));
    }

    #[test]
    fn tokens_come_back_and_removal_silences() {
        let (epoll, wake) = (Epoll::new().unwrap(), EventFd::new().unwrap());
        epoll.set(wake.as_raw_fd(), 0xfeed_0000_0007, EventFlags::IN, false).unwrap();
        wake.wake();
        assert_eq!(wait(&epoll, None), [0xfeed_0000_0007]);
        epoll.remove(wake.as_raw_fd());
        epoll.remove(wake.as_raw_fd());
        assert!(wait(&epoll, Some(0)).is_empty());
    }

    #[test]
    fn a_set_changed_by_foreign_hands_is_put_right() {
        let (epoll, wake) = (Epoll::new().unwrap(), EventFd::new().unwrap());
        wake.wake();
        epoll.set(wake.as_raw_fd(), 1, EventFlags::IN, true).unwrap();
        assert_eq!(wait(&epoll, None), [1]);
        epoll.set(wake.as_raw_fd(), 2, EventFlags::IN, false).unwrap();
        assert_eq!(wait(&epoll, None), [2]);
    }

    #[test]
    fn an_edge_triggered_eventfd_wakes_once_a_write_without_being_read() {
        let (epoll, wake) = (Epoll::new().unwrap(), EventFd::new().unwrap());
        epoll.set(wake.as_raw_fd(), 1, EventFlags::IN | EventFlags::ET, false).unwrap();
        for _ in 0..3 {
            wake.wake();
            assert_eq!(wait(&epoll, None), [1]);
            assert!(wait(&epoll, Some(0)).is_empty());
        }
    }

    #[test]
    fn a_regular_file_is_refused() {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let epoll = Epoll::new().unwrap();
        assert_eq!(epoll.set(file.as_raw_fd(), 1, EventFlags::IN, false), Err(Errno::EPERM));
        assert_eq!(epoll.check(file.as_raw_fd()), Err(Errno::EPERM));
        assert_eq!(epoll.check(-1), Err(Errno::EBADF));
    }

    #[test]
    fn a_wake_up_keeps_errno() {
        let wake = EventFd::new().unwrap();
        rustix::io::write(std::io::stdout(), b"").ok();
        let _ = std::fs::File::open("/nonexistent");
        let before = std::io::Error::last_os_error().raw_os_error();
        wake.wake();
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), before);
    }
}
