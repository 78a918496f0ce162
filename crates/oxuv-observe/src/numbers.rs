//! Counts and distributions of what a loop does.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use oxuv_core::{CallbackKind, ObservedJob as Job, Wait};

/// Numbers of one loop or several, for any thread to read: a clone is another way to the same.
#[derive(Debug, Clone)]
pub struct Numbers(Arc<Mutex<Counts>>);

#[derive(Debug, Clone)]
struct Counts {
    turns: u64,
    /// Nanoseconds.
    idle: u64,
    busy: u64,
    /// Until when the time is shared out among the two; `None` outside of a run.
    counted: Option<u64>,
    kinds: [OfKind; CallbackKind::ALL.len()],
    lanes: [OfKind; 3],
    /// How long jobs have waited for a thread.
    queued: u64,
    turn_begun: Option<u64>,
    /// The waits within the turn.
    waited: u64,
    turn_times: Histogram<u64>,
    delays: Histogram<u64>,
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
            turns: 0,
            idle: 0,
            busy: 0,
            counted: None,
            kinds: Default::default(),
            lanes: Default::default(),
            queued: 0,
            turn_begun: None,
            waited: 0,
            turn_times: histogram(),
            delays: histogram(),
        })))
    }

    /// The turns that have begun.
    pub fn turns(&self) -> u64 {
        self.with(|counts| counts.turns)
    }

    /// The nanoseconds in which the loop has waited for events, outside of which it ran something.
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

    /// How long turns take, without what they wait.
    pub fn turn_times(&self) -> Delays {
        self.with(|counts| Delays::of(&counts.turn_times))
    }

    /// How long an event that comes at any time would have to wait for the loop: for each callback what it holds others up by.
    #[doc(alias = "monitorEventLoopDelay")]
    pub fn delays(&self) -> Delays {
        self.with(|counts| Delays::of(&counts.delays))
    }

    /// All of it as Prometheus reads it (text format 0.0.4); times in seconds.
    pub fn prometheus(&self) -> String {
        self.with(|counts| prometheus(&[(String::new(), counts)]))
    }

    /// The same of several loops, whose names are the label `loop`.
    pub fn prometheus_of(loops: &[(String, Numbers)]) -> String {
        let lock = |numbers: &'_ Numbers| numbers.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let counts: Vec<_> = loops.iter().map(|(name, numbers)| (format!("loop=\"{name}\""), lock(numbers))).collect();
        prometheus(&counts.iter().map(|(label, counts)| (label.clone(), counts)).collect::<Vec<_>>())
    }

    pub(crate) fn turn_begun(&self, at: u64) {
        self.with(|counts| {
            counts.end_turn(at);
            counts.turns += 1;
            counts.turn_begun = Some(at);
            counts.waited = 0;
            counts.counted.get_or_insert(at);
        });
    }

    pub(crate) fn waited(&self, wait: &Wait) {
        self.with(|counts| {
            counts.busy_until(wait.begun);
            let length = wait.ended.saturating_sub(wait.begun);
            counts.idle += length;
            counts.waited += length;
            counts.counted = Some(wait.ended);
        });
    }

    pub(crate) fn callback(&self, kind: CallbackKind, duration: u64) {
        self.with(|counts| {
            counts.kinds[kind as usize].add(duration);
        });
    }

    pub(crate) fn delay(&self, duration: u64) {
        self.with(|counts| counts.delays.saturating_record(duration));
    }

    pub(crate) fn job(&self, job: &Job) {
        self.with(|counts| {
            counts.lanes[job.lane as usize].add(job.finished.saturating_sub(job.started));
            counts.queued += job.started.saturating_sub(job.queued);
        });
    }

    pub(crate) fn run_ended(&self, at: u64) {
        self.with(|counts| {
            counts.end_turn(at);
            counts.busy_until(at);
            counts.counted = None;
        });
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Counts) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Counts {
    fn end_turn(&mut self, at: u64) {
        if let Some(begun) = self.turn_begun.take() {
            self.turn_times.saturating_record(at.saturating_sub(begun).saturating_sub(self.waited));
        }
    }

    fn busy_until(&mut self, at: u64) {
        if let Some(counted) = self.counted {
            self.busy += at.saturating_sub(counted);
            self.counted = Some(at);
        }
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// What loops have counted, each with a label, which may be empty.
fn prometheus(loops: &[(String, &Counts)]) -> String {
    let mut text = String::new();
    counter(&mut text, "oxuv_turns_total", "Turns of the loop", loops, |counts| one(counts.turns as f64));
    counter(&mut text, "oxuv_idle_seconds_total", "Time waiting for events", loops, |counts| one(seconds(counts.idle)));
    counter(&mut text, "oxuv_busy_seconds_total", "Time running something", loops, |counts| one(seconds(counts.busy)));
    counter(&mut text, "oxuv_callbacks_total", "Callbacks called", loops, |counts| kinds(counts, |of| of.count as f64));
    counter(&mut text, "oxuv_callback_seconds_total", "Time in callbacks", loops, |counts| {
        kinds(counts, |of| seconds(of.total))
    });
    counter(&mut text, "oxuv_jobs_total", "Jobs that threads have run", loops, |counts| {
        lanes(counts, |of| of.count as f64)
    });
    counter(&mut text, "oxuv_job_seconds_total", "Time of threads in jobs", loops, |counts| {
        lanes(counts, |of| seconds(of.total))
    });
    summary(&mut text, "oxuv_turn_seconds", "Time of a turn without waiting", loops, |counts| &counts.turn_times);
    summary(&mut text, "oxuv_delay_seconds", "Time that a callback holds others up", loops, |counts| &counts.delays);
    text
}

fn one(value: f64) -> Vec<(String, f64)> {
    vec![(String::new(), value)]
}

fn kinds(counts: &Counts, of: fn(&OfKind) -> f64) -> Vec<(String, f64)> {
    let kind = |kind: &CallbackKind| (format!("kind=\"{}\"", kind.name()), of(&counts.kinds[*kind as usize]));
    CallbackKind::ALL.iter().map(kind).collect()
}

fn lanes(counts: &Counts, of: fn(&OfKind) -> f64) -> Vec<(String, f64)> {
    let lane = |(name, lane): (&str, &OfKind)| (format!("lane=\"{name}\""), of(lane));
    ["work", "fast_io", "slow_io"].into_iter().zip(&counts.lanes).map(lane).collect()
}

/// Labels in braces, if there are any.
fn labels(of: &[&str]) -> String {
    let of: Vec<_> = of.iter().copied().filter(|label| !label.is_empty()).collect();
    if of.is_empty() { String::new() } else { format!("{{{}}}", of.join(",")) }
}

fn counter(
    text: &mut String,
    name: &str,
    help: &str,
    loops: &[(String, &Counts)],
    values: impl Fn(&Counts) -> Vec<(String, f64)>,
) {
    // Writing to memory does not fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
    for (label, counts) in loops {
        for (own, value) in values(counts) {
            let _ = writeln!(text, "{name}{} {value}", labels(&[label, &own]));
        }
    }
}

fn summary(
    text: &mut String,
    name: &str,
    help: &str,
    loops: &[(String, &Counts)],
    of: impl Fn(&Counts) -> &Histogram<u64>,
) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} summary");
    for (label, counts) in loops {
        let of = of(counts);
        for quantile in [0.5, 0.9, 0.99, 0.999] {
            let value = seconds(of.value_at_quantile(quantile));
            let _ = writeln!(text, "{name}{} {value}", labels(&[label, &format!("quantile=\"{quantile}\"")]));
        }
        let (sum, label) = (of.mean() * of.len() as f64 / 1e9, labels(&[label]));
        let _ = writeln!(text, "{name}_sum{label} {sum}\n{name}_count{label} {}", of.len());
    }
}
