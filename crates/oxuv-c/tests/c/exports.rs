//! What the shared library shows of itself.

use std::process::Command;

use crate::build::{library, succeed};

#[test]
fn nothing_but_the_interface_is_exported() {
    let symbols = succeed(Command::new("nm").args(["-D", "--defined-only"]).arg(library("libuv.so")).output().unwrap());
    let names: Vec<&str> = symbols.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    let strangers: Vec<_> = names.iter().filter(|name| !name.starts_with("uv_")).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(symbols.lines().all(|line| line.contains(" T ")), "not all are functions:\n{symbols}");

    let header = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/include/uv.h")).unwrap();
    let declared = header.lines().filter(|line| line.starts_with("UV_EXTERN")).map(|line| {
        let before = line.split('(').next().unwrap();
        before.rsplit([' ', '*']).next().unwrap()
    });
    let declared: Vec<&str> = declared.collect();
    let undeclared: Vec<_> = names.iter().filter(|name| !declared.contains(name)).collect();
    assert!(undeclared.is_empty(), "{undeclared:?}");
}

#[test]
fn the_shared_library_has_libuvs_name_and_needs_only_c() {
    let dynamic = succeed(Command::new("readelf").arg("-d").arg(library("libuv.so")).output().unwrap());
    assert!(dynamic.contains("soname: [libuv.so.1]"), "{dynamic}");
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    for library in needed {
        // The C library, its loader, and the compiler's unwinder.
        let known = ["[libc.so", "[ld-linux", "[libgcc_s.so"];
        assert!(known.iter().any(|name| library.contains(name)), "{library}");
    }
}
