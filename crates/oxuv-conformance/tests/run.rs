//! Running tests, with shell scripts in the place of libuv's test program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use oxuv_conformance::outcome::Outcome;
use oxuv_conformance::place::Place;
use oxuv_conformance::run::{Run, Runner, User, can_isolate};

/// A place with a fixture in it.
fn place(name: &str) -> Place {
    let fixtures = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(fixtures.join("folder")).unwrap();
    fs::write(fixtures.join("folder/file"), "text").unwrap();
    Place::new(fixtures).unwrap()
}

/// A script. It is written by another process: a program that is still open for writing here, or in a process that another
/// thread starts just then, cannot be started.
fn program(place: &Place, script: &str) -> PathBuf {
    let path = place.programs().join("script");
    let mut writer = Command::new("sh");
    writer.args(["-c", r#"printf '%s\n' "$1" >"$0" && chmod 755 "$0""#]);
    assert!(writer.arg(&path).arg(format!("#!/bin/sh\n{script}")).status().unwrap().success());
    path
}

fn runner<'a>(place: &'a Place, program: &'a Path) -> Runner<'a> {
    Runner {
        program,
        place,
        user: User::find(None).unwrap(),
        isolated: false,
        patience: 1,
        time_limit: Duration::from_secs(60),
        valgrind: false,
        leaks: false,
    }
}

fn run(name: &str, script: &str) -> Run {
    let place = place(name);
    let program = program(&place, script);
    runner(&place, &program).run(name).unwrap()
}

#[test]
fn a_test_gets_its_name_a_terminal_and_a_folder_with_the_fixtures() {
    let script = r#"
        [ -t 0 ] && : </dev/tty && [ "$(stty size)" = "25 80" ] || exit 1
        [ "$(cat test/fixtures/folder/file)" = text ] && touch mine || exit 2
        echo "ok 1 - $1""#;
    let run = run("in_its_place", script);
    assert_eq!((run.outcome, run.output.as_str()), (Outcome::Pass, "ok 1 - in_its_place\n"));
}

#[test]
fn a_test_that_hangs_is_killed_with_all_its_processes() {
    let place = place("hangs");
    let marker = place.programs().join("still-there");
    // One of them is in a session of its own, and must be found by its folder.
    let script = format!("setsid sh -c 'sleep 3; touch {}' &\nsleep 60", marker.display());
    let program = program(&place, &script);
    let runner = Runner { time_limit: Duration::from_millis(500), ..runner(&place, &program) };
    let start = Instant::now();
    assert_eq!(runner.run("hangs").unwrap().outcome, Outcome::Timeout);
    assert!(start.elapsed() < Duration::from_secs(30));
    std::thread::sleep(Duration::from_secs(4));
    assert!(!marker.exists());
}

#[test]
fn what_a_test_leaves_running_is_killed() {
    let place = place("leaves");
    let marker = place.programs().join("still-there");
    let script = format!("setsid sh -c 'sleep 3; touch {}' &\necho ok 1 - leaves", marker.display());
    let program = program(&place, &script);
    assert_eq!(runner(&place, &program).run("leaves").unwrap().outcome, Outcome::Pass);
    std::thread::sleep(Duration::from_secs(4));
    assert!(!marker.exists());
}

#[test]
fn a_flaky_test_is_tried_until_it_passes() {
    let place = place("flaky");
    let program = program(&place, r#"echo x >>"$0.tries"; [ "$(wc -l <"$0.tries")" -ge 3 ] && echo "ok 1 - $1""#);
    let runner = runner(&place, &program);
    assert_eq!(runner.run_up_to("flaky", 2).unwrap().outcome, Outcome::Fail);
    assert_eq!(runner.run_up_to("flaky", 3).unwrap().outcome, Outcome::Pass);
    assert_eq!(fs::read_to_string(program.with_extension("tries")).unwrap().lines().count(), 3);
}

#[test]
fn a_test_whose_time_is_up_gets_more_of_it_once() {
    let place = place("slow");
    let script = r##"
        echo x >>"$0.tries"
        if [ "$UV_TEST_TIMEOUT_MULTIPLIER" -ge "$(cat "$0.needed")" ]; then echo "ok 1 - $1"; else echo "not ok 1 - $1"; echo "# timeout"; fi"##;
    let program = program(&place, script);
    for (needed, outcome) in [("1", Outcome::Pass), ("4", Outcome::Pass), ("99", Outcome::Timeout)] {
        fs::write(program.with_extension("needed"), needed).unwrap();
        assert_eq!(runner(&place, &program).run_up_to("slow", 1).unwrap().outcome, outcome);
    }
    assert_eq!(fs::read_to_string(program.with_extension("tries")).unwrap().lines().count(), 1 + 2 + 2);
}

#[test]
fn a_test_as_root_gets_a_network_and_names_of_its_own() {
    let place = place("network");
    if !can_isolate(&place) {
        eprintln!("left out: this needs root, and a kernel that has network namespaces");
        return;
    }
    let script = r#"
        ip -4 route | grep -q '^default via 192.0.2.254 ' || exit 1
        [ "$(grep -c localhost /etc/hosts)" = 2 ] || exit 2
        [ "$(ls /sys/class/net 2>/dev/null | wc -l)" -gt 0 ] && ip addr show dev lo | grep -q 'inet6 ::1' || exit 3
        ip link | grep -q 'oxuv0' && echo "ok 1 - $1""#;
    let program = program(&place, script);
    let runner = Runner { isolated: true, ..runner(&place, &program) };
    assert_eq!(runner.run("network").unwrap().outcome, Outcome::Pass);
    // It is gone, and was never in the network of this process.
    assert!(!fs::read_to_string("/proc/net/dev").unwrap().contains("oxuv0"));
}

#[test]
fn root_runs_a_test_as_another_user_who_owns_the_folder_and_the_terminal() {
    let place = place("other_user");
    let user = User { other: true, ..User::find(Some("65534")).unwrap_or(User { id: 0, group: 0, other: false }) };
    if user.id == 0 {
        eprintln!("left out: this needs root");
        return;
    }
    let script = r#"
        [ "$(id -u) $(id -g) $(id -G)" = "65534 65534 65534" ] || exit 1
        touch mine test/fixtures/folder/file test/fixtures/new && : >"$(tty)" && echo "ok 1 - $1""#;
    let program = program(&place, script);
    let runner = Runner { user, ..runner(&place, &program) };
    assert_eq!(runner.run("other_user").unwrap().outcome, Outcome::Pass);
}
