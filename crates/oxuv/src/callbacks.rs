//! The closures of handles.
//!
//! A run has the table of all handles' closures borrowed from its beginning to its end, and calls each in its place, where it
//! is borrowed for the time of the call. So nothing is counted, and nothing is taken out and put back. What a closure does to
//! its own place, or what needs a larger table, waits until it has returned ([`Callbacks::catch_up`]).
//!
//! Nothing is dropped while anything is borrowed that a destructor could ask for, since what a closure owns may call the loop
//! when it is dropped.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use oxuv_core::Key;
use oxuv_core::kernel::Exit;

use crate::drive::Subjects;
use crate::net::Gate;
use crate::observe::Places;
use crate::{
    Async, Datagram, FsChange, FsEvent, FsHappened, FsPoll, Handle, Poll, Process, Readiness, Result, Signal, Timer,
    Udp,
};

type OnEvent<H> = Box<dyn FnMut(&H)>;
type OnWatcher = Box<dyn FnMut(&mut Subjects, Key)>;
type OnConnection = Box<dyn FnMut(&mut Subjects, Key, Result<()>)>;
type OnPoll = Box<dyn FnMut(&Poll, Result<Readiness>)>;
type OnSignal = Box<dyn FnMut(&Signal, i32)>;
type OnRead = Box<dyn FnMut(&mut Subjects, Key, &Result<&[u8]>)>;
type OnExit = Box<dyn FnMut(&Process, Result<Exit>)>;
type OnReceive = Box<dyn FnMut(&Udp, Result<Datagram<'_>>)>;
type OnFsEvent = Box<dyn FnMut(&FsEvent, Result<FsHappened<'_>>)>;
type OnFsPoll = Box<dyn FnMut(&FsPoll, Result<FsChange>)>;

/// What a handle calls. Each kind of handle has its own kind of closure.
#[derive(Default)]
pub(crate) enum Callback {
    #[default]
    None,
    Timer(OnEvent<Timer>),
    /// Of an idle, prepare or check handle.
    Watcher(OnWatcher),
    Async(OnEvent<Async>),
    Poll(OnPoll),
    Signal(OnSignal),
    Connection(OnConnection),
    Read(OnRead),
    /// No closure: the tasks that wait for the stream.
    Ready(Rc<Gate>),
    Receive(OnReceive),
    Exit(OnExit),
    FsEvent(OnFsEvent),
    FsPoll(OnFsPoll),
}

/// What a request calls.
pub(crate) type OnDone = Box<dyn FnOnce(&mut Subjects, Key, Result<()>)>;

/// What the sending of a datagram calls.
pub(crate) type OnSent = Box<dyn FnOnce(&Udp, Result<()>)>;

/// What a handle calls when it is closed.
pub(crate) type OnClose = Box<dyn FnOnce(&Handle)>;

/// The closures of handles, by the index of their keys. Each is borrowed while it runs.
pub(crate) type Table = [RefCell<Callback>];

#[derive(Default)]
pub(crate) struct Callbacks {
    /// Borrowed as long as a run lasts.
    handles: RefCell<Vec<RefCell<Callback>>>,
    /// Closures whose places were in use, or not there yet, when they were given.
    later: RefCell<VecDeque<(usize, Callback)>>,
    is_behind: Cell<bool>,
    /// By the index of the handle's key.
    closing: RefCell<Vec<Option<OnClose>>>,
    /// Where handles were made, by the index of their keys.
    pub(crate) made: Places,
    /// The same for jobs, by their numbers.
    pub(crate) submitted: Places,
}

/// Calls the closure of this kind that the handle has, if it has one.
macro_rules! call {
    ($table:expr, $key:expr, $kind:ident, |$callback:ident| $call:expr) => {
        // It cannot be in use: a closure that runs cannot be called again, as the loop does not nest.
        if let Some(place) = $table.get($key.index())
            && let Ok(mut place) = place.try_borrow_mut()
            && let $crate::callbacks::Callback::$kind($callback) = &mut *place
        {
            $call
        }
    };
}
pub(crate) use call;

impl Callbacks {
    /// The closures of handles, for a run.
    pub(crate) fn table(&self) -> Ref<'_, Table> {
        Ref::map(self.handles.borrow(), Vec::as_slice)
    }

    /// Gives a handle its closure: at once, but to one whose closure runs, and, in a run, to one that there is no place for.
    pub(crate) fn set(&self, handle: usize, callback: Callback) {
        drop(self.replace(handle, callback));
    }

    /// Puts a closure in its place, and returns the one that was there.
    fn replace(&self, handle: usize, callback: Callback) -> Callback {
        if let Ok(mut handles) = self.handles.try_borrow_mut() {
            grow(&mut handles, handle);
            return std::mem::replace(handles[handle].get_mut(), callback);
        }
        if let Some(place) = self.handles.borrow().get(handle)
            && let Ok(mut place) = place.try_borrow_mut()
        {
            return std::mem::replace(&mut place, callback);
        }
        self.later.borrow_mut().push_back((handle, callback));
        self.is_behind.set(true);
        Callback::None
    }

    /// Whether tasks have the handle, in place of a closure.
    pub(crate) fn are_tasks(&self, handle: usize) -> bool {
        if let Some((_, callback)) = self.later.borrow().iter().rfind(|(other, _)| *other == handle) {
            return matches!(callback, Callback::Ready(_));
        }
        let handles = self.handles.borrow();
        let callback = handles.get(handle).and_then(|place| place.try_borrow().ok());
        callback.is_some_and(|callback| matches!(*callback, Callback::Ready(_)))
    }

    /// True if there are closures that wait for their places.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind.get()
    }

    /// Gives closures to those that could not be given theirs. No closure of a handle runs.
    #[cold]
    pub(crate) fn catch_up(&self) {
        self.is_behind.set(false);
        // Those that it is still not the time for are put behind.
        let waiting = self.later.borrow().len();
        for _ in 0..waiting {
            let next = self.later.borrow_mut().pop_front();
            if let Some((handle, callback)) = next {
                self.set(handle, callback);
            }
        }
    }

    pub(crate) fn set_on_close(&self, handle: usize, on_close: OnClose) {
        let mut closing = self.closing.borrow_mut();
        grow(&mut closing, handle);
        // A handle is closed once, so there is no old one to be dropped.
        closing[handle] = Some(on_close);
    }

    /// What the handle, which is closed, is to call last.
    pub(crate) fn take_on_close(&self, handle: usize) -> Option<OnClose> {
        self.closing.borrow_mut().get_mut(handle).and_then(Option::take)
    }

    /// Drops all closures. No run is under way.
    pub(crate) fn clear(&self) {
        let (handles, later, closing) = (self.handles.take(), self.later.take(), self.closing.take());
        drop((handles, later, closing));
    }
}

/// Makes sure that there is a place of this number; and, with it, places for some more, as making one may have to wait.
fn grow<T: Default>(places: &mut Vec<T>, number: usize) {
    if number >= places.len() {
        places.resize_with((number + 1).next_power_of_two(), T::default);
    }
}
