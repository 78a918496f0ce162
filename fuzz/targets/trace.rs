//! The page that shows a trace, made of a file with anything in it: the trace stays in its place in the page.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oxuv_observe::view;
use serde_json::Value;

/// What stands before and behind the trace.
static FRAME: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    const EMPTY: &[u8] = b"[]";
    let page = page(EMPTY).expect("a trace of nothing");
    let at = page.windows(EMPTY.len()).position(|bytes| bytes == EMPTY).expect("the trace is in the page");
    (page[..at].to_owned(), page[at + EMPTY.len()..].to_owned())
});

/// The page of a trace; `None` for what is none.
fn page(trace: &[u8]) -> Option<Vec<u8>> {
    let mut page = Vec::new();
    view::write(trace, &mut page).ok()?;
    Some(page)
}

fuzz_target!(|bytes: &[u8]| {
    let records = serde_json::from_slice::<Value>(bytes).ok();
    let Some(page) = page(bytes) else {
        let is_trace = records.as_ref().and_then(Value::as_array).is_some_and(|all| all.iter().all(Value::is_object));
        return assert!(!is_trace, "a trace is refused");
    };
    let (head, foot) = &*FRAME;
    let inside = page.strip_prefix(&head[..]).and_then(|rest| rest.strip_suffix(&foot[..])).expect("the frame");
    assert!(!inside.contains(&b'<'), "{}", String::from_utf8_lossy(inside));
    if records.is_some() {
        assert_eq!(serde_json::from_slice::<Value>(inside).ok(), records);
    }
});
