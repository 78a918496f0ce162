//! Children on the simulated kernel.

use crate::kernel::{Command, Exit, TextList, Texts};
use oxuv_os::process::SIGCHLD;
use oxuv_os::signal::KILL;

use crate::sim::{Faults, Peer, Sim};
use crate::{Buffers, Config, Core, Errno, Event, Key, Mode, One, Stdio};

type TestCore = Core<Sim, u32, One<Vec<u8>>>;

fn core_on(sim: &Sim) -> TestCore {
    Core::new(sim.clone(), Config::default()).unwrap()
}

fn spawn<B: Buffers>(core: &mut Core<Sim, u32, B>, user: u32, stdio: &[Stdio]) -> crate::Result<Key> {
    let mut none = Texts::default();
    let list: TextList<'_> = none.list().unwrap();
    let command = Command {
        file: c"program",
        args: list,
        env: Some(list),
        directory: None,
        user: None,
        group: None,
        detached: false,
    };
    core.process_spawn(user, &command, stdio)
}

/// Runs until nothing is alive, and gives what was told; what is to be read is read.
fn run(core: &mut TestCore) -> Vec<String> {
    let mut told = Vec::new();
    core.begin(Mode::Default);
    while let Some(event) = core.next() {
        told.push(match event {
            Event::NeedBuffer { key, .. } => {
                let mut memory = [std::mem::MaybeUninit::uninit(); 64];
                match core.read_into(key, &mut memory) {
                    Ok(bytes) => format!("read {}", String::from_utf8_lossy(bytes)),
                    Err(error) => format!("read {error:?}"),
                }
            }
            Event::Exited { user, result: Ok(exit), .. } => format!("exit {user} {} {}", exit.code(), exit.signal()),
            Event::Exited { user, result: Err(Errno::ECHILD), .. } => format!("exit {user} unknown"),
            Event::HungUp { .. } => "hung up".to_owned(),
            other => format!("{other:?}"),
        });
    }
    core.end().unwrap();
    told
}

fn pipe(core: &mut TestCore) -> (Key, Stdio) {
    let key = core.pipe_init(0, false).unwrap();
    (key, Stdio::Pipe { key, readable: true, writable: false })
}

fn end_of(sim: &Sim, core: &TestCore, process: Key, descriptor: usize) -> Peer {
    sim.child_end(core.process_id(process).unwrap(), descriptor).unwrap()
}

#[test]
fn the_end_is_told_after_what_was_written_before_it() {
    let sim = Sim::new(1, Faults { shuffle: 1000, ..Faults::none() });
    let mut core = core_on(&sim);
    let (out, stdio) = pipe(&mut core);
    let process = spawn(&mut core, 7, &[Stdio::Ignore, stdio]).unwrap();
    core.read_start(out).unwrap();
    let (id, peer) = (core.process_id(process).unwrap(), end_of(&sim, &core, process, 1));
    sim.later(1_000, move |sim| {
        peer.send(sim, b"tail").unwrap();
        sim.exit(id, Exit::with_code(3));
    });
    // The end of the stream may come in a batch of its own.
    assert_eq!(run(&mut core), ["read tail", "exit 7 3 0", "read EOF"]);
    assert!(!core.is_active(process));
    assert_eq!(core.process_kill(process, 0), Err(Errno::ESRCH));
    assert_eq!(core.process_id(process), Ok(id));
}

#[test]
fn ends_of_one_batch_are_told_in_the_order_of_birth() {
    let sim = Sim::new(2, Faults { shuffle: 1000, ..Faults::none() });
    let mut core = core_on(&sim);
    let ids: Vec<_> = (0..6)
        .map(|nth| {
            let process = spawn(&mut core, nth, &[]).unwrap();
            core.process_id(process).unwrap()
        })
        .collect();
    sim.later(5, move |sim| ids.iter().rev().for_each(|&id| sim.exit(id, Exit::by_signal(9))));
    let expected: Vec<_> = (0..6).map(|nth| format!("exit {nth} 0 9")).collect();
    assert_eq!(run(&mut core), expected);
    assert_eq!(sim.open_descriptors(), []);
}

#[test]
fn readiness_in_vain_is_no_end() {
    let sim = Sim::new(3, Faults { spurious: 1000, interrupt: 300, late: 300, ..Faults::none() });
    let mut core = core_on(&sim);
    let process = spawn(&mut core, 1, &[]).unwrap();
    let timer = core.timer_init(0).unwrap();
    core.timer_start(timer, 1_000, 1_000).unwrap();
    let id = core.process_id(process).unwrap();
    for _ in 0..50 {
        core.begin(Mode::Once);
        while let Some(event) = core.next() {
            assert!(matches!(event, Event::Timer { .. }), "{event:?}");
        }
        core.end().unwrap();
    }
    core.timer_stop(timer).unwrap();
    sim.later(100, move |sim| sim.exit(id, Exit::with_code(0)));
    assert_eq!(run(&mut core), ["exit 1 0 0"]);
}

#[test]
fn who_closes_the_handle_hears_nothing_and_leaves_no_zombie() {
    let sim = Sim::new(4, Faults::none());
    let mut core = core_on(&sim);
    let (one, other) = (spawn(&mut core, 1, &[]).unwrap(), spawn(&mut core, 2, &[]).unwrap());
    let ids = [core.process_id(one).unwrap(), core.process_id(other).unwrap()];
    core.close(one).unwrap();
    assert_eq!(core.process_kill(one, 15), Err(Errno::ESRCH));
    sim.exit(ids[0], Exit::with_code(1));
    sim.later(10, move |sim| sim.exit(ids[1], Exit::with_code(2)));
    let told = run(&mut core);
    assert_eq!((told.len(), told.last().unwrap().as_str()), (2, "exit 2 2 0"));
    assert_eq!(sim.zombies(), 1);
    core.close(other).unwrap();
    assert_eq!(sim.zombies(), 0);
}

#[test]
fn a_child_that_is_bound_is_killed_with_its_handle() {
    let sim = Sim::new(3, Faults::none());
    let mut core = core_on(&sim);
    let [bound, free, ended] = [1, 2, 3].map(|user| spawn(&mut core, user, &[]).unwrap());
    core.process_bind(bound).unwrap();
    core.process_bind(ended).unwrap();
    let ids = [bound, free, ended].map(|key| core.process_id(key).unwrap());
    sim.exit(ids[2], Exit::with_code(0));
    [bound, free, ended].into_iter().for_each(|key| core.close(key).unwrap());
    assert_eq!(ids.map(|id| sim.take_signals(id)), [vec![KILL], vec![], vec![]]);
    assert_eq!(core.process_bind(bound), Ok(()));
    run(&mut core);
    assert_eq!(core.process_bind(bound), Err(Errno::EINVAL));
}

#[test]
fn children_of_a_loop_that_goes_are_waited_for_by_another() {
    let sim = Sim::new(4, Faults::none());
    let (mut core, mut other) = (core_on(&sim), core_on(&sim));
    let [bound, free, closed] = [1, 2, 3].map(|user| spawn(&mut core, user, &[]).unwrap());
    core.process_bind(bound).unwrap();
    let ids = [bound, free, closed].map(|key| core.process_id(key).unwrap());
    core.close(closed).unwrap();
    core.leave_children();
    drop(core);
    assert_eq!(ids.map(|id| sim.take_signals(id)), [vec![KILL], vec![], vec![]]);
    ids.into_iter().for_each(|id| sim.exit(id, Exit::by_signal(KILL)));
    assert_eq!(sim.zombies(), 3);
    spawn(&mut other, 1, &[]).unwrap();
    assert_eq!(sim.zombies(), 0);
}

#[test]
fn one_closed_by_the_callback_of_another_is_not_told() {
    let sim = Sim::new(5, Faults::none());
    let mut core = core_on(&sim);
    let keys: Vec<_> = (0..3).map(|nth| spawn(&mut core, nth, &[]).unwrap()).collect();
    for &key in &keys {
        sim.exit(core.process_id(key).unwrap(), Exit::with_code(0));
    }
    let mut told = Vec::new();
    core.begin(Mode::Default);
    while let Some(event) = core.next() {
        match event {
            Event::Exited { user: 0, .. } => core.close(keys[1]).unwrap(),
            Event::Exited { user, .. } => told.push(user),
            _ => {}
        }
    }
    assert_eq!((told, sim.zombies()), (vec![2], 0));
}

#[test]
fn an_end_that_somebody_else_has_waited_for_is_an_error() {
    let sim = Sim::new(6, Faults::none());
    let mut core = core_on(&sim);
    let process = spawn(&mut core, 1, &[]).unwrap();
    let id = core.process_id(process).unwrap();
    sim.exit(id, Exit::with_code(0));
    sim.wait_for_child(id);
    assert_eq!(run(&mut core), ["exit 1 unknown"]);
}

#[test]
fn without_a_descriptor_of_its_own_sigchld_tells_its_end() {
    let sim = Sim::new(7, Faults::none());
    let mut core = core_on(&sim);
    sim.set_descriptor_limit(0);
    let (one, other) = (spawn(&mut core, 1, &[]).unwrap(), spawn(&mut core, 2, &[]).unwrap());
    let ids = [one, other].map(|process| core.process_id(process).unwrap());
    sim.exit(ids[1], Exit::with_code(4));
    sim.later(1_000, move |sim| sim.exit(ids[0], Exit::by_signal(6)));
    assert_eq!(run(&mut core), ["exit 2 4 0", "exit 1 0 6"]);
    // SIGCHLD is the program's own again.
    assert!(!sim.raise(SIGCHLD));
    let third = spawn(&mut core, 3, &[]).unwrap();
    assert!(sim.raise(SIGCHLD));
    core.close(third).unwrap();
    assert!(!sim.raise(SIGCHLD));
}

#[test]
fn after_a_fork_ends_of_which_no_signal_will_tell_are_looked_for() {
    let sim = Sim::new(9, Faults::none());
    let mut core = core_on(&sim);
    sim.set_descriptor_limit(0);
    let (one, other) = (spawn(&mut core, 1, &[]).unwrap(), spawn(&mut core, 2, &[]).unwrap());
    let ids = [one, other].map(|process| core.process_id(process).unwrap());
    sim.exit(ids[0], Exit::with_code(4));
    sim.wait_for_child(ids[1]);
    core.after_fork().unwrap();
    assert_eq!(run(&mut core), ["exit 1 4 0", "exit 2 unknown"]);
    assert!(!sim.raise(SIGCHLD), "it is the program's own again");
}

#[test]
fn an_end_that_is_told_right_after_a_signal_finds_its_one_shot_handle_stopped() {
    let sim = Sim::new(10, Faults::none());
    let mut core = core_on(&sim);
    sim.set_descriptor_limit(0);
    let process = spawn(&mut core, 1, &[]).unwrap();
    let (id, signal) = (core.process_id(process).unwrap(), core.signal_init(2).unwrap());
    core.signal_start(signal, 1, true).unwrap();
    sim.raise(1);
    core.begin(Mode::Default);
    assert_eq!(core.next(), Some(Event::Signal { key: signal, user: 2, number: 1 }));
    sim.exit(id, Exit::with_code(4));
    core.after_fork().unwrap();
    assert!(matches!(core.next(), Some(Event::Exited { user: 1, .. })));
    assert!(!core.is_active(signal));
}

#[test]
fn a_child_that_cannot_be_made_leaves_nothing() {
    let sim = Sim::new(8, Faults::none());
    let mut core = core_on(&sim);
    let (key, stdio) = pipe(&mut core);
    let before = sim.open_descriptors();
    assert_eq!(spawn(&mut core, 1, &[Stdio::Descriptor(77), stdio]), Err(Errno::EBADF));
    assert_eq!(spawn(&mut core, 1, &[stdio, stdio]), Err(Errno::EBUSY));
    assert_eq!(spawn(&mut core, 1, &[Stdio::Handle(key)]), Err(Errno::EINVAL));
    assert_eq!(spawn(&mut core, 1, &[Stdio::Handle(Key::default())]), Err(Errno::EINVAL));
    sim.set_faults(Faults { no_descriptor: 1000, ..Faults::none() });
    assert!(spawn(&mut core, 1, &[stdio]).is_err());
    assert_eq!((sim.open_descriptors(), core.descriptor_number(key)), (before, Err(Errno::EBADF)));
    sim.set_faults(Faults::none());
    // The pipe can be used for the next.
    assert!(spawn(&mut core, 1, &[stdio]).is_ok());
    assert_eq!(spawn(&mut core, 1, &[stdio]), Err(Errno::EBUSY));
}
