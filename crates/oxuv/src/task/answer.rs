//! Callbacks as futures: something is begun, and its one callback is waited for.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::here::{Site, made_at};
use super::remember;
use crate::{Errno, Request, Result};

struct Slot<T> {
    answer: Option<Result<T>>,
    waker: Option<Waker>,
}

/// Gives the answer; dropped without that, it is ECANCELED.
pub(crate) struct Teller<T>(Rc<RefCell<Slot<T>>>);

impl<T> Teller<T> {
    pub(crate) fn tell(self, answer: Result<T>) {
        self.0.borrow_mut().answer = Some(answer);
        // Its own drop wakes who waits.
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = self.0.borrow_mut();
            slot.answer.get_or_insert(Err(Errno::ECANCELED));
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// An answer that is waited for. What is asked of a thread is taken back if this is dropped before.
pub(super) struct Answer<T> {
    slot: Rc<RefCell<Slot<T>>>,
    request: Option<Request>,
}

impl<T> Future for Answer<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let answer = self.slot.borrow_mut().answer.take();
        if let Some(answer) = answer {
            self.request = None;
            return Poll::Ready(answer);
        }
        let old = remember(&mut self.slot.borrow_mut().waker, context);
        drop(old);
        Poll::Pending
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        if let Some(request) = &self.request {
            // It has begun, and nobody hears of its end.
            let _ = request.cancel();
        }
    }
}

impl<T> Answer<T> {
    pub(super) fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// What is asked of a thread is not taken back any more.
    pub(super) fn take_request(&mut self) -> Option<Request> {
        self.request.take()
    }
}

/// Begins something whose callback uses the [`Teller`].
pub(super) fn begin<T>(begin: impl FnOnce(Teller<T>) -> Result<Option<Request>>) -> Result<Answer<T>> {
    let slot = Rc::new(RefCell::new(Slot { answer: None, waker: None }));
    let request = begin(Teller(Rc::clone(&slot)))?;
    Ok(Answer { slot, request })
}

/// Begins something whose callback uses the [`Teller`], when it is first polled, and waits for that. What it makes is from the caller's
/// place.
#[track_caller]
pub(crate) fn answer<T>(ask: impl FnOnce(Teller<T>) -> Result<Option<Request>>) -> impl Future<Output = io::Result<T>> {
    answer_at(Location::caller(), ask)
}

/// As [`answer`], from this place.
pub(crate) async fn answer_at<T>(site: Site, ask: impl FnOnce(Teller<T>) -> Result<Option<Request>>) -> io::Result<T> {
    Ok(made_at(site, || begin(ask))?.await?)
}
