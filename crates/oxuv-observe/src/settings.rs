//! What is to be seen of a loop.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use oxuv_core::CallbackKind;

use crate::{Inquiry, Numbers, Pulse, Trace, Watchdog};

/// A callback that took long.
#[derive(Debug, Clone)]
pub struct SlowCallback {
    /// What it was told of.
    pub kind: CallbackKind,
    /// The number of its handle; `None` for a job's.
    pub handle: Option<usize>,
    /// Where it is from: a file and line, or a symbol; empty if that is not known.
    pub origin: String,
    /// How long it took.
    pub duration: Duration,
}

impl fmt::Display for SlowCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.duration.as_secs_f64() * 1000.0;
        write!(f, "slow callback: {} took {milliseconds:.1} ms", self.kind.name())?;
        if let Some(handle) = self.handle {
            write!(f, ", handle {handle}")?;
        }
        if !self.origin.is_empty() {
            write!(f, ", from {}", self.origin)?;
        }
        Ok(())
    }
}

/// What is called for a callback that took long.
pub type OnSlow = Box<dyn FnMut(SlowCallback)>;

/// What an [`observer`](crate::observer) does.
#[derive(Default)]
pub struct Settings {
    /// What the loop is called in the trace: `loop` and a number, if that is not said.
    pub name: Option<String>,
    /// Writes to this trace.
    pub trace: Option<Trace>,
    /// Calls this, on the loop's thread and right after it, for each callback that took so long.
    pub slow: Option<(Duration, OnSlow)>,
    /// Counts here.
    pub numbers: Option<Numbers>,
    /// Answers why the loop is alive, when that is asked by another thread.
    pub inquiry: Option<Inquiry>,
    /// Is dropped with the observer.
    pub watchdog: Option<Watchdog>,
    /// Lets a watchdog know when callbacks begin and end.
    pub pulse: Option<Pulse>,
    /// Tells the crate `tracing` of turns and callbacks as spans, and of waits and jobs as events, all of the target `oxuv`:
    /// callbacks at the level debug, the rest at trace.
    #[cfg(feature = "tracing")]
    pub tracing: bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slow = self.slow.as_ref().map(|(threshold, _)| threshold);
        f.debug_struct("Settings").field("trace", &self.trace).field("slow", &slow).finish_non_exhaustive()
    }
}

impl Settings {
    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_none() && self.only_counts()
    }

    /// True if there is nothing to do but to count, if that.
    pub(crate) fn only_counts(&self) -> bool {
        #[cfg(feature = "tracing")]
        if self.tracing {
            return false;
        }
        let Settings { trace, slow, inquiry, watchdog, pulse, .. } = self;
        trace.is_none() && slow.is_none() && inquiry.is_none() && watchdog.is_none() && pulse.is_none()
    }
}

/// The path with this process's id for each `%p`; `%%` is a percent sign.
pub fn path_for_process(pattern: &OsStr) -> PathBuf {
    let mut path = Vec::new();
    let mut bytes = pattern.as_bytes().iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'%', Some(b'p')) => {
                bytes.next();
                path.extend_from_slice(std::process::id().to_string().as_bytes());
            }
            (b'%', Some(b'%')) => {
                bytes.next();
                path.push(b'%');
            }
            _ => path.push(byte),
        }
    }
    PathBuf::from(OsString::from_vec(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_p_is_the_process() {
        let path = path_for_process(OsStr::new("/tmp/%p-%%p-100%.json"));
        assert_eq!(path, PathBuf::from(format!("/tmp/{}-%p-100%.json", std::process::id())));
    }
}
