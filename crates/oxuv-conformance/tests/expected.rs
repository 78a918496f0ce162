//! The list of expected results.

use oxuv_conformance::expected::{Column, Expected, Kind, Results};
use oxuv_conformance::outcome::Outcome;

fn results(pairs: &[(&str, &str)]) -> Results {
    pairs.iter().map(|(test, outcome)| ((*test).to_owned(), outcome.parse().unwrap())).collect()
}

fn list(text: &str) -> Expected {
    Expected::parse(text).unwrap()
}

/// The differences, as `kind test`.
fn differences(expected: &Expected, found: &[(&str, &str)], column: Column, all_run: bool) -> Vec<(Kind, String)> {
    let differences = expected.compare(&results(found), column, all_run);
    differences.into_iter().map(|difference| (difference.kind, difference.test)).collect()
}

const LIST: &str =
    "# a comment\n\na\tpass\t=\nb\tskip not here\tpass\nc\tmissing uv_c\t=\tsoon\nd\tfail\t-\tflaky: slow\n";

#[test]
fn equal_results_are_no_difference() {
    let found = [("a", "pass"), ("b", "skip not here"), ("c", "missing uv_c"), ("d", "fail")];
    assert_eq!(differences(&list(LIST), &found, Column::Root, true), []);
}

#[test]
fn less_than_expected_is_worse() {
    for bad in ["skip why not", "fail", "missing uv_a", "crash SIGSEGV", "timeout"] {
        assert_eq!(differences(&list(LIST), &[("a", bad)], Column::Root, false), [(Kind::Worse, "a".into())], "{bad}");
    }
    assert_eq!(differences(&list(LIST), &[("b", "fail")], Column::Root, false), [(Kind::Worse, "b".into())]);
}

#[test]
fn more_than_expected_is_better() {
    assert_eq!(differences(&list(LIST), &[("b", "pass")], Column::Root, false), [(Kind::Better, "b".into())]);
    assert_eq!(differences(&list(LIST), &[("c", "skip so")], Column::Root, false), [(Kind::Better, "c".into())]);
}

#[test]
fn another_way_to_fail_or_to_skip_is_a_change_that_does_not_matter() {
    let found = [("b", "skip elsewhere"), ("c", "crash SIGSEGV")];
    let found = differences(&list(LIST), &found, Column::Root, false);
    assert_eq!(found, [(Kind::Changed, "b".into()), (Kind::Changed, "c".into())]);
    assert!(!Kind::Changed.matters());
    assert!([Kind::Worse, Kind::Better, Kind::New, Kind::Vanished].iter().all(|kind| kind.matters()));
}

#[test]
fn tests_that_are_not_listed_are_new() {
    assert_eq!(differences(&list(LIST), &[("e", "pass")], Column::Root, false), [(Kind::New, "e".into())]);
    // As another user it has never been run.
    assert_eq!(differences(&list(LIST), &[("d", "fail")], Column::Other, false), [(Kind::New, "d".into())]);
}

#[test]
fn tests_that_are_gone_are_told_when_all_were_run() {
    let found = [("a", "pass"), ("b", "skip not here"), ("d", "fail")];
    assert_eq!(differences(&list(LIST), &found, Column::Root, true), [(Kind::Vanished, "c".into())]);
    assert_eq!(differences(&list(LIST), &found, Column::Root, false), []);
}

#[test]
fn the_worst_comes_first() {
    let found = [("a", "fail"), ("b", "pass"), ("c", "fail"), ("z", "pass")];
    let kinds: Vec<Kind> =
        differences(&list(LIST), &found, Column::Root, true).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::Worse, Kind::Vanished, Kind::New, Kind::Better, Kind::Changed]);
}

#[test]
fn each_column_is_compared_and_updated_for_itself() {
    let mut expected = list(LIST);
    assert_eq!(expected.outcome("b", Column::Other), Some(&Outcome::Pass));
    assert_eq!(differences(&expected, &[("b", "skip not here")], Column::Other, false), [(Kind::Worse, "b".into())]);
    expected.update(&results(&[("c", "pass"), ("d", "pass")]), Column::Other, false);
    assert_eq!(expected.outcome("c", Column::Root), Some(&Outcome::Missing("uv_c".into())));
    assert_eq!(expected.outcome("c", Column::Other), Some(&Outcome::Pass));
    assert_eq!(expected.outcome("d", Column::Other), Some(&Outcome::Pass));
}

#[test]
fn an_update_keeps_notes_and_drops_what_is_gone_if_all_were_run() {
    let mut expected = list(LIST);
    let found = results(&[("a", "pass"), ("b", "pass"), ("c", "pass"), ("e", "pass")]);
    expected.update(&found, Column::Root, false);
    assert!(expected.is_flaky("d"));
    expected.update(&found, Column::Root, true);
    let text = expected.to_string();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines, ["a\tpass\t=", "b\tpass\t=", "c\tpass\tmissing uv_c\tsoon", "e\tpass\t-"]);
}

#[test]
fn a_list_that_is_written_reads_the_same() {
    let expected = list(LIST);
    assert_eq!(list(&expected.to_string()), expected);
    assert!(expected.is_flaky("d") && !expected.is_flaky("c") && !expected.is_flaky("z"));
}

#[test]
fn a_bad_list_is_an_error_with_the_line() {
    for (text, line) in [("a\tpass\n", 1), ("a\tpass\t=\nb\tgood\t=\n", 2), ("a\tpass\t=\na\tfail\t=\n", 2)] {
        let error = Expected::parse(text).unwrap_err();
        assert!(error.starts_with(&format!("line {line}: ")), "{error}");
    }
}

#[test]
fn the_lists_of_this_crate_are_sound() {
    for name in ["expected.tsv", "upstream.tsv"] {
        let text = std::fs::read_to_string(oxuv_conformance::options::list(name)).unwrap();
        let read = list(&text);
        assert!(read.0.len() > 500, "{name}");
        assert_eq!(read.to_string(), text, "{name} is not as --update writes it");
    }
}
