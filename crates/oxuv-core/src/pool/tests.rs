//! The pool as loops see it.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use oxuv_os::epoll::{Epoll, EventFlags, NO_EVENT};
use oxuv_os::{Errno, Shared};

use super::{Lane, Pool, PoolOf, Ticket};
use crate::kernel::Job;
use crate::linux::Linux;
use crate::{Config, Core, Event, Mode, One};

type Loop = Core<Linux, u32, One<Vec<u8>>>;
type Boxed = Box<dyn Job>;

fn pool(threads: usize) -> Shared<Pool<Boxed>> {
    Shared::new(Pool::with_size(c"test-worker", NonZeroUsize::new(threads).unwrap())).unwrap()
}

fn new_loop(pool: &Shared<Pool<Boxed>>) -> Loop {
    Core::new(Linux::with_pool(false, PoolOf::Own(pool.clone())).unwrap(), Config::default()).unwrap()
}

/// A job that calls this.
struct Call<F>(F);

impl<F: FnMut() + Send + 'static> Job for Call<F> {
    fn run(&mut self) {
        (self.0)();
    }
}

fn submit(core: &mut Loop, lane: Lane, user: u32, call: impl FnMut() + Send + 'static) -> Ticket {
    core.submit(lane, Box::new(Call(call)), user).unwrap()
}

/// Runs until nothing is alive, or for one turn: what has come back.
fn run(core: &mut Loop, mode: Mode) -> Vec<(u32, Result<(), Errno>)> {
    let mut done = Vec::new();
    core.begin(mode);
    while let Some(event) = core.next() {
        let Event::Done { user, result } = event else { panic!("{event:?}") };
        done.push((user, result));
        assert!(core.take_job().is_some());
        assert!(core.take_job().is_none());
    }
    core.end().unwrap();
    done
}

/// Something that jobs wait at.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let is_open = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(is_open, |is_open| !*is_open).unwrap());
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// A job that says that it has begun, and waits at a gate.
fn waiter(gate: &Gate) -> (impl FnMut() + Send + 'static, Receiver<()>) {
    let (gate, (begun, receiver)) = (gate.clone(), channel());
    let wait = move || {
        begun.send(()).unwrap();
        gate.pass();
    };
    (wait, receiver)
}

#[test]
fn look_ups_that_hang_leave_half_of_the_threads_to_others() {
    let pool = pool(4);
    let mut core = new_loop(&pool);
    let (gate, hanging) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    for user in 0..200 {
        let (gate, hanging) = (gate.clone(), hanging.clone());
        submit(&mut core, Lane::SlowIo, user, move || {
            hanging.fetch_add(1, SeqCst);
            gate.pass();
        });
    }
    for _ in 0..50 {
        for user in 1000..1010 {
            submit(&mut core, Lane::FastIo, user, || {});
            submit(&mut core, Lane::Work, user, || {});
        }
        let mut left = 20;
        while left > 0 {
            let done = run(&mut core, Mode::Once);
            assert!(done.iter().all(|&(user, _)| user >= 1000));
            left -= done.len();
        }
    }
    assert_eq!(hanging.load(SeqCst), 2);
    let metrics = pool.metrics();
    assert_eq!((metrics.threads, metrics.lanes[Lane::SlowIo as usize].running), (4, 2));
    assert_eq!(metrics.lanes[Lane::SlowIo as usize].queued, 198);
    assert!(metrics.lanes[Lane::FastIo as usize].done >= 490, "{metrics:?}");
    gate.open();
    assert_eq!(run(&mut core, Mode::Default).len(), 200);
}

#[test]
fn a_file_does_not_wait_for_all_the_work_before_it() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    let gate = Gate::default();
    let (wait, begun) = waiter(&gate);
    submit(&mut core, Lane::Work, 0, wait);
    begun.recv().unwrap();
    for user in 1..1000 {
        submit(&mut core, Lane::Work, user, || {});
    }
    submit(&mut core, Lane::SlowIo, 2000, || {});
    submit(&mut core, Lane::FastIo, 3000, || {});
    gate.open();
    let order: Vec<_> = run(&mut core, Mode::Default).into_iter().map(|(user, _)| user).collect();
    let place = |of| order.iter().position(|&user| user == of).unwrap();
    assert!(place(2000) < 20 && place(3000) < 20, "{} {}", place(2000), place(3000));
    assert!(order.iter().filter(|&&user| user < 1000).is_sorted());
}

#[test]
fn what_has_not_begun_can_be_cancelled_and_comes_back_unrun() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    let gate = Gate::default();
    let (wait, begun) = waiter(&gate);
    let busy = submit(&mut core, Lane::Work, 1, wait);
    begun.recv().unwrap();
    let canceled = submit(&mut core, Lane::Work, 2, || panic!("it was cancelled"));
    assert_eq!(core.cancel(busy), Err(Errno::EBUSY));
    assert_eq!(core.cancel(canceled), Ok(()));
    assert_eq!(core.cancel(canceled), Err(Errno::EBUSY));
    assert_eq!((core.active_requests(), core.check_closable()), (2, Err(Errno::EBUSY)));
    assert_eq!(run(&mut core, Mode::Once), [(2, Err(Errno::ECANCELED))]);
    gate.open();
    assert_eq!(run(&mut core, Mode::Default), [(1, Ok(()))]);
    assert_eq!((core.cancel(busy), core.check_closable()), (Err(Errno::EBUSY), Ok(())));
}

#[test]
fn a_job_comes_back_with_what_it_has_found_out() {
    struct Square(u64);
    impl Job for Square {
        fn run(&mut self) {
            self.0 *= self.0;
        }
    }
    let mut core = new_loop(&pool(2));
    core.submit(Lane::Work, Box::new(Square(12)), 1).unwrap();
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Done { user: 1, result: Ok(()) }));
    let job: Box<dyn Any> = core.take_job().unwrap();
    assert_eq!(job.downcast::<Square>().unwrap().0, 144);
}

#[test]
fn all_threads_work_at_the_same_time() {
    let mut core = new_loop(&pool(4));
    let together = Arc::new(std::sync::Barrier::new(4));
    for round in 0..50 {
        for user in 0..4 {
            let together = together.clone();
            submit(&mut core, Lane::Work, 4 * round + user, move || {
                together.wait();
            });
        }
    }
    assert_eq!(run(&mut core, Mode::Default).len(), 200);
}

#[test]
fn loops_on_many_threads_share_a_pool() {
    let (pool, total) = (pool(3), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..6)
        .map(|_| {
            let (pool, total) = (pool.clone(), total.clone());
            std::thread::spawn(move || {
                let mut core = new_loop(&pool);
                for round in 0..100 {
                    for user in 0..10 {
                        let total = total.clone();
                        submit(&mut core, Lane::ALL[user as usize % 3], round, move || {
                            total.fetch_add(1, SeqCst);
                        });
                    }
                    assert_eq!(run(&mut core, Mode::Default).len(), 10);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // A thread counts after it has given a job back.
    pool.shutdown(None);
    assert_eq!(total.load(SeqCst), 6000);
    assert_eq!(pool.metrics().lanes.iter().map(|lane| lane.done).sum::<u64>(), 6000);
}

/// Tells when it is dropped.
struct Dropped {
    has_run: bool,
    tell: Sender<bool>,
}

impl Dropped {
    fn run(&mut self) {
        self.has_run = true;
    }
}

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.tell.send(self.has_run);
    }
}

#[test]
fn a_loop_that_goes_takes_its_jobs_with_it() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    let (gate, (dropped, receiver)) = (Gate::default(), channel());
    let (wait, begun) = waiter(&gate);
    submit(&mut core, Lane::Work, 0, wait);
    begun.recv().unwrap();
    for user in 1..10 {
        let mut dropped = Dropped { has_run: false, tell: dropped.clone() };
        submit(&mut core, Lane::Work, user, move || dropped.run());
    }
    drop((core, dropped));
    gate.open();
    let has_run: Vec<bool> = receiver.iter().collect();
    assert_eq!(has_run, [false; 9]);
}

#[test]
fn after_many_quick_jobs_one_that_waits_for_the_end_of_another_does_not_hold_that_up() {
    let mut core = new_loop(&pool(1));
    for _ in 0..100 {
        for user in 0..64 {
            submit(&mut core, Lane::Work, user, || {});
        }
        run(&mut core, Mode::Default);
    }
    let gate = Gate::default();
    submit(&mut core, Lane::Work, 0, || {});
    let (wait, _begun) = waiter(&gate);
    submit(&mut core, Lane::Work, 1, wait);
    for user in 2..64 {
        submit(&mut core, Lane::Work, user, || {});
    }
    let mut done = Vec::new();
    while done.is_empty() {
        done = run(&mut core, Mode::Once);
    }
    assert_eq!(done, [(0, Ok(()))]);
    gate.open();
    assert_eq!(run(&mut core, Mode::Default).len(), 63);
}

#[test]
fn shutting_down_runs_what_is_queued_and_the_pool_starts_anew() {
    let pool = pool(2);
    let mut core = new_loop(&pool);
    for round in 0..3 {
        for user in 0..100 {
            submit(&mut core, Lane::ALL[user as usize % 2], user, || {});
        }
        pool.shutdown(None);
        let metrics = pool.metrics();
        assert_eq!(metrics.threads, 0);
        assert!(metrics.lanes.iter().all(|lane| (lane.queued, lane.running) == (0, 0)));
        assert_eq!(metrics.lanes.iter().map(|lane| lane.done).sum::<u64>(), 100 * (round + 1));
        assert_eq!(run(&mut core, Mode::NoWait).len(), 100, "they are all on the desk");
    }
}

#[test]
fn shutting_down_does_not_begin_look_ups() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    let gate = Gate::default();
    let (wait, begun) = waiter(&gate);
    submit(&mut core, Lane::Work, 0, wait);
    begun.recv().unwrap();
    for user in 1..4 {
        submit(&mut core, Lane::SlowIo, user, || panic!("it might take long"));
    }
    submit(&mut core, Lane::Work, 4, || {});
    let ending = std::thread::spawn(move || pool.shutdown(None));
    let canceled = [1, 2, 3].map(|user| (user, Err(Errno::ECANCELED)));
    let mut done = Vec::new();
    while done.len() < 3 {
        done.extend(run(&mut core, Mode::Once));
    }
    assert_eq!(done, canceled);
    gate.open();
    ending.join().unwrap();
    assert_eq!(run(&mut core, Mode::Default), [(0, Ok(())), (4, Ok(()))]);
}

#[test]
fn waiting_and_running_are_measured_when_asked_for() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    submit(&mut core, Lane::Work, 0, || {});
    run(&mut core, Mode::Default);
    pool.measure().unwrap();
    let before = Instant::now();
    for user in 0..2 {
        submit(&mut core, Lane::FastIo, user, || std::thread::sleep(Duration::from_millis(10)));
    }
    run(&mut core, Mode::Default);
    // The thread counts after it has given a job back.
    pool.shutdown(None);
    let most = before.elapsed().as_nanos() as u64;
    let [work, fast, _] = pool.metrics().lanes;
    assert_eq!((work.done, work.wait, work.run, fast.done), (1, 0, 0, 2));
    assert!(fast.run >= 20_000_000 && fast.run <= most, "{fast:?}");
    assert!(fast.wait >= 10_000_000 && fast.wait <= 2 * most, "{fast:?}");
}

#[test]
fn many_jobs_at_a_time_need_memory_only_while_their_number_grows() {
    let mut core = new_loop(&pool(2));
    for _ in 0..3 {
        for user in 0..10_000 {
            submit(&mut core, Lane::Work, user, || {});
        }
        assert_eq!(run(&mut core, Mode::Default).len(), 10_000);
    }
}

#[test]
fn the_end_of_the_process_does_not_wait_for_ever() {
    let pool = pool(2);
    let mut core = new_loop(&pool);
    let gate = Gate::default();
    let (wait, begun) = waiter(&gate);
    submit(&mut core, Lane::Work, 0, wait);
    begun.recv().unwrap();
    let from = Instant::now();
    pool.shutdown(Some(Duration::from_millis(20)));
    assert!(from.elapsed() >= Duration::from_millis(20));
    let refused = core.submit(Lane::Work, Box::new(Call(|| {})), 1).unwrap_err();
    assert_eq!(refused.error, Errno::EAGAIN);
    gate.open();
    // Once it is free it ends with the others, for whoever has the patience.
    assert_eq!(run(&mut core, Mode::Once), [(0, Ok(()))]);
}

/// Panics when it is dropped, and then once more with what it has panicked with.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(left) = self.0.checked_sub(1) {
            std::panic::panic_any(Bomb(left));
        }
    }
}

#[test]
fn what_a_loop_leaves_behind_may_panic_when_it_is_dropped() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    let gate = Gate::default();
    let (mut wait, begun) = waiter(&gate);
    let bomb = Bomb(2);
    submit(&mut core, Lane::Work, 0, move || {
        let _owned = &bomb;
        wait();
    });
    let bomb = Bomb(1);
    submit(&mut core, Lane::Work, 1, move || {
        let _owned = &bomb;
        unreachable!("its loop is gone, and so it does not begin");
    });
    begun.recv().unwrap();
    drop(core);
    gate.open();

    let mut core = new_loop(&pool);
    submit(&mut core, Lane::Work, 2, || {});
    assert_eq!(run(&mut core, Mode::Default), [(2, Ok(()))]);
    let work = pool.metrics().lanes[Lane::Work as usize];
    assert_eq!((work.queued, work.running), (0, 0));
}

#[test]
fn a_run_that_ends_leaves_no_job_untold_to_those_who_watch_the_kernel() {
    let pool = pool(1);
    let mut core = new_loop(&pool);
    for user in 0..1000 {
        submit(&mut core, Lane::FastIo, user, || {});
        if user % 3 == 0 {
            run(&mut core, Mode::NoWait);
        }
    }
    let watcher = Epoll::new().unwrap();
    watcher.set(core.kernel().backend_fd(), 0, EventFlags::IN, false).unwrap();
    while core.alive() {
        let count = watcher.wait(&mut [NO_EVENT], Some(10_000_000_000)).unwrap();
        assert_eq!(count, 1, "nobody says that jobs have come back");
        run(&mut core, Mode::NoWait);
    }
}
