//! How programs are drawn from a seed.

use oxuv_core::sim::{Fault, Faults, Random};
use oxuv_core::{Kind, Lane, Mode};

use crate::files::{Change, PATHS};
use crate::program::{Action, Outer, Place, Program, Target};

const MILLISECOND: u64 = 1_000_000;

/// The grains of the loop's time. All times of programs are multiples of the coarser one, as the core wants them.
pub(crate) const GRAINS: [u64; 2] = [1, GRAIN];
const GRAIN: u64 = MILLISECOND / 2;

/// What clocks say at first, with their names: a machine that was just started, ones that come to the end of what 32 bits hold of
/// milliseconds, signed and not, and of what 64 bits hold of nanoseconds, signed and not, and one a year before that.
pub(crate) const STARTS: [(&str, u64); 6] = [
    ("just started", 1_000_000_000),
    ("24 days up: 2^31 ms", (1 << 31) * MILLISECOND - 3 * MILLISECOND),
    ("49 days up: 2^32 ms", (1 << 32) * MILLISECOND - 3 * MILLISECOND),
    ("292 years up: 2^63 ns", (1 << 63) - 3 * MILLISECOND),
    ("583 years up: a year before 2^64 ns", u64::MAX - 365 * DAY),
    ("584 years up: 2^64 ns", u64::MAX - 20 * MILLISECOND),
];

const DAY: u64 = 24 * 60 * 60 * 1000 * MILLISECOND;

impl Program {
    pub(crate) fn random(seed: u64) -> Program {
        Program::drawn(Random::new(seed), seed)
    }

    /// The program that is drawn so. On `seed` depends what chance there is in the kernel.
    pub(crate) fn drawn(mut random: Random, seed: u64) -> Program {
        let kinds = random_kinds(&mut random);
        let mut outside = Vec::new();
        for (place, &kind) in kinds.iter().enumerate() {
            outside.push(Action::Init(place));
            match (kind, random.below(5)) {
                (Kind::Pipe, 0..4) if place % 3 == 1 => {
                    let other = (place + 1) % kinds.len();
                    if kinds[other] == Kind::Pipe {
                        outside.extend([Action::Init(other), Action::Pair(place, other), Action::Start(other)]);
                    }
                    outside.push(Action::Start(place));
                }
                (Kind::Pipe, 1) => {
                    outside.extend([Action::Bind(place, 5000), Action::Listen(place)]);
                    outside.push(Action::Now(Outer::Connect(place)));
                }
                (Kind::Tcp | Kind::Pipe, 0) => outside.push(Action::Open(place)),
                (Kind::Tcp, 1 | 2) => outside.extend([Action::Open(place), Action::Start(place)]),
                (Kind::Udp, 0 | 1) => outside.push(Action::Start(place)),
                (Kind::Udp, 2) => outside.push(Action::Connect(place, Target::Served)),
                (Kind::Signal, _) => outside.push(random_signal(&mut random, place)),
                (Kind::Poll, _) => outside.push(Action::StartPoll(place, 1)),
                (Kind::Tty, 0 | 1) => outside.push(Action::Start(place)),
                (Kind::Tty, 2 | 3) => outside.push(Action::Await(place, 1)),
                (Kind::FsEvent, _) => outside.push(random_watch(&mut random, place)),
                (Kind::FsPoll, _) => outside.push(random_look(&mut random, place)),
                (Kind::Tcp, 3) => outside.extend([Action::Listen(place), Action::Now(Outer::Connect(place))]),
                _ => {}
            }
        }
        for _ in 0..random.below(30) + 5 {
            outside.push(match random.below(8) {
                0 => Action::Run(*random.pick(&[Mode::Default, Mode::Once, Mode::NoWait]).unwrap()),
                _ => random_action(&mut random, &kinds, None),
            });
        }
        outside.push(Action::Run(Mode::Default));
        let callbacks = (0..kinds.len())
            .map(|place| {
                let actions = |random: &mut Random| {
                    (0..random.below(4)).map(|_| random_action(random, &kinds, Some(place))).collect()
                };
                (0..random.below(8)).map(|_| actions(&mut random)).collect()
            })
            .collect();
        Program {
            seed,
            faults: random_faults(&mut random),
            grain: *random.pick(&GRAINS).unwrap(),
            start: if random.chance(500) { STARTS[0].1 } else { random.pick(&STARTS).unwrap().1 },
            ring: random.chance(500),
            capacity: *random.pick(&[16, 200, 4096]).unwrap(),
            kinds,
            outside,
            callbacks,
        }
    }
}

fn random_kinds(random: &mut Random) -> Vec<Kind> {
    let all = [
        Kind::Timer,
        Kind::Timer,
        Kind::Idle,
        Kind::Prepare,
        Kind::Check,
        Kind::Async,
        Kind::Tcp,
        Kind::Pipe,
        Kind::Poll,
        Kind::Udp,
        Kind::Signal,
        Kind::Process,
        Kind::Tty,
        Kind::FsEvent,
        Kind::FsPoll,
        // Of no handle: jobs.
        Kind::None,
    ];
    if random.chance(150) {
        // Handles are passed where there are many to take them.
        return vec![Kind::Pipe; 6 + random.below(6)];
    }
    if random.chance(60) {
        let some: &[Kind] = random.pick(&[&[Kind::FsEvent, Kind::FsPoll][..], &[Kind::None, Kind::Timer]]).unwrap();
        return (0..3 + random.below(4)).map(|_| *random.pick(some).unwrap()).collect();
    }
    // A program about a few kinds goes deeper than one about all, and streams have the most to get wrong.
    let mut few: Vec<Kind> = (0..1 + random.below(4)).map(|_| *random.pick(&all).unwrap()).collect();
    few.resize(
        few.len() + random.below(5),
        *random.pick(&[Kind::Tcp, Kind::Tcp, Kind::Tcp, Kind::Pipe, Kind::Pipe, Kind::Udp]).unwrap(),
    );
    (0..2 + random.below(7)).map(|_| *random.pick(&few).unwrap()).collect()
}

/// None at all, all of them, or a swarm: each fault is there or not, rarely, as often as in the others, or very often. What all
/// faults together hide, since they keep a program from getting far, some of them show.
fn random_faults(random: &mut Random) -> Faults {
    let (mut all, mut some) = (Faults::all(), Faults::none());
    match random.below(10) {
        0..3 => return some,
        3 => return all,
        _ => {}
    }
    for fault in Fault::ALL {
        let often = *all.often(fault);
        if random.chance(400) {
            *some.often(fault) = *random.pick(&[often / 4 + 1, often, often * 3]).unwrap();
        }
    }
    some
}

/// An action, of the callback of `own` or of the outside.
fn random_action(random: &mut Random, kinds: &[Kind], own: Option<Place>) -> Action {
    match random.below(41) {
        40 => return Action::Observe(random.chance(800)),
        0..4 => return Action::Init(random.below(kinds.len())),
        4 => return *random.pick(&[Action::StopLoop, Action::UpdateTime, Action::Walk, Action::Fork]).unwrap(),
        5 if own.is_some() => return if random.chance(800) { Action::Leave } else { Action::Fork },
        6 if own.is_some() && random.chance(250) => {
            return Action::Run(*random.pick(&[Mode::Default, Mode::Once, Mode::NoWait]).unwrap());
        }
        6 => return Action::Work(random_time(random)),
        7..10 => return Action::Now(random_outer(random, kinds)),
        10..15 => return Action::Later(random_time(random), random_outer(random, kinds)),
        _ => {}
    }
    let place = own.filter(|_| random.chance(400)).unwrap_or_else(|| random.below(kinds.len()));
    match random.below(12) {
        0 => return Action::Close(place),
        1 => return Action::Reference(place),
        2 => return Action::Unreference(place),
        3 => return Action::Stop(place),
        _ => {}
    }
    match kinds[place] {
        Kind::Timer => match random.below(12) {
            0 => Action::Again(place),
            1 => Action::SetRepeat(place, random_repeat(random)),
            2 => Action::StartTimer(place, random_age(random), random_repeat(random)),
            _ => Action::StartTimer(place, random_time(random), random_repeat(random)),
        },
        Kind::Process if random.chance(300) => Action::Init(place),
        Kind::Process if random.chance(400) => {
            Action::Spawn(place, random.below(kinds.len()), *random.pick(&[0, 1, 1, 2, 3]).unwrap())
        }
        Kind::Process => Action::Stop(place),
        Kind::Poll => Action::StartPoll(place, random.below(8) as u16),
        Kind::None if random.chance(300) => Action::Cancel(random.below(8)),
        Kind::None => Action::Submit(place, *random.pick(&Lane::ALL).unwrap()),
        Kind::FsEvent => random_watch(random, place),
        Kind::FsPoll => random_look(random, place),
        Kind::Tty => match random.below(12) {
            0..3 => Action::Start(place),
            3..6 => Action::Write(place, random_length(random)),
            6 => Action::TryWrite(place, random_length(random)),
            7..9 => Action::Await(place, random_interest(random)),
            9 => Action::TryRead(place),
            10 => Action::SetMode(place),
            _ => Action::Shutdown(place),
        },
        Kind::Tcp | Kind::Pipe if random.chance(60) => Action::TryRead(place),
        Kind::Tcp | Kind::Pipe if random.chance(120) => Action::Await(place, random_interest(random)),
        Kind::Tcp => match random.below(19) {
            0 => Action::Open(place),
            1 => Action::Bind(place, 5000 + random.below(3) as u16),
            2 => Action::Listen(place),
            3 | 4 => Action::Accept(place, random.below(kinds.len())),
            5..8 => Action::Start(place),
            8..14 => Action::Write(place, random_length(random)),
            14 => Action::TryWrite(place, random_length(random)),
            15 | 16 => Action::Connect(place, random_target(random, kinds)),
            17 => Action::CloseReset(place),
            _ => Action::Shutdown(place),
        },
        Kind::Pipe => match random.below(30) {
            0 => Action::Open(place),
            1 => Action::Pair(place, random.below(kinds.len())),
            2 => Action::Bind(place, 5000 + random.below(3) as u16),
            3 => Action::Listen(place),
            4..7 => Action::Accept(place, random.below(kinds.len())),
            // Those in these places do most likely nothing else.
            7..11 => Action::Accept(place, random.below(kinds.len()) / 3 * 3),
            11..13 => Action::Start(place),
            13..15 => Action::Write(place, random_length(random)),
            15 => Action::TryWrite(place, random_length(random)),
            16..24 => Action::WriteHandle(place, random_length(random), random.below(kinds.len())),
            24 | 25 => Action::TryWriteHandle(place, random_length(random), random.below(kinds.len())),
            26..29 => Action::Connect(place, random_target(random, kinds)),
            _ => Action::Shutdown(place),
        },
        Kind::Udp => match random.below(11) {
            10 => Action::Connect(place, *random.pick(&[Target::Served, Target::Nobody]).unwrap()),
            0 => Action::Bind(place, 5000 + random.below(3) as u16),
            1..4 => Action::Start(place),
            9 => Action::TryWrite(place, random_length(random)),
            _ => Action::Write(place, random_length(random)),
        },
        Kind::Signal => random_signal(random, place),
        Kind::Async => Action::Now(Outer::SendAsync(place)),
        _ => Action::Start(place),
    }
}

fn random_outer(random: &mut Random, kinds: &[Kind]) -> Outer {
    let place = random.below(kinds.len());
    if kinds[place] == Kind::Udp {
        return if random.chance(700) { Outer::Letter(place, random_length(random)) } else { Outer::TakeLetters };
    }
    if kinds[place] == Kind::Signal {
        return Outer::Raise(random_number(random));
    }
    if kinds[place] == Kind::Process {
        return Outer::Exit(random.below(6));
    }
    if matches!(kinds[place], Kind::FsEvent | Kind::FsPoll) {
        return Outer::Change(random_change(random));
    }
    if !matches!(kinds[place], Kind::Tcp | Kind::Pipe | Kind::Poll | Kind::Tty) {
        return Outer::SendAsync(place);
    }
    let nth = random.below(6);
    match random.below(20) {
        0..3 => Outer::Connect(place),
        3..11 => Outer::PeerSend(nth, random_length(random)),
        11..17 => Outer::PeerReceive(nth, 1 + random_length(random)),
        17 => Outer::PeerShutdown(nth),
        18 => Outer::PeerClose(nth),
        _ => Outer::PeerReset(nth),
    }
}

fn random_signal(random: &mut Random, place: Place) -> Action {
    // Two that are waited for, and some that cannot be.
    let number = if random.chance(950) { random_number(random) } else { *random.pick(&[0, 9, 65]).unwrap() };
    Action::StartSignal(place, number, random.chance(400))
}

fn random_number(random: &mut Random) -> i32 {
    1 + random.below(2) as i32
}

/// Mostly one that makes sense.
fn random_interest(random: &mut Random) -> u16 {
    *random.pick(&[1, 1, 1, 4, 5, 0, 2]).unwrap()
}

fn random_path(random: &mut Random) -> usize {
    random.below(PATHS.len())
}

fn random_watch(random: &mut Random, place: Place) -> Action {
    Action::Watch(place, random_path(random), random.chance(300))
}

fn random_look(random: &mut Random, place: Place) -> Action {
    Action::Look(place, random_path(random), *random.pick(&[0, GRAIN, GRAIN, MILLISECOND, 5 * MILLISECOND]).unwrap())
}

fn random_change(random: &mut Random) -> Change {
    match random.below(8) {
        0 => Change::MakeFile(random_path(random)),
        1 => Change::MakeDirectory(random_path(random)),
        2 => Change::Remove(random_path(random)),
        3 => Change::Rename(random_path(random), random_path(random)),
        _ => Change::Write(random_path(random)),
    }
}

fn random_target(random: &mut Random, kinds: &[Kind]) -> Target {
    match random.below(4) {
        0 | 1 => Target::Served,
        2 => Target::Nobody,
        _ => Target::Listener(random.below(kinds.len())),
    }
}

fn random_time(random: &mut Random) -> u64 {
    *random.pick(&[0, 0, GRAIN, GRAIN, MILLISECOND, 2 * MILLISECOND, 7 * MILLISECOND]).unwrap()
}

/// Times that are out of the ordinary: around what 32 bits hold of milliseconds, years, and what no clock comes to.
fn random_age(random: &mut Random) -> u64 {
    let ages =
        [(1 << 31) * MILLISECOND, (1 << 32) * MILLISECOND, (1 << 32) * MILLISECOND + GRAIN, 400 * DAY, 400 * 365 * DAY];
    *random.pick(&ages).unwrap()
}

fn random_repeat(random: &mut Random) -> u64 {
    *random.pick(&[0, 0, GRAIN, MILLISECOND, 3 * MILLISECOND]).unwrap()
}

fn random_length(random: &mut Random) -> usize {
    *random.pick(&[0, 1, 5, 40, 300, 3000]).unwrap()
}
