//! Random programs on the simulated kernel, beside a model that knows what the core owes them.
//!
//! A program is a list of actions, and for each handle the actions of its callbacks. After each action and each event
//! the core must agree with the model: what is active, closing, referenced and alive; every request reported once, in
//! order; the phases and the order within them; no event for what is stopped or closed; timers neither early nor
//! forgotten; the bytes that were sent, and no others; waits neither too long nor too short; nothing left open.
//!
//! `OXUV_PROGRAMS` sets the number of programs, `OXUV_SEED` the first seed. A failing program is made small and printed.

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
mod events;
mod model;
mod outside;
mod pipes;
mod poll;
mod process;
mod program;
mod run;
mod shrink;
mod signals;
mod streams;
mod tcp;
mod turn;
mod udp;
mod verify;

use std::panic::{self, AssertUnwindSafe};

use program::Program;

/// Why a program fails, if it does; a second run must give the same trace.
fn failure(program: &Program) -> Option<String> {
    let twice = || {
        let first = run::run(program)?;
        ensure!(run::run(program)? == first, "the same program gives another trace");
        Ok(())
    };
    match panic::catch_unwind(AssertUnwindSafe(twice)) {
        Ok(result) => result.err(),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            Some(format!("panic: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")))
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn random_programs_agree_with_the_model() {
    let (first, count) = (number("OXUV_SEED", 1), number("OXUV_PROGRAMS", 3000));
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let failing = (first..first + count).map(Program::random).find_map(|program| {
        let failure = failure(&program)?;
        Some(shrink::shrink(program, failure, crate::failure))
    });
    panic::set_hook(hook);
    if let Some((program, failure)) = failing {
        panic!("{failure}\n{program}");
    }
}

// The first of the bytes are the kernel's chance, the others choose the program.
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (seed, rest) = bytes.split_at(bytes.len().min(2));
    let seed = seed.iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte));
    let program = Program::drawn(&mut oxuv_core::sim::Random::led_by(rest), seed);
    if let Err(failure) = run::run(&program) {
        panic!("{failure}\n{program}");
    }
});
