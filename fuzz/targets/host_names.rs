//! Host names as the resolver takes them. libuv encodes letters as they are, ours are mapped first: where that changes nothing
//! the two must agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::libuv;
use oxuv_os::names::HostName;

fuzz_target!(|name: &[u8]| {
    let Ok(ours) = HostName::new(name) else { return };
    let ascii = ours.as_bytes();
    assert!(!ascii.is_empty() && ascii.len() < 256, "{ascii:?}");
    assert!(ascii.is_ascii() && !ascii.contains(&0), "{ascii:?}");
    assert_eq!(ours.as_c_str().to_bytes(), ascii);
    // What is ASCII stays so.
    assert_eq!(HostName::new(ascii).map(|again| again.as_bytes().to_vec()), Ok(ascii.to_vec()));
    if let Some(theirs) = by_libuv(name)
        && theirs.len() < 256
        && is_unmapped(name)
    {
        assert_eq!(String::from_utf8_lossy(&theirs), String::from_utf8_lossy(ascii), "{name:?}");
    }
});

/// The name as libuv encodes it; `None` if it does not.
fn by_libuv(name: &[u8]) -> Option<Vec<u8>> {
    let (mut room, from) = ([0_u8; 2048], name.as_ptr_range());
    let to = room.as_mut_ptr_range();
    // SAFETY: both ends of the name, and both of the room.
    let length = unsafe { libuv::idna_to_ascii(from.start.cast(), from.end.cast(), to.start.cast(), to.end.cast()) };
    Some(room[..usize::try_from(length).ok()? - 1].to_vec())
}

/// True if mapping leaves the name as it is: it is its own Unicode form.
fn is_unmapped(name: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let (unicode, result) = idna::domain_to_unicode(text);
    result.is_ok() && unicode == text
}
