//! The page that shows a trace, made of a file with anything in it: the trace stays in its place in the page.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oxuv_observe::view::page;

/// What stands before and behind the trace.
static FRAME: LazyLock<(String, String)> = LazyLock::new(|| {
    let page = page("@@@");
    let (head, foot) = page.split_once("@@@").expect("the trace is in the page");
    (head.to_owned(), foot.to_owned())
});

fuzz_target!(|bytes: &[u8]| {
    let trace = String::from_utf8_lossy(bytes);
    let page = page(&trace);
    let (head, foot) = &*FRAME;
    let inside = page.strip_prefix(head.as_str()).and_then(|rest| rest.strip_suffix(foot.as_str())).expect("the frame");
    assert!(!inside.contains('<'), "{inside:?}");
    if let Ok(records) = serde_json::from_str::<serde_json::Value>(&trace) {
        assert_eq!(serde_json::from_str::<serde_json::Value>(inside).ok(), Some(records));
    }
});
