//! The command line.

use oxuv_conformance::library::{Form, Library};
use oxuv_conformance::options::Options;

fn read(line: &str) -> Result<Options, String> {
    Options::read(line.split_whitespace().map(str::to_owned))
}

#[test]
fn our_library_and_all_tests_are_the_default() {
    let options = read("").unwrap();
    assert_eq!(options.library, Library::Ours { release: false });
    assert_eq!(options.form, Form::Shared);
    assert!(options.wants("anything"));
    assert!(options.list().ends_with("expected.tsv"));
}

#[test]
fn each_library_has_its_list() {
    assert!(read("--library upstream").unwrap().list().ends_with("upstream.tsv"));
    assert_eq!(read("--library release").unwrap().library, Library::Ours { release: true });
    let options = read("--library upstream --static").unwrap();
    assert!(options.form == Form::Static && options.list().ends_with("upstream.tsv"));
    let options = read("--library /there/libuv.so.1 --list /there/list").unwrap();
    assert_eq!(options.library, Library::File("/there/libuv.so.1".into()));
    assert!(options.list().ends_with("there/list"));
}

#[test]
fn filters_are_parts_of_names_or_whole_names() {
    let options = read("--filter timer --filter =tcp_open").unwrap();
    assert!(options.wants("fork_timer") && options.wants("tcp_open"));
    assert!(!options.wants("tcp_open_twice") && !options.wants("idle"));
}

#[test]
fn wrong_words_are_errors() {
    for line in [
        "--nothing",
        "timer",
        "--jobs",
        "--jobs none",
        "--jobs 0",
        "--repeat -1",
        "--header mine",
        "--leaks --valgrind",
        "--leaks --update",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}
