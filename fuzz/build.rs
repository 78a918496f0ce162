//! Compiles two files of libuv's, whose answers ours are compared with. Their functions get names of their own.

use oxuv_conformance::source::Source;

/// Those that are exported.
const FUNCTIONS: [&str; 6] = [
    "uv_inet_ntop",
    "uv_inet_pton",
    "uv_utf16_length_as_wtf8",
    "uv_utf16_to_wtf8",
    "uv_wtf8_length_as_utf16",
    "uv_wtf8_to_utf16",
];

fn main() {
    if std::env::var_os("CARGO_FEATURE_FUZZING").is_none() {
        return;
    }
    let libuv = Source::find().expect("cargo knows where libuv's source is").libuv;
    let mut build = cc::Build::new();
    for function in FUNCTIONS {
        build.define(function, format!("libuv_{function}").as_str());
    }
    build
        .include(libuv.join("include"))
        .include(libuv.join("src"))
        .define("_GNU_SOURCE", None)
        // What allocates for them is the C library.
        .define("uv__malloc", "malloc")
        .files(["idna.c", "inet.c", "strscpy.c"].map(|file| libuv.join("src").join(file)))
        .warnings(false)
        .compile("libuv_reference");
}
