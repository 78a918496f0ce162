//! Running a script to see what comes of it, whatever that is: for programs that were drawn at random, of which nobody knows.
//!
//! Such a program does what it was drawn to do whenever its callbacks are called. What makes no sense then, or is forbidden by
//! the interface, such as to close a handle twice, is left out, by what the program itself can know.

use std::collections::HashMap;

use crate::driver::{Driver, What};
use crate::runner::start;
use crate::script::Script;
use crate::{Call, Kind};

/// A line of what has come of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A callback was called.
    Called(String),
    /// Something was done, with this outcome.
    Did(String),
}

/// Runs a script, and returns all that has come of it, in its order. What it says must come of it is not looked at.
pub fn record<D: Driver + 'static>(script: &Script) -> Vec<Entry> {
    let runner = start::<D>("a program", Some(Sense::default()));
    script.lines.iter().for_each(|line| runner.do_line(line));
    runner.outside.release();
    runner.take_record()
}

/// How far a handle's life has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Life {
    /// There is none of this name, or it is closed.
    #[default]
    None,
    Open,
    Closing,
    /// It is closed without a word, so that nobody knows when it is.
    Gone,
}

/// What a program knows of a handle.
#[derive(Debug, Default)]
struct Known {
    life: Life,
    /// It has a socket, or is about to have one.
    is_used: bool,
    /// It is a UDP handle that has one.
    has_socket: bool,
    is_listening: bool,
    /// It receives datagrams, or has a peer who refuses them.
    is_receiving: bool,
    is_refused: bool,
    /// It is a pipe that has a name.
    is_bound: bool,
    is_connecting: bool,
    /// It could not be connected.
    has_failed: bool,
    /// It could not be connected, and said so at once: libuv takes it for writable.
    is_unconnected: bool,
    /// It could not be opened, and libuv takes it for readable.
    is_broken: bool,
    /// The other end of its socket is there, outside of the loop.
    has_end: bool,
    /// It is a child that has ended, and that is not told yet.
    is_ending: bool,
    /// As scripts say it.
    kind: String,
}

impl Known {
    fn new(kind: &str) -> Known {
        Known { life: Life::Open, kind: kind.to_owned(), ..Known::default() }
    }

    fn is_childless(&self) -> bool {
        self.kind == "spawn" && self.has_failed && self.life == Life::Open
    }
}

/// The handle that drawn programs have until their end.
const GUARD: &str = "guard";

/// What is there from the beginning, with somebody at the other end.
const OPENED: [&str; 4] = ["poll", "stream", "mailbox", "tty"];

/// Kinds whose handles have addresses of one family.
fn family(kind: &str) -> &str {
    match kind {
        "ipc" => "pipe",
        kind => kind,
    }
}

/// What handles of a kind can be asked.
pub fn questions(kind: &str) -> &'static [&'static str] {
    match kind {
        "tcp" | "stream" => &[
            "fileno",
            "send_buffer",
            "receive_buffer",
            "nodelay",
            "keepalive",
            "keepalive_never",
            "simultaneous",
            "tcp_peer",
            "tcp_own",
            "nonblocking",
        ],
        "pipe" | "ipc" => {
            &["fileno", "send_buffer", "receive_buffer", "pipe_peer", "pipe_own", "chmod", "chmod_none", "nonblocking"]
        }
        "tty" => &["fileno", "window", "raw", "io"],
        "poll" => &["fileno"],
        "fs_event" => &["fileno", "event_path"],
        "fs_poll" => &["fileno", "poll_path"],
        // Disconnected, its other end would hear of that.
        "mailbox" => &["fileno", "send_buffer", "udp_peer", "udp_own", "broadcast", "ttl", "join"],
        "udp" | "udp_several" => &[
            "fileno",
            "send_buffer",
            "receive_buffer",
            "udp_peer",
            "udp_own",
            "broadcast",
            "ttl",
            "ttl_none",
            "multicast_ttl",
            "multicast_loop",
            "interface",
            "join",
            "join_nonsense",
            "disconnect",
        ],
        _ => &["fileno", "send_buffer"],
    }
}

/// Verbs that are of UDP handles alone.
const OF_DATAGRAMS: [&str; 3] = ["receive", "send_to", "try_send"];

/// Verbs that UDP handles have not.
const OF_STREAMS: [&str; 14] = [
    "listen",
    "accept",
    "pair",
    "read",
    "write",
    "write_parts",
    "try_write",
    "shutdown",
    "close_reset",
    "readable?",
    "writable?",
    "open",
    "handles?",
    "fill",
];

fn is_datagram(kind: &str) -> bool {
    kind.starts_with("udp") || kind == "mailbox"
}

/// Which actions make sense.
#[derive(Debug, Default)]
pub(crate) struct Sense {
    handles: HashMap<String, Known>,
    /// Jobs that have not come back, and whether they were taken back.
    jobs: HashMap<String, bool>,
    is_held: bool,
    /// Another loop is used than the first.
    is_in_second: bool,
    /// The loop is closed.
    is_over: bool,
    files: Vec<String>,
    /// The runs that are under way, one in a callback of the other.
    pub(crate) runs: i32,
}

impl Sense {
    fn known(&mut self, name: &str) -> &mut Known {
        self.handles.entry(name.to_owned()).or_default()
    }

    fn life(&self, name: &str) -> Life {
        self.handles.get(name).map_or(Life::None, |known| known.life)
    }

    fn is(&self, name: &str, fact: impl FnOnce(&Known) -> bool) -> bool {
        self.handles.get(name).is_some_and(|known| known.life == Life::Open && fact(known))
    }

    fn are_alike(&self, one: &str, other: &str) -> bool {
        self.is(one, |one| self.is(other, |other| family(&one.kind) == family(&other.kind)))
    }

    /// Whether a handle, which may have come by a pipe, is of a kind that can do that.
    fn can(&self, words: &[&str]) -> bool {
        let &[verb, name, ..] = words else { return true };
        let is_for_datagrams = self.handles.get(name).is_some_and(|known| is_datagram(&known.kind));
        if OF_DATAGRAMS.contains(&verb) { is_for_datagrams } else { !is_for_datagrams || !OF_STREAMS.contains(&verb) }
    }

    /// A handle has come by a pipe, of this kind.
    pub(crate) fn took(&mut self, name: &str, kind: &str) {
        kind.clone_into(&mut self.known(name).kind);
    }

    /// Whether a request has not come back.
    pub(crate) fn is_asked(&self, request: &str) -> bool {
        self.jobs.contains_key(request)
    }

    /// Whether this may be done now.
    pub(crate) fn allows(&self, words: &[&str]) -> bool {
        !self.is_over && self.can(words) && self.makes_sense(words)
    }

    fn makes_sense(&self, words: &[&str]) -> bool {
        let is_fresh = |name: &str| self.is(name, |known| !known.is_used);
        match *words {
            ["run", _] => self.runs < 2,
            ["stop_loop" | "update_time" | "sleep" | "alive?" | "timeout?" | "say", ..] => true,
            ["raise", _] => true,
            ["work" | "look_up" | "name_of" | "random" | "fs" | "call", name, ..] => !self.jobs.contains_key(name),
            // The pool has one thread.
            ["hold", name] => !self.is_held && !self.jobs.contains_key(name),
            ["release"] => self.is_held,
            ["cancel", name] => self.jobs.get(name) == Some(&false),
            // Started anew, it goes on with both files in libuv.
            ["start", name, _, _] if self.is(name, |known| known.kind == "fs_poll") => is_fresh(name),
            ["make", name] => !self.files.iter().any(|file| file == name),
            // Our loops do not know the handle of a child that could not be made.
            ["walk?" | "loop_close"] if self.handles.values().any(Known::is_childless) => false,
            ["await", name] => self.is_asked(name),
            ["loop_close"] if self.is_in_second => false,
            // Not while it runs, unless there is a handle that is open for sure.
            ["loop_close"] => self.runs == 0 || self.life(GUARD) == Life::Open,
            ["loop", _] => self.runs == 0,
            ["call_now" | "walk?", ..] => true,
            ["poll_on", name, what] => {
                self.life(name) == Life::None
                    && what.strip_prefix('=').is_none_or(|other| self.life(other) == Life::Open)
            }
            ["start", name, _] if self.is(name, |known| known.kind == "shared") => false,
            ["open_on", name, _] => is_fresh(name),
            ["ask", name, what] => self.is(name, |known| questions(&known.kind).contains(&what)),
            ["spawn", name] => self.life(name) == Life::None,
            ["spawn", name, _, ref pipes @ ..] => {
                let is_pipe = |name: &&str| {
                    *name == "none" || is_fresh(name) && self.is(name, |known| family(&known.kind) == "pipe")
                };
                self.life(name) == Life::None && pipes.iter().all(is_pipe)
            }
            ["end" | "kill", name, _] => self.is(name, |known| !known.is_ending && !known.has_failed),
            [verb, name] if OPENED.contains(&verb) => self.life(name) == Life::None,
            [verb, name] if Kind::named(verb).is_some() => self.life(name) == Life::None,
            ["listen", name] => is_fresh(name) && !self.is(name, |known| known.is_unconnected),
            ["open", name] => is_fresh(name),
            ["pair", one, other] => one != other && is_fresh(one) && is_fresh(other) && self.are_alike(one, other),
            // Refused when it does not receive, libuv asserts that it does.
            ["connect", name, "nowhere"] if self.is(name, |known| known.kind.starts_with("udp")) => {
                self.is(name, |known| known.is_receiving)
            }
            ["stop", name] if self.is(name, |known| known.is_refused) => false,
            ["read", name] if self.is(name, |known| known.is_broken) => false,
            // A pipe that is bound is never readable then in libuv, and never writable.
            ["connect", name, ..] if self.is(name, |known| known.is_bound) => false,
            ["connect", name, "nowhere" | "unreachable" | "sixth"] => is_fresh(name),
            ["connect", name, to] => is_fresh(name) && self.life(to) == Life::Open && self.are_alike(name, to),
            ["accept", server, client] => {
                let is_listening = |known: &Known| known.is_listening || known.kind == "ipc" && known.is_used;
                self.is(server, is_listening) && self.life(client) == Life::None
            }
            ["feed" | "take" | "hang_up" | "drain" | "spill", name] | ["feed" | "spill", name, _] => {
                self.is(name, |known| known.has_end)
            }
            // Of streams that connect, or could not, these differ: see CHANGELOG.md.
            ["shutdown", name] => self.is(name, |known| !known.is_connecting && !known.has_failed),
            // While it waits, the handle could be closed.
            ["write" | "try_write", name, _, handle] => {
                let may_be_sent = |known: &Known| known.is_used && !known.is_connecting && !known.has_failed;
                let is_stream = |known: &Known| !["tty", "mailbox"].contains(&known.kind.as_str());
                self.is(name, |known| may_be_sent(known) && known.kind == "ipc")
                    && self.is(handle, |known| known.has_socket || may_be_sent(known) && is_stream(known))
            }
            ["handles?", name] => self.is(name, |known| known.kind == "ipc"),
            ["close_reset", name] => self.is(name, |known| ["tcp", "stream"].contains(&known.kind.as_str())),
            // Of a connect that begins when that is told, libuv never tells.
            ["write" | "write_parts", name, _] if self.is(name, |known| known.is_unconnected && !known.is_used) => {
                false
            }
            ["write" | "try_write" | "write_parts", name, _] => self.is(name, |known| !known.has_failed),
            ["bind", name] | ["bind", name, "elsewhere" | "sixth"] => is_fresh(name),
            // To a port that the kernel has chosen for somebody who connects, others may have come meanwhile.
            ["bind", name, other] => {
                is_fresh(name)
                    && self.are_alike(name, other)
                    && self.is(other, |known| known.is_listening || known.has_socket)
            }
            ["send_to" | "try_send", name, to, _] => {
                let is_word = ["peer", "unreachable", "everybody", "sixth"].contains(&to);
                self.life(name) == Life::Open && (is_word || self.life(to) == Life::Open)
            }
            ["ref?" | "ref" | "unref", name]
                if self.handles.get(name).is_some_and(|known| known.kind == "spawn" && known.has_failed) =>
            {
                false
            }
            ["active?" | "closing?" | "ref?" | "ref" | "unref", name] => {
                matches!(self.life(name), Life::Open | Life::Closing)
            }
            [_, name, ..] => self.life(name.trim_end_matches('\'')) == Life::Open,
            [_] | [] => false,
        }
    }

    /// This was done.
    pub(crate) fn did(&mut self, words: &[&str], outcome: &str) {
        match *words {
            ["make", name] => self.files.push(name.to_owned()),
            ["hang_up", name] => self.known(name).has_end = false,
            // What is wrong with the streams is found before anything is made.
            ["spawn", _, _, ..] if outcome == "EINVAL" => {}
            // There is a handle, which can be closed, and the pipes are there, too.
            ["spawn", name, _, ref pipes @ ..] => {
                *self.known(name) = Known { has_failed: outcome != "ok", ..Known::new("spawn") };
                pipes
                    .iter()
                    .filter(|pipe| **pipe != "none" && !pipe.starts_with('='))
                    .for_each(|pipe| self.known(pipe).is_used = true);
            }
            // The new handle is there, whether there was a connection or not.
            ["accept", server, client] => {
                let server_kind = self.known(server).kind.clone();
                let kind = if server_kind == "ipc" { "" } else { &server_kind };
                *self.known(client) = Known { is_used: outcome == "ok", ..Known::new(kind) };
            }
            ["connect", name, _] if outcome != "ok" => self.known(name).is_unconnected = true,
            ["open", name] if outcome != "ok" => self.known(name).is_broken = true,
            _ if outcome != "ok" => {}
            ["work" | "hold", name] | ["look_up" | "name_of" | "random" | "fs" | "call", name, ..] => {
                self.jobs.insert(name.to_owned(), false);
                self.is_held |= words[0] == "hold";
            }
            ["release"] => self.is_held = false,
            ["loop", number] => self.is_in_second = number != "0",
            ["loop_close"] => self.is_over = true,
            ["cancel", name] => drop(self.jobs.insert(name.to_owned(), true)),
            [verb, name] if OPENED.contains(&verb) => {
                *self.known(name) = Known { is_used: true, has_end: true, ..Known::new(verb) };
            }
            [verb, name] if verb == "spawn" || Kind::named(verb).is_some() => *self.known(name) = Known::new(verb),
            ["start", name, _, _] if self.known(name).kind == "fs_poll" => self.known(name).is_used = true,
            // A descriptor that is another handle's, too.
            ["poll_on", name, _] => *self.known(name) = Known::new("shared"),
            ["open", name] => (self.known(name).is_used, self.known(name).has_end) = (true, true),
            ["bind", name] if is_datagram(&self.known(name).kind) => self.known(name).has_socket = true,
            ["bind", name] => self.known(name).is_bound = family(&self.known(name).kind) == "pipe",
            ["listen", name] => (self.known(name).is_used, self.known(name).is_listening) = (true, true),
            ["receive", name] => self.known(name).is_receiving = true,
            ["stop", name] => self.known(name).is_receiving = false,
            ["connect", name, "nowhere"] if self.known(name).is_receiving => self.known(name).is_refused = true,
            ["connect", name, _] => (self.known(name).is_used, self.known(name).is_connecting) = (true, true),
            ["pair", one, other] => (self.known(one).is_used, self.known(other).is_used) = (true, true),
            ["end", name, _] => self.known(name).is_ending = true,
            ["kill", name, signal] => self.known(name).is_ending |= signal != "0",
            ["close", name] => self.known(name).life = Life::Closing,
            ["close_reset", name] => self.known(name).life = Life::Gone,
            _ => {}
        }
    }

    pub(crate) fn heard(&mut self, call: &Call) {
        let known = self.known(&call.callback.name);
        match call.what {
            What::Work | What::File | What::Found => drop(self.jobs.remove(&call.callback.name)),
            What::Exit => known.is_ending = false,
            What::Close => known.life = Life::None,
            What::Connect => (known.is_connecting, known.has_failed) = (false, !call.result.is_empty()),
            _ => {}
        }
    }
}
