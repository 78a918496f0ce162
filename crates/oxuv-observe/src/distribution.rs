//! A distribution of times that one thread adds to and any may read.
//!
//! Its buckets are those of an HDR histogram, which is made of them when somebody reads: a thread that records in one
//! itself takes five times as many instructions, and a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hdrhistogram::Histogram;

/// A number that one thread adds to and any may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// No other thread does it meanwhile, so it needs no locked instruction.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.get().wrapping_add(more), Relaxed);
    }

    #[inline]
    pub(crate) fn raise(&self, to: u64) {
        if to > self.get() {
            self.0.store(to, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The longest time that is told from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// Three figures: times are told apart by so many of their highest bits.
const BITS: u32 = 11;
const HALF: usize = 1 << (BITS - 1);

/// The bucket of a time: one for each nanosecond up to 2047, then one for each two up to 4095, and so on.
#[inline]
const fn bucket(time: u64) -> usize {
    let shift = u64::BITS - BITS - (time | ((1 << BITS) - 1)).leading_zeros();
    shift as usize * HALF + (time >> shift) as usize
}

/// The least time in a bucket.
const fn least(bucket: usize) -> u64 {
    let shift = (bucket / HALF).saturating_sub(1);
    ((bucket - shift * HALF) as u64) << shift
}

#[derive(Debug)]
pub(crate) struct Distribution(Box<[Counter]>);

impl Default for Distribution {
    fn default() -> Self {
        Distribution((0..=bucket(LONGEST)).map(|_| Counter::default()).collect())
    }
}

impl Distribution {
    #[inline]
    pub(crate) fn record(&self, time: u64) {
        if let Some(counter) = self.0.get(bucket(time).min(self.0.len() - 1)) {
            counter.add(1);
        }
    }

    /// Adds what was recorded here.
    pub(crate) fn add_to(&self, histogram: &mut Histogram<u64>) {
        for (bucket, counter) in self.0.iter().enumerate().filter(|(_, counter)| counter.get() > 0) {
            histogram.saturating_record_n(least(bucket), counter.get());
        }
    }
}

/// A histogram for what distributions add to it.
pub(crate) fn histogram() -> Histogram<u64> {
    // The bounds are constants that it takes.
    Histogram::new_with_max(LONGEST, 3).expect("bounds that a histogram takes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_as_if_a_histogram_had_recorded_it() {
        let (distribution, mut expected) = (Distribution::default(), histogram());
        let times = (0..64).map(|bit| 1 << bit).flat_map(|power: u64| [power - 1, power, power + power / 3]);
        for time in times.chain([LONGEST - 1, LONGEST, u64::MAX]) {
            distribution.record(time);
            expected.record(time.min(LONGEST)).unwrap();
        }
        let mut found = histogram();
        distribution.add_to(&mut found);
        assert!(found == expected);
        assert_eq!((found.min(), found.max(), found.len()), (expected.min(), expected.max(), expected.len()));
    }
}
