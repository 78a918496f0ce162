//! The process's signal actions, and the lock that they are changed under.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::SeqCst};

use super::inbox::Inbox;
use super::{LAST, Watching, bit, catch};
use crate::fork::{self, Process};
use crate::{Errno, Result};

/// What the lock guards.
struct Guarded {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    actions: UnsafeCell<[Action; LAST as usize]>,
    /// The mask of the thread that forks.
    mask: UnsafeCell<MaybeUninit<libc::sigset_t>>,
}

// SAFETY: the mutex is made to be used by many threads, and the rest is used by the one that holds it.
unsafe impl Sync for Guarded {}

static GUARDED: Guarded = Guarded {
    mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    actions: UnsafeCell::new([Action { installed: Watching::No, old: MaybeUninit::uninit() }; LAST as usize]),
    mask: UnsafeCell::new(MaybeUninit::uninit()),
};

#[derive(Clone, Copy)]
struct Action {
    /// How the handler was installed, if it was.
    installed: Watching,
    /// What was there before; written if it was.
    old: MaybeUninit<libc::sigaction>,
}

/// Held while actions are changed. All signals are blocked meanwhile: a handler that calls `fork` would wait for its own
/// thread.
#[derive(Debug)]
pub(super) struct Lock {
    mask: libc::sigset_t,
}

impl Lock {
    pub(super) fn take() -> Lock {
        let mask = block_signals();
        // SAFETY: a mutex that is never destroyed, and that this thread does not hold: what holds it calls nobody else.
        unsafe { libc::pthread_mutex_lock(GUARDED.mutex.get()) };
        Lock { mask }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: this thread has locked it.
        unsafe { libc::pthread_mutex_unlock(GUARDED.mutex.get()) };
        unblock_signals(&self.mask);
    }
}

fn block_signals() -> libc::sigset_t {
    let (mut all, mut mask) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: sets of signals to be written; the second is, since these calls cannot fail with such arguments.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigemptyset(mask.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), mask.as_mut_ptr());
        mask.assume_init()
    }
}

fn unblock_signals(mask: &libc::sigset_t) {
    // SAFETY: the mask that this thread has had.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, null_mut()) };
}

/// Has forks hold the lock from now on. Again is the same as once.
pub(super) fn prepare_for_forks() -> Result<()> {
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);
    fork::count()?;
    if IS_PREPARED.swap(true, SeqCst) {
        return Ok(());
    }
    // SAFETY: the functions lock and unlock a mutex, and a child resets numbers.
    let refused = unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    if refused != 0 {
        IS_PREPARED.store(false, SeqCst);
        return Err(Errno::from_raw(refused));
    }
    Ok(())
}

extern "C" fn before_fork() {
    let lock = Lock::take();
    // SAFETY: the lock is held, and stays so until one of the two functions below.
    unsafe { (*GUARDED.mask.get()).write(lock.mask) };
    std::mem::forget(lock);
}

extern "C" fn in_parent() {
    // SAFETY: `before_fork` has written it, and has left this thread the lock.
    drop(Lock { mask: unsafe { (*GUARDED.mask.get()).assume_init() } });
}

extern "C" fn in_child() {
    Inbox::all().for_each(Inbox::forget_readers);
    in_parent();
}

/// Sees to it that a signal's action is what the loops of this process want.
pub(super) fn settle(_: &Lock, number: i32) -> Result<()> {
    let bit = bit(number)?;
    let process = Process::current();
    let mut wanted = Watching::No;
    // What a child has inherited is its parent's, and not for it to keep up.
    for inbox in Inbox::all().filter(|inbox| inbox.is_of(process)) {
        if inbox.lasting.load(Acquire) & bit != 0 {
            wanted = Watching::Always;
        } else if inbox.watched.load(Acquire) & bit != 0 && wanted == Watching::No {
            wanted = Watching::Once;
        }
    }
    // SAFETY: the lock is held.
    let action = unsafe { &mut (*GUARDED.actions.get())[number as usize - 1] };
    match (action.installed, wanted) {
        // One that was to be caught once may have been by now.
        (installed, wanted) if installed == wanted && wanted != Watching::Once => {}
        (Watching::No, _) => install(number, wanted, Some(&mut action.old))?,
        // SAFETY: `install` has written it.
        (installed, Watching::No) => restore(number, installed, unsafe { action.old.assume_init_ref() }),
        _ => install(number, wanted, None)?,
    }
    action.installed = wanted;
    Ok(())
}

fn install(number: i32, how: Watching, old: Option<&mut MaybeUninit<libc::sigaction>>) -> Result<()> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: zero is a value for all its fields; they are written, and both places live until the call returns. The handler
    // does what handlers may do.
    let refused = unsafe {
        let new = action.assume_init_mut();
        new.sa_sigaction = handler();
        // On a stack of its own where the thread has one, as for a thread with a small one.
        new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        if how == Watching::Once {
            new.sa_flags |= libc::SA_RESETHAND;
        }
        libc::sigfillset(&raw mut new.sa_mask);
        libc::sigaction(number, new, old.map_or(null_mut(), |old| old.as_mut_ptr()))
    };
    if refused < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(()) }
}

/// Puts the old action back, if the one that is there is ours, or what the kernel has made of ours.
fn restore(number: i32, installed: Watching, old: &libc::sigaction) {
    let mut current = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: reads and changes the action of a number for which that was done before, with places that live until the calls
    // return. The old action was the process's own.
    unsafe {
        libc::sigaction(number, null(), current.as_mut_ptr());
        let current = current.assume_init_ref().sa_sigaction;
        if current == handler() || installed == Watching::Once && current == libc::SIG_DFL {
            libc::sigaction(number, old, null_mut());
        }
    }
}

/// Changes the action that a signal has while no loop watches it, if that is the default one so far.
pub(super) fn replace_default(_: &Lock, number: i32, new: &libc::sigaction) -> Result<()> {
    bit(number)?;
    // SAFETY: the lock is held.
    let action = unsafe { &mut (*GUARDED.actions.get())[number as usize - 1] };
    if action.installed != Watching::No {
        // SAFETY: `install` has written it.
        let old = unsafe { action.old.assume_init_mut() };
        if old.sa_sigaction == libc::SIG_DFL {
            *old = *new;
        }
        return Ok(());
    }
    let mut current = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: places that live until the calls return; zero is a value for what the first one writes. The new action is ignoring,
    // or a handler that does what handlers may do.
    let refused = unsafe {
        let mut refused = libc::sigaction(number, null(), current.as_mut_ptr());
        if refused == 0 && current.assume_init_ref().sa_sigaction == libc::SIG_DFL {
            refused = libc::sigaction(number, new, null_mut());
        }
        refused
    };
    if refused < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(()) }
}

fn handler() -> libc::sighandler_t {
    catch as *const () as libc::sighandler_t
}
