//! The trace of a process: a file in Chrome's trace-event format, for one loop or several.
//!
//! Spans are written when they begin, with a length of 0, which is amended at their end. So the file tells of the callback that a
//! program died in, too; and as it is written by way of memory that the kernel has, it is complete whatever a program dies of.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oxuv_core::{Errno, ObservedJob as Job, Result};
use oxuv_os::Journal;

use crate::text::{LONGEST, NOTHING, escaped, is_plain, microseconds, number, short};

/// A trace that is being written. Several loops, on whatever threads, may write to the same: a clone is another way to it.
///
/// In the file, times are microseconds of `CLOCK_MONOTONIC`. Each loop has a track for turns, phases and waits, and one for
/// callbacks; the lanes of the pool and io_uring have one each, for jobs waiting and for jobs that run. When the file cannot be written any
/// more, a disk being full or the file as large as it may become, the trace ends there: [`Trace::on_end`].
#[derive(Debug, Clone)]
pub struct Trace(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// `None` after an error, and in a child of the process that has begun the trace.
    journal: Option<Journal>,
    error: Option<Errno>,
    path: PathBuf,
    on_end: Option<OnEnd>,
    pid: u64,
    loops: u64,
    jobs: u64,
    /// What records are made in.
    record: Vec<u8>,
}

/// What is told when the trace ends early.
struct OnEnd(Box<dyn FnOnce(String) + Send>);

impl fmt::Debug for OnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnEnd")
    }
}

/// A span that has begun: where in the file its length is, and when it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    length_at: u64,
    begun: u64,
}

/// The tracks of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Track {
    /// Turns, phases, waits.
    Phases,
    Callbacks,
}

/// The numbers of a loop's tracks begin with this multiple of its own.
const TRACKS: u64 = 2;

impl Trace {
    /// Begins a trace in this file, which is made, or made empty.
    ///
    /// # Errors
    /// Those of opening a file for writing; ENOSPC, EFBIG, ENOMEM; ENODEV for what is no file, such as a FIFO; EBUSY while another trace is
    /// written to it, by this process or by another.
    pub fn create(path: &Path) -> Result<Trace> {
        let journal = Journal::create(path, b"[", b"\n]\n")?;
        let pid = u64::from(std::process::id());
        let mut state = State {
            journal: Some(journal),
            error: None,
            path: path.to_owned(),
            on_end: None,
            pid,
            loops: 0,
            jobs: 0,
            record: Vec::new(),
        };
        let name = std::env::current_exe().ok().and_then(|path| path.file_name().map(|name| name.to_owned()));
        let name = name.map_or_else(|| "a program".to_owned(), |name| name.to_string_lossy().into_owned());
        state.name("process_name", 0, &name);
        for lane in LANES {
            state.name("thread_name", lane.1, lane.0);
        }
        // The first comma is for what is not there.
        Ok(Trace(Arc::new(Mutex::new(state))))
    }

    /// Why the trace has ended early; `None` while it goes on.
    pub fn error(&self) -> Option<Errno> {
        self.with(|state| state.error)
    }

    /// Has a line told, once, when the trace ends early because the file cannot be written any more. That happens in whatever the loop
    /// does, so the closure only tells. A child of a fork, whose trace it is not, is told nothing.
    pub fn on_end(&self, tell: impl FnOnce(String) + Send + 'static) {
        self.with(|state| state.on_end = Some(OnEnd(Box::new(tell))));
    }

    /// A new loop writes to the trace: its number, from 1 on.
    pub(crate) fn add_loop(&self, name: Option<&str>) -> u64 {
        self.with(|state| {
            state.loops += 1;
            let number = state.loops;
            let track = number * TRACKS + FIRST_LOOP;
            let name = name.map_or_else(|| format!("loop {number}"), str::to_owned);
            state.name("thread_name", track, &format!("{name}: turns, phases"));
            state.name("thread_name", track + 1, &format!("{name}: callbacks"));
            number
        })
    }

    /// What the spans of a loop begin with that are on this track, and have this category and name.
    pub(crate) fn head(&self, of: u64, track: Track, category: &str, name: &str) -> Vec<u8> {
        self.with(|state| {
            state.head("X", of * TRACKS + FIRST_LOOP + track as u64);
            state.field("cat", category);
            state.field("name", name);
            std::mem::take(&mut state.record)
        })
    }

    /// Begins a span.
    pub(crate) fn begin(&self, head: &[u8], at: u64, details: &Details<'_>) -> Option<Span> {
        self.with(|state| {
            state.record.clear();
            state.record.extend_from_slice(head);
            state.time(at);
            let record = &mut state.record;
            record.extend_from_slice(b",\"dur\":");
            let offset = record.len() as u64;
            record.extend_from_slice(NOTHING);
            details.write(record);
            record.push(b'}');
            let length_at = state.append()? + offset;
            Some(Span { length_at, begun: at })
        })
    }

    /// Ends a span.
    pub(crate) fn end(&self, span: Option<Span>, at: u64) {
        let Some(span) = span else { return };
        self.with(|state| {
            let length = microseconds(at.saturating_sub(span.begun));
            let amended = state.journal.as_mut().map(|journal| journal.amend(span.length_at, &length));
            state.see(amended.unwrap_or(Ok(())));
        });
    }

    /// A job was run.
    pub(crate) fn job(&self, of: u64, job: &Job) {
        self.with(|state| {
            state.jobs += 1;
            let (_, track) = LANES[job.lane.map_or(LANES.len() - 1, |lane| lane as usize)];
            for (name, begun, ended) in [("queued", job.queued, job.started), ("runs", job.started, job.finished)] {
                for (kind, at) in [("b", begun), ("e", ended)] {
                    state.head(kind, track);
                    state.time(at);
                    state.field("cat", "pool");
                    state.field("name", name);
                    state.record.extend_from_slice(b",\"id\":");
                    number(&mut state.record, state.jobs);
                    state.record.extend_from_slice(b",\"args\":{\"loop\":");
                    number(&mut state.record, of);
                    state.record.extend_from_slice(b"}}");
                    state.append();
                }
            }
        });
    }

    fn with<T>(&self, ask: impl FnOnce(&mut State) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The lanes of a pool by their numbers, then the kernel's ring, and the numbers of their tracks.
const LANES: [(&str, u64); 4] =
    [("pool: work", 1), ("pool: fast I/O", 2), ("pool: slow I/O", 3), ("io_uring: files", 4)];

/// Before the first loop's tracks there is room for those of lanes.
const FIRST_LOOP: u64 = 8;

/// What else a span says.
#[derive(Debug, Default)]
pub(crate) struct Details<'a> {
    pub(crate) numbers: &'a [(&'static str, u64)],
    /// Where the callback is from.
    pub(crate) origin: &'a [u8],
}

impl Details<'_> {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(b",\"args\":{");
        let mut separator: &[u8] = b"";
        for &(name, value) in self.numbers {
            to.extend_from_slice(separator);
            separator = b",";
            to.push(b'"');
            to.extend_from_slice(name.as_bytes());
            to.extend_from_slice(b"\":");
            number(to, value);
        }
        if !self.origin.is_empty() {
            to.extend_from_slice(separator);
            to.extend_from_slice(b"\"origin\":\"");
            if is_plain(self.origin) && self.origin.len() <= LONGEST {
                to.extend_from_slice(self.origin);
            } else {
                escaped(to, short(self.origin).as_bytes());
            }
            to.push(b'"');
        }
        to.push(b'}');
    }
}

impl State {
    /// Begins a record.
    fn head(&mut self, kind: &str, track: u64) {
        self.record.clear();
        self.record.extend_from_slice(b",\n{\"ph\":\"");
        self.record.extend_from_slice(kind.as_bytes());
        self.record.extend_from_slice(b"\",\"pid\":");
        number(&mut self.record, self.pid);
        self.record.extend_from_slice(b",\"tid\":");
        number(&mut self.record, track);
    }

    /// Adds when it is.
    fn time(&mut self, at: u64) {
        self.record.extend_from_slice(b",\"ts\":");
        self.record.extend_from_slice(&microseconds(at));
    }

    /// Adds a text to it.
    fn field(&mut self, name: &str, text: &str) {
        self.record.extend_from_slice(b",\"");
        self.record.extend_from_slice(name.as_bytes());
        self.record.extend_from_slice(b"\":\"");
        self.record.extend_from_slice(text.as_bytes());
        self.record.push(b'"');
    }

    /// Names the process, or a track.
    fn name(&mut self, what: &str, track: u64, name: &str) {
        self.head("M", track);
        self.time(0);
        if what == "process_name" {
            // It is the first of all, which no comma goes before.
            self.record.drain(..1);
        }
        self.field("name", what);
        self.record.extend_from_slice(b",\"args\":{\"name\":\"");
        escaped(&mut self.record, name.as_bytes());
        self.record.extend_from_slice(b"\"}}");
        self.append();
    }

    fn append(&mut self) -> Option<u64> {
        let appended = self.journal.as_mut()?.append(&self.record);
        self.see(appended)
    }

    fn tell_end(&mut self, error: Errno) {
        let Some(OnEnd(tell)) = self.on_end.take().filter(|_| error != Errno::ECHILD) else { return };
        let path = self.path.display();
        tell(match error {
            Errno::ENOSPC | Errno::EFBIG => format!("trace {path}: no space left; what follows is not in it"),
            _ => format!("trace {path}: {error}; what follows is not in it"),
        });
    }

    /// An error ends the trace.
    fn see<T>(&mut self, done: Result<T>) -> Option<T> {
        match done {
            Ok(value) => Some(value),
            Err(error) => {
                // In a child, too: its parent goes on with the file.
                self.error = Some(error);
                self.journal = None;
                self.tell_end(error);
                None
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(journal) = self.journal.take() {
            // What it would have cut off are spaces.
            let _ = journal.finish();
        }
    }
}
