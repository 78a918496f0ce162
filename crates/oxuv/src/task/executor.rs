//! The tasks of a loop: where they are kept, and when they run.
//!
//! A task that was woken stands in a queue. The queue is worked off twice a turn, by handles of the loop's own that nobody else
//! sees: in the prepare phase, right before the loop waits (for those that timers have woken), and in the check phase (for those
//! that events have woken); see [`Phases`]. Each time at most [`BUDGET`] tasks are polled. As long as there are more, the loop does not wait.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, RawWakerVTable, Waker, ready};

use oxuv_core::Key;
use pin_project_lite::pin_project;
use slab::Slab;

use super::here::{Site, made_at};
use super::join::{Fail, Join, JoinError, JoinHandle};
use super::phases::Phases;
use super::wakeup::{Bell, Id, MAIN, Wakeup};
use crate::loop_::Inner;
use crate::observe::{CallbackKind, FileAndLine, Unfinished};
use crate::{LoopRef, Result};

/// So many tasks are polled in a row, twice a turn: as many as one wait wakes. Were they fewer, the rest would stand in the queue during
/// the next look for events, with interest that nobody has asked for anew, and each that is ready again would cost a system call.
pub(super) const BUDGET: usize = 1024;

/// So many operations of this crate's may a task do in one go before it has to let others run.
const SHARE: u32 = 128;

/// A task that has used its share up counts for so many that were polled: a system call takes longer than a poll that does nothing, and
/// the loop shall not go without a look for events for as long as a budget of shares takes.
const EXHAUSTED: usize = 512;

/// What a poll takes out of its task.
struct Body {
    future: Pin<Box<dyn Future<Output = ()>>>,
    waker: Waker,
}

pin_project! {
    /// What a task has to do, and where its result goes. An `async` block that waited for it would have room for it twice.
    struct Work<F: Future> {
        #[pin]
        future: F,
        result: Rc<Join<F::Output>>,
    }
}

impl<F: Future> Future for Work<F> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let work = self.project();
        work.result.complete(ready!(work.future.poll(context)));
        Poll::Ready(())
    }
}

/// A task that has not ended: what each wake-up and each poll looks at, in one cache line.
#[repr(align(64))]
struct Task {
    number: u32,
    /// It stands in the queue.
    is_queued: bool,
    /// It is being polled, and has been aborted meanwhile.
    is_aborted: bool,
    /// `None` while it is being polled.
    body: Option<Body>,
    join: Rc<dyn Fail>,
    /// Where it was spawned.
    site: Site,
}

const _: () = assert!(size_of::<Task>() == 64);

/// What the loop blocks on.
struct Main {
    is_queued: bool,
    wakeup: Arc<Wakeup>,
    /// Where the loop was told to block.
    site: Site,
}

/// The task that is being polled, and the waker that it was given.
#[derive(Clone, Copy)]
struct Current {
    id: Id,
    data: *const (),
    /// Null if none is being polled.
    vtable: *const RawWakerVTable,
}

impl Default for Current {
    fn default() -> Self {
        Current { id: Id::NOBODY, data: ptr::null(), vtable: ptr::null() }
    }
}

#[derive(Default)]
pub(crate) struct Tasks {
    slab: RefCell<Slab<Task>>,
    /// Those that were woken, in that order.
    queue: RefCell<VecDeque<Id>>,
    /// How many there have been: each has a number, so that a place's task is not taken for the one before.
    count: Cell<u32>,
    bell: Arc<Bell>,
    phases: Phases,
    /// What keeps the loop running: unfinished tasks, and what it blocks on.
    live: Cell<usize>,
    /// How many operations the task that runs may still do; `None` when none runs.
    share: Cell<Option<u32>>,
    /// What the loop blocks on was taken out of the queue: it is to run before the rest of that.
    main_is_due: Cell<bool>,
    main: RefCell<Option<Main>>,
    current: Cell<Current>,
    /// Somebody is told of each poll.
    is_observed: Cell<bool>,
    /// So many may still be polled in this phase.
    left: Cell<usize>,
    /// The queue is being worked off.
    is_running: Cell<bool>,
    is_over: Cell<bool>,
}

impl Tasks {
    #[inline]
    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Puts a task into the queue, unless it is there or has ended: on the loop's thread.
    #[inline(always)] // Hardly more than its callers, for whom it is all there is to do.
    pub(super) fn wake(&self, inner: &Inner, id: Id) {
        let is_new = match self.slab.borrow_mut().get_mut(id.index as usize) {
            Some(task) => task.number == id.number && !mem::replace(&mut task.is_queued, true),
            None => self.mark_main(id),
        };
        if is_new {
            self.push(inner, id);
        }
    }

    /// Marks what the loop blocks on as queued: false if it is, or if this is another, which has ended.
    #[inline(never)]
    fn mark_main(&self, id: Id) -> bool {
        let mut main = self.main.borrow_mut();
        main.as_mut().is_some_and(|main| main.wakeup.id == id && !mem::replace(&mut main.is_queued, true))
    }

    #[inline]
    fn push(&self, inner: &Inner, id: Id) {
        let mut queue = self.queue.borrow_mut();
        let is_first = queue.is_empty();
        queue.push_back(id);
        drop(queue);
        if is_first && !self.is_running.get() {
            self.phases.start_next(inner);
        }
    }

    /// A prepare or check handle of the user's was started.
    #[inline]
    pub(crate) fn overtake(&self) {
        self.phases.overtake();
    }

    /// True if a task is to run.
    pub(crate) fn has_some_to_run(&self) -> bool {
        !self.queue.borrow().is_empty()
    }

    /// Adds a task, to run when it is its turn.
    pub(super) fn spawn<F: Future + 'static>(&self, lp: &LoopRef, site: Site, future: F) -> JoinHandle<F::Output> {
        let has_place = self.slab.borrow().len() < MAIN as usize;
        if self.is_over.get() || !has_place || self.hold(lp).is_err() {
            let join = Rc::new(Join::new(Wakeup::ended(&self.bell)));
            join.fail(JoinError::cancelled());
            return JoinHandle::new(lp, join);
        }
        let mut slab = self.slab.borrow_mut();
        let entry = slab.vacant_entry();
        // There is a place, so it is less.
        let wakeup = self.new_wakeup(entry.key() as u32, time(lp));
        let (id, waker) = (wakeup.id, Waker::from(Arc::clone(&wakeup)));
        let join = Rc::new(Join::new(wakeup));
        let future = Box::pin(Work { future, result: Rc::clone(&join) });
        entry.insert(Task {
            number: id.number,
            is_queued: true,
            is_aborted: false,
            body: Some(Body { future, waker }),
            join: join.clone(),
            site,
        });
        drop(slab);
        self.push(&lp.0, id);
        JoinHandle::new(lp, join)
    }

    fn new_wakeup(&self, index: u32, since: u64) -> Arc<Wakeup> {
        let number = self.count.get().wrapping_add(1);
        self.count.set(number);
        Wakeup::new(Id { index, number }, since, &self.bell)
    }

    /// Keeps the loop running until [`Tasks::release`].
    pub(super) fn hold(&self, lp: &LoopRef) -> Result<()> {
        if self.live.get() == 0 {
            self.phases.hold(lp, &self.bell)?;
        }
        self.live.set(self.live.get() + 1);
        Ok(())
    }

    pub(super) fn release(&self) {
        self.live.set(self.live.get() - 1);
        if self.live.get() == 0 {
            self.phases.release();
        }
    }

    /// True for the prepare and the check handle of tasks. They have no closures: whoever drives the loop calls [`Tasks::run_phase`].
    #[inline]
    pub(crate) fn is_phase(&self, key: Key) -> bool {
        self.phases.has(key)
    }

    /// The phase of this handle has come.
    pub(crate) fn run_phase(&self, inner: &Inner, key: Key) {
        if !self.has_some_to_run() {
            self.phases.stop(inner, key);
            return;
        }
        self.left.set(BUDGET);
        self.is_running.set(true);
        self.run(inner);
    }

    /// Polls those that are in the queue, and those that they wake, as far as the budget goes, or until it is the turn of what the
    /// loop blocks on. Then whoever runs that calls this again.
    pub(super) fn run(&self, inner: &Inner) {
        while self.left.get() > 0 {
            let next = self.queue.borrow_mut().pop_front();
            let Some(id) = next else {
                self.rest(inner);
                return;
            };
            self.left.set(self.left.get() - 1);
            if id.index != MAIN {
                self.run_one(inner, id);
            } else if self.begin_main(id) {
                self.main_is_due.set(true);
                return;
            }
        }
        self.leave(inner);
    }

    /// A run begins. The one before may have been left by a panic, and what it has left in the queue is for the first phase of this.
    #[inline]
    pub(crate) fn begin_run(&self, inner: &Inner) {
        self.leave(inner);
    }

    /// Nobody is at work on the queue any more. What is left in it is for the next phase.
    #[inline]
    pub(super) fn leave(&self, inner: &Inner) {
        self.rest(inner);
        if self.has_some_to_run() {
            self.phases.start_next(inner);
        }
    }

    /// No task runs any more, for now.
    #[inline]
    fn rest(&self, inner: &Inner) {
        self.is_running.set(false);
        // It fails only for a loop that is gone.
        let _ = inner.alarms.catch_up(inner);
    }

    /// True while the queue is worked off.
    #[inline]
    pub(crate) fn are_running(&self) -> bool {
        self.is_running.get()
    }

    #[inline]
    fn run_one(&self, inner: &Inner, id: Id) {
        let begin = |task: &mut Task| {
            task.is_queued = false;
            Some((task.body.take()?, task.site))
        };
        let begun =
            self.slab.borrow_mut().get_mut(id.index as usize).filter(|task| task.number == id.number).and_then(begin);
        // It may have been aborted while it stood in the queue.
        let Some((mut body, site)) = begun else { return };
        let polled = self.with_share(inner, id, site, &body.waker, |context| {
            catch_unwind(AssertUnwindSafe(|| body.future.as_mut().poll(context)))
        });
        let error = match polled {
            Ok(Poll::Pending) => match self.slab.borrow_mut().get_mut(id.index as usize) {
                Some(task) if !task.is_aborted => {
                    task.body = Some(body);
                    return;
                }
                _ => Some(JoinError::cancelled()),
            },
            Ok(Poll::Ready(())) => None,
            Err(payload) => Some(JoinError::panicked(payload)),
        };
        let task = self.slab.borrow_mut().remove(id.index as usize);
        self.end(task, body, error);
    }

    /// A task has ended: it is in the slab no more.
    fn end(&self, task: Task, body: Body, error: Option<JoinError>) {
        let Task { join, .. } = task;
        join.wakeup().end();
        let Body { future, waker } = body;
        // What the task owns is dropped first: whoever waits for its end finds it gone.
        let dropped = contain(|| drop(future));
        drop(waker);
        // Neither a waker of somebody's nor a result that nobody wants may end the loop's run.
        let _ = contain(move || {
            match (error, dropped) {
                (Some(error), _) => join.fail(error),
                (None, Err(payload)) => join.fail(JoinError::panicked(payload)),
                (None, Ok(())) => join.tell(),
            }
            drop(join);
        });
        self.release();
    }

    /// Ends a task before its time: at once, or if it is running when it next returns.
    pub(super) fn abort(&self, wakeup: &Wakeup) {
        if wakeup.has_ended() {
            return;
        }
        let (task, body) = {
            let mut slab = self.slab.borrow_mut();
            // It is there, unless the loop is gone.
            let index = wakeup.id.index as usize;
            let Some(task) = slab.get_mut(index).filter(|task| task.number == wakeup.id.number) else { return };
            let Some(body) = task.body.take() else {
                task.is_aborted = true;
                return;
            };
            (slab.remove(index), body)
        };
        self.end(task, body, Some(JoinError::cancelled()));
    }

    /// What the loop blocks on is to be polled now, once.
    #[inline]
    pub(super) fn take_main(&self) -> bool {
        self.main_is_due.take()
    }

    pub(super) fn queue_main(&self, lp: &LoopRef, site: Site) -> Arc<Wakeup> {
        let wakeup = self.new_wakeup(MAIN, time(lp));
        self.main_is_due.set(false);
        let main = Main { is_queued: true, wakeup: Arc::clone(&wakeup), site };
        self.main.replace(Some(main));
        self.push(&lp.0, wakeup.id);
        wakeup
    }

    /// True if this is what the loop blocks on now.
    fn begin_main(&self, id: Id) -> bool {
        let mut main = self.main.borrow_mut();
        let Some(main) = main.as_mut().filter(|main| main.wakeup.id == id) else { return false };
        main.is_queued = false;
        true
    }

    /// Nothing is blocked on any more; it may have ended by a panic.
    pub(super) fn end_main(&self) {
        self.main.replace(None);
        self.share.set(None);
        self.current.take();
    }

    /// Lets a task from this place run, within its share.
    #[inline]
    pub(super) fn with_share<T>(
        &self,
        inner: &Inner,
        id: Id,
        site: Site,
        waker: &Waker,
        poll: impl FnOnce(&mut Context<'_>) -> T,
    ) -> T {
        if self.is_observed.get() {
            self.tell_poll(inner, site);
        }
        self.share.set(Some(SHARE));
        self.current.set(Current { id, data: waker.data(), vtable: waker.vtable() });
        let polled = made_at(site, || poll(&mut Context::from_waker(waker)));
        self.share.set(None);
        self.current.take();
        polled
    }

    /// The task that is being polled, if the waker of this context is the one that it was given. Some tasks poll futures with others.
    #[inline]
    pub(crate) fn of_context(&self, context: &Context<'_>) -> Option<Id> {
        let (waker, current) = (context.waker(), self.current.get());
        (waker.data() == current.data && ptr::eq(waker.vtable(), current.vtable)).then_some(current.id)
    }

    /// A poll is a part of the phase's callback. Its end is the beginning of the next, or the end of that.
    #[cold]
    fn tell_poll(&self, inner: &Inner, site: Site) {
        let _ = inner.with(|core| {
            core.begin_part(CallbackKind::Task, &FileAndLine(site));
            Ok(())
        });
    }

    pub(crate) fn set_observed(&self, is_observed: bool) {
        self.is_observed.set(is_observed);
    }

    pub(crate) fn is_observed(&self) -> bool {
        self.is_observed.get()
    }

    /// Where a task that has not ended is from.
    pub(super) fn site(&self, id: Id) -> Option<Site> {
        if id.index == MAIN {
            return self.main.borrow().as_ref().filter(|main| main.wakeup.id == id).map(|main| main.site);
        }
        self.slab.borrow().get(id.index as usize).filter(|task| task.number == id.number).map(|task| task.site)
    }

    pub(crate) fn has_unfinished(&self) -> bool {
        self.live.get() > 0
    }

    /// What is blocked on, and the tasks that have not ended.
    pub(crate) fn unfinished(&self) -> Vec<Unfinished> {
        let slab = self.slab.borrow();
        let spawned = slab.iter().map(|(_, task)| {
            let is_running = task.body.is_none();
            Unfinished { site: task.site, since: task.join.wakeup().since, is_running }
        });
        let spawned: Vec<_> = spawned.collect();
        let main_runs = self.share.get().is_some() && !spawned.iter().any(|task| task.is_running);
        let main = self.main.borrow();
        let main =
            main.as_ref().map(|main| Unfinished { site: main.site, since: main.wakeup.since, is_running: main_runs });
        main.into_iter().chain(spawned).collect()
    }

    /// Whether the task that runs may do one more operation. If not, it is woken at once, and goes to the end of the queue.
    #[inline]
    pub(crate) fn take_share(&self, context: &mut Context<'_>) -> Poll<()> {
        match self.share.get() {
            None => Poll::Ready(()),
            Some(0) => {
                self.left.set(self.left.get().saturating_sub(EXHAUSTED));
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some(left) => {
                self.share.set(Some(left - 1));
                Poll::Ready(())
            }
        }
    }

    /// The loop is gone: drops all tasks. They may do as they like meanwhile, but make no new ones.
    pub(crate) fn clear(&self) {
        self.is_over.set(true);
        self.bell.close();
        let queue = self.queue.take();
        let tasks = self.slab.take();
        let handles = self.phases.take_handles();
        for (_, Task { body, join, .. }) in tasks {
            if let Some(body) = body {
                let _ = contain(|| drop(body));
                let _ = contain(move || {
                    join.fail(JoinError::cancelled());
                    drop(join);
                });
            }
        }
        drop((queue, handles));
    }
}

impl Tasks {
    /// Somebody has rung: takes over what was woken on other threads.
    pub(super) fn answer(&self, inner: &Inner) {
        for wakeup in self.bell.take() {
            self.wake(inner, wakeup.id);
        }
    }
}

/// The loop's time.
fn time(lp: &LoopRef) -> u64 {
    lp.0.with(|core| Ok(core.time())).unwrap_or(0)
}

/// Calls `act`; a panic goes no further.
fn contain(act: impl FnOnce()) -> std::result::Result<(), Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(act))
}
