//! The end of a task, for those who wait for it.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::wakeup::Wakeup;
use crate::LoopRef;

/// Waits for the end of a task: a future of its result. Dropping it changes nothing: the task goes on.
///
/// Cancel safety: the result stays here until it is taken.
pub struct JoinHandle<T> {
    join: Rc<Join<T>>,
    owner: LoopRef,
}

/// Ends a task before its time.
#[derive(Clone)]
pub struct AbortHandle {
    owner: LoopRef,
    wakeup: Arc<Wakeup>,
}

/// Why a task has no result.
pub struct JoinError(Why);

enum Why {
    Cancelled,
    /// Behind a lock for the sake of `Sync`, which errors are expected to be.
    Panicked(Mutex<Box<dyn Any + Send>>),
}

/// What a task and its [`JoinHandle`] share.
pub(super) struct Join<T> {
    state: RefCell<State<T>>,
    wakeup: Arc<Wakeup>,
}

struct State<T> {
    result: Option<Result<T, JoinError>>,
    /// The task is gone, with all that it owned.
    is_over: bool,
    waker: Option<Waker>,
}

impl<T> Join<T> {
    /// Of the task that has this to be woken by.
    pub(super) fn new(wakeup: Arc<Wakeup>) -> Join<T> {
        Join { state: RefCell::new(State { result: None, is_over: false, waker: None }), wakeup }
    }

    /// The task has returned.
    pub(super) fn complete(&self, result: T) {
        self.state.borrow_mut().result = Some(Ok(result));
    }
}

/// [`Join`] of any result.
pub(super) trait Fail {
    /// The task has ended without a result, or is said to have.
    fn fail(&self, error: JoinError);

    /// The task is gone.
    fn tell(&self);

    /// What the task is woken by.
    fn wakeup(&self) -> &Wakeup;
}

impl<T> Fail for Join<T> {
    fn fail(&self, error: JoinError) {
        let unwanted = self.state.borrow_mut().result.replace(Err(error));
        self.tell();
        drop(unwanted);
    }

    fn tell(&self) {
        let waker = {
            let mut state = self.state.borrow_mut();
            state.is_over = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wakeup(&self) -> &Wakeup {
        &self.wakeup
    }
}

impl<T> JoinHandle<T> {
    pub(super) fn new(owner: &LoopRef, join: Rc<Join<T>>) -> JoinHandle<T> {
        JoinHandle { join, owner: owner.clone() }
    }

    /// Ends the task before its time: it is dropped before this returns, or, if it calls this itself, when it next waits. If it
    /// has ended by now, nothing happens; else [`JoinError::is_cancelled`] is its result.
    pub fn abort(&self) {
        self.owner.0.tasks.abort(&self.join.wakeup);
    }

    /// Something to end the task with while this is waited for.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { owner: self.owner.clone(), wakeup: Arc::clone(&self.join.wakeup) }
    }

    /// True once the task has ended.
    pub fn is_finished(&self) -> bool {
        self.join.state.borrow().is_over
    }
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.owner.0.tasks.abort(&self.wakeup);
    }

    /// True once the task has ended.
    pub fn is_finished(&self) -> bool {
        self.wakeup.has_ended()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// When it has given its result before.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.join.state.borrow_mut();
        if state.is_over {
            return Poll::Ready(state.result.take().expect("a JoinHandle was polled after it had given its result"));
        }
        let old = super::remember(&mut state.waker, context);
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl JoinError {
    pub(super) fn cancelled() -> JoinError {
        JoinError(Why::Cancelled)
    }

    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> JoinError {
        JoinError(Why::Panicked(Mutex::new(payload)))
    }

    /// True if the task was aborted, or its loop is gone.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Why::Cancelled)
    }

    /// True if the task has panicked.
    pub fn is_panic(&self) -> bool {
        !self.is_cancelled()
    }

    /// What the task has panicked with, to be looked at or to go on with ([`std::panic::resume_unwind`]).
    ///
    /// # Errors
    /// Itself, if the task has not panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.0 {
            Why::Panicked(payload) => Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Why::Cancelled => Err(self),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Why::Panicked(payload) = &self.0 else { return f.write_str("the task was cancelled") };
        let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        write!(f, "the task has panicked: {}", text.unwrap_or("with something that is no text"))
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(error)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
