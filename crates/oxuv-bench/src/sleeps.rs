//! The workloads of `c/timer.c` with futures, for whoever has such: a timer is a future that waits.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::program::{Random, Spent, timed_section};

/// A loop with timers, as futures.
pub(crate) trait Sleeper {
    type Sleep: Future<Output = ()>;

    /// A timer that is started when it is polled, inside of [`wait_for`](Sleeper::wait_for).
    fn sleep(&self, time: Duration) -> Self::Sleep;
    /// Starts it anew, for a time from now on.
    fn reset(&self, sleep: Pin<&mut Self::Sleep>, time: Duration);
    /// Runs the loop until that is ready.
    fn wait_for<T>(&self, future: impl Future<Output = T>) -> T;
}

const LONGEST_MS: u64 = 60_000;

struct Timers<'a, S: Sleeper> {
    sleeper: &'a S,
    slots: Vec<Pin<Box<Option<S::Sleep>>>>,
    random: Random,
}

impl<S: Sleeper> Timers<'_, S> {
    fn new(sleeper: &S, count: usize) -> Timers<'_, S> {
        let slots = (0..count).map(|_| Box::pin(None)).collect();
        Timers { sleeper, slots, random: Random::default() }
    }

    /// Does something inside of the loop.
    fn inside<T>(&mut self, mut what: impl FnMut(&mut Self, &mut Context<'_>) -> T) -> T {
        let sleeper = self.sleeper;
        sleeper.wait_for(poll_fn(|context| Poll::Ready(what(self, context))))
    }

    fn start_all(&mut self, longest: u64, context: &mut Context<'_>) -> io::Result<()> {
        for slot in &mut self.slots {
            let time = Duration::from_millis(1 + self.random.below(longest));
            slot.set(Some(self.sleeper.sleep(time)));
            if let Some(sleep) = slot.as_mut().as_pin_mut() {
                let is_over = sleep.poll(context).is_ready();
                assert!(!is_over, "a timer of a millisecond and more is over at once");
            }
        }
        Ok(())
    }

    /// In the order of `in_another_order` in `c/timer.c`.
    fn shuffled(&mut self, mut each: impl FnMut(Pin<&mut Option<S::Sleep>>)) -> io::Result<()> {
        let count = self.slots.len();
        for nth in 0..count {
            each(self.slots[nth * 7919 % count].as_mut());
        }
        Ok(())
    }
}

/// Adds up what each of the passes over all timers takes.
fn passes(timers: usize, operations: usize, mut pass: impl FnMut() -> io::Result<Spent>) -> io::Result<Spent> {
    let mut measured = Spent::default();
    for _ in 0..operations / timers {
        let Spent { cpu, time } = pass()?;
        measured.cpu += cpu;
        measured.time += time;
    }
    Ok(measured)
}

pub(crate) fn insert(sleeper: &impl Sleeper, count: usize, operations: usize) -> io::Result<Spent> {
    let mut timers = Timers::new(sleeper, count);
    passes(count, operations, || {
        timers.inside(|timers, context| {
            let spent = timed_section(|| timers.start_all(LONGEST_MS, context))?;
            timers.shuffled(|mut slot| slot.set(None))?;
            Ok(spent)
        })
    })
}

pub(crate) fn cancel(sleeper: &impl Sleeper, count: usize, operations: usize) -> io::Result<Spent> {
    let mut timers = Timers::new(sleeper, count);
    passes(count, operations, || {
        timers.inside(|timers, context| {
            timers.start_all(LONGEST_MS, context)?;
            timed_section(|| timers.shuffled(|mut slot| slot.set(None)))
        })
    })
}

pub(crate) fn put_off(sleeper: &impl Sleeper, count: usize, operations: usize) -> io::Result<Spent> {
    let mut timers = Timers::new(sleeper, count);
    timers.inside(|timers, context| timers.start_all(LONGEST_MS, context))?;
    passes(count, operations, || {
        timers.inside(|timers, _| {
            timed_section(|| {
                timers.shuffled(|slot| {
                    let sleep = slot.as_pin_mut().expect("all are started");
                    sleeper.reset(sleep, Duration::from_millis(LONGEST_MS + 1));
                })
            })
        })
    })
}

pub(crate) fn fire(sleeper: &impl Sleeper, count: usize, operations: usize) -> io::Result<Spent> {
    let mut timers = Timers::new(sleeper, count);
    passes(count, operations, || {
        timers.inside(|timers, context| timers.start_all(100, context))?;
        // Longer than any of them.
        std::thread::sleep(Duration::from_millis(101));
        timed_section(|| {
            sleeper.wait_for(async {
                for slot in &mut timers.slots {
                    if let Some(sleep) = slot.as_mut().as_pin_mut() {
                        sleep.await;
                    }
                }
                Ok(())
            })
        })
    })
}
