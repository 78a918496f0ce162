use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use super::*;

/// Each test has a number of its own: they run at the same time.
fn number(nth: i32) -> i32 {
    libc::SIGRTMIN() + nth
}

fn signals() -> (Signals, Shared<EventFd>) {
    let wake = Shared::new(EventFd::new().unwrap()).unwrap();
    (Signals::new(&wake).unwrap(), wake)
}

fn raise(number: i32) {
    // SAFETY: the signal has a handler, or the default action is what is wanted.
    assert_eq!(unsafe { libc::raise(number) }, 0);
}

fn drain(signals: &mut Signals) -> Vec<i32> {
    std::iter::from_fn(|| signals.take_next()).collect()
}

/// The address of a signal's action, and its flags.
fn action(number: i32) -> (usize, i32) {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: writes to a local.
    unsafe {
        assert_eq!(libc::sigaction(number, std::ptr::null(), action.as_mut_ptr()), 0);
        (action.assume_init_ref().sa_sigaction, action.assume_init_ref().sa_flags)
    }
}

#[test]
fn every_signal_counts_in_its_order() {
    let (mut signals, _wake) = signals();
    let [first, second] = [number(0), number(1)];
    signals.watch(first, Watching::Always).unwrap();
    signals.watch(second, Watching::Always).unwrap();
    assert!(!signals.have_come());
    [first, second, first, first].into_iter().for_each(raise);
    assert!(signals.have_come());
    assert!(!signals.have_come());
    assert_eq!(drain(&mut signals), [first, second, first, first]);
}

#[test]
fn none_is_lost_beyond_what_there_is_room_for() {
    let (mut signals, _wake) = signals();
    signals.watch(number(2), Watching::Always).unwrap();
    (0..5000).for_each(|_| raise(number(2)));
    assert_eq!(drain(&mut signals), vec![number(2); 5000]);
    raise(number(2));
    assert_eq!(drain(&mut signals), [number(2)]);
}

#[test]
fn all_loops_hear_on_whatever_thread_it_comes() {
    static RAISED: AtomicUsize = AtomicUsize::new(0);
    let mut all: Vec<_> = (0..5).map(|_| signals()).collect();
    for (signals, _) in &mut all {
        signals.watch(number(3), Watching::Always).unwrap();
    }
    let threads = [(); 4].map(|()| {
        thread::spawn(|| {
            for _ in 0..500 {
                raise(number(3));
                RAISED.fetch_add(1, SeqCst);
            }
        })
    });
    // Meanwhile one comes and goes.
    while RAISED.load(SeqCst) < 1000 {
        let (mut other, _wake) = signals();
        other.watch(number(3), Watching::Always).unwrap();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    for (signals, _) in &mut all {
        assert_eq!(drain(signals).len(), 2000);
    }
}

#[test]
fn the_old_action_is_put_back() {
    let number = number(4);
    let (mut first, _wake) = signals();
    let (mut second, _wake) = signals();
    // SAFETY: ignores a signal.
    unsafe { libc::signal(number, libc::SIG_IGN) };
    first.watch(number, Watching::Always).unwrap();
    second.watch(number, Watching::Once).unwrap();
    assert_eq!(action(number).1 & libc::SA_RESETHAND, 0);
    first.watch(number, Watching::No).unwrap();
    assert_ne!(action(number).1 & libc::SA_RESETHAND, 0, "only those are left that want to hear of it once");
    drop(second);
    assert_eq!(action(number).0, libc::SIG_IGN);
    // Once caught, the kernel has put the default one there.
    first.watch(number, Watching::Once).unwrap();
    raise(number);
    assert_eq!(action(number).0, libc::SIG_DFL);
    first.watch(number, Watching::No).unwrap();
    assert_eq!((action(number).0, drain(&mut first).len()), (libc::SIG_IGN, 1));
    // What somebody else has set meanwhile stays.
    first.watch(number, Watching::Always).unwrap();
    // SAFETY: the default action, which is not taken in this test.
    unsafe { libc::signal(number, libc::SIG_DFL) };
    drop(first);
    assert_eq!(action(number).0, libc::SIG_DFL);
}

#[test]
fn what_cannot_be_caught_is_refused() {
    let (mut signals, _wake) = signals();
    for number in [0, -1, i32::MIN, 65, 1000, i32::MAX, libc::SIGKILL, libc::SIGSTOP] {
        assert_eq!(signals.watch(number, Watching::Always), Err(Errno::EINVAL), "{number}");
    }
}

#[test]
fn the_handler_keeps_errno() {
    let (mut signals, _wake) = signals();
    signals.watch(number(5), Watching::Always).unwrap();
    errno::set_errno(errno::Errno(77));
    raise(number(5));
    assert_eq!(errno::errno().0, 77);
}

/// What a child finds, as its exit status.
fn in_child(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child does what is said and ends.
    match unsafe { libc::fork() } {
        // SAFETY: ends the child without running what is registered for the end of the process.
        0 => unsafe { libc::_exit(child()) },
        pid => {
            let mut status = 0;
            // SAFETY: waits for the child made just now, and writes to a local.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            assert!(libc::WIFEXITED(status), "{status}");
            libc::WEXITSTATUS(status)
        }
    }
}

#[test]
fn a_child_hears_nothing_of_its_parent_nor_the_parent_of_it() {
    let number = number(6);
    let (mut signals, wake) = signals();
    signals.watch(number, Watching::Always).unwrap();
    raise(number);
    let heard = in_child(|| {
        raise(number);
        wake.renew().unwrap();
        signals.after_fork();
        let before = drain(&mut signals).len();
        raise(number);
        raise(number);
        (before * 10 + drain(&mut signals).len()) as i32
    });
    assert_eq!(heard, 2);
    assert_eq!(drain(&mut signals), [number]);
    // A loop of the child's own puts the old action back, although its parent's watches the number still.
    let is_default = in_child(|| {
        let (mut own, _wake) = self::signals();
        own.watch(number, Watching::Always).unwrap();
        raise(number);
        let heard = drain(&mut own).len();
        drop(own);
        i32::from(heard == 1 && action(number).0 == libc::SIG_DFL)
    });
    assert_eq!(is_default, 1);
}

#[test]
fn what_is_ignored_is_ignored_again_after_the_last_watcher() {
    let number = number(7);
    ignore(number).unwrap();
    raise(number);
    let (mut signals, _wake) = signals();
    signals.watch(number, Watching::Always).unwrap();
    raise(number);
    assert_eq!(drain(&mut signals), [number]);
    signals.watch(number, Watching::No).unwrap();
    assert_eq!(action(number).0, libc::SIG_IGN);
    // Whoever has an action already keeps it.
    reset_terminal_before(number).unwrap();
    assert_eq!(action(number).0, libc::SIG_IGN);
    assert_eq!((ignore(0), ignore(libc::SIGKILL)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
}

#[test]
fn a_signal_that_resets_the_terminal_still_ends_the_process() {
    let number = number(8);
    let (mut signals, _wake) = signals();
    signals.watch(number, Watching::Always).unwrap();
    reset_terminal_before(number).unwrap();
    raise(number);
    assert_eq!(drain(&mut signals), [number]);
    drop(signals);
    assert_eq!(action(number).0, end as *const () as usize);
    // SAFETY: the child raises a signal and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        raise(number);
        // SAFETY: ends the child without running what is registered for the end of the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made just now, and writes to a local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == number, "{status}");
}
