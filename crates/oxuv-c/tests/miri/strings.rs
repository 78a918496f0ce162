//! Texts, addresses and clocks: NULL where it is refused, memory of any alignment, and never a byte too many.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};

use uv::{
    UV_CLOCK_MONOTONIC, uv_buf_init, uv_clock_gettime, uv_dlclose, uv_dlerror, uv_dlopen, uv_dlsym, uv_err_name,
    uv_err_name_r, uv_gettimeofday, uv_if_indextoiid, uv_if_indextoname, uv_inet_ntop, uv_inet_pton, uv_ip_name,
    uv_ip4_addr, uv_ip4_name, uv_ip6_addr, uv_ip6_name, uv_random, uv_strerror, uv_strerror_r, uv_timespec64_t,
    uv_utf16_length_as_wtf8, uv_utf16_to_wtf8, uv_wtf8_length_as_utf16, uv_wtf8_to_utf16,
};

use crate::memory::{free, new};

const EINVAL: c_int = -libc::EINVAL;

/// Memory for so many bytes, uninitialised; one more would be noticed.
unsafe fn bytes(size: usize) -> *mut c_char {
    libc::malloc(size).cast()
}

#[test]
fn null_is_refused_where_memory_is_asked_for() {
    unsafe fn test() {
        let mut size = 1;
        assert_eq!(uv_ip4_addr(null(), 1, null_mut()), EINVAL);
        assert_eq!(uv_ip4_addr(c"::".as_ptr(), 1, null_mut()), EINVAL);
        assert_eq!(uv_ip6_addr(null(), 1, null_mut()), EINVAL);
        assert_eq!(uv_ip4_name(null(), null_mut(), 0), EINVAL);
        assert_eq!(uv_ip6_name(null(), null_mut(), 0), EINVAL);
        assert_eq!(uv_ip_name(null(), null_mut(), 0), EINVAL);
        for family in [libc::AF_INET, libc::AF_INET6] {
            assert_eq!(uv_inet_pton(family, null(), null_mut()), EINVAL);
            assert_eq!(uv_inet_pton(family, c"::".as_ptr(), null_mut()), EINVAL);
            assert_eq!(uv_inet_ntop(family, null(), null_mut(), 0), EINVAL);
            assert_eq!(uv_inet_ntop(family, [0; 16].as_ptr().cast(), null_mut(), 0), -libc::ENOSPC);
            assert_eq!(uv_inet_ntop(family, [0; 16].as_ptr().cast(), null_mut(), 46), EINVAL);
        }
        assert_eq!(uv_inet_ntop(libc::AF_UNIX, null(), null_mut(), 0), -libc::EAFNOSUPPORT);
        assert_eq!(uv_if_indextoname(1, null_mut(), &raw mut size), EINVAL);
        assert_eq!(uv_if_indextoiid(1, null_mut(), null_mut()), EINVAL);
        assert!(uv_strerror_r(EINVAL, null_mut(), 0).is_null());
        assert!(uv_err_name_r(1, null_mut(), 0).is_null());
        assert_eq!(uv_utf16_length_as_wtf8(null(), -1), 0);
        assert_eq!(uv_utf16_to_wtf8(null(), -1, null_mut(), null_mut()), 0);
        assert_eq!(uv_wtf8_length_as_utf16(null()), EINVAL as isize);
        uv_wtf8_to_utf16(null(), null_mut(), 1);
        uv_wtf8_to_utf16(c"".as_ptr(), null_mut(), 1);
        assert_eq!(uv_dlopen(null(), null_mut()), -1);
        assert_eq!(uv_dlsym(null_mut(), null(), null_mut()), -1);
        assert_eq!(CStr::from_ptr(uv_dlerror(null())), c"no error");
        uv_dlclose(null_mut());
        assert_eq!(uv_random(null_mut(), null_mut(), null_mut(), 1, 0, None), -libc::EFAULT);
        assert_eq!(uv_random(null_mut(), null_mut(), null_mut(), 0, 0, None), 0);
        assert_eq!(uv_clock_gettime(UV_CLOCK_MONOTONIC, null_mut()), -libc::EFAULT);
        assert_eq!(uv_gettimeofday(null_mut()), EINVAL);
        assert_eq!(uv_buf_init(null_mut(), 9).len, 9);
    }
    // SAFETY: null is what the functions are asked about; the other pointers are to values that live long enough.
    unsafe { test() }
}

#[test]
fn texts_of_errors_fit_their_memory_exactly() {
    unsafe fn test() {
        for (error, name, message) in [
            (EINVAL, c"EINVAL", c"invalid argument"),
            (c_int::MIN, c"Unknown system error -2147483648", c"Unknown system error -2147483648"),
        ] {
            assert_eq!(CStr::from_ptr(uv_err_name(error)), name);
            assert_eq!(CStr::from_ptr(uv_strerror(error)), message);
            for size in [1, 2, message.count_bytes() + 1] {
                let text = bytes(size);
                assert!(message.to_bytes().starts_with(CStr::from_ptr(uv_strerror_r(error, text, size)).to_bytes()));
                assert!(name.to_bytes().starts_with(CStr::from_ptr(uv_err_name_r(error, text, size)).to_bytes()));
                libc::free(text.cast());
            }
        }
    }
    // SAFETY: the memory has the size that the functions are told.
    unsafe { test() }
}

#[test]
fn addresses_may_lie_anywhere() {
    unsafe fn test() {
        let memory = bytes(29);
        let place = memory.add(1);
        assert_eq!(uv_ip4_addr(c"1.2.3.4".as_ptr(), 5, place.cast()), 0);
        let text = bytes(8);
        assert_eq!(uv_ip_name(place.cast(), text, 8), 0);
        assert_eq!(CStr::from_ptr(text), c"1.2.3.4");
        // Without an interface: Miri knows none.
        assert_eq!(uv_ip6_addr(c"fe80::1".as_ptr(), 5, place.cast()), 0);
        assert_eq!(uv_ip_name(place.cast(), text, 8), 0);
        assert_eq!(CStr::from_ptr(text), c"fe80::1");
        assert_eq!(uv_ip6_name(place.cast(), text, 7), -libc::ENOSPC);
        assert_eq!(uv_inet_pton(libc::AF_INET6, c"::1%lo".as_ptr(), place.cast()), 0);
        assert_eq!(uv_inet_ntop(libc::AF_INET6, place.cast(), text, 4), 0);
        assert_eq!(CStr::from_ptr(text), c"::1");
        libc::free(text.cast());
        libc::free(memory.cast());
    }
    // SAFETY: behind the odd address are 28 bytes, as many as the larger structure has; the text has its eight.
    unsafe { test() }
}

#[test]
fn units_and_bytes_stay_within_their_memory() {
    unsafe fn test() {
        let units = [0x41, 0xd83d, 0xde00, 0xdfff, 0];
        let mut text = null_mut();
        let mut size = 0;
        assert_eq!(uv_utf16_to_wtf8(units.as_ptr(), -1, &raw mut text, &raw mut size), 0);
        assert_eq!(CStr::from_ptr(text).to_bytes(), b"A\xf0\x9f\x98\x80\xed\xbf\xbf");
        let count = uv_wtf8_length_as_utf16(text) as usize;
        let back: *mut u16 = bytes(2 * count).cast();
        uv_wtf8_to_utf16(text, back, count);
        assert_eq!(std::slice::from_raw_parts(back, count), units);
        libc::free(back.cast());
        libc::free(text.cast());
        for room in 0..=8 {
            let mut text = bytes(room + 1);
            let memory = text;
            let mut size = room;
            let full = if room < 8 { -libc::ENOBUFS } else { 0 };
            assert_eq!(uv_utf16_to_wtf8(units.as_ptr(), 4, &raw mut text, &raw mut size), full);
            assert_eq!((size, CStr::from_ptr(memory).count_bytes()), (8, room));
            libc::free(memory.cast());
        }
    }
    // SAFETY: the units have a zero at their end; memory is as large as the functions are told.
    unsafe { test() }
}

#[test]
fn times_and_random_bytes_are_written_whole() {
    unsafe fn test() {
        // Not the time of day, which Miri keeps from its programs.
        let time = new::<uv_timespec64_t>();
        assert_eq!(uv_clock_gettime(UV_CLOCK_MONOTONIC, time), 0);
        assert!((*time).tv_sec >= 0 && (0..1_000_000_000).contains(&(*time).tv_nsec));
        free(time);
        let random = bytes(40);
        assert_eq!(uv_random(null_mut(), null_mut(), random.cast(), 40, 0, None), 0);
        assert!(std::slice::from_raw_parts(random, 40).iter().any(|&byte| byte != 0));
        libc::free(random.cast());
    }
    // SAFETY: the memory is what the functions ask for.
    unsafe { test() }
}
