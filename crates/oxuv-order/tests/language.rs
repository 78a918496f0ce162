//! The language of the scripts, and what a failing one says.

use oxuv_order::{RustFront, Script, parse, run};

fn one(text: &str) -> Script {
    let mut scripts = parse(text).unwrap();
    assert_eq!(scripts.len(), 1);
    scripts.remove(0)
}

/// What a script fails with.
fn failure(text: &str) -> String {
    run::<RustFront>("file", &one(text)).unwrap_err()
}

#[test]
fn a_wrong_trace_is_told_with_its_line() {
    let told = failure("== title\ntimer a, b\nstart a 0; start b 0\nrun default\nexpect: b, a\n");
    assert_eq!(told, "title\n  scripts/file.order:5: expect\n    expected: b, a\n    got:      a, b\n");
}

#[test]
fn so_is_a_wrong_outcome_in_a_callback() {
    let told = failure("== title\ntimer a\non a: active a? yes\nstart a 0\nrun default\nexpect: a\n");
    assert_eq!(told, "title\n  scripts/file.order:3: active? a\n    expected: yes\n    got:      no\n");
}

#[test]
fn a_call_that_nobody_expects_is_a_failure() {
    let told = failure("== title\ntimer a\nstart a 0\nrun default\n");
    assert_eq!(told, "title\n  scripts/file.order:4: after the end\n    expected: nothing\n    got:      a\n");
}

#[test]
fn a_callback_that_is_never_called_is_a_failure() {
    let told = failure("== title\ntimer a\non a 2: close a\nstart a 0\nrun default\nexpect: a\n");
    assert_eq!(told, "title\n  scripts/file.order:3: on a\n    expected: a call\n    got:      none\n");
}

#[test]
fn an_action_that_does_not_exist_is_a_failure() {
    let told = failure("== title\nexplode a\n");
    assert_eq!(
        told,
        "title\n  scripts/file.order:2: explode a\n    expected: ok\n    got:      no action: explode a\n"
    );
}

#[test]
fn a_run_without_an_end_is_stopped() {
    let told = failure("== title\nidle a\nstart a\nrun default\nexpect: nothing\n");
    assert!(told.contains("expected: nothing\n    got:      a, a, a"), "{told}");
}

#[test]
fn lines_of_others_are_skipped() {
    let text = "== title\ndiffers from libuv: it does\nours: timer a\nrust: close a\nlibuv: explode\nrun default\n\
                expect: a close\n";
    assert_eq!(run::<RustFront>("file", &one(text)), Ok(()));
}

#[test]
fn a_table_and_each_make_a_script_for_each_variant() {
    let text = "== $kind $mode\neach $mode: once, nowait\n$kind a\nrun $mode\n| $kind |\n| idle  |\n| check |\n";
    let titles: Vec<_> = parse(text).unwrap().into_iter().map(|script| script.title).collect();
    assert_eq!(titles, ["idle once", "check once", "idle nowait", "check nowait"]);
}

#[test]
fn a_row_of_calls_can_be_said_by_its_ends() {
    assert_eq!(
        one("== title\nexpect: c write 9..11, a\n"),
        one("== title\nexpect: c write 9, c write 10, c write 11, a\n")
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_line() {
    for (text, error) in [
        ("timer a\n", "1: a title (== ...) comes first"),
        ("== title\non a\n", "2: a colon is missing"),
        ("== title\nours: timer a\n", "2: say why it `differs from libuv:`"),
        ("== title\ndiffers from libuv: it does\ntimer a\n", "title: this differs nowhere from libuv"),
        ("== title\n$kind a\n", "2: $kind a: neither a table nor `each` says what this stands for"),
        ("== title\n| $a | $b |\n| 1 |\n", "title: | 1 | has too few or too many columns"),
    ] {
        assert_eq!(parse(text), Err(error.to_owned()));
    }
}
