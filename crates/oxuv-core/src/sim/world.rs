//! Everything that a simulated kernel and its outside consist of.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::net::SocketAddr;

use oxuv_os::{Errno, Result};

use super::connection::Connection;
use super::datagram::{Letter, Offload};
use super::files::Files;
use super::note::Note;
use super::pool::Jobs;
use super::process::Process;
use super::signal::Signals;
use super::socket::{FIRST_PORT, Socket};
use super::unix::UnixName;
use super::wait::{OldWatch, Watch};
use super::{Fault, Faults, Plan, Random};
use crate::kernel::{Ready, Room};

pub(super) struct World {
    /// Nanoseconds.
    pub(super) now: u64,
    pub(super) random: Random,
    pub(super) faults: Faults,
    /// How often each fault was committed.
    pub(super) committed: [u64; Fault::ALL.len()],
    /// The table of descriptors.
    pub(super) files: Vec<Option<Socket>>,
    pub(super) descriptor_limit: usize,
    /// All connections that ever were: a peer is known by its number here.
    pub(super) connections: Vec<Connection>,
    /// What each direction of a new connection holds.
    pub(super) capacity: usize,
    /// The addresses at which the outside accepts connections.
    pub(super) served: Vec<SocketAddr>,
    /// The names of Unix sockets.
    pub(super) names: Vec<UnixName>,
    pub(super) next_port: u16,
    pub(super) next_peer_port: u16,
    /// The watched descriptors, by their numbers.
    pub(super) watches: BTreeMap<i32, Watch>,
    /// The watches of the past.
    pub(super) old_watches: VecDeque<OldWatch>,
    pub(super) batch: Vec<Ready>,
    /// A wake-up was left out of the last batch.
    pub(super) wake_is_late: bool,
    /// What the outside does, by time and in the order of planning.
    pub(super) plans: BTreeMap<(u64, u64), Plan>,
    pub(super) next_plan: u64,
    pub(super) waits_left: u64,
    pub(super) jobs: Jobs,
    /// All children that ever were.
    pub(super) processes: Vec<Process>,
    pub(super) disk: Files,
    pub(super) signals: Signals,
    /// The datagrams that have gone to the outside, and how many of them the network takes.
    pub(super) letters: Vec<Letter>,
    pub(super) network_room: usize,
    pub(super) offload: Offload,
    pub(super) trace: Vec<Note>,
}

impl World {
    pub(super) fn new(seed: u64, faults: Faults) -> World {
        World {
            // Not 0, so that nobody takes the clock's time for a duration.
            now: 1_000_000_000,
            random: Random::new(seed),
            faults,
            committed: [0; Fault::ALL.len()],
            files: Vec::new(),
            descriptor_limit: 1024,
            connections: Vec::new(),
            capacity: 64 * 1024,
            served: Vec::new(),
            names: Vec::new(),
            next_port: FIRST_PORT,
            next_peer_port: 32768,
            watches: BTreeMap::new(),
            old_watches: VecDeque::new(),
            batch: Vec::new(),
            wake_is_late: false,
            plans: BTreeMap::new(),
            next_plan: 0,
            waits_left: u64::MAX,
            jobs: Jobs::default(),
            processes: Vec::new(),
            disk: Files::default(),
            signals: Signals::default(),
            letters: Vec::new(),
            network_room: usize::MAX,
            offload: Offload::Full,
            trace: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        self.trace.push(note);
    }

    /// Reads the clock.
    pub(super) fn read_clock(&mut self) -> u64 {
        if self.commits(Fault::ClockJump) {
            let by = 1 + self.random.below(2_000_000) as u64;
            self.jump(by);
        }
        if self.commits(Fault::ClockLeap) {
            let milliseconds = self.random.below(u32::MAX as usize) as u64;
            self.jump(milliseconds * 1_000_000);
        }
        self.now
    }

    fn jump(&mut self, by: u64) {
        self.advance(by);
        self.note(Note::ClockJumped { by });
    }

    /// Lets time pass. The clock's last moment never comes.
    pub(super) fn advance(&mut self, nanoseconds: u64) {
        self.now = self.now.saturating_add(nanoseconds).min(u64::MAX - 1);
    }

    /// Whether this fault is committed, now that there is a chance.
    pub(super) fn commits(&mut self, fault: Fault) -> bool {
        let often = *self.faults.often(fault);
        let commits = self.random.chance(often);
        self.committed[fault as usize] += u64::from(commits);
        commits
    }

    pub(super) fn recv<'a>(&mut self, fd: i32, room: Room<'a>) -> Result<&'a mut [u8]> {
        let (bytes, handles) = self.take(fd, room)?;
        // Who does not ask for them has them closed.
        handles.into_iter().for_each(|socket| self.release(socket));
        Ok(bytes)
    }

    /// Receives bytes, and the handles that have come with them.
    pub(super) fn take<'a>(&mut self, fd: i32, room: Room<'a>) -> Result<(&'a mut [u8], Vec<Socket>)> {
        let count = self.receivable(fd, room.len());
        self.note(Note::Received { fd, result: count });
        let connection = self.connection_of(fd)?;
        let bytes: Vec<u8> = self.connections[connection].inbound.drain(..count?).collect();
        self.connections[connection].taken += bytes.len() as u64;
        let handles = self.handles_taken(connection);
        self.exchange(connection);
        Ok((room.fill(&bytes), handles))
    }

    fn receivable(&mut self, fd: i32, size: usize) -> Result<usize> {
        let connection = self.connection_of(fd)?;
        let count = self.disturb(connection).and_then(|()| self.connections[connection].receivable());
        let most = count.unwrap_or(0).min(size);
        let given = self.cut_short(most, Fault::ShortRead);
        if given < most || count == Err(Errno::EAGAIN) {
            self.connections[connection].held_back += 1;
        }
        count.map(|_| given)
    }

    pub(super) fn send(&mut self, fd: i32, bufs: &[IoSlice<'_>]) -> Result<usize> {
        let count = self.sendable(fd, bufs.iter().map(|buf| buf.len()).sum());
        self.note(Note::Sent { fd, result: count });
        let connection = self.connection_of(fd)?;
        let bytes = bufs.iter().flat_map(|buf| buf.iter().copied());
        self.connections[connection].send(bytes.take(count?));
        self.exchange(connection);
        count
    }

    /// Another process sends these bytes, as soon as there is room. Where the connection has failed, they are lost.
    pub(super) fn send_in_time(&mut self, fd: i32, bytes: &[u8]) {
        let Ok(number) = self.connection_of(fd) else { return };
        let connection = &mut self.connections[number];
        if connection.error.is_none() && connection.sendable(0).is_ok() {
            connection.send(bytes.iter().copied());
            self.exchange(number);
        }
    }

    fn sendable(&mut self, fd: i32, wanted: usize) -> Result<usize> {
        let connection = self.connection_of(fd).map_err(|_| Errno::EPIPE)?;
        self.disturb(connection)?;
        let count = self.connections[connection].sendable(wanted)?;
        Ok(self.cut_short(count, Fault::ShortWrite))
    }

    /// What may happen to a connection just as we use it.
    fn disturb(&mut self, connection: usize) -> Result<()> {
        if self.commits(Fault::Reset) {
            self.connections[connection].reset();
            self.exchange(connection);
        }
        if self.commits(Fault::Again) { Err(Errno::EAGAIN) } else { Ok(()) }
    }

    pub(super) fn cut_short(&mut self, count: usize, fault: Fault) -> usize {
        if count > 1 && self.commits(fault) { 1 + self.random.below(count - 1) } else { count }
    }

    pub(super) fn shutdown_write(&mut self, fd: i32) -> Result<()> {
        let result = self.connection_of(fd).and_then(|number| {
            let connection = &mut self.connections[number];
            if connection.is_dead || connection.is_connecting {
                return Err(Errno::ENOTCONN);
            }
            connection.we_ended = true;
            self.exchange(number);
            Ok(())
        });
        self.note(Note::ShutDown { fd, result });
        result
    }
}
