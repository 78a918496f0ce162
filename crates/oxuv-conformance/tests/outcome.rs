//! Reading what libuv's runner prints.

use oxuv_conformance::outcome::{End, Outcome, complaint};

fn failed(remarks: &str, end: End) -> Outcome {
    Outcome::read(&format!("not ok 1 - a_test\n{remarks}"), end)
}

#[test]
fn a_test_that_is_ok_has_passed_whatever_it_prints() {
    assert_eq!(Outcome::read("ok 1 - a_test\n", End::Exit(0)), Outcome::Pass);
    let chatty = "ok 1 - platform_output\n# Output from process `platform_output`:\n# missing: nothing\n# timeout\n";
    assert_eq!(Outcome::read(chatty, End::Exit(0)), Outcome::Pass);
}

#[test]
fn a_skipped_test_says_why() {
    let output = "ok 1 - a_test # SKIP Test for Windows\n";
    assert_eq!(Outcome::read(output, End::Exit(7)), Outcome::Skip("Test for Windows".into()));
    assert_eq!(Outcome::read("ok 1 - a_test # SKIP \n", End::Exit(7)), Outcome::Skip(String::new()));
}

#[test]
fn a_missing_function_is_found_in_the_output_of_any_process() {
    let remarks = "# exit code 86\n# Output from process `a_test`:\n# \n# missing: uv_walk\n";
    assert_eq!(failed(remarks, End::Exit(86)), Outcome::Missing("uv_walk".into()));
    // The helper lacks it, and the test itself waits in vain.
    let remarks = "# timeout\n# Output from process `a_test`:\n# \n# missing: uv_udp_init\n# Output from ...\n";
    assert_eq!(failed(remarks, End::Exit(255)), Outcome::Missing("uv_udp_init".into()));
    // The runner itself lacks it, and reports nothing.
    assert_eq!(Outcome::read("\nmissing: uv_sleep\n", End::Exit(86)), Outcome::Missing("uv_sleep".into()));
}

#[test]
fn a_failed_assertion_is_no_crash() {
    let remarks =
        "# exit code 134\n# Output from process `a_test`:\n# Assertion failed in test.c on line 3: `a == b` (1 == 2)\n";
    assert_eq!(failed(remarks, End::Exit(134)), Outcome::Fail);
    assert_eq!(complaint(remarks), Some("Assertion failed in test.c on line 3: `a == b` (1 == 2)"));
    assert_eq!(failed("# exit code 1\n# Output from process `a_test`: (no output)\n", End::Exit(1)), Outcome::Fail);
}

#[test]
fn a_signal_is_a_crash_with_a_core_file_or_without() {
    assert_eq!(failed("# exit code 11\n", End::Exit(11)), Outcome::Crash("SIGSEGV".into()));
    assert_eq!(failed("# exit code 139\n", End::Exit(139)), Outcome::Crash("SIGSEGV".into()));
    assert_eq!(failed("# exit code 134\n", End::Exit(134)), Outcome::Crash("SIGABRT".into()));
    assert_eq!(Outcome::read("", End::Signal(11)), Outcome::Crash("SIGSEGV".into()));
}

#[test]
fn a_test_that_takes_too_long_has_timed_out() {
    assert_eq!(failed("# timeout\n# Output from process `a_test`: (no output)\n", End::Exit(255)), Outcome::Timeout);
    assert_eq!(Outcome::read("", End::TimeLimit), Outcome::Timeout);
    // It has printed its result, and then one of its processes did not end.
    assert_eq!(Outcome::read("ok 1 - a_test\n", End::TimeLimit), Outcome::Timeout);
}

#[test]
fn a_runner_without_a_result_has_failed() {
    assert_eq!(Outcome::read("Too many arguments.\n", End::Exit(1)), Outcome::Fail);
    assert_eq!(Outcome::read("", End::Exit(0)), Outcome::Fail);
}

#[test]
fn the_message_of_a_panic_is_the_complaint() {
    let output = "# exit code 134\n# thread 'main' panicked at src/x.rs:1:2:\n# no slot\n";
    assert_eq!(complaint(output), Some("no slot"));
    assert_eq!(complaint("# exit code 3\n"), Some("exit code 3"));
    assert_eq!(complaint("ok 1 - a_test\n"), None);
}

#[test]
fn outcomes_survive_a_list() {
    for text in ["pass", "skip", "skip no such thing here", "fail", "missing uv_walk", "crash SIGSEGV", "timeout"] {
        assert_eq!(text.parse::<Outcome>().unwrap().to_string(), text);
    }
    assert!("passed".parse::<Outcome>().is_err());
}
