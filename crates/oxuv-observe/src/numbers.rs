//! Counts and distributions of what a loop does.

use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use oxuv_core::{CallbackKind, Metrics};

use crate::distribution::{Counter, Distribution, histogram};

/// Numbers of one loop or several, for any thread to read: a clone is another way to the same.
///
/// They begin when the loop is observed. What a loop counts and measures itself, turns, events and the time that it waits, they
/// have from there: see [`Core::metrics`](oxuv_core::Core::metrics).
#[derive(Debug, Clone, Default)]
pub struct Numbers(Arc<Mutex<Vec<Arc<Part>>>>);

/// What one loop has counted. Its thread writes without a lock.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) turns: Counter,
    pub(crate) events: Counter,
    pub(crate) events_waiting: Counter,
    /// Nanoseconds.
    pub(crate) idle: Counter,
    pub(crate) busy: Counter,
    pub(crate) kinds: [Times; CallbackKind::ALL.len()],
    pub(crate) lanes: [Times; 3],
    pub(crate) ring: Times,
    pub(crate) turn_times: Distribution,
    pub(crate) delays: Distribution,
}

/// [`OfKind`] as it is counted.
#[derive(Debug, Default)]
pub(crate) struct Times {
    count: Counter,
    total: Counter,
    longest: Counter,
}

impl Times {
    #[inline]
    pub(crate) fn add(&self, duration: u64) {
        self.count.add(1);
        self.total.add(duration);
        self.longest.raise(duration);
    }
}

/// How many, and how long all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfKind {
    /// How many there were.
    pub count: u64,
    /// How long they took, in nanoseconds.
    pub total: u64,
    /// How long the longest took, in nanoseconds.
    pub longest: u64,
}

impl OfKind {
    fn add(self, part: &Times) -> OfKind {
        OfKind {
            count: self.count + part.count.get(),
            total: self.total + part.total.get(),
            longest: self.longest.max(part.longest.get()),
        }
    }
}

/// A distribution of times, in nanoseconds, to three figures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Delays {
    /// How many were recorded.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// Half of them are not longer.
    pub p50: u64,
    /// Nine of ten are not longer.
    pub p90: u64,
    /// All but one of a hundred are not longer.
    pub p99: u64,
    /// All but one of a thousand are not longer.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl Delays {
    fn of(histogram: &Histogram<u64>) -> Delays {
        Delays {
            count: histogram.len(),
            min: histogram.min(),
            mean: histogram.mean(),
            stddev: histogram.stdev(),
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}

impl Numbers {
    /// All zero.
    pub fn new() -> Numbers {
        Numbers::default()
    }

    /// Turns and events, as the loop itself counts them.
    #[doc(alias = "uv_metrics_info")]
    pub fn metrics(&self) -> Metrics {
        Metrics {
            turns: self.sum(|part| &part.turns),
            events: self.sum(|part| &part.events),
            events_waiting: self.sum(|part| &part.events_waiting),
        }
    }

    /// The turns that have begun.
    pub fn turns(&self) -> u64 {
        self.metrics().turns
    }

    /// The nanoseconds in which the loop has waited for events, outside of which it ran something.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle(&self) -> u64 {
        self.sum(|part| &part.idle)
    }

    /// The nanoseconds in which the loop ran something: callbacks, and its own work.
    pub fn busy(&self) -> u64 {
        self.sum(|part| &part.busy)
    }

    /// The share of time in which the loop was busy, from 0 to 1.
    #[doc(alias = "eventLoopUtilization")]
    pub fn utilization(&self) -> f64 {
        let (busy, idle) = (self.busy(), self.idle());
        if busy + idle == 0 { 0.0 } else { busy as f64 / (busy + idle) as f64 }
    }

    /// The callbacks of this kind.
    pub fn callbacks(&self, kind: CallbackKind) -> OfKind {
        self.times(|part| &part.kinds[kind as usize])
    }

    /// The jobs that threads have run, by the numbers of [`Lane`](oxuv_core::Lane).
    pub fn lanes(&self) -> [OfKind; 3] {
        [0, 1, 2].map(|lane| self.times(|part| &part.lanes[lane]))
    }

    /// The operations on files that the kernel has done by io_uring.
    pub fn ring(&self) -> OfKind {
        self.times(|part| &part.ring)
    }

    /// How long turns take, without what they wait.
    pub fn turn_times(&self) -> Delays {
        Delays::of(&self.histogram(|part| &part.turn_times))
    }

    /// How long an event that comes at any time would have to wait for the loop: for each callback what it holds others up by.
    #[doc(alias = "monitorEventLoopDelay")]
    pub fn delays(&self) -> Delays {
        Delays::of(&self.histogram(|part| &part.delays))
    }

    /// A part for a new loop: one whose loop is gone, or a new one.
    pub(crate) fn part(&self) -> Arc<Part> {
        self.with(|parts| {
            match parts.iter_mut().find_map(|part| Arc::get_mut(part).is_some().then(|| Arc::clone(part))) {
                Some(part) => part,
                None => {
                    let part = Arc::new(Part::default());
                    parts.push(Arc::clone(&part));
                    part
                }
            }
        })
    }

    fn sum(&self, of: impl Fn(&Part) -> &Counter) -> u64 {
        self.with(|parts| parts.iter().map(|part| of(part).get()).sum())
    }

    fn times(&self, of: impl Fn(&Part) -> &Times) -> OfKind {
        self.with(|parts| parts.iter().fold(OfKind::default(), |sum, part| sum.add(of(part))))
    }

    pub(crate) fn histogram(&self, of: impl Fn(&Part) -> &Distribution) -> Histogram<u64> {
        let mut all = histogram();
        self.with(|parts| parts.iter().for_each(|part| of(part).add_to(&mut all)));
        all
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Vec<Arc<Part>>) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_come_and_go_take_no_more_room_than_those_that_are_there() {
        let numbers = Numbers::new();
        let stays = numbers.part();
        for _ in 0..100 {
            numbers.part().kinds[CallbackKind::Timer as usize].add(5);
        }
        stays.kinds[CallbackKind::Timer as usize].add(7);
        assert_eq!(numbers.callbacks(CallbackKind::Timer), OfKind { count: 101, total: 507, longest: 7 });
        numbers.with(|parts| assert_eq!(parts.len(), 2));
    }
}
