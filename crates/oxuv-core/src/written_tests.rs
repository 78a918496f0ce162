//! In which order writes are told of, on the simulated kernel.

use crate::sim::{Faults, Sim};
use crate::{Config, Core, Event, Key, Mode, One};

type Loop = Core<Sim, u32, One<Vec<u8>>>;

fn write(core: &mut Loop, tcp: Key, number: u32) {
    core.write(tcp, number, One(vec![1]), |bytes| bytes).unwrap();
}

/// Three connections to be written to, when another one is read, which has something to be read.
fn connections(core: &mut Loop, sim: &Sim) -> [Key; 3] {
    let keys = [0; 3].map(|_| {
        let (tcp, (fd, _peer)) = (core.tcp_init(0).unwrap(), sim.pair().unwrap());
        core.tcp_open(tcp, fd).unwrap();
        tcp
    });
    let reader = core.tcp_init(0).unwrap();
    let (fd, peer) = sim.pair().unwrap();
    core.tcp_open(reader, fd).unwrap();
    core.read_start(reader).unwrap();
    peer.send(sim, b"x").unwrap();
    keys
}

/// Next, as a front asks that tells of many writes one after the other; and whether the core was asked for the next of all.
fn next(core: &mut Loop, asks_first: bool) -> Option<(Event<u32>, bool)> {
    let run = core.run();
    let same = if asks_first { core.next_sent_whole(run).or_else(|| core.next_written(run)) } else { None };
    same.map(|event| (event, false)).or_else(|| core.next().map(|event| (event, true)))
}

#[test]
fn writes_are_told_in_the_same_order_to_a_front_that_asks_for_the_next_write_first() {
    for asks_first in [false, true] {
        let sim = Sim::new(1, Faults::none());
        let mut core = Loop::new(sim.clone(), Config::default()).unwrap();
        let [one, other, third] = connections(&mut core, &sim);
        let (mut told, mut asked) = (Vec::new(), 0);
        core.begin(Mode::NoWait);
        while let Some((event, was_asked)) = next(&mut core, asks_first) {
            match event {
                Event::NeedBuffer { key, .. } => {
                    assert_eq!(core.read_into(key, &mut [std::mem::MaybeUninit::uninit(); 8]).unwrap(), b"x");
                    write(&mut core, one, 1);
                    write(&mut core, other, 2);
                    write(&mut core, one, 3);
                    write(&mut core, third, 7);
                    write(&mut core, one, 4);
                }
                Event::Written { user, result, .. } => {
                    assert_eq!(result, Ok(()));
                    told.push(user);
                    asked += usize::from(was_asked);
                    // What ends now is told in the next round.
                    match user {
                        1 => write(&mut core, one, 5),
                        2 => write(&mut core, other, 6),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        core.end().unwrap();
        assert_eq!(told, [1, 3, 4, 2, 7, 5, 6], "asks first: {asks_first}");
        assert_eq!(asked, if asks_first { 4 } else { 7 });
    }
}

#[test]
fn what_a_callback_has_done_comes_before_the_next_write() {
    let sim = Sim::new(2, Faults::none());
    let mut core = Loop::new(sim.clone(), Config::default()).unwrap();
    let [one, other, _] = connections(&mut core, &sim);
    let mut told = Vec::new();
    core.begin(Mode::NoWait);
    while let Some((event, _)) = next(&mut core, true) {
        match event {
            Event::NeedBuffer { key, .. } => {
                core.read_into(key, &mut [std::mem::MaybeUninit::uninit(); 8]).unwrap();
                write(&mut core, one, 1);
                write(&mut core, other, 2);
                write(&mut core, one, 3);
            }
            Event::Written { user, result, .. } => {
                told.push((user, result));
                match user {
                    // The shutdown is part of the same work as the last report.
                    3 => core.shutdown(one, 10).unwrap(),
                    1 => core.close(other).unwrap(),
                    _ => assert_eq!(core.next_sent_whole(core.run() + 1), None, "a run of another"),
                }
            }
            Event::ShutDown { user, result, .. } => told.push((user, result)),
            _ => {}
        }
    }
    core.end().unwrap();
    assert_eq!(told, [(1, Ok(())), (3, Ok(())), (10, Ok(())), (2, Ok(()))]);
}
