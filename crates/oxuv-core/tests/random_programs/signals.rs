//! Signals: who watches which, what was caught for whom, and the process that forks.

use std::collections::VecDeque;

use oxuv_core::sim::Sim;
use oxuv_core::{Errno, Kind, Result as CoreResult};

use crate::Check;
use crate::actions::same;
use crate::model::Model;
use crate::outside::Outside;
use crate::program::Place;
use crate::run::Machine;

#[derive(Debug, Clone, Copy)]
struct Watcher {
    place: Place,
    number: i32,
    once: bool,
}

/// A signal that was caught for a handle.
#[derive(Debug)]
struct Caught {
    place: Place,
    user: u64,
    number: i32,
    /// The polls begun when it was.
    turns: u64,
    /// The handle has waited for it ever since. Else it may have been passed over.
    is_due: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// In the order in which they were started.
    watchers: Vec<Watcher>,
    caught: VecDeque<Caught>,
    /// The one-shot handle whose callback runs.
    telling: Option<Place>,
    /// The users of the handles.
    users: Vec<u64>,
}

impl Signals {
    pub(crate) fn new(places: usize) -> Signals {
        Signals { users: vec![0; places], ..Signals::default() }
    }

    fn number(&self, place: Place) -> i32 {
        self.watchers.iter().find(|watcher| watcher.place == place).map_or(0, |watcher| watcher.number)
    }

    fn start(&mut self, place: Place, user: u64, number: i32, once: bool) {
        self.users[place] = user;
        self.telling = self.telling.filter(|&telling| telling != place);
        let same = |watcher: &Watcher| watcher.place == place && watcher.number == number;
        if self.watchers.iter().any(|watcher| same(watcher) && watcher.once == once) {
            return;
        }
        if !self.watchers.iter().any(same) {
            self.pass_over(place);
        }
        self.watchers.retain(|watcher| watcher.place != place);
        self.watchers.push(Watcher { place, number, once });
    }

    pub(crate) fn stop(&mut self, place: Place) {
        self.pass_over(place);
        self.watchers.retain(|watcher| watcher.place != place);
    }

    fn pass_over(&mut self, place: Place) {
        self.caught.iter_mut().filter(|caught| caught.place == place).for_each(|caught| caught.is_due = false);
    }

    /// The process gets a signal.
    fn raise(&mut self, sim: &Sim, number: i32, turns: u64) {
        if !sim.raise(number) {
            return;
        }
        for once in [false, true] {
            for watcher in self.watchers.iter().filter(|watcher| watcher.number == number && watcher.once == once) {
                let (place, user) = (watcher.place, self.users[watcher.place]);
                self.caught.push_back(Caught { place, user, number, turns, is_due: true });
            }
        }
    }

    /// A handle hears of a signal: those before it that are due are lost.
    fn tell(&mut self, place: Place, user: u64, number: i32) -> Check {
        loop {
            let caught = self.caught.pop_front().ok_or("a signal that was not caught")?;
            let is_it = |caught: &Caught| (caught.place, caught.user, caught.number) == (place, user, number);
            if is_it(&caught) {
                // It may have been passed over, and this is the next one.
                let next = self.caught.iter_mut().find(|next| !caught.is_due && next.is_due && is_it(next));
                next.into_iter().for_each(|next| next.is_due = false);
                break;
            }
            ensure!(!caught.is_due, "place {place} hears of {number} before {caught:?}");
        }
        let watcher = self.watchers.iter().find(|watcher| watcher.place == place);
        let watcher = watcher.filter(|watcher| watcher.number == number);
        let watcher = watcher.ok_or_else(|| format!("place {place} does not wait for {number}"))?;
        self.telling = watcher.once.then_some(place);
        Ok(())
    }

    /// The handles that may have to wait for being closed.
    pub(crate) fn owed(&self) -> Vec<Place> {
        self.caught.iter().filter(|caught| caught.user == self.users[caught.place]).map(|caught| caught.place).collect()
    }

    pub(crate) fn forget(&mut self, place: Place) {
        self.caught.retain(|caught| caught.place != place);
    }

    pub(crate) fn are_caught(&self) -> bool {
        !self.caught.is_empty()
    }

    pub(crate) fn is_due(&self, place: Place) -> bool {
        self.caught.iter().any(|caught| caught.place == place && caught.is_due)
    }

    /// What was caught before a poll was told in it.
    pub(crate) fn check(&self, turns: u64) -> Check {
        let lost = self.caught.iter().find(|caught| caught.is_due && caught.turns < turns);
        ensure!(lost.is_none(), "a signal got lost: {lost:?}");
        Ok(())
    }

    fn fork(&mut self) {
        self.caught.clear();
    }
}

impl Outside {
    pub(crate) fn raise(&mut self, sim: &Sim, number: i32) {
        self.signals.raise(sim, number, self.turns);
    }
}

impl Model {
    fn start_signal(&mut self, place: Place, number: i32) -> CoreResult<()> {
        self.open(place)?;
        if !(1..=64).contains(&number) || matches!(number, 9 | 19) {
            return Err(Errno::EINVAL);
        }
        self.handles[place].is_active = true;
        Ok(())
    }
}

impl Machine<'_> {
    pub(crate) fn start_signal(&mut self, place: Place, number: i32, once: bool) -> Check {
        let (key, user) = (self.model.handles[place].key, self.model.handles[place].user);
        let expected = self.model.start_signal(place, number);
        same("signal_start", self.core.signal_start(key, number, once), expected)?;
        if expected.is_ok() {
            self.outside.borrow_mut().signals.start(place, user, number, once);
        }
        self.check_number(place)
    }

    pub(crate) fn stop_signal(&mut self, place: Place) -> Check {
        let expected = self.model.known(place);
        same("signal_stop", self.core.signal_stop(self.model.handles[place].key), expected)?;
        if expected.is_ok() {
            self.outside.borrow_mut().signals.stop(place);
            self.model.handles[place].is_active = false;
        }
        self.check_number(place)
    }

    fn check_number(&self, place: Place) -> Check {
        if self.model.known(place).is_err() {
            return Ok(());
        }
        let number = self.outside.borrow().signals.number(place);
        same("the number", self.core.signal_number(self.model.handles[place].key), Ok(number))
    }

    pub(crate) fn take_signal(&mut self, place: Place, number: i32) -> Check {
        let user = self.model.handles[place].user;
        self.outside.borrow_mut().signals.tell(place, user, number)?;
        self.last_signal = Some((self.model.runs, self.core.turns()));
        Ok(())
    }

    /// The callback of a one-shot handle is over.
    pub(crate) fn end_one_shot(&mut self) {
        let telling = self.outside.borrow_mut().signals.telling.take();
        if let Some(place) = telling {
            self.outside.borrow_mut().signals.stop(place);
            self.model.handles[place].is_active = false;
        }
    }

    /// After signals, nothing else of the batch comes.
    pub(crate) fn check_signals_are_last(&self) -> Check {
        ensure!(
            self.last_signal != Some((self.model.runs, self.core.turns())),
            "something of a batch comes after its signals"
        );
        Ok(())
    }

    /// This is a child from now on.
    pub(crate) fn fork(&mut self) -> Check {
        match self.core.after_fork() {
            Ok(is_child) => ensure!(is_child, "it is no child"),
            Err(error) => {
                let may_fail = error == Errno::EMFILE && self.program.faults.no_descriptor > 0;
                ensure!(may_fail, "going on after a fork fails with {error:?}");
                return Ok(());
            }
        }
        let mut outside = self.outside.borrow_mut();
        outside.is_sent.fill(None);
        outside.signals.fork();
        outside.watches.fork();
        self.model.jobs.lose();
        // The guard may have been sent to.
        if self.model.may_look() {
            self.plan_end();
        }
        // It may look for what was on its way.
        self.model.was_left = true;
        let places = 0..self.model.handles.len();
        let is_signal = |&place: &Place| self.model.handles[place].kind == Kind::Signal;
        drop(outside);
        places.filter(is_signal).try_for_each(|place| self.check_number(place))
    }
}
