//! Counts and distributions of what a loop does.

use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use oxuv_core::{CallbackKind, Metrics, ObservedJob as Job, Wait};

/// Numbers of one loop or several, for any thread to read: a clone is another way to the same.
///
/// They begin when the loop is observed. What a loop counts and measures itself, turns, events and the time that it waits, they
/// have from there: see [`Core::metrics`](oxuv_core::Core::metrics).
#[derive(Debug, Clone)]
pub struct Numbers(Arc<Mutex<Counts>>);

#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) metrics: Metrics,
    /// Nanoseconds.
    pub(crate) idle: u64,
    pub(crate) busy: u64,
    pub(crate) kinds: [OfKind; CallbackKind::ALL.len()],
    pub(crate) lanes: [OfKind; 3],
    pub(crate) ring: OfKind,
    pub(crate) turn_times: Histogram<u64>,
    pub(crate) delays: Histogram<u64>,
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
    fn add(&mut self, duration: u64) {
        self.count += 1;
        self.total += duration;
        self.longest = self.longest.max(duration);
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

/// The longest time that is told from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;

impl Default for Numbers {
    fn default() -> Self {
        Numbers::new()
    }
}

impl Numbers {
    /// All zero.
    pub fn new() -> Numbers {
        // The bounds are constants that it takes.
        let histogram = || Histogram::new_with_max(LONGEST, 3).expect("bounds that a histogram takes");
        Numbers(Arc::new(Mutex::new(Counts {
            metrics: Metrics::default(),
            idle: 0,
            busy: 0,
            kinds: Default::default(),
            lanes: Default::default(),
            ring: OfKind::default(),
            turn_times: histogram(),
            delays: histogram(),
        })))
    }

    /// Turns and events, as the loop itself counts them.
    #[doc(alias = "uv_metrics_info")]
    pub fn metrics(&self) -> Metrics {
        self.with(|counts| counts.metrics)
    }

    /// The turns that have begun.
    pub fn turns(&self) -> u64 {
        self.metrics().turns
    }

    /// The nanoseconds in which the loop has waited for events, outside of which it ran something.
    #[doc(alias = "uv_metrics_idle_time")]
    pub fn idle(&self) -> u64 {
        self.with(|counts| counts.idle)
    }

    /// The nanoseconds in which the loop ran something: callbacks, and its own work.
    pub fn busy(&self) -> u64 {
        self.with(|counts| counts.busy)
    }

    /// The share of time in which the loop was busy, from 0 to 1.
    #[doc(alias = "eventLoopUtilization")]
    pub fn utilization(&self) -> f64 {
        self.with(|counts| match counts.busy + counts.idle {
            0 => 0.0,
            all => counts.busy as f64 / all as f64,
        })
    }

    /// The callbacks of this kind.
    pub fn callbacks(&self, kind: CallbackKind) -> OfKind {
        self.with(|counts| counts.kinds[kind as usize])
    }

    /// The jobs that threads have run, by the numbers of [`Lane`](oxuv_core::Lane).
    pub fn lanes(&self) -> [OfKind; 3] {
        self.with(|counts| counts.lanes)
    }

    /// The operations on files that the kernel has done by io_uring.
    pub fn ring(&self) -> OfKind {
        self.with(|counts| counts.ring)
    }

    /// How long turns take, without what they wait.
    pub fn turn_times(&self) -> Delays {
        self.with(|counts| Delays::of(&counts.turn_times))
    }

    /// How long an event that comes at any time would have to wait for the loop: for each callback what it holds others up by.
    #[doc(alias = "monitorEventLoopDelay")]
    pub fn delays(&self) -> Delays {
        self.with(|counts| Delays::of(&counts.delays))
    }

    #[inline]
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&mut Counts) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A loop's part of [`Numbers`], which others may have a part of, too.
#[derive(Debug)]
pub(crate) struct Tally {
    numbers: Numbers,
    /// What the loop had counted when it was last added; `None` before the first turn.
    metrics: Option<Metrics>,
    /// Until when the time is shared out among idle and busy; `None` outside of a run.
    counted: Option<u64>,
    turn_begun: Option<u64>,
    /// Of the turn.
    idle: u64,
}

impl Tally {
    pub(crate) fn new(numbers: Numbers) -> Tally {
        Tally { numbers, metrics: None, counted: None, turn_begun: None, idle: 0 }
    }

    pub(crate) fn turn_begun(&mut self, number: u64, at: u64) {
        self.end_turn(at);
        self.turn_begun = Some(at);
        self.counted.get_or_insert(at);
        self.metrics.get_or_insert(Metrics { turns: number - 1, ..Metrics::default() });
    }

    pub(crate) fn waited(&mut self, wait: &Wait) {
        let counted = self.counted.replace(wait.ended).unwrap_or(wait.begun);
        self.idle += wait.idle;
        let more = self.count(&wait.metrics);
        self.numbers.with(|counts| {
            counts.add(&more);
            counts.idle += wait.idle;
            counts.busy += wait.ended.saturating_sub(counted).saturating_sub(wait.idle);
        });
    }

    pub(crate) fn callback(&self, kind: CallbackKind, duration: u64) {
        self.numbers.with(|counts| {
            counts.kinds[kind as usize].add(duration);
            counts.delays.saturating_record(duration);
        });
    }

    pub(crate) fn job(&self, job: &Job) {
        let duration = job.finished.saturating_sub(job.started);
        self.numbers.with(|counts| match job.lane {
            Some(lane) => counts.lanes[lane as usize].add(duration),
            None => counts.ring.add(duration),
        });
    }

    pub(crate) fn run_ended(&mut self, metrics: &Metrics, at: u64) {
        self.end_turn(at);
        let busy = self.counted.take().map_or(0, |counted| at.saturating_sub(counted));
        let more = self.count(metrics);
        self.numbers.with(|counts| {
            counts.add(&more);
            counts.busy += busy;
        });
    }

    fn end_turn(&mut self, at: u64) {
        if let Some(begun) = self.turn_begun.take() {
            let time = at.saturating_sub(begun).saturating_sub(std::mem::take(&mut self.idle));
            self.numbers.with(|counts| counts.turn_times.saturating_record(time));
        }
    }

    /// What the loop has counted since the last time.
    fn count(&mut self, now: &Metrics) -> Metrics {
        let before = self.metrics.replace(*now).unwrap_or(*now);
        Metrics {
            turns: now.turns - before.turns,
            events: now.events - before.events,
            events_waiting: now.events_waiting - before.events_waiting,
        }
    }
}

impl Counts {
    fn add(&mut self, more: &Metrics) {
        self.metrics.turns += more.turns;
        self.metrics.events += more.events;
        self.metrics.events_waiting += more.events_waiting;
    }
}
