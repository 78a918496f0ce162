//! The closures of handles and requests.
//!
//! A handle's closure is called in place: the table's reference to it is copied for the call, so the closure may
//! replace or drop itself in the table while it runs. Nothing is dropped while the table is borrowed, since what a
//! closure owns may call the loop when it is dropped.

use std::cell::RefCell;
use std::rc::Rc;

use oxuv_core::Key;
use oxuv_core::kernel::Exit;
use slab::Slab;

use crate::drive::Subjects;
use crate::net::Gate;
use crate::observe::Places;
use crate::work::OnJob;
use crate::{
    Async, Check, Datagram, Errno, FsChange, FsEvent, FsHappened, FsPoll, Handle, Idle, Poll, Prepare, Process,
    Readiness, Result, Signal, Timer, Udp,
};

type OnEvent<H> = dyn Fn(&H);
type OnConnection = dyn Fn(&mut Subjects, Key, Result<()>);
type OnPoll = dyn Fn(&Poll, Result<Readiness>);
type OnSignal = dyn Fn(&Signal, i32);
type OnRead = dyn Fn(&mut Subjects, Key, Result<&[u8]>);
type OnExit = dyn Fn(&Process, Result<Exit>);
type OnReceive = dyn Fn(&Udp, Result<Datagram<'_>>);
type OnFsEvent = dyn Fn(&FsEvent, Result<FsHappened<'_>>);
type OnFsPoll = dyn Fn(&FsPoll, Result<FsChange>);

/// What a handle calls: the user's `FnMut` in a cell, which cannot be in use when it is called, since a closure that
/// runs cannot be called again (the loop does not nest). Each kind of handle has its own kind of closure.
#[derive(Default)]
pub(crate) enum Callback {
    #[default]
    None,
    Timer(Rc<OnEvent<Timer>>),
    Idle(Rc<OnEvent<Idle>>),
    Prepare(Rc<OnEvent<Prepare>>),
    Check(Rc<OnEvent<Check>>),
    Async(Rc<OnEvent<Async>>),
    Poll(Rc<OnPoll>),
    Signal(Rc<OnSignal>),
    Connection(Rc<OnConnection>),
    Read(Rc<OnRead>),
    /// No closure: the tasks that wait for the stream.
    Ready(Rc<Gate>),
    Receive(Rc<OnReceive>),
    Exit(Rc<OnExit>),
    FsEvent(Rc<OnFsEvent>),
    FsPoll(Rc<OnFsPoll>),
}

/// What a request calls.
pub(crate) type OnDone = Box<dyn FnOnce(&mut Subjects, Key, Result<()>)>;

/// What the sending of a datagram calls.
pub(crate) type OnSent = Box<dyn FnOnce(&Udp, Result<()>)>;

/// What a handle calls when it is closed.
pub(crate) type OnClose = Box<dyn FnOnce(&Handle)>;

#[derive(Default)]
struct Entry {
    callback: Callback,
    on_close: Option<OnClose>,
}

#[derive(Default)]
pub(crate) struct Callbacks {
    /// By the index of the handle's key.
    handles: RefCell<Vec<Entry>>,
    /// By the value that the core was given with the request.
    requests: RefCell<Slab<OnDone>>,
    /// The same for datagrams.
    sends: RefCell<Slab<OnSent>>,
    /// The same for jobs.
    jobs: RefCell<Slab<OnJob>>,
    /// Where handles were made, by the index of their keys.
    pub(crate) made: Places,
    /// The same for jobs, by their numbers.
    pub(crate) submitted: Places,
}

impl Callbacks {
    /// Gives a handle its closure.
    pub(crate) fn set(&self, handle: usize, callback: Callback) {
        let old = {
            let mut handles = self.handles.borrow_mut();
            grow(&mut handles, handle);
            std::mem::replace(&mut handles[handle].callback, callback)
        };
        drop(old);
    }

    pub(crate) fn set_on_close(&self, handle: usize, on_close: OnClose) {
        let mut handles = self.handles.borrow_mut();
        grow(&mut handles, handle);
        // A handle is closed once, so there is no old one to be dropped.
        handles[handle].on_close = Some(on_close);
    }

    /// A copy of what `pick` finds, for a call.
    #[inline]
    pub(crate) fn get<F: ?Sized>(
        &self,
        handle: usize,
        pick: impl FnOnce(&Callback) -> Option<&Rc<F>>,
    ) -> Option<Rc<F>> {
        self.handles.borrow().get(handle).and_then(|entry| pick(&entry.callback)).map(Rc::clone)
    }

    /// Takes out all that a handle has: it is closed. The first is to be dropped, the second to be called.
    pub(crate) fn remove(&self, handle: usize) -> (Callback, Option<OnClose>) {
        match self.handles.borrow_mut().get_mut(handle) {
            Some(entry) => (std::mem::take(&mut entry.callback), entry.on_close.take()),
            None => (Callback::None, None),
        }
    }

    /// Keeps a request's closure, and returns the value for the core.
    pub(crate) fn add_request(&self, on_done: OnDone) -> Result<u32> {
        add(&self.requests, on_done)
    }

    pub(crate) fn take_request(&self, number: u32) -> Option<OnDone> {
        self.requests.borrow_mut().try_remove(number as usize)
    }

    /// Keeps a send's closure, and returns the value for the core.
    pub(crate) fn add_send(&self, on_done: OnSent) -> Result<u32> {
        add(&self.sends, on_done)
    }

    pub(crate) fn take_send(&self, number: u32) -> Option<OnSent> {
        self.sends.borrow_mut().try_remove(number as usize)
    }

    /// Keeps a job's closure, and returns the value for the core.
    pub(crate) fn add_job(&self, on_done: OnJob) -> Result<u32> {
        add(&self.jobs, on_done)
    }

    pub(crate) fn take_job(&self, number: u32) -> Option<OnJob> {
        self.jobs.borrow_mut().try_remove(number as usize)
    }

    /// Drops all closures.
    pub(crate) fn clear(&self) {
        let handles = self.handles.take();
        let requests = self.requests.take();
        let sends = self.sends.take();
        let jobs = self.jobs.take();
        drop((handles, requests, sends, jobs));
    }
}

/// The closure of a handle, to be kept in a [`Callback`].
pub(crate) fn repeated<H>(callback: impl FnMut(&H) + 'static) -> Rc<OnEvent<H>> {
    let callback = RefCell::new(callback);
    Rc::new(move |handle| callback.borrow_mut()(handle))
}

#[inline]
fn add<F>(closures: &RefCell<Slab<F>>, closure: F) -> Result<u32> {
    let mut closures = closures.borrow_mut();
    if closures.len() > u32::MAX as usize {
        return Err(Errno::ENOMEM);
    }
    // The lowest numbers are used first, so it is no larger than their count.
    Ok(closures.insert(closure) as u32)
}

fn grow(handles: &mut Vec<Entry>, handle: usize) {
    if handle >= handles.len() {
        handles.resize_with(handle + 1, Entry::default);
    }
}
