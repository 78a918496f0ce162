//! One connection's messages, one after the other, out of bytes that come in pieces of any size.

use std::ops::Range;

use super::fault::Fault;
use super::head::{self, Field, Framing, Head, Rules};
use super::{Kind, METHOD_CONNECT};

/// What the bytes say.
pub(super) enum Event<'a> {
    Head(Head<'a>, Traits),
    /// A part of the body: these of the bytes given.
    Body(Range<usize>),
    /// The message is complete. These fields came behind its body.
    End(Vec<Field<'a>>),
}

/// What a head means for the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) keeps_alive: bool,
    /// What follows is, or may become, another protocol.
    pub(super) upgrades: bool,
    /// The sender waits for an answer before it sends the body.
    pub(super) expects: bool,
}

/// What the request was to which a response is parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Any,
    Head,
    Connect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a head, or before it.
    Head,
    /// Behind a head after which another protocol may begin. It does so unless told otherwise.
    Undecided(Body),
    Length(u64),
    UntilClose,
    ChunkSize,
    ChunkData(u64),
    /// At the line end behind the data of a chunk.
    ChunkEnd,
    Trailers,
    /// Complete, which has not been told yet.
    Complete,
    /// Behind the last message of the connection.
    Closed,
    /// What comes is none of ours.
    Upgraded,
    Failed(Fault),
}

/// The body that follows where no other protocol does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    None,
    Length(u64),
    Chunked,
}

/// The parser of a connection.
pub(super) struct Parser {
    kind: Kind,
    rules: Rules,
    state: State,
    asked: Asked,
    keeps_alive: bool,
    /// The beginning of a head, a line or trailers that are not complete.
    held: Vec<u8>,
    /// What comes with the end of this message is for a protocol that nobody speaks here.
    drops_rest: bool,
    /// What is held has been told of: it goes before more is read.
    is_spent: bool,
}

/// Longer than any line that says the size of a chunk without extensions.
const SIZE_DIGITS: usize = 16;

impl Parser {
    pub(super) fn new(kind: Kind, limit: usize, is_lenient: bool) -> Parser {
        Parser {
            kind,
            rules: Rules { limit, is_lenient },
            state: State::Head,
            asked: Asked::Any,
            keeps_alive: true,
            held: Vec::new(),
            drops_rest: false,
            is_spent: false,
        }
    }

    /// What the response that comes next answers to.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.asked = asked;
    }

    /// Whether what follows a head that may upgrade is another protocol. Else it is HTTP, but for what is there already: it was
    /// sent by somebody who took the other protocol for granted.
    pub(super) fn decide(&mut self, is_upgrade: bool) {
        if let State::Undecided(body) = self.state {
            self.drops_rest = !is_upgrade;
            self.state = match body {
                _ if is_upgrade => State::Upgraded,
                Body::None => State::Complete,
                Body::Length(length) => State::Length(length),
                Body::Chunked => State::ChunkSize,
            };
        }
    }

    /// How many of the bytes that come next are of the body for certain: they need not be given.
    pub(super) fn left(&self) -> f64 {
        match self.state {
            State::Length(left) | State::ChunkData(left) => left as f64,
            State::UntilClose => f64::INFINITY,
            _ => 0.0,
        }
    }

    /// So many bytes of the body were passed by.
    pub(super) fn pass(&mut self, count: u64) {
        match &mut self.state {
            State::Length(left) | State::ChunkData(left) => *left = left.saturating_sub(count),
            _ => {}
        }
    }

    pub(super) fn is_between(&self) -> bool {
        matches!(self.state, State::Head | State::Closed) && (self.held.is_empty() || self.is_spent)
    }

    pub(super) fn is_in_head(&self) -> bool {
        self.state == State::Head && !self.is_between()
    }

    /// The end of the connection's bytes. True if a message ends with it.
    ///
    /// # Errors
    /// It comes in the middle of a message.
    pub(super) fn finish(&mut self) -> Result<bool, Fault> {
        match self.state {
            State::UntilClose => {
                self.state = State::Closed;
                Ok(true)
            }
            State::Upgraded | State::Undecided(_) | State::Closed | State::Failed(_) => Ok(false),
            State::Head if self.is_between() => Ok(false),
            _ => Err(Fault::EOF),
        }
    }

    /// What `input` says from `at` on. `None` when it says no more: either all of it is read, or what is left is another
    /// protocol's.
    ///
    /// # Errors
    /// This is no HTTP; nor is it from then on.
    pub(super) fn next<'a>(&'a mut self, input: &'a [u8], at: &mut usize) -> Result<Option<Event<'a>>, Fault> {
        if self.is_spent {
            self.held.clear();
            self.is_spent = false;
        }
        loop {
            let rest = &input[*at..];
            match self.state {
                State::Head | State::Closed if std::mem::take(&mut self.drops_rest) => {
                    *at = input.len();
                    return Ok(None);
                }
                State::Head => return self.next_head(input, at),
                State::Length(0) => self.state = State::Complete,
                State::ChunkData(0) => self.state = State::ChunkEnd,
                State::Length(left) | State::ChunkData(left) => return Ok(self.next_data(rest.len(), left, at)),
                State::UntilClose => return Ok(self.next_data(rest.len(), u64::MAX, at)),
                State::Complete => {
                    self.complete();
                    return Ok(Some(Event::End(Vec::new())));
                }
                State::Trailers => return self.next_trailers(input, at),
                State::Undecided(_) | State::Upgraded => return Ok(None),
                State::Failed(fault) => return Err(fault),
                _ if rest.is_empty() => return Ok(None),
                // The sender said that nothing follows. Answers to what came before are on their way.
                State::Closed => {
                    *at = input.len();
                    return Ok(None);
                }
                State::ChunkSize => self.chunk_size(input, at)?,
                State::ChunkEnd => self.chunk_end(input, at)?,
            }
        }
    }

    fn fail(&mut self, fault: Fault) -> Fault {
        self.state = State::Failed(fault);
        fault
    }

    /// After the last byte of a message.
    fn complete(&mut self) {
        self.state = if self.keeps_alive || self.rules.is_lenient { State::Head } else { State::Closed };
        self.is_spent = true;
    }

    fn next_data(&mut self, there: usize, left: u64, at: &mut usize) -> Option<Event<'static>> {
        let count = left.min(there as u64);
        if count == 0 {
            return None;
        }
        let range = *at..*at + count as usize;
        *at = range.end;
        self.pass(count);
        Some(Event::Body(range))
    }

    fn next_head<'a>(&'a mut self, input: &'a [u8], at: &mut usize) -> Result<Option<Event<'a>>, Fault> {
        if self.held.is_empty() {
            *at += input[*at..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        }
        let rest = &input[*at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let before = self.held.len();
        let found = if before == 0 {
            // A head that comes whole is read where it is.
            match head::parse(rest, self.kind, self.rules) {
                Ok(None) => {
                    self.held.extend_from_slice(rest);
                    Ok(None)
                }
                found => found,
            }
        } else {
            self.held.extend_from_slice(rest);
            let is_worth_it = rest.contains(&b'\n') || self.held.len() > self.rules.limit;
            if is_worth_it { head::parse(&self.held, self.kind, self.rules) } else { Ok(None) }
        };
        let place = |fault: Fault| fault.at((fault.place + *at).saturating_sub(before));
        match found {
            Err(fault) => {
                let fault = place(fault);
                self.state = State::Failed(fault);
                Err(fault)
            }
            Ok(None) => {
                *at = input.len();
                Ok(None)
            }
            Ok(Some((head, size))) => {
                let Outcome { traits, state, keeps_alive } = Outcome::of(self.kind, self.asked, self.rules, &head)
                    .map_err(|fault| {
                        self.state = State::Failed(place(fault));
                        place(fault)
                    })?;
                *at += size - before;
                (self.state, self.keeps_alive, self.is_spent) = (state, keeps_alive, true);
                Ok(Some(Event::Head(head, traits)))
            }
        }
    }

    /// The line with the size of a chunk.
    fn chunk_size(&mut self, input: &[u8], at: &mut usize) -> Result<(), Fault> {
        let rest = &input[*at..];
        let end = rest.iter().position(|byte| *byte == b'\n');
        self.held.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
        let size = match (chunk_size(&self.held, end.is_some()), end) {
            (Err(fault), _) => return Err(self.fail(fault.at(*at))),
            (Ok(_), None) if self.held.len() > self.rules.limit => {
                return Err(self.fail(Fault::CHUNK_EXTENSIONS.at(input.len())));
            }
            (Ok(_), None) => {
                *at = input.len();
                return Ok(());
            }
            (Ok(size), Some(end)) => {
                *at += end + 1;
                size
            }
        };
        self.held.clear();
        self.state = if size == 0 { State::Trailers } else { State::ChunkData(size) };
        Ok(())
    }

    fn chunk_end(&mut self, input: &[u8], at: &mut usize) -> Result<(), Fault> {
        let expected = if self.held.is_empty() { b'\r' } else { b'\n' };
        if input[*at] != expected {
            return Err(self.fail(Fault::CHUNK_END.at(*at)));
        }
        *at += 1;
        if expected == b'\r' {
            self.held.push(b'\r');
        } else {
            self.held.clear();
            self.state = State::ChunkSize;
        }
        Ok(())
    }

    fn next_trailers<'a>(&'a mut self, input: &'a [u8], at: &mut usize) -> Result<Option<Event<'a>>, Fault> {
        let rest = &input[*at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let before = self.held.len();
        self.held.extend_from_slice(rest);
        if before > 0 && !rest.contains(&b'\n') && self.held.len() < self.rules.limit {
            *at = input.len();
            return Ok(None);
        }
        // Asked first, because what is found borrows what is held.
        let size = match head::parse_trailers(&self.held, self.rules) {
            Ok(found) => found.map(|(_, size)| size),
            Err(fault) => return Err(self.fail(fault.at((fault.place + *at).saturating_sub(before)))),
        };
        let Some(size) = size else {
            *at = input.len();
            return Ok(None);
        };
        *at += size - before;
        self.complete();
        Ok(head::parse_trailers(&self.held, self.rules)?.map(|(fields, _)| Event::End(fields)))
    }
}

/// The number at the beginning of a line that may go on with extensions; `is_whole` if the line ends here.
fn chunk_size(line: &[u8], is_whole: bool) -> Result<u64, Fault> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits > SIZE_DIGITS {
        return Err(Fault::CHUNK_OVERFLOW);
    }
    // No space may come behind: who skips it and who takes it for the end of the number read different bodies.
    let is_good = match &line[digits..] {
        [] => !is_whole,
        [b'\r'] => true,
        [b';', extensions @ ..] => {
            let inner = extensions.strip_suffix(b"\r");
            !inner.unwrap_or(extensions).contains(&b'\r') && (!is_whole || inner.is_some())
        }
        _ => false,
    };
    if !is_good || (digits == 0 && !line.is_empty()) {
        return Err(Fault::CHUNK_SIZE);
    }
    let text = std::str::from_utf8(&line[..digits]).map_err(|_| Fault::CHUNK_SIZE)?;
    if text.is_empty() { Ok(0) } else { u64::from_str_radix(text, 16).map_err(|_| Fault::CHUNK_OVERFLOW) }
}

/// What comes of a head.
struct Outcome {
    traits: Traits,
    state: State,
    keeps_alive: bool,
}

impl Outcome {
    fn of(kind: Kind, asked: Asked, rules: Rules, head: &Head<'_>) -> Result<Outcome, Fault> {
        let framing = &head.framing;
        let is_interim = kind == Kind::Response && head.status / 100 == 1;
        let has_none =
            kind == Kind::Response && (is_interim || matches!(head.status, 204 | 304) || asked == Asked::Head);
        let body = match framing {
            Framing { is_chunked: true, .. } => State::ChunkSize,
            Framing { has_codings: true, .. } if kind == Kind::Response || rules.is_lenient => State::UntilClose,
            Framing { has_codings: true, .. } => State::Failed(Fault::CODINGS),
            Framing { length: Some(length), .. } => State::Length(*length),
            _ if kind == Kind::Response => State::UntilClose,
            _ => State::Complete,
        };
        let body = if has_none { State::Complete } else { body };
        let wants_alive = if head.minor == 0 { framing.has_keep_alive } else { !framing.has_close };
        let keeps_alive = wants_alive && body != State::UntilClose;
        let upgrades = match kind {
            Kind::Request => METHOD_CONNECT == head.method || framing.has_upgrade && framing.has_upgrade_option,
            Kind::Response => {
                asked == Asked::Connect && !is_interim
                    || head.status == 101 && framing.has_upgrade && framing.has_upgrade_option
            }
        };
        let state = match (kind, upgrades) {
            (_, false) => body,
            (Kind::Response, true) => State::Upgraded,
            (Kind::Request, true) => State::Undecided(match body {
                State::Length(length) => Body::Length(length),
                State::ChunkSize => Body::Chunked,
                _ => Body::None,
            }),
        };
        Ok(Outcome {
            traits: Traits { keeps_alive, upgrades, expects: framing.has_expect },
            state,
            keeps_alive: keeps_alive || is_interim,
        })
    }
}
