//! Threads that meet a loop: loom tries the orders in which they can go on. Kernel, core and pool are the real ones; what waits
//! in the kernel gives way to the other threads, and one that is never woken is found.

#![cfg(loom)]

use std::num::NonZeroUsize;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use loom::thread;
use oxuv_core::kernel::Job;
use oxuv_core::linux::{Linux, PoolOf, Shared};
use oxuv_core::pool::Pool;
use oxuv_core::{Config, Core, Errno, Event, Lane, Mode, One};

type Loop = Core<Linux, u32, One<Vec<u8>>>;

/// Tries the orders with so few threads that stop where they need not; `LOOM_MAX_PREEMPTIONS` says otherwise.
fn try_orders(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.max_branches = 5000;
    model.check(test);
}

/// A pool of so many threads.
fn pool(threads: usize) -> Shared<Pool<Box<dyn Job>>> {
    Shared::new(Pool::with_size(c"worker", NonZeroUsize::new(threads).unwrap())).unwrap()
}

fn loop_on(pool: &Shared<Pool<Box<dyn Job>>>) -> Loop {
    Core::new(Linux::with_pool(false, PoolOf::Own(pool.clone())).unwrap(), Config::default()).unwrap()
}

fn new_loop() -> Loop {
    loop_on(&pool(1))
}

/// Runs the loop until it has nothing to do, each event being shown.
fn run(core: &mut Loop, mut on_event: impl FnMut(&mut Loop, Event<u32>)) {
    core.begin(Mode::Default);
    while let Some(event) = core.next() {
        on_event(core, event);
    }
    core.end().unwrap();
}

/// What one thread writes and another one reads. It makes no order of its own: without one, loom shows what was there before.
struct Letter(AtomicU32);

impl Letter {
    fn new() -> Arc<Letter> {
        Arc::new(Letter(AtomicU32::new(0)))
    }

    fn write(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn read(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// A job that calls this.
struct Call<F>(F);

impl<F: FnMut() + Send + 'static> Job for Call<F> {
    fn run(&mut self) {
        (self.0)();
    }
}

fn boxed(call: impl FnMut() + Send + 'static) -> Box<dyn Job> {
    Box::new(Call(call))
}

#[test]
fn a_send_is_heard_and_what_was_written_before_it_is_seen() {
    try_orders(|| {
        let mut core = new_loop();
        let handle = core.async_init(0).unwrap();
        let (sender, letter) = (core.async_sender(handle).unwrap(), Letter::new());
        let other = thread::spawn({
            let letter = letter.clone();
            move || {
                letter.write();
                sender.send().unwrap();
            }
        });
        run(&mut core, |core, event| {
            if let Event::Async { key, .. } = event {
                assert_eq!(letter.read(), 1);
                core.close(key).unwrap();
            }
        });
        other.join().unwrap();
    });
}

#[test]
fn of_sends_that_are_one_callback_none_is_lost() {
    try_orders(|| {
        let mut core = new_loop();
        let handle = core.async_init(0).unwrap();
        let written: [_; 2] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let others = written.clone().map(|written| {
            let sender = core.async_sender(handle).unwrap();
            thread::spawn(move || {
                written.store(true, Relaxed);
                // Refused if the other one's callback has seen this, and has closed the handle.
                let _ = sender.send();
            })
        });
        run(&mut core, |core, event| {
            if let Event::Async { key, .. } = event
                && written.iter().all(|written| written.load(Relaxed))
            {
                core.close(key).unwrap();
            }
        });
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn handles_that_share_a_bell_are_all_heard() {
    try_orders(|| {
        let mut core = new_loop();
        let others: [_; 2] = std::array::from_fn(|nth| {
            let handle = core.async_init(nth as u32).unwrap();
            let sender = core.async_sender(handle).unwrap();
            thread::spawn(move || sender.send().unwrap())
        });
        run(&mut core, |core, event| {
            if let Event::Async { key, .. } = event {
                core.close(key).unwrap();
            }
        });
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn a_send_meets_the_close_of_its_handle_and_the_end_of_the_loop() {
    try_orders(|| {
        let mut core = new_loop();
        let handle = core.async_init(0).unwrap();
        let sender = core.async_sender(handle).unwrap();
        let other = thread::spawn({
            let sender = sender.clone();
            move || sender.send()
        });
        core.close(handle).unwrap();
        run(&mut core, |_, event| assert!(matches!(event, Event::Closed { .. })));
        drop(core);
        assert_eq!(sender.send(), Err(Errno::EINVAL));
        assert!(matches!(other.join().unwrap(), Ok(()) | Err(Errno::EINVAL)));
    });
}

#[test]
fn a_job_comes_back_with_what_its_thread_has_written() {
    try_orders(|| {
        let mut core = new_loop();
        let letters: [_; 2] = std::array::from_fn(|_| Letter::new());
        for (user, letter) in letters.iter().cloned().enumerate() {
            core.submit(Lane::Work, boxed(move || letter.write()), user as u32).unwrap();
        }
        let mut told = 0;
        run(&mut core, |core, event| {
            let Event::Done { user, result: Ok(()) } = event else { panic!("{event:?}") };
            assert_eq!(letters[user as usize].read(), 1);
            drop(core.take_job());
            told += 1;
        });
        assert_eq!(told, 2);
    });
}

#[test]
fn a_job_is_cancelled_or_runs_but_never_both() {
    try_orders(|| {
        let mut core = new_loop();
        let letter = Letter::new();
        let job = boxed({
            let letter = letter.clone();
            move || letter.write()
        });
        let ticket = core.submit(Lane::Work, job, 0).unwrap();
        let canceled = core.cancel(ticket);
        let mut told = Vec::new();
        run(&mut core, |core, event| {
            let Event::Done { result, .. } = event else { panic!("{event:?}") };
            drop(core.take_job());
            told.push((result, letter.read()));
        });
        let expected = if canceled.is_ok() { (Err(Errno::ECANCELED), 0) } else { (Ok(()), 1) };
        assert_eq!(told, [expected]);
    });
}

#[test]
fn two_jobs_find_two_threads() {
    try_orders(|| {
        let mut core = loop_on(&pool(2));
        // The threads are there, and have begun to wait for work, or are about to.
        core.submit(Lane::Work, boxed(|| {}), 0).unwrap();
        run(&mut core, |core, _| drop(core.take_job()));
        let meeting = Arc::new((loom::sync::Mutex::new(0), loom::sync::Condvar::new()));
        for user in 0..2 {
            let meeting = meeting.clone();
            // Neither ends before the other has begun.
            let meet = move || {
                let mut count = meeting.0.lock().unwrap();
                *count += 1;
                meeting.1.notify_all();
                while *count < 2 {
                    count = meeting.1.wait(count).unwrap();
                }
            };
            core.submit(Lane::Work, boxed(meet), user).unwrap();
        }
        run(&mut core, |core, _| drop(core.take_job()));
        assert_eq!(*meeting.0.lock().unwrap(), 2);
    });
}

#[test]
fn a_pool_that_is_shut_down_has_run_what_it_has_taken() {
    try_orders(|| {
        let pool = pool(1);
        let mut core = loop_on(&pool);
        let count = Arc::new(AtomicUsize::new(0));
        let ending = thread::spawn({
            let pool = pool.clone();
            move || pool.shutdown(None)
        });
        let submitted = core.submit(
            Lane::Work,
            boxed({
                let count = count.clone();
                move || {
                    count.fetch_add(1, Relaxed);
                }
            }),
            0,
        );
        let taken = match submitted {
            Ok(_) => 1,
            Err(refused) => {
                assert_eq!(refused.error, Errno::EAGAIN);
                0
            }
        };
        ending.join().unwrap();
        let mut told = 0;
        run(&mut core, |core, _| {
            drop(core.take_job());
            told += 1;
        });
        assert_eq!((told, count.load(Relaxed)), (taken, taken));
    });
}

/// Counts how often it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_loop_that_goes_leaves_no_job_behind() {
    try_orders(|| {
        let pool = pool(1);
        let mut core = loop_on(&pool);
        let dropped = Arc::new(AtomicUsize::new(0));
        for user in 0..2 {
            let owned = Dropped(dropped.clone());
            core.submit(
                Lane::Work,
                boxed(move || {
                    let _ = &owned;
                }),
                user,
            )
            .unwrap();
        }
        drop(core);
        pool.shutdown(None);
        assert_eq!(dropped.load(Relaxed), 2);
    });
}
