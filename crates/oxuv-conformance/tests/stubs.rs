//! Stubs for missing functions, and what `nm` tells of objects.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxuv_conformance::outcome::{End, Outcome};
use oxuv_conformance::{stubs, symbols};

/// Compiles a program of several sources in a folder of its own.
fn program(name: &str, sources: &[(&str, String)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut cc = Command::new("cc");
    for (file, text) in sources {
        std::fs::write(folder.join(file), text).unwrap();
        cc.arg(folder.join(file));
    }
    let program = folder.join("program");
    assert!(cc.arg("-w").arg("-o").arg(&program).status().unwrap().success());
    program
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_missing_function_says_its_name_and_ends_the_process() {
    let stubs = stubs::missing_functions(&names(&["uv_first", "uv_walk", "uv_setup_args"]));
    let main = "char **uv_setup_args(int, char **); void uv_walk(void *);\n\
                int main(int argc, char **argv) { argv = uv_setup_args(argc, argv); uv_walk(*argv); return 0; }\n";
    let program = program("missing", &[("main.c", main.to_owned()), ("stubs.c", stubs)]);
    let output = Command::new(program).output().unwrap();
    assert_eq!(output.status.code(), Some(stubs::STATUS));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(Outcome::read(&text, End::Exit(stubs::STATUS)), Outcome::Missing("uv_walk".into()));
}

#[test]
fn a_test_that_is_left_out_is_skipped_with_a_reason() {
    let stubs = stubs::left_out_tests(&names(&["run_test_idna"]));
    let main = "int run_test_idna(void); int main(void) { return run_test_idna(); }\n";
    let output =
        Command::new(program("left-out", &[("main.c", main.to_owned()), ("stubs.c", stubs)])).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "the code by which a test says that it is skipped");
    assert!(output.stderr.starts_with(stubs::LEFT_OUT.as_bytes()));
}

#[test]
fn symbols_are_read_per_object() {
    let text = "\nthere/test-a.o:\n                 U uv_run\n                 U uv_walk\n0000000000000000 T run_test_a\n\
                \nthere/test-b.o:\n0000000000000010 D data\n                 w optional\n                 U uv_run\n";
    let objects = symbols::parse(text);
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0].file, Path::new("there/test-a.o"));
    assert_eq!(objects[0].wanted, names(&["uv_run", "uv_walk"]));
    assert_eq!(objects[0].defined, names(&["run_test_a"]));
    assert_eq!(objects[1].wanted, names(&["uv_run"]));
    assert!(objects[1].defined.contains("data"));
}
