//! Random programs: what they consist of, and how they are drawn from a seed.

use std::fmt;

use oxuv_core::sim::{Faults, Random};
use oxuv_core::{Kind, Mode};

/// A variable of the program that holds a handle. It can be closed and initialised again.
pub(crate) type Place = usize;

/// What a program does, outside of a run or in a callback. An action that makes no sense at the time is done all the
/// same, and must fail as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Initialises a handle, if the place has none.
    Init(Place),
    StartTimer(Place, u64, u64),
    Again(Place),
    SetRepeat(Place, u64),
    /// Starts an idle, prepare or check handle, the reading of a stream, or the receiving of datagrams.
    Start(Place),
    /// Stops what the others start; sends a child a signal.
    Stop(Place),
    Close(Place),
    Reference(Place),
    Unreference(Place),
    /// Gives a stream a connected socket.
    Open(Place),
    /// Gives two streams the ends of a pair.
    Pair(Place, Place),
    Bind(Place, u16),
    Connect(Place, Target),
    CloseReset(Place),
    /// Waits for readiness, with these bits.
    StartPoll(Place, u16),
    Listen(Place),
    Accept(Place, Place),
    Write(Place, usize),
    TryWrite(Place, usize),
    /// The same, with the handle of another place.
    WriteHandle(Place, usize, Place),
    TryWriteHandle(Place, usize, Place),
    Shutdown(Place),
    /// Waits for a signal, for the first one only if so said.
    StartSignal(Place, i32, bool),
    /// The process forks, and this is the child.
    Fork,
    StopLoop,
    UpdateTime,
    /// Computes for so many nanoseconds.
    Work(u64),
    Walk,
    /// Leaves the run from within a callback, as an exception does.
    Leave,
    /// Runs the loop. Only outside of callbacks.
    Run(Mode),
    /// Somebody else does something now,
    Now(Outer),
    /// or in so many nanoseconds, while the loop waits.
    Later(u64, Outer),
}

/// Whereto a stream connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To somebody else, who accepts.
    Served,
    /// To where nobody listens.
    Nobody,
    /// To a listener of the program.
    Listener(Place),
}

/// What others do. Connections are counted from 0, modulo their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outer {
    /// Another thread sends to an async handle.
    SendAsync(Place),
    /// A peer connects to a listener.
    Connect(Place),
    PeerSend(usize, usize),
    PeerReceive(usize, usize),
    PeerShutdown(usize),
    PeerClose(usize),
    PeerReset(usize),
    /// Somebody sends a datagram to a UDP handle.
    Letter(Place, usize),
    /// The process gets a signal.
    Raise(i32),
    /// Those to whom datagrams were sent take them in.
    TakeLetters,
    /// One of the children that are alive ends.
    Exit(usize),
}

/// A program. It says all that happens: running it again gives the same trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
    /// The grain of the loop's time.
    pub(crate) grain: u64,
    /// What a connection holds in each direction.
    pub(crate) capacity: usize,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) outside: Vec<Action>,
    /// For each place: what its first callback does, its second, and so on; those behind the last do nothing.
    pub(crate) callbacks: Vec<Vec<Vec<Action>>>,
}

const MILLISECOND: u64 = 1_000_000;

/// The coarser grain of the two. All times of programs are multiples of it, as the core wants them.
const GRAIN: u64 = MILLISECOND / 2;

impl Program {
    pub(crate) fn random(seed: u64) -> Program {
        Program::drawn(&mut Random::new(seed), seed)
    }

    /// The program that is drawn so. `seed` is what chance in the kernel depends on.
    pub(crate) fn drawn(random: &mut Random, seed: u64) -> Program {
        let kinds = random_kinds(random);
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
                (Kind::Signal, _) => outside.push(random_signal(random, place)),
                (Kind::Poll, _) => outside.push(Action::StartPoll(place, 1)),
                (Kind::Tcp, 3) => outside.extend([Action::Listen(place), Action::Now(Outer::Connect(place))]),
                _ => {}
            }
        }
        for _ in 0..random.below(30) + 5 {
            outside.push(match random.below(8) {
                0 => Action::Run(*random.pick(&[Mode::Default, Mode::Once, Mode::NoWait]).unwrap()),
                _ => random_action(random, &kinds, None),
            });
        }
        outside.push(Action::Run(Mode::Default));
        let callbacks = (0..kinds.len())
            .map(|place| {
                let actions = |random: &mut Random| {
                    (0..random.below(4)).map(|_| random_action(random, &kinds, Some(place))).collect()
                };
                (0..random.below(8)).map(|_| actions(random)).collect()
            })
            .collect();
        Program {
            seed,
            faults: random_faults(random),
            grain: *random.pick(&[1, GRAIN]).unwrap(),
            capacity: *random.pick(&[16, 200, 4096]).unwrap(),
            kinds,
            outside,
            callbacks,
        }
    }

    /// The number of actions.
    pub(crate) fn size(&self) -> usize {
        self.outside.len() + self.callbacks.iter().flatten().map(Vec::len).sum::<usize>()
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
    ];
    if random.chance(150) {
        // Handles are passed where there are many to take them.
        return vec![Kind::Pipe; 6 + random.below(6)];
    }
    // A program about a few kinds goes deeper than one about all, and streams have the most to get wrong.
    let mut few: Vec<Kind> = (0..1 + random.below(4)).map(|_| *random.pick(&all).unwrap()).collect();
    few.resize(
        few.len() + random.below(5),
        *random.pick(&[Kind::Tcp, Kind::Tcp, Kind::Tcp, Kind::Pipe, Kind::Pipe, Kind::Udp]).unwrap(),
    );
    (0..2 + random.below(7)).map(|_| *random.pick(&few).unwrap()).collect()
}

fn random_faults(random: &mut Random) -> Faults {
    match random.below(5) {
        0 | 1 => Faults::none(),
        2 | 3 => Faults::all(),
        _ => {
            let (all, mut some) = (Faults::all(), Faults::none());
            let mut perhaps = |fault: &mut u16, often: u16| *fault = if random.chance(300) { often * 2 } else { 0 };
            perhaps(&mut some.short_read, all.short_read);
            perhaps(&mut some.short_write, all.short_write);
            perhaps(&mut some.interrupt, all.interrupt);
            perhaps(&mut some.again, all.again);
            perhaps(&mut some.no_descriptor, all.no_descriptor);
            perhaps(&mut some.no_memory, all.no_memory);
            perhaps(&mut some.hang_up, all.hang_up);
            perhaps(&mut some.late, all.late);
            perhaps(&mut some.spurious, all.spurious);
            perhaps(&mut some.shuffle, all.shuffle);
            perhaps(&mut some.clock_jump, all.clock_jump);
            perhaps(&mut some.reset, all.reset);
            perhaps(&mut some.abort, all.abort);
            perhaps(&mut some.refuse, all.refuse);
            perhaps(&mut some.lost, all.lost);
            perhaps(&mut some.no_buffer, all.no_buffer);
            some
        }
    }
}

/// An action, of the callback of `own` or of the outside.
fn random_action(random: &mut Random, kinds: &[Kind], own: Option<Place>) -> Action {
    match random.below(40) {
        0..4 => return Action::Init(random.below(kinds.len())),
        4 => return *random.pick(&[Action::StopLoop, Action::UpdateTime, Action::Walk, Action::Fork]).unwrap(),
        5 if own.is_some() => return if random.chance(800) { Action::Leave } else { Action::Fork },
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
        Kind::Timer => match random.below(6) {
            0 => Action::Again(place),
            1 => Action::SetRepeat(place, random_repeat(random)),
            _ => Action::StartTimer(place, random_time(random), random_repeat(random)),
        },
        Kind::Process if random.chance(500) => Action::Init(place),
        Kind::Process => Action::Stop(place),
        Kind::Poll => Action::StartPoll(place, random.below(8) as u16),
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
        Kind::Udp => match random.below(10) {
            0 => Action::Bind(place, 5000 + random.below(3) as u16),
            1..4 => Action::Start(place),
            4..9 => Action::Write(place, random_length(random)),
            _ => Action::TryWrite(place, random_length(random)),
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
    if !matches!(kinds[place], Kind::Tcp | Kind::Pipe | Kind::Poll) {
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

fn random_repeat(random: &mut Random) -> u64 {
    *random.pick(&[0, 0, GRAIN, MILLISECOND, 3 * MILLISECOND]).unwrap()
}

fn random_length(random: &mut Random) -> usize {
    *random.pick(&[0, 1, 5, 40, 300, 3000]).unwrap()
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, grain {}, capacity {}", self.seed, self.grain, self.capacity)?;
        writeln!(f, "{:?}", self.faults)?;
        for (place, kind) in self.kinds.iter().enumerate() {
            writeln!(f, "  place {place}: {kind:?}")?;
        }
        for action in &self.outside {
            writeln!(f, "  {action:?}")?;
        }
        for (place, callbacks) in self.callbacks.iter().enumerate() {
            for (nth, actions) in callbacks.iter().enumerate().filter(|(_, actions)| !actions.is_empty()) {
                writeln!(f, "  callback {nth} of place {place}: {actions:?}")?;
            }
        }
        Ok(())
    }
}
