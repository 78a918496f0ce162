//! Scripts of `tests/scripts/http`: what they print, and the exit code. What they are to print is what Node prints.

#[path = "runner/named.rs"]
mod named;
mod runner;

use std::process::Command;

use named::{check, script};
use runner::{program, run};

fn prints_as_it_should(name: &str) {
    let name = format!("http/{name}");
    check(&name, &run(program().arg("--max-memory=200").arg(script(&name)), None));
}

#[test]
fn messages_are_as_in_node() {
    prints_as_it_should("exchange");
}

#[test]
fn connections_are_shared_out_as_in_node() {
    prints_as_it_should("agent");
}

#[test]
fn other_protocols_take_over() {
    prints_as_it_should("upgrade");
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    prints_as_it_should("raw");
}

#[test]
fn requests_at_the_edge_are_refused_and_those_before_them_answered() {
    prints_as_it_should("strict");
}

#[test]
fn peers_that_are_slow_endless_or_gone_leave_nothing_behind() {
    prints_as_it_should("limits");
}

#[test]
fn names_of_headers_that_mean_something_to_objects_do_no_harm() {
    prints_as_it_should("names");
}

#[test]
fn a_thousand_idle_connections_are_no_burden() {
    let mut command = Command::new("sh");
    let limit = "ulimit -n 4096 && exec \"$0\" --max-memory=200 \"$1\"";
    command.args(["-c", limit, env!("CARGO_BIN_EXE_oxuv")]).arg(script("http/idle"));
    check("http/idle", &run(&mut command, None));
}

#[test]
fn there_is_no_https_and_that_is_said() {
    let ran = run(program().args(["-e", "require('https')"]), None);
    assert!(ran.err.contains("https"), "{}", ran.err);
    assert!(!ran.status.success());
}
