//! How often a stream is read in a row, on the simulated kernel.

use std::mem::MaybeUninit;

use crate::ready_tests::{Streams, connected, turn};
use crate::sim::Faults;
use crate::{Event, Key, Mode};

/// How often a stream is read in one turn whose buffer has room for one byte: as a front does that asks for every event, or as one
/// that asks the stream that was read first.
fn reads_of_a_turn(core: &mut Streams, key: Key, asks_first: bool) -> usize {
    let mut reads = 0;
    core.begin(Mode::NoWait);
    loop {
        let next =
            if asks_first { core.next_to_read(core.run()).or_else(|| core.next_to_read_on(core.run())) } else { None };
        let event = next.map(|(key, user)| Event::NeedBuffer { key, user }).or_else(|| core.next());
        let Some(event) = event else { break };
        assert_eq!(event, Event::NeedBuffer { key, user: 7 });
        assert!(core.read_into(key, &mut [MaybeUninit::uninit()]).is_ok());
        reads += 1;
    }
    core.end().unwrap();
    reads
}

#[test]
fn a_stream_that_has_more_and_more_is_read_32_times_a_turn() {
    for asks_first in [false, true] {
        let (mut core, sim, key, peer) = connected(1, Faults::none());
        core.read_start(key).unwrap();
        peer.send(&sim, &[0; 80]).unwrap();
        let turns = [0; 3].map(|_| reads_of_a_turn(&mut core, key, asks_first));
        // The last time nothing is found.
        assert_eq!(turns, [32, 32, 17], "asks first: {asks_first}");
        assert_eq!(turn(&mut core), []);
    }
}

#[test]
fn a_stream_that_is_told_to_stop_is_not_read_on() {
    let (mut core, sim, key, peer) = connected(2, Faults::none());
    core.read_start(key).unwrap();
    peer.send(&sim, b"abc").unwrap();
    core.begin(Mode::NoWait);
    assert_eq!(core.next(), Some(Event::NeedBuffer { key, user: 7 }));
    assert_eq!(core.read_into(key, &mut [MaybeUninit::uninit()]).map(|bytes| bytes.to_vec()), Ok(b"a".to_vec()));
    assert_eq!(core.next_to_read_on(core.run() + 1), None, "a run of another");
    assert_eq!(core.next_to_read_on(core.run()), Some((key, 7)));
    core.read_stop(key).unwrap();
    assert_eq!(core.next_to_read_on(core.run()), None);
    assert_eq!(core.next(), None);
    core.end().unwrap();
}
