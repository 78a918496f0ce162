//! `BEHAVIOUR.md` and `SECURITY.md` name tests that exist, and so does the table of reported bugs.

use std::path::Path;

/// Whether the file of this name has this test.
fn exists(file: &str, test: &str) -> bool {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(here.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (name, kind) = file.rsplit_once('.').unwrap_or((file, ""));
    match kind {
        "order" => read(&format!("../oxuv-order/scripts/{name}.order"))
            .lines()
            .filter_map(|line| line.strip_prefix("== "))
            .any(|title| title.split('#').next().unwrap_or("").trim() == test),
        "c" | "h" => read(&format!("tests/c/{file}")).lines().any(|line| is_function(line, test)),
        // Of another crate, or below this folder.
        "rs" if name.starts_with("oxuv") => read(&format!("../{file}")).contains(&format!("fn {test}(")),
        "rs" if name.contains('/') => read(&format!("tests/{file}")).contains(&format!("fn {test}(")),
        "rs" => read(&format!("tests/c/{file}")).contains(&format!("fn {test}(")),
        "" if name == "upstream" => {
            read("../oxuv-conformance/expected.tsv").lines().any(|line| line.starts_with(&format!("{test}\tpass")))
        }
        _ => false,
    }
}

/// A definition in C: `static void name(void) {`.
fn is_function(line: &str, name: &str) -> bool {
    let Some((before, after)) = line.split_once(name) else { return false };
    line.starts_with("static ") && before.ends_with([' ', '*']) && after.starts_with('(')
}

#[test]
fn each_behaviour_is_shown_by_a_test_that_exists() {
    let rows = include_str!("../../BEHAVIOUR.md").lines().filter(|line| line.starts_with("| ")).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [what, shown] = cells[..] else { panic!("two columns: {line}") };
        (what.trim(), shown.trim())
    });
    let mut count = 0;
    for (what, shown) in rows.filter(|(what, _)| *what != "what" && !what.starts_with("---")) {
        count += check_tests(what, shown);
    }
    assert!(count > 100, "{count}");
}

/// Each of the tests between backquotes exists. How many they are.
fn check_tests(what: &str, shown: &str) -> usize {
    let tests: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
    assert!(!tests.is_empty(), "{what}: nothing shows it");
    for test in &tests {
        let (file, name) = test.split_once(": ").unwrap_or_else(|| panic!("{what}: {test}"));
        assert!(exists(file, name), "{what}: {file} has no {name}");
    }
    tests.len()
}

#[test]
fn each_advisory_of_the_security_page_has_a_test_that_exists_or_a_reason() {
    let (_, record) = include_str!("../../../../SECURITY.md").split_once("\n### libuv\n").unwrap();
    let mut count = 0;
    for row in record
        .lines()
        .filter(|line| ["| CVE", "| GHSA", "| RUSTSEC", "| no number"].iter().any(|kind| line.starts_with(kind)))
    {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [advisory, fault, shown] = cells[..] else { panic!("three columns: {row}") };
        assert!(!fault.is_empty() && !shown.is_empty(), "{row}");
        if shown.contains(": ") && shown.contains('`') {
            count += check_tests(advisory, shown);
        }
    }
    assert!(count > 30, "{count}");
}

/// The numbers of the reported bugs that concern the C library.
const CASES: &[u32] = &[
    1, 2, 4, 5, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41, 43, 44, 46, 49,
    50, 52, 53, 55, 56, 57, 58, 59, 64, 65, 68, 70, 71, 73, 74, 76, 77, 80, 82, 83, 86, 102,
];

#[test]
fn each_reported_bug_has_a_test_that_exists() {
    let rows = include_str!("../../../oxuv-conformance/README.md").lines().filter(|line| line.starts_with("| C"));
    let mut numbers: Vec<u32> = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [case, report, what, shown, result] = cells[..] else { panic!("five columns: {row}") };
        assert!(!report.is_empty() && !what.is_empty(), "{row}");
        numbers.push(case[1..].parse().unwrap());
        match result {
            "pass" => drop(check_tests(case, shown)),
            "pending" => assert_eq!(shown, "-", "{row}"),
            _ => panic!("{row}"),
        }
    }
    assert_eq!(numbers, CASES);
    // Below the table are those of other levels.
    let (_, below) = include_str!("../../../oxuv-conformance/README.md").split_once("Of the core, ").unwrap();
    check_tests("other levels", below);
}
