//! Node's immediates: what comes between them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use oxuv::node::{Immediates, Outcome, Script};
use oxuv::{Loop, Mode};

/// Writes down what is called. "throws" throws, and leaves something in the queues.
#[derive(Default)]
struct Diary {
    lines: RefCell<Vec<&'static str>>,
    has_rest: Cell<bool>,
}

impl Script for Diary {
    type Task = &'static str;

    fn call(&self, task: &'static str) -> Outcome {
        self.lines.borrow_mut().push(task);
        if task != "throws" {
            return Outcome::Done;
        }
        self.has_rest.set(true);
        Outcome::Threw
    }

    fn drain(&self) -> Outcome {
        self.lines.borrow_mut().push("drain");
        self.has_rest.set(false);
        Outcome::Done
    }

    fn has_rest(&self) -> bool {
        self.has_rest.get()
    }
}

fn diary_of(tasks: &[&'static str], has_rest: bool) -> Vec<&'static str> {
    let lp = Loop::new().unwrap();
    let diary = Rc::new(Diary::default());
    diary.has_rest.set(has_rest);
    let immediates = Immediates::new(&lp, diary.clone()).unwrap();
    for task in tasks {
        immediates.add(task, true).unwrap();
    }
    lp.run(Mode::NoWait).unwrap();
    diary.lines.take()
}

#[test]
fn queues_are_drained_after_each() {
    assert_eq!(diary_of(&["a", "b"], false), ["a", "drain", "b", "drain"]);
}

#[test]
fn the_next_comes_before_the_queues_of_one_that_threw() {
    assert_eq!(diary_of(&["throws", "b"], false), ["throws", "b", "drain"]);
}

#[test]
fn what_an_exception_left_before_is_drained_first() {
    assert_eq!(diary_of(&["a"], true), ["drain", "a", "drain"]);
    // Also where no immediate waits: the check phase comes in any case.
    let lp = Loop::new().unwrap();
    let diary = Rc::new(Diary::default());
    diary.has_rest.set(true);
    let _immediates = Immediates::new(&lp, diary.clone()).unwrap();
    let idle = oxuv::Idle::new(&lp).unwrap();
    idle.start(|_| ()).unwrap();
    lp.run(Mode::NoWait).unwrap();
    assert_eq!(diary.lines.take(), ["drain"]);
}
