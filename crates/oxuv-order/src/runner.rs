//! Running a script on a driver.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{Call, Driver, Listener, Mode};
use crate::outside::Outside;
use crate::record::{Entry, Sense};
use crate::script::{Line, Script, Statement, Step};
use crate::watchdog::Watchdog;
use crate::{FILES, parse};

/// More calls than any script expects: then the loop is stopped.
const TOO_MANY: usize = 200;

/// Actions that always return a number.
const NUMBERS: [&str; 3] = ["run", "take", "drain"];

/// Runs the script of this name in this file, for a test.
///
/// # Panics
/// When it fails, with what was expected and what came.
pub fn check<D: Driver + 'static>(file: &str, name: &str) {
    let (_, text) = FILES.iter().find(|(stem, _)| *stem == file).expect("the file is listed");
    let scripts = parse(text).unwrap();
    let script = scripts.iter().find(|script| script.name() == name).expect("the script is listed");
    if let Err(failures) = run::<D>(file, script) {
        panic!("{failures}");
    }
}

/// Runs a script.
///
/// # Errors
/// Where it fails, what was expected and what came.
pub fn run<D: Driver + 'static>(file: &str, script: &Script) -> Result<(), String> {
    let runner = start::<D>(&format!("scripts/{file}.order, {}", script.title), None);
    for line in script.lines.iter().filter(|line| line.only.is_none_or(|sides| sides.contains(&D::side()))) {
        runner.do_line(line);
        if !runner.state.borrow().failures.is_empty() {
            break;
        }
    }
    runner.end(script);
    let failures = std::mem::take(&mut runner.state.borrow_mut().failures);
    if failures.is_empty() {
        return Ok(());
    }
    let mut message = format!("{}\n", script.title);
    for Failure { line, what, expected, got } in failures {
        message += &format!("  scripts/{file}.order:{line}: {what}\n    expected: {expected}\n    got:      {got}\n");
    }
    Err(message)
}

/// A runner with a loop, that is allowed so much time. With a sense, it records.
pub(crate) fn start<D: Driver + 'static>(what: &str, sense: Option<Sense>) -> Rc<Runner<D>> {
    Rc::new_cyclic(|runner: &Weak<Runner<D>>| {
        let runner = runner.clone();
        let listener = Listener(Rc::new(move |call| {
            // When the script is over, nobody is interested in what is closed then.
            if let Some(runner) = runner.upgrade() {
                runner.called(call);
            }
        }));
        let (driver, signals) = (D::new(listener), RefCell::default());
        let state = RefCell::new(State { sense, ..State::default() });
        Runner { driver, outside: Outside::default(), state, signals, _watchdog: Watchdog::new(what) }
    })
}

pub(crate) struct Runner<D> {
    /// Dropped first: its loop still has descriptors from outside.
    pub(crate) driver: D,
    pub(crate) outside: Outside,
    state: RefCell<State>,
    /// There if the script has signals. Dropped last.
    signals: RefCell<Option<MutexGuard<'static, ()>>>,
    _watchdog: Watchdog,
}

/// The process's signals, which one script has at a time.
static SIGNALS: Mutex<()> = Mutex::new(());

impl<D> Runner<D> {
    pub(crate) fn hold_signals(&self) {
        let mut held = self.signals.borrow_mut();
        if held.is_none() {
            *held = Some(SIGNALS.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[derive(Default)]
struct State {
    /// The calls since the last `expect`.
    trace: Vec<String>,
    /// How often each callback was called, and how many writes each stream was given.
    counts: HashMap<String, u32>,
    /// What the callbacks do.
    handlers: HashMap<(String, Option<u32>), Handler>,
    /// The kind of each handle, as scripts say it.
    kinds: HashMap<String, String>,
    failures: Vec<Failure>,
    /// What makes sense, if all that is done is recorded, and nothing expected.
    sense: Option<Sense>,
    record: Vec<Entry>,
}

#[derive(Default)]
struct Handler {
    line: usize,
    steps: Vec<Step>,
    is_used: bool,
}

struct Failure {
    line: usize,
    what: String,
    expected: String,
    got: String,
}

impl<D: Driver> Runner<D> {
    pub(crate) fn do_line(&self, line: &Line) {
        match &line.statement {
            Statement::On { callback, call, steps } => {
                let key = (callback.clone(), *call);
                let handlers = &mut self.state.borrow_mut().handlers;
                let handler = handlers.entry(key).or_insert(Handler { line: line.number, ..Handler::default() });
                handler.steps.extend(steps.iter().cloned());
            }
            Statement::Do(steps) => steps.iter().for_each(|step| self.perform(step)),
            Statement::Expect(calls) => {
                let trace = std::mem::take(&mut self.state.borrow_mut().trace);
                self.compare(line.number, "expect", &list(calls), &list(&trace));
            }
        }
    }

    /// Does one step, and looks at what came of it.
    fn perform(&self, step: &Step) {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        if self.state.borrow().sense.is_some() {
            return self.try_out(&words);
        }
        let got = self.act(&words);
        // Only some scripts want to know the numbers.
        let expected = step.outcome.as_deref().unwrap_or(if NUMBERS.contains(&words[0]) { &got } else { "ok" });
        self.compare(step.line, &words.join(" "), expected, &got);
    }

    /// Does one step if that makes sense, and records what came of it.
    fn try_out(&self, words: &[&str]) {
        if !self.state.borrow().sense.as_ref().is_some_and(|sense| sense.allows(words)) {
            return;
        }
        if let ["await", name] = *words {
            return self.wait_for(name);
        }
        let is_run = words[0] == "run";
        if is_run {
            self.note_run(1);
            // What comes now is of this run, until it is said how that has ended.
            self.state.borrow_mut().record.push(Entry::Did(words.join(" ")));
        }
        let got = self.act(words);
        if is_run {
            self.note_run(-1);
        }
        let taken = if words[0] == "accept" { self.kind(words[2]) } else { String::new() };
        let state = &mut *self.state.borrow_mut();
        if let Some(sense) = &mut state.sense {
            sense.did(words, &got);
            if words[0] == "accept" {
                sense.took(words[2], &taken);
            }
        }
        state.record.push(Entry::Did(format!("{} -> {got}", words.join(" "))));
    }

    /// Runs the loop until this request has come back. In how many turns, is not recorded.
    fn wait_for(&self, request: &str) {
        let is_there = || self.state.borrow().sense.as_ref().is_some_and(|sense| sense.is_asked(request));
        while is_there() && self.driver.is_alive() {
            self.driver.run(Mode::Once).expect("the loop can run");
        }
    }

    fn note_run(&self, change: i32) {
        if let Some(sense) = &mut self.state.borrow_mut().sense {
            sense.runs += change;
        }
    }

    fn record_call(&self, call: &Call) {
        let state = &mut *self.state.borrow_mut();
        if let Some(sense) = &mut state.sense {
            sense.heard(call);
            state.record.push(Entry::Called(call.to_string()));
        }
    }

    pub(crate) fn take_record(&self) -> Vec<Entry> {
        std::mem::take(&mut self.state.borrow_mut().record)
    }

    fn compare(&self, line: usize, what: &str, expected: &str, got: &str) {
        if expected != got {
            let [what, expected, got] = [what, expected, got].map(str::to_owned);
            self.state.borrow_mut().failures.push(Failure { line, what, expected, got });
        }
    }

    /// A callback is called: it goes into the trace, and does what the script says.
    fn called(&self, call: Call) {
        let (key, number) = (call.key(), call.number);
        self.say(call.to_string());
        self.record_call(&call);
        if self.state.borrow().trace.len() >= TOO_MANY {
            self.driver.stop_loop();
        }
        let number = number.unwrap_or_else(|| self.count(&key));
        let steps = {
            let handlers = &mut self.state.borrow_mut().handlers;
            let which =
                [(key.clone(), Some(number)), (key, None)].into_iter().find(|which| handlers.contains_key(which));
            let handler = which.and_then(|which| handlers.get_mut(&which));
            handler.map_or_else(Vec::new, |handler| {
                handler.is_used = true;
                handler.steps.clone()
            })
        };
        steps.iter().for_each(|step| self.perform(step));
    }

    /// At the end, everything must have been expected, and everything that callbacks do must have been done.
    fn end(&self, script: &Script) {
        let trace = std::mem::take(&mut self.state.borrow_mut().trace);
        if self.state.borrow().failures.is_empty() {
            let last = script.lines.last().map_or(0, |line| line.number);
            self.compare(last, "after the end", &list(&[]), &list(&trace));
            let handlers = std::mem::take(&mut self.state.borrow_mut().handlers);
            for ((callback, _), handler) in handlers.iter().filter(|(_, handler)| !handler.is_used) {
                self.compare(handler.line, &format!("on {callback}"), "a call", "none");
            }
        }
    }

    /// A line for the trace.
    pub(crate) fn say(&self, line: String) {
        self.state.borrow_mut().trace.push(line);
    }

    /// How often this was counted, this time included.
    pub(crate) fn count(&self, key: &str) -> u32 {
        let mut state = self.state.borrow_mut();
        let count = state.counts.entry(key.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn set_kind(&self, name: &str, kind: &str) {
        self.state.borrow_mut().kinds.insert(name.to_owned(), kind.to_owned());
    }

    pub(crate) fn kind(&self, name: &str) -> String {
        self.state.borrow().kinds.get(name).cloned().unwrap_or_default()
    }
}

/// The calls in one line, a row of writes as its first and last.
fn list(calls: &[String]) -> String {
    let mut lines: Vec<(&str, Option<(u32, u32)>)> = Vec::new();
    for call in calls {
        let numbered = call.rsplit_once(" write ").or_else(|| call.rsplit_once(" send "));
        let numbered = numbered.and_then(|(_, number)| number.parse::<u32>().ok());
        let Some(number) = numbered else {
            lines.push((call, None));
            continue;
        };
        let before = call.trim_end_matches(|c: char| c.is_ascii_digit());
        match lines.last_mut() {
            Some((same, Some((_, last)))) if *same == before && *last + 1 == number => *last = number,
            _ => lines.push((before, Some((number, number)))),
        }
    }
    let text = |(before, range): (&str, Option<(u32, u32)>)| match range {
        None => before.to_owned(),
        Some((first, last)) if first == last => format!("{before}{first}"),
        Some((first, last)) => format!("{before}{first}..{last}"),
    };
    if lines.is_empty() { "nothing".to_owned() } else { lines.into_iter().map(text).collect::<Vec<_>>().join(", ") }
}
