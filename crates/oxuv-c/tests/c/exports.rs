//! What the libraries show of themselves: libuv's functions, and nothing else.
//!
//! `abi/symbols.txt` has all functions of libuv 1.53.0.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::build::{library, succeed};

/// The functions of libuv, of which each stands in the list once, in order.
fn promised() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("abi/symbols.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let names: Vec<&str> = text.lines().collect();
    let in_order: BTreeSet<&str> = names.iter().copied().collect();
    assert!(names.iter().eq(&in_order), "symbols.txt is not in order, or has a name twice");
    in_order.into_iter().map(String::from).collect()
}

/// The names that a library defines for others, each with `nm`'s letter for its kind.
fn defined(library: &Path, options: &[&str]) -> BTreeSet<(String, char)> {
    let symbols = succeed(Command::new("nm").args(options).arg(library).output().unwrap());
    let fields = symbols.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let symbol = |fields: Vec<&str>| match fields[..] {
        [_, kind, name] => Some((name.to_string(), kind.chars().next()?)),
        // The name of a member of the archive, or an empty line.
        _ => None,
    };
    fields.filter_map(symbol).collect()
}

/// The functions among these.
fn functions(symbols: &BTreeSet<(String, char)>) -> BTreeSet<String> {
    symbols.iter().filter(|(_, kind)| *kind == 'T').map(|(name, _)| name.clone()).collect()
}

#[test]
fn exported_is_what_is_promised_and_nothing_else() {
    let symbols = defined(&library("libuv.so"), &["-D", "--defined-only"]);
    // Data, weak symbols, and versions would all be something else than libuv has.
    let others: Vec<_> = symbols.iter().filter(|(_, kind)| *kind != 'T').collect();
    assert!(others.is_empty(), "exported, and not functions: {others:?}");
    let exported = functions(&symbols);
    let promised = promised();
    let absent: Vec<_> = promised.difference(&exported).collect();
    assert!(absent.is_empty(), "promised by abi/symbols.txt, and not exported: {absent:?}");
    let strangers: Vec<_> = exported.difference(&promised).collect();
    assert!(strangers.is_empty(), "exported, and unknown to libuv: {strangers:?}");
}

#[test]
fn the_static_library_defines_the_same_functions() {
    let defined = functions(&defined(&library("libuv.a"), &["-g", "--defined-only"]));
    let ours: BTreeSet<String> = defined.into_iter().filter(|name| name.starts_with("uv_")).collect();
    let exported = functions(&self::defined(&library("libuv.so"), &["-D", "--defined-only"]));
    assert_eq!(ours, exported);
}

#[test]
fn the_shared_library_has_libuvs_name_and_needs_only_c() {
    let dynamic = succeed(Command::new("readelf").arg("-d").arg(library("libuv.so")).output().unwrap());
    assert!(dynamic.contains("soname: [libuv.so.1]"), "{dynamic}");
    assert!(!dynamic.contains("TEXTREL"), "{dynamic}");
    let needed = |line: &&str| line.contains("(NEEDED)");
    // The loader is part of the C library: thread-local variables ask for it. And a compiler whose unwinder comes only
    // as a shared library is left its way. Unoptimised, the histograms ask the mathematical part for a logarithm;
    // `scripts/install-c` sees to it that what is shipped does not.
    let mut known = vec!["[libc.so", "[libm.so", "[ld-linux"];
    if !compiler_has_a_static_unwinder() {
        known.push("[libgcc_s.so");
    }
    for line in dynamic.lines().filter(needed) {
        assert!(known.iter().any(|name| line.contains(name)), "{line}");
    }
}

fn compiler_has_a_static_unwinder() -> bool {
    let answer = succeed(Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().unwrap());
    Path::new(answer.trim_end()).is_absolute()
}
