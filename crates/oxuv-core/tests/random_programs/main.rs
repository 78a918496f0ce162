//! Random programs on the simulated kernel, beside a model that knows what the core owes them.
//!
//! A program is a list of actions, and for each handle the actions of its callbacks. After each action and each event
//! the core must agree with the model: what is active, closing, referenced and alive; every request reported once, in
//! order; the phases and the order within them; no event for what is stopped or closed; timers neither early nor
//! forgotten; the bytes that were sent, and no others; waits neither too long nor too short; nothing left open.
//!
//! Each program draws which faults the kernel commits and how often, what the clock says at first, and how connections and the
//! loop are made. What all of them together have exercised is printed at the end, and must be everything there is.
//!
//! `OXUV_PROGRAMS` sets the number of programs, `OXUV_SEED` the first seed. A failing program is made small and printed, with the
//! command that runs it again.

#![cfg_attr(fuzzing, no_main, allow(dead_code, reason = "a fuzzer draws and shrinks in its own way"))]

/// What a check says: nothing, or what is wrong.
type Check = Result<(), String>;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

mod actions;
mod coverage;
mod draw;
mod events;
mod files;
mod jobs;
mod model;
mod observer;
mod outside;
mod pipes;
mod poll;
mod process;
mod program;
mod ready;
mod run;
mod shrink;
mod signals;
mod streams;
mod tcp;
mod turn;
mod udp;
mod verify;

use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use coverage::Coverage;
use program::Program;

/// So many programs exercise everything.
const ENOUGH: u64 = 3000;

/// What a program has exercised, or why it fails; a second run must give the same trace.
fn try_program(program: &Program) -> Result<Coverage, String> {
    let twice = || {
        let (trace, coverage) = run::run(program)?;
        ensure!(run::run(program)?.0 == trace, "the same program gives another trace");
        Ok(coverage)
    };
    panic::catch_unwind(AssertUnwindSafe(twice)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?");
        Err(format!("panic at {}: {text}", PANICKED_AT.take()))
    })
}

thread_local! {
    static PANICKED_AT: RefCell<String> = RefCell::default();
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn random_programs_agree_with_the_model() {
    let (first, count) = (number("OXUV_SEED", 1), number("OXUV_PROGRAMS", ENOUGH));
    let (begun, mut all) = (Instant::now(), Coverage::default());
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|panic| PANICKED_AT.set(panic.location().map(ToString::to_string).unwrap_or_default())));
    let failing = (first..first + count).map(Program::random).find_map(|program| match try_program(&program) {
        Ok(coverage) => {
            all.join(&coverage);
            None
        }
        Err(failure) => Some(shrink::shrink(program, failure, |program| try_program(program).err())),
    });
    panic::set_hook(hook);
    if let Some((program, failure)) = failing {
        let seed = program.seed;
        panic!(
            "{failure}\n{program}\nagain: OXUV_SEED={seed} OXUV_PROGRAMS=1 cargo test -p oxuv-core --test random_programs"
        );
    }
    report(count, &all, begun);
    let gaps = all.gaps();
    assert!(count < ENOUGH || gaps.is_empty(), "not exercised: {gaps:#?}");
}

/// Tells, past the harness, which would swallow it, what was exercised.
fn report(count: u64, all: &Coverage, begun: Instant) {
    let [actions, callbacks, faults] = ["actions", "callbacks", "faults"].map(|group| all.sum(group));
    let seconds = begun.elapsed().as_secs_f64();
    let text = format!(
        "{count} random programs: {actions} actions, {callbacks} callbacks, {faults} faults, {seconds:.1} seconds\n{all}"
    );
    // Nobody may be there to read it.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

// The first of the bytes are the kernel's chance, the others choose the program.
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (seed, rest) = bytes.split_at(bytes.len().min(2));
    let seed = seed.iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte));
    let program = Program::drawn(oxuv_core::sim::Random::led_by(rest), seed);
    if let Err(failure) = run::run(&program) {
        panic!("{failure}\n{program}");
    }
});
