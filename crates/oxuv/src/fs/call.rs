//! Operations on files that a ring may do, or a thread: jobs that say what they are.

use std::os::fd::OwnedFd;

use oxuv_core::Lane;
use oxuv_core::kernel::{Answer, Call, Job, Operation};

use super::Metadata;
use crate::{Errno, LoopRef, Request, Result};

/// A call, and then what it has found.
#[derive(Default)]
struct FileJob {
    /// `None` while a ring has it.
    call: Option<Call>,
    answer: Option<Result<Answer>>,
}

impl FileJob {
    /// What was found. Nothing is left of it, nor of the call.
    fn found<T>(&mut self, find: impl FnOnce(&mut Answer, &mut Call) -> T) -> Result<T> {
        let found = match (&mut self.call, &mut self.answer) {
            (Some(call), Some(Ok(answer))) => Ok(find(answer, call)),
            (Some(_), Some(Err(error))) => Err(*error),
            _ => Err(Errno::ECANCELED),
        };
        (self.call, self.answer) = (None, None);
        found
    }
}

impl Job for FileJob {
    fn run(&mut self) {
        if let Some(call) = &mut self.call {
            self.answer = Some(call.run());
        }
    }

    fn run_at_once(&mut self) -> bool {
        self.answer = self.call.as_ref().and_then(Call::run_at_once);
        self.answer.is_some()
    }

    fn may_be_quick(&self) -> bool {
        self.call.as_ref().is_some_and(Call::may_be_quick)
    }

    fn put_operation(&mut self, place: &mut Operation) {
        if let Some(call) = self.call.take()
            && let Err(call) = call.put(place)
        {
            self.call = Some(call);
        }
    }

    fn answered(&mut self, result: Result<usize>, operation: &mut Operation) {
        self.answer = Some(result.map(|number| operation.answer(number)));
        self.take_back(operation);
    }

    fn take_back(&mut self, operation: &mut Operation) {
        // What the call owns may be a program's, and is dropped when nobody is in the loop.
        if self.call.is_none() {
            self.call = operation.take_call();
        }
    }
}

/// Submits a call. `find` takes what `done` hears out of what was found and of what the call has.
#[track_caller]
pub(super) fn call<T: 'static>(
    owner: &LoopRef,
    call: Call,
    find: impl FnOnce(&mut Answer, &mut Call) -> T + 'static,
    done: impl FnOnce(&LoopRef, Result<T>) + 'static,
) -> Result<Request> {
    let found = |job: Option<&mut FileJob>| job.map_or(Err(Errno::ECANCELED), |job| job.found(find));
    owner.submit_job(Lane::FastIo, |job| job.call = Some(call), found, done)
}

/// Nothing is to be known.
pub(super) fn nothing(_: &mut Answer, _: &mut Call) {}

/// What was read.
pub(super) fn bytes(_: &mut Answer, call: &mut Call) -> Vec<u8> {
    match call {
        Call::Read { room, .. } => std::mem::take(room),
        _ => Vec::new(),
    }
}

/// What was opened.
pub(super) fn file(answer: &mut Answer, _: &mut Call) -> OwnedFd {
    match std::mem::replace(answer, Answer::Done) {
        Answer::File(file) => file,
        _ => unreachable!("a call that opens has opened"),
    }
}

/// What is known.
pub(super) fn metadata(answer: &mut Answer, _: &mut Call) -> Metadata {
    match answer {
        Answer::Metadata(found) => *found,
        _ => unreachable!("a call for metadata has found some"),
    }
}
