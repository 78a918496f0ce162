//! Random programs: what they consist of, and how they are drawn from a seed.

use std::fmt;

use oxuv_core::sim::Faults;
use oxuv_core::{Kind, Lane, Mode};

use crate::files::Change;

/// A variable of the program that holds a handle. It can be closed and initialised again.
pub(crate) type Place = usize;

/// What a program does, outside of a run or in a callback. An action that makes no sense at the time is done all the
/// same, and must fail as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Initialises a handle, if the place has none.
    Init(Place),
    /// Makes a child that has an end of a new connection, whose other end this pipe gets, readable and writable as these bits say;
    /// by no bit, a copy of what that handle has.
    Spawn(Place, Place, u16),
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
    /// Waits until a stream is ready, for what these bits say.
    Await(Place, u16),
    TryRead(Place),
    SetMode(Place),
    /// Has a job done, an operation on files if that is its lane, and takes back one of those that are under way.
    Submit(Place, Lane),
    Cancel(usize),
    /// Watches a path, and all beneath it if so said.
    Watch(Place, usize, bool),
    /// Looks at a path every so many nanoseconds.
    Look(Place, usize, u64),
    /// Whether somebody looks on.
    Observe(bool),
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
    /// Runs the loop, in a callback, too.
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
    /// Something happens to files.
    Change(Change),
}

/// A program. It says all that happens: running it again gives the same trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) faults: Faults,
    /// The grain of the loop's time.
    pub(crate) grain: u64,
    /// What the clock says at first.
    pub(crate) start: u64,
    /// There is a ring for operations on files.
    pub(crate) ring: bool,
    /// What a connection holds in each direction.
    pub(crate) capacity: usize,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) outside: Vec<Action>,
    /// For each place: what its first callback does, its second, and so on; those behind the last do nothing.
    pub(crate) callbacks: Vec<Vec<Vec<Action>>>,
}

impl Program {
    /// The number of actions.
    pub(crate) fn size(&self) -> usize {
        self.outside.len() + self.callbacks.iter().flatten().map(Vec::len).sum::<usize>()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { seed, grain, start, ring, capacity, .. } = self;
        writeln!(f, "seed {seed}, grain {grain}, start {start}, ring {ring}, capacity {capacity}")?;
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
