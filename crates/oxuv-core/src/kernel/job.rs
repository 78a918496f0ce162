//! What is done elsewhere than in the loop's thread.

use std::any::Any;
use std::fmt;

use oxuv_os::Result;
use oxuv_os::ring::Operation;

/// Something to be run on another thread. What it finds out it keeps: it comes back when it has run.
pub trait Job: Any + Send {
    /// Runs on a thread of the pool, once, if the job is not cancelled before. A panic in it aborts the process.
    fn run(&mut self);

    /// Runs on the loop's thread, if that takes but a moment: no longer than to hand it to another thread. False if it has not
    /// run.
    fn run_at_once(&mut self) -> bool {
        false
    }

    /// False if what it puts as an operation is not [quick](Operation::is_quick), whatever it is about.
    fn may_be_quick(&self) -> bool {
        true
    }

    /// Puts the same as one operation of a ring there, if it is one. The job is told what becomes of it by [`Job::answered`];
    /// or by [`Job::take_back`], and then it runs or is cancelled.
    fn put_operation(&mut self, place: &mut Operation) {
        let _ = place;
    }

    /// The ring has done the operation. What it has found out is told by [`Operation::answer`].
    fn answered(&mut self, result: Result<usize>, operation: &mut Operation) {
        let _ = (result, operation);
    }

    /// The ring has not done the operation, or not to its end.
    fn take_back(&mut self, operation: &mut Operation) {
        let _ = operation;
    }
}

impl Job for Box<dyn Job> {
    fn run(&mut self) {
        (**self).run();
    }

    fn run_at_once(&mut self) -> bool {
        (**self).run_at_once()
    }

    fn may_be_quick(&self) -> bool {
        (**self).may_be_quick()
    }

    fn put_operation(&mut self, place: &mut Operation) {
        (**self).put_operation(place);
    }

    fn answered(&mut self, result: Result<usize>, operation: &mut Operation) {
        (**self).answered(result, operation);
    }

    fn take_back(&mut self, operation: &mut Operation) {
        (**self).take_back(operation);
    }
}

impl fmt::Debug for dyn Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

/// A job that has come back.
#[derive(Debug)]
pub struct Finished<J> {
    /// The number that it was submitted with.
    pub request: u32,
    /// The job itself.
    pub job: J,
    /// ECANCELED if it has not run.
    pub result: Result<()>,
}
