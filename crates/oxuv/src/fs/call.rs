//! Operations on files that a ring may do, or a thread: jobs that say what they are.

use std::os::fd::OwnedFd;

use oxuv_core::Lane;
use oxuv_core::kernel::{Answer, Call, Job, Operation};

use super::Metadata;
use crate::{Errno, LoopRef, Request, Result};

/// A call, and then what it has found.
struct FileJob {
    /// `None` while a ring has it.
    call: Option<Call>,
    answer: Option<Result<Answer>>,
}

impl Job for FileJob {
    fn run(&mut self) {
        self.answer = self.call.as_mut().map(Call::run);
    }

    fn run_at_once(&mut self) -> bool {
        self.answer = self.call.as_ref().and_then(Call::run_at_once);
        self.answer.is_some()
    }

    fn put_operation(&mut self, place: &mut Operation) {
        self.call = self.call.take().and_then(|call| call.put(place).err());
    }

    fn answered(&mut self, result: Result<usize>, operation: &mut Operation) {
        self.answer = Some(result.map(|number| operation.answer(number)));
        self.take_back(operation);
    }

    fn take_back(&mut self, operation: &mut Operation) {
        // What the call owns may be a program's, and is dropped when nobody is in the loop.
        self.call = self.call.take().or_else(|| operation.take_call());
    }
}

/// Submits a call. `result` makes what `done` hears of what it has found.
#[track_caller]
pub(super) fn call<T: 'static>(
    owner: &LoopRef,
    call: Call,
    result: fn(Answer, Call) -> T,
    done: impl FnOnce(&LoopRef, Result<T>) + 'static,
) -> Result<Request> {
    let on_done = move |owner: &LoopRef, job: Option<Box<FileJob>>| {
        let taken = job.map(|mut job| {
            let taken = (job.call.take(), job.answer.take());
            owner.0.spare_job.keep(job);
            taken
        });
        done(
            owner,
            match taken {
                Some((Some(call), Some(answer))) => answer.map(|answer| result(answer, call)),
                _ => Err(Errno::ECANCELED),
            },
        );
    };
    owner.submit_job(Lane::FastIo, FileJob { call: Some(call), answer: None }, on_done)
}

/// Nothing is to be known.
pub(super) fn nothing(_: Answer, _: Call) {}

/// What was read.
pub(super) fn bytes(_: Answer, call: Call) -> Vec<u8> {
    match call {
        Call::Read { room, .. } => room,
        _ => Vec::new(),
    }
}

/// What was opened.
pub(super) fn file(answer: Answer, _: Call) -> OwnedFd {
    match answer {
        Answer::File(file) => file,
        _ => unreachable!("a call that opens has opened"),
    }
}

/// What is known.
pub(super) fn metadata(answer: Answer, _: Call) -> Metadata {
    match answer {
        Answer::Metadata(found) => found,
        _ => unreachable!("a call for metadata has found some"),
    }
}
