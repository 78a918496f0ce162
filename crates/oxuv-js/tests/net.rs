//! Scripts of `tests/scripts/net`: what they print, and the exit code. What they are to print is what Node prints.

#[path = "runner/named.rs"]
mod named;
mod runner;

use std::process::Command;

use named::{check, script};
use runner::{program, run};

fn prints_as_it_should(name: &str) {
    let name = format!("net/{name}");
    check(&name, &run(program().arg(script(&name)), None));
}

/// The same where the process may have so many descriptors, and the script so many MiB of memory.
fn prints_as_it_should_with(descriptors: u32, memory: u32, name: &str) {
    let name = format!("net/{name}");
    let mut command = Command::new("sh");
    let limit = format!("ulimit -Sn {descriptors} && exec \"$0\" --max-memory={memory} \"$1\"");
    command.args(["-c", &limit, env!("CARGO_BIN_EXE_oxuv")]).arg(script(&name));
    check(&name, &run(&mut command, None));
}

#[test]
fn connections_are_as_in_node() {
    for name in ["half_open", "order", "addresses", "drop", "reset", "timeouts", "misc", "mixed", "pipes", "pressure"] {
        prints_as_it_should(name);
    }
}

#[test]
fn errors_are_as_in_node() {
    for name in ["refused_in_words", "uncaught"] {
        prints_as_it_should(name);
    }
}

#[test]
fn a_peer_that_does_not_read_holds_the_writer_up() {
    prints_as_it_should("slow_reader");
}

#[test]
fn half_requests_end_by_time_out() {
    prints_as_it_should("half_requests");
}

#[test]
fn resets_in_mid_stream_are_errors_and_leave_nothing_open() {
    prints_as_it_should("resets");
}

#[test]
fn a_flood_of_connections_meets_the_limit_of_descriptors() {
    prints_as_it_should_with(64, 200, "flood");
}

#[test]
fn a_server_without_descriptors_turns_connections_away() {
    prints_as_it_should_with(64, 200, "crowd");
}

#[test]
fn a_thousand_idle_sockets_are_held_and_given_back() {
    prints_as_it_should_with(4096, 200, "idle");
}

#[test]
fn more_than_there_is_memory_for_is_an_exception() {
    prints_as_it_should_with(1024, 32, "memory");
}
