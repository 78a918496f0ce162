//! Texts as addresses, and addresses as texts: as libuv has them.

#![no_main]
#![allow(unsafe_op_in_unsafe_fn, reason = "they are C programs in Rust's clothes")]

use std::ffi::CString;
use std::mem::zeroed;

use libc::{AF_INET, AF_INET6, in_addr, in6_addr, sockaddr_in, sockaddr_in6};
use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::{Bytes, libuv};
use uv::{uv_inet_ntop, uv_inet_pton, uv_ip4_addr, uv_ip6_addr};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let (port, size) = (i32::from(bytes.byte()), usize::from(bytes.byte()) % 70);
    let text = CString::new(bytes.text()).expect("it has no zero");
    // SAFETY: texts with their zeros, and memory for what is asked for; zero is a value of all of it.
    unsafe {
        read_ipv4(&text, port);
        read_ipv6(&text, port);
        for family in [AF_INET, AF_INET6, bytes.byte().into()] {
            write(family, bytes.0, size);
        }
    }
});

unsafe fn read_ipv4(text: &CString, port: i32) {
    let (mut ours, mut theirs): (sockaddr_in, in_addr) = (zeroed(), zeroed());
    let code = uv_ip4_addr(text.as_ptr(), port, &mut ours);
    assert_eq!(code, libuv::inet_pton(AF_INET, text.as_ptr(), (&raw mut theirs).cast()), "{text:?}");
    assert_eq!(code, uv_inet_pton(AF_INET, text.as_ptr(), (&raw mut theirs).cast()));
    if code == 0 {
        assert_eq!(ours.sin_addr.s_addr, theirs.s_addr, "{text:?}");
    }
}

unsafe fn read_ipv6(text: &CString, port: i32) {
    let (mut ours, mut theirs, mut other): (sockaddr_in6, in6_addr, in6_addr) = (zeroed(), zeroed(), zeroed());
    let code = uv_ip6_addr(text.as_ptr(), port, &mut ours);
    assert_eq!(code, uv_inet_pton(AF_INET6, text.as_ptr(), (&raw mut other).cast()));
    // Of a longer text before the interface libuv reads only the beginning.
    let is_short = text.as_bytes().iter().take_while(|&&byte| byte != b'%').count() < 46;
    if is_short {
        let expected = libuv::inet_pton(AF_INET6, text.as_ptr(), (&raw mut theirs).cast());
        assert_eq!(code, expected, "{text:?}");
    }
    if code == 0 {
        assert_eq!(ours.sin6_addr.s6_addr, other.s6_addr, "{text:?}");
        assert!(!is_short || ours.sin6_addr.s6_addr == theirs.s6_addr, "{text:?}");
    }
}

/// An address of this family, as a text in so many bytes.
unsafe fn write(family: i32, bytes: &[u8], size: usize) {
    let mut address = [0_u8; 16];
    let count = bytes.len().min(16);
    address[..count].copy_from_slice(&bytes[..count]);
    let (mut ours, mut theirs) = (vec![1_u8; size], vec![1_u8; size]);
    let code = uv_inet_ntop(family, address.as_ptr().cast(), ours.as_mut_ptr().cast(), size);
    let expected = libuv::inet_ntop(family, address.as_ptr().cast(), theirs.as_mut_ptr().cast(), size);
    assert_eq!(code, expected, "{address:?} of family {family} in {size}");
    let text = |bytes: &[u8]| bytes.split(|&byte| byte == 0).next().map(<[u8]>::to_vec);
    assert!(size == 0 || text(&ours) == text(&theirs), "{address:?}: {ours:?} {theirs:?}");
}
