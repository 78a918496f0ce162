//! What is said of leaks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use oxuv_conformance::leaks::{LOST as FILE, Left, SOURCE, report, suspects};
use oxuv_conformance::outcome::Outcome;
use oxuv_conformance::run::Run;

const LOST: &str = "==7==ERROR: LeakSanitizer: detected memory leaks\n\nSUMMARY: LeakSanitizer: 120 byte(s) leaked in 2 allocation(s).\n";

fn run(left: Option<Left>) -> Run {
    Run { outcome: Outcome::Pass, output: String::new(), took: Duration::ZERO, left }
}

#[test]
fn a_process_that_has_let_go_of_everything_is_clean() {
    let left = Left::parse("blocks 3\n", "");
    assert_eq!(left, Left { blocks: 3, ..Left::default() });
    assert!(left.is_clean());
}

#[test]
fn whatever_is_left_is_told_and_compared() {
    let left = Left::parse("blocks 100\ndescriptor 7 socket:[12]\nthread 8 worker\nthread 9 worker\n", LOST);
    assert_eq!((left.blocks, left.lost), (100, 120));
    assert_eq!(left.descriptors, ["7 socket:[12]"]);
    let all = ["descriptors 7 socket:[12]", "threads 8 worker, 9 worker", "100 blocks of memory", "120 lost bytes"];
    assert_eq!(left.beyond(&Left::default()), all);
    assert!(left.beyond(&left).is_empty());
    let other = Left { threads: vec!["3 worker".to_owned()], lost: 120, ..left.clone() };
    assert_eq!(left.beyond(&other), ["threads 8 worker, 9 worker"]);
}

#[test]
fn only_what_libuv_does_not_leave_is_wrong() {
    let of = |text| run(Some(Left::parse(text, "")));
    let runs: BTreeMap<String, Run> = [
        ("clean".to_owned(), of("blocks 1\n")),
        ("both".to_owned(), of("blocks 1\ndescriptor 5 /dev/null\n")),
        ("ours".to_owned(), of("blocks 1\ndescriptor 5 /dev/null\ndescriptor 6 /dev/null\n")),
        ("killed".to_owned(), run(None)),
    ]
    .into();
    assert_eq!(suspects(&runs), ["both", "ours"]);
    let one = || of("blocks 1\ndescriptor 5 /dev/null\n");
    let others = [("both".to_owned(), one()), ("ours".to_owned(), one())].into();
    let (text, wrong) = report(&runs, &others);
    assert_eq!(wrong, 1);
    assert!(text.contains("of 4 tests 3 came to the end") && text.contains("ours leaves descriptors 5 "), "{text}");
}

/// Leaves 60 blocks that can be reached, one that cannot, a descriptor and a thread; or nothing, for other words.
const PROGRAM: &str = r#"
    #include <fcntl.h>
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static void* kept[60];
    static void* wait(void* arg) { pause(); return arg; }
    int main(int argc, char** argv) {
      void* volatile lost;
      pthread_t thread;
      int i;
      if (argc < 2 || strcmp(argv[1], "leaves") != 0) return 0;
      for (i = 0; i < 60; i++) kept[i] = malloc(8);
      lost = malloc(1000);
      lost = NULL;
      return lost != NULL || open("/dev/null", O_RDONLY) < 0 || pthread_create(&thread, NULL, wait, NULL) != 0;
    }
"#;

#[test]
fn what_a_process_leaves_is_seen() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("leaks");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, source) in [("program.c", PROGRAM), ("leaks.c", SOURCE)] {
        fs::write(folder.join(name), source).unwrap();
    }
    let mut cc = Command::new("cc");
    cc.current_dir(&folder).args(["-w", "-fsanitize=leak", "-o", "program", "program.c", "leaks.c", "-lpthread"]);
    assert!(cc.status().unwrap().success());
    let run = |words: [&str; 2]| {
        let left = folder.join(words[0]);
        fs::create_dir_all(&left).unwrap();
        let mut program = Command::new(folder.join("program"));
        program.args(words).env("OXUV_LEAKS", &left);
        program.env("LSAN_OPTIONS", format!("exitcode=0:log_path={}", left.join(FILE).display()));
        assert!(program.status().unwrap().success());
        Left::read(&left).unwrap()
    };
    assert_eq!(run(["leaves", "helper"]), None);
    assert!(run(["nothing", "nothing"]).unwrap().is_clean());
    let left = run(["leaves", "leaves"]).unwrap();
    let [descriptor] = &left.descriptors[..] else { panic!("{left:?}") };
    assert!(descriptor.ends_with(" /dev/null"), "{descriptor}");
    assert!(left.threads.len() == 1 && left.blocks > 50, "{left:?}");
    assert!(left.lost == 1000 || left.is_blind, "{left:?}");
}
