//! Random programs: order scripts that expect nothing.

use std::fmt;

use crate::compare::{AFTER_POLL, BEFORE_POLL};

/// A line of a program: what it does in turn, or what a callback does at one of its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// `on a read 2`; none for what is done in turn.
    pub(crate) callback: Option<String>,
    pub(crate) steps: Vec<String>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    /// The other library does its operations on files by a ring. One is waited for before the next, for nobody knows in which turn
    /// they come back.
    pub(crate) is_by_ring: bool,
    pub(crate) parts: Vec<Part>,
}

/// Rounds that a run without an end of its own may have, until the guard stops it.
const ROUNDS: usize = 5;

/// What every program begins with: a guard, which keeps runs from waiting and ends them, and two handles that tell the phases
/// apart. None of them keeps the loop alive for long.
fn frame() -> String {
    let mut text = "timer guard; prepare before; check after; start before; start after; unref before; unref after\n\
                    on guard: start guard 0\n"
        .to_owned();
    (1..40).for_each(|nth| text += &format!("on guard {}: start guard 0; stop_loop\n", nth * ROUNDS));
    text
}

/// Whether this is the call of a handle that every program has.
pub(crate) fn is_of_frame(call: &str) -> bool {
    ["guard", "first", "second"].iter().chain(&BEFORE_POLL).chain(&AFTER_POLL).any(|&name| name == call)
}

/// Without somebody who waits for it, a signal would end the process.
const CATCHERS: &str = "signal first; signal second; start first one; start second two; unref first; unref second\n";

/// The second loop tells its phases apart, too.
const SECOND: &str =
    "loop 1; prepare earlier; check later; start earlier; start later; unref earlier; unref later; loop 0\n";

impl Program {
    /// The whole script.
    pub(crate) fn script(&self) -> String {
        if self.is_by_ring {
            return format!("== program {}\n{self}", self.seed);
        }
        let has = |verb| self.parts.iter().flat_map(|part| &part.steps).any(|step| step.starts_with(verb));
        let (catchers, second) = (if has("raise") { CATCHERS } else { "" }, if has("loop 1") { SECOND } else { "" });
        format!("== program {}\n{}{second}{catchers}{self}", self.seed, frame())
    }

    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|part| part.steps.len()).sum()
    }
}

/// What is its own.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Part { callback, steps } in self.parts.iter().filter(|part| !part.steps.is_empty()) {
            match callback {
                Some(callback) => writeln!(f, "on {callback}: {}", steps.join("; "))?,
                None => steps.iter().try_for_each(|step| writeln!(f, "{step}"))?,
            }
        }
        Ok(())
    }
}
