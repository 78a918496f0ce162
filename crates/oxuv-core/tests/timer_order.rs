//! Many timers started, put off, drawn nearer and stopped at random fire in exact order: by time, then by start.

use std::collections::BTreeMap;

use oxuv_core::sim::{Faults, Random, Sim};
use oxuv_core::{Config, Core, Event, Key, Mode, One};

const TIMERS: usize = 400;

/// Draws the timers out of the loop for a while, in a random mix of what can be done to a timer.
fn agrees(seed: u64, far: usize) {
    let sim = Sim::new(seed, Faults::none());
    let mut core: Core<Sim, usize, One<Vec<u8>>> = Core::new(sim.clone(), Config::default()).unwrap();
    let mut random = Random::new(seed);
    let keys: Vec<Key> = (0..TIMERS).map(|nth| core.timer_init(nth).unwrap()).collect();
    // What is due, in order, and where each timer stands in it.
    let mut due: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    let mut places: Vec<Option<(u64, u64)>> = vec![None; TIMERS];
    let (mut starts, mut fired, mut put_off) = (0, 0, 0);

    for _ in 0..5_000 {
        let nth = random.below(TIMERS);
        if random.below(8) > 0 {
            let timeout = random.below(far) as u64;
            starts += 1;
            core.timer_start(keys[nth], timeout, 0).unwrap();
            let place = (core.time() + timeout, starts);
            if let Some(before) = places[nth].replace(place) {
                put_off += usize::from(before <= place);
                due.remove(&before);
            }
            due.insert(place, nth);
        } else {
            core.timer_stop(keys[nth]).unwrap();
            if let Some(before) = places[nth].take() {
                due.remove(&before);
            }
        }
        let nearest = due.first_key_value().map(|(&(time, _), _)| time.saturating_sub(core.time()));
        assert_eq!(core.backend_timeout(), Some(nearest.unwrap_or(0)), "seed {seed}");

        if random.below(50) == 0 {
            sim.advance(random.below(far / 4) as u64);
            core.begin(Mode::NoWait);
            let time = {
                core.update_time();
                core.time()
            };
            while let Some(event) = core.next() {
                let Event::Timer { user, .. } = event else { panic!("{event:?}") };
                let (place, expected) = due.pop_first().unwrap();
                assert_eq!(user, expected, "seed {seed}, due {place:?}");
                assert!(place.0 <= core.time());
                places[user] = None;
                fired += 1;
            }
            core.end().unwrap();
            assert!(due.keys().all(|&(at, _)| at > time), "seed {seed}");
        }
    }
    assert!(fired > 100 && put_off > 100, "seed {seed}: {fired} fired, {put_off} put off");
}

#[test]
fn timers_fire_in_the_order_of_their_times_and_starts() {
    for seed in 0..20 {
        // A few times for many timers, so that equal ones are common; and many times.
        agrees(seed, 40);
        agrees(seed, 1_000_000);
    }
}

#[test]
fn a_timer_that_is_put_off_again_and_again_fires_once_at_its_last_time() {
    let sim = Sim::new(1, Faults::none());
    let mut core: Core<Sim, (), One<Vec<u8>>> = Core::new(sim.clone(), Config::default()).unwrap();
    let key = core.timer_init(()).unwrap();
    for _ in 0..1000 {
        core.timer_start(key, 100, 0).unwrap();
        sim.advance(10);
        core.update_time();
        assert_eq!(core.backend_timeout(), Some(90));
    }
    let last = core.time() + 90;
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::Timer { .. })));
    assert_eq!(core.time(), last);
    assert_eq!(core.next(), None);
}

/// tokio PR 8334: there, a timer far away kept near ones from firing after 2^30 milliseconds.
#[test]
fn a_timer_that_is_far_away_keeps_no_other_from_firing() {
    const SECOND: u64 = 1_000_000_000;
    let sim = Sim::new(1, Faults::none());
    let mut core: Core<Sim, (), One<Vec<u8>>> = Core::new(sim.clone(), Config::default()).unwrap();
    let (far, near) = (core.timer_init(()).unwrap(), core.timer_init(()).unwrap());
    core.timer_start(far, u64::MAX, 0).unwrap();
    for shift in [30, 31, 32, 33] {
        sim.advance(1_000_000 << shift);
        core.update_time();
        core.timer_start(near, SECOND, 0).unwrap();
        let due = core.time() + SECOND;
        core.begin(Mode::Once);
        assert!(matches!(core.next(), Some(Event::Timer { key, .. }) if key == near), "2^{shift} milliseconds");
        assert_eq!(core.time(), due);
        assert_eq!(core.next(), None);
    }
}
