//! HTTP as it comes: in pieces of whatever sizes, bytes say the same as all at once. Who could cut a stream so that it says
//! something else could hide one request in another.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::Bytes;
use oxuv_js::fuzzing::{Http, tell_http};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let (how, seed) = (bytes.byte(), bytes.byte());
    let http = Http { is_request: how & 1 != 0, is_lenient: how & 2 != 0, answers_head: how & 4 != 0 };
    let whole = tell_http(http, [bytes.0]);
    assert_eq!(tell_http(http, bytes.0.chunks(1)), whole, "{http:?}");
    let mut size = usize::from(seed);
    let (mut rest, mut pieces) = (bytes.0, Vec::new());
    while !rest.is_empty() {
        // Small ones and large ones by turns.
        size = (size * 5 + 3) % 37;
        let (piece, behind) = rest.split_at(rest.len().min(1 + size));
        pieces.push(piece);
        rest = behind;
    }
    assert_eq!(tell_http(http, pieces), whole, "{http:?}");
});
