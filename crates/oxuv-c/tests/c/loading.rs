//! Loading the library costs no thread and no descriptor, and it can be dropped again.

use std::process::{Command, Stdio};

use crate::build::{self, Link, library, succeed};

#[test]
fn a_program_that_is_linked_holds_nothing_more() {
    let without = build::run(&build::program("load.c", Link::Nothing));
    assert!(without.starts_with("1 threads, "), "{without}");
    assert_eq!(build::run(&build::program("linked.c", Link::Shared)), without);
}

#[test]
fn loading_and_dropping_holds_nothing_and_leaks_nothing() {
    let mut load = Command::new(build::program("load.c", Link::Nothing));
    succeed(load.arg(library("libuv.so")).stdin(Stdio::null()).output().unwrap());
}
