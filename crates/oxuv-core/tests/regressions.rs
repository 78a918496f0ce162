//! What the random programs have found, each as the smallest case that shows it.

use std::mem::MaybeUninit;

use oxuv_core::kernel::{Kernel, Room};
use oxuv_core::sim::{Faults, Fd, Note, Peer, Sim};
use oxuv_core::{Config, Core, Errno, Event, Key, Mode, One};

type Loop = Core<Sim, (), One<Vec<u8>>>;

fn new(seed: u64, faults: Faults) -> (Sim, Loop) {
    let sim = Sim::new(seed, faults);
    sim.set_wait_limit(10_000);
    let core = Core::new(sim.clone(), Config::default()).unwrap();
    (sim, core)
}

fn stream(sim: &Sim, core: &mut Loop) -> (Key, Peer) {
    let (fd, peer): (Fd, Peer) = sim.pair().unwrap();
    let key = core.tcp_init(()).unwrap();
    core.tcp_open(key, fd).unwrap();
    (key, peer)
}

fn read(core: &mut Loop, key: Key) -> Result<Vec<u8>, Errno> {
    core.read_into(key, &mut [MaybeUninit::uninit(); 100]).map(|bytes| bytes.to_vec())
}

#[test]
fn the_error_of_a_run_that_was_left_is_not_the_next_ones() {
    let (_, mut core) = new(1, Faults::none());
    let check = core.check_init(()).unwrap();
    core.watcher_start(check).unwrap();
    core.begin(Mode::Once);
    assert!(matches!(core.next(), Some(Event::Check { .. })), "after a wait that fails: nothing can ever happen");
    core.begin(Mode::NoWait);
    assert!(matches!(core.next(), Some(Event::Check { .. })));
    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(true));
}

#[test]
fn a_wake_up_in_the_batch_of_a_run_that_was_left_is_not_lost() {
    for seed in 0..20 {
        let (sim, mut core) = new(seed, Faults { shuffle: 1000, ..Faults::none() });
        let (key, peer) = stream(&sim, &mut core);
        let async_ = core.async_init(()).unwrap();
        core.read_start(key).unwrap();
        peer.send(&sim, b"x").unwrap();
        core.async_sender(async_).unwrap().send().unwrap();
        core.begin(Mode::NoWait);
        let first = core.next().unwrap();
        core.begin(Mode::NoWait);
        let heard = std::iter::from_fn(|| core.next()).any(|event| matches!(event, Event::Async { .. }));
        assert!(heard || matches!(first, Event::Async { .. }), "seed {seed}");
    }
}

#[test]
fn a_watch_that_fails_in_the_middle_of_a_phase_is_tried_again() {
    for seed in 0..200 {
        let (sim, mut core) = new(seed, Faults { no_memory: 500, ..Faults::none() });
        sim.set_capacity(100);
        let (key, peer) = stream(&sim, &mut core);
        core.read_start(key).unwrap();
        core.write(key, (), One(vec![0; 150]), |buffers| buffers).map_err(|refused| refused.error).unwrap();
        for (delay, length) in [(1_000, 100), (500_000_000, 50)] {
            sim.later(delay, move |sim| assert_eq!(peer.receive(sim, 100).unwrap().len(), length));
        }
        sim.later(1_000_000_000, move |sim| assert_eq!(peer.send(sim, b"end"), Ok(3)));
        core.begin(Mode::Default);
        while let Some(event) = core.next() {
            if let Event::NeedBuffer { key, .. } = event {
                assert_eq!(read(&mut core, key), Ok(b"end".to_vec()));
                core.close(key).unwrap();
            }
        }
        assert_eq!(core.end(), Ok(false), "seed {seed}");
    }
}

#[test]
fn a_hang_up_that_was_told_to_a_writer_only_is_no_end_for_a_new_reader() {
    let (sim, mut core) = new(1, Faults { hang_up: 1000, ..Faults::none() });
    sim.set_capacity(100);
    let (key, peer) = stream(&sim, &mut core);
    let async_ = core.async_init(()).unwrap();
    core.write(key, (), One(vec![0; 101]), |buffers| buffers).map_err(|refused| refused.error).unwrap();
    let sender = core.async_sender(async_).unwrap();
    sim.later(1_000, move |sim| {
        peer.receive(sim, 100).unwrap();
        peer.send(sim, b"last words").unwrap();
        peer.close(sim);
        sender.send().unwrap();
    });
    let mut got = Vec::new();
    core.begin(Mode::Default);
    while let Some(event) = core.next() {
        match event {
            // Comes first, in the same batch as the hang-up.
            Event::Async { .. } => {
                core.read_start(key).unwrap();
                core.close(async_).unwrap();
            }
            Event::NeedBuffer { .. } => got.extend(read(&mut core, key).unwrap_or_default()),
            Event::HungUp { .. } => core.close(key).unwrap(),
            _ => {}
        }
        if !core.is_closing(key) && !got.is_empty() {
            core.close(key).unwrap();
        }
    }
    assert_eq!((core.end(), got), (Ok(false), b"last words".to_vec()));
}

#[test]
fn a_coarse_loop_waits_for_a_fine_timer_asleep() {
    let sim = Sim::new(1, Faults::none());
    sim.set_wait_limit(10);
    let mut core: Loop = Core::new(sim.clone(), Config { grain: 1_000_000, ..Config::default() }).unwrap();
    let timer = core.timer_init(()).unwrap();
    core.timer_start(timer, 1, 0).unwrap();
    core.begin(Mode::Default);
    while core.next().is_some() {}
    assert_eq!((core.end(), sim.time()), (Ok(false), 1_000_000_001));
}

#[test]
fn streams_that_are_closed_before_their_writes_are_told_leave_nothing_behind() {
    let (sim, mut core) = new(1, Faults::none());
    for _ in 0..100 {
        let (key, _) = stream(&sim, &mut core);
        core.write(key, (), One(vec![0; 10]), |buffers| buffers).map_err(|refused| refused.error).unwrap();
        core.close(key).unwrap();
        core.begin(Mode::NoWait);
        assert!(matches!(core.next(), Some(Event::Written { result: Ok(()), .. })));
        assert!(matches!(core.next(), Some(Event::Closed { .. })));
        assert_eq!((core.next(), core.end()), (None, Ok(false)));
    }
    assert!(core.check_closable().is_ok() && sim.open_descriptors().is_empty());
}

#[test]
fn a_bind_does_not_hide_how_a_connect_has_failed() {
    let (_, mut core) = new(1, Faults { refuse: 1000, ..Faults::none() });
    let key = core.tcp_init(()).unwrap();
    core.tcp_connect(key, (), &([127, 0, 0, 1], 80).into()).unwrap();
    assert_eq!(core.tcp_bind(key, &([127, 0, 0, 1], 0).into(), Default::default()), Err(Errno::EINVAL));
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Connected { key, user: (), result: Err(Errno::ECONNREFUSED) }));
    assert_eq!((core.next(), core.end()), (None, Ok(false)));
}

#[test]
fn a_read_does_not_take_the_error_of_a_connect_that_began_meanwhile() {
    let (sim, mut core) = new(1, Faults::none());
    let key = core.tcp_init(()).unwrap();
    core.tcp_connect(key, (), &([127, 0, 0, 1], 80).into()).unwrap();
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Connected { key, user: (), result: Err(Errno::ECONNREFUSED) }));
    core.read_start(key).unwrap();
    assert_eq!(core.next(), Some(Event::NeedBuffer { key, user: () }));
    core.tcp_connect(key, (), &([127, 0, 0, 1], 81).into()).unwrap();
    assert_eq!(read(&mut core, key), Ok(vec![]));
    assert!(!sim.trace().iter().any(|note| matches!(note, Note::Received { .. })));
    assert_eq!(core.next(), Some(Event::Connected { key, user: (), result: Err(Errno::ECONNREFUSED) }));
}

#[test]
fn a_read_before_it_is_connected_does_not_hide_how_the_connect_has_failed() {
    let (mut sim, mut core) = new(1, Faults::none());
    let key = core.tcp_init(()).unwrap();
    core.tcp_connect(key, (), &([127, 0, 0, 1], 80).into()).unwrap();
    sim.wait(Some(0)).unwrap();
    assert_eq!(core.try_read(key, Room::from(&mut [0; 10][..])), Err(Errno::ENOTCONN));
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Connected { key, user: (), result: Err(Errno::ECONNREFUSED) }));
}

#[test]
fn a_fork_in_the_callback_of_a_one_shot_signal_does_not_keep_it_active() {
    let (sim, mut core) = new(1, Faults::none());
    sim.make_directory("/d").unwrap();
    let files = core.fs_event_init(()).unwrap();
    core.fs_event_start(files, c"/d").unwrap();
    let signal = core.signal_init(()).unwrap();
    core.signal_start(signal, 1, true).unwrap();
    sim.make_file("/d/f").unwrap();
    assert!(sim.raise(1));
    core.begin(Mode::NoWait);
    assert!(matches!(core.next(), Some(Event::FsEvent { result: Ok(_), .. })));
    assert_eq!(core.next(), Some(Event::Signal { key: signal, user: (), number: 1 }));
    sim.remove("/d/f").and_then(|()| sim.remove("/d")).unwrap();
    assert_eq!(core.after_fork(), Ok(true));
    assert_eq!(core.next(), Some(Event::FsEvent { key: files, user: (), result: Err(Errno::ENOENT) }));
    assert!(!core.is_active(signal));
}

#[test]
fn a_run_inside_a_run_lets_the_outer_one_go_on() {
    let (_, mut core) = new(1, Faults::none());
    let (prepare, check) = (core.prepare_init(()).unwrap(), core.check_init(()).unwrap());
    core.watcher_start(prepare).unwrap();
    core.watcher_start(check).unwrap();
    core.begin(Mode::NoWait);
    assert!(matches!(core.next(), Some(Event::Prepare { .. })));

    let outer = core.suspend();
    core.begin(Mode::NoWait);
    assert!(matches!(core.next(), Some(Event::Prepare { .. })));
    assert!(matches!(core.next(), Some(Event::Check { .. })));
    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(true));
    core.resume(outer);

    assert!(matches!(core.next(), Some(Event::Check { .. })), "the rest of the turn is still to come");
    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(true));
}

#[test]
fn a_run_in_whose_callback_another_one_has_ended_all_does_not_wait() {
    let (sim, mut core) = new(1, Faults::none());
    let both = [stream(&sim, &mut core), stream(&sim, &mut core)];
    for (key, peer) in &both {
        core.read_start(*key).unwrap();
        peer.send(&sim, b"x").unwrap();
    }
    core.begin(Mode::Default);
    let Some(Event::NeedBuffer { key, .. }) = core.next() else { panic!("there is something to read") };
    read(&mut core, key).unwrap();

    let outer = core.suspend();
    core.begin(Mode::Default);
    let Some(Event::NeedBuffer { key, .. }) = core.next() else { panic!("there is more to read") };
    read(&mut core, key).unwrap();
    // The inner run's last wait is one without an end.
    both[0].1.send(&sim, b"y").unwrap();
    let Some(Event::NeedBuffer { key, .. }) = core.next() else { panic!("and once more") };
    read(&mut core, key).unwrap();
    both.iter().for_each(|(key, _)| core.close(*key).unwrap());
    assert_eq!(std::iter::from_fn(|| core.next()).count(), 2, "both are closed");
    assert_eq!(core.end(), Ok(false));
    core.resume(outer);

    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(false), "it has not waited for what never comes");
}

#[test]
fn a_handle_that_looks_at_a_file_again_is_closed_in_the_pass_that_its_first_looks_would_end_in() {
    let (sim, mut core) = new(1, Faults::none());
    let (looker, timer) = (core.fs_poll_init(()).unwrap(), core.timer_init(()).unwrap());
    core.fs_poll_start(looker, c"/nothing", 1_000_000).unwrap();
    core.begin(Mode::Once);
    assert!(matches!(core.next(), Some(Event::FsPoll { .. })));
    core.fs_poll_stop(looker).unwrap();
    core.fs_poll_start(looker, c"/nothing", 1_000_000).unwrap();
    core.close(timer).unwrap();
    // At the clock's end, everything happens at once.
    sim.set_time(u64::MAX);
    core.begin(Mode::Once);
    assert!(matches!(core.next(), Some(Event::FsPoll { .. })));
    assert_eq!(core.next(), Some(Event::Closed { key: timer, user: () }));
    core.close(looker).unwrap();
    assert_eq!(core.next(), None);
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Closed { key: looker, user: () }));
    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(false));
}

#[test]
fn a_look_that_is_due_in_the_pass_that_its_handle_is_closed_in_is_none_also_while_an_earlier_one_is_out() {
    let mut overtaken = 0;
    for seed in 0..40 {
        let (sim, mut core) = new(seed, Faults::none());
        let (looker, timer) = (core.fs_poll_init(()).unwrap(), core.timer_init(()).unwrap());
        for _ in 0..2 {
            core.fs_poll_stop(looker).unwrap();
            core.fs_poll_start(looker, c"/nothing", 1).unwrap();
        }
        core.begin(Mode::Default);
        // That of the second series is told; that of the first may still be out.
        assert!(matches!(core.next(), Some(Event::FsPoll { .. })), "seed {seed}");
        let told_at = core.metrics().events;
        core.timer_start(timer, 0, 0).unwrap();
        sim.advance(10);
        assert_eq!(core.next(), Some(Event::Timer { key: timer, user: () }), "seed {seed}");
        core.close(looker).unwrap();
        assert_eq!(core.next(), Some(Event::Closed { key: looker, user: () }), "seed {seed}");
        overtaken += u32::from(core.metrics().events > told_at);
        assert_eq!(core.next(), None, "seed {seed}");
        assert_eq!(core.end(), Ok(false), "seed {seed}");
    }
    assert!(overtaken > 0, "in some, the second look comes before the first");
}

#[test]
fn a_key_of_nobody_is_not_that_of_the_stream_last_worked_on_which_is_gone() {
    let (sim, mut core) = new(1, Faults::none());
    let (key, peer) = stream(&sim, &mut core);
    core.read_start(key).unwrap();
    peer.send(&sim, b"x").unwrap();
    core.begin(Mode::Default);
    assert!(matches!(core.next(), Some(Event::NeedBuffer { .. })));
    read(&mut core, key).unwrap();
    core.close(key).unwrap();
    assert!(matches!(core.next(), Some(Event::Closed { .. })));
    assert_eq!(core.next(), None);
    assert_eq!(core.end(), Ok(false));
    for nobody in [key, Key::default()] {
        assert_eq!(core.try_write(nobody, One(b"x")), Err(Errno::EINVAL));
    }
}
