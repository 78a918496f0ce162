//! The handler beside the loop that hears of signals: loom tries the orders in which they can go on, the handler being a thread,
//! which may stop at more places than a handler can.

use loom::sync::Arc;
use loom::thread;

use super::bit;
use super::inbox::Inbox;
use crate::fork::Process;
use crate::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use crate::sync::yield_now;
use crate::{EventFd, Shared};

fn try_orders(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(2));
    model.max_branches = 20_000;
    model.check(test);
}

/// The inbox of a loop that watches SIGHUP, with what wakes the loop.
fn inbox() -> (Arc<Inbox>, Shared<EventFd>) {
    let wake = Shared::new(EventFd::new().unwrap()).unwrap();
    let inbox = Arc::new(Inbox::new());
    inbox.reset(Process::current(), &wake);
    inbox.watched.store(bit(1).unwrap(), Release);
    (inbox, wake)
}

/// What is there, if the loop was woken for it.
fn take_all(inbox: &Inbox) -> usize {
    if !inbox.is_rung.swap(false, AcqRel) {
        return 0;
    }
    std::iter::from_fn(|| inbox.take()).inspect(|&number| assert_eq!(number, 1)).count()
}

#[test]
fn every_signal_is_heard_of_also_where_there_is_no_place_for_it() {
    try_orders(|| {
        let (inbox, _wake) = inbox();
        let handlers: [_; 2] = std::array::from_fn(|nth| {
            let inbox = inbox.clone();
            thread::spawn(move || (0..1 + nth).for_each(|_| inbox.hear(1, Process::current())))
        });
        // There is one place.
        let mut heard = 0;
        while heard < 3 {
            heard += take_all(&inbox);
            yield_now();
        }
        handlers.into_iter().for_each(|handler| handler.join().unwrap());
        assert_eq!(take_all(&inbox), 0);
    });
}

#[test]
fn who_stops_watching_waits_for_handlers_that_have_seen_it_watch() {
    try_orders(|| {
        let (inbox, _wake) = inbox();
        let handler = thread::spawn({
            let inbox = inbox.clone();
            move || inbox.hear(1, Process::current())
        });
        inbox.watched.swap(0, AcqRel);
        inbox.wait_for_readers();
        // From here on what wakes the loop may be gone.
        let had_come = inbox.is_rung.load(Relaxed);
        handler.join().unwrap();
        assert_eq!(inbox.is_rung.load(Relaxed), had_come);
    });
}
