//! How many threads there are.

use oxuv_os::system::env;

/// Unless something else is asked for.
const USUAL: usize = 4;

/// The most threads that a pool has.
pub(crate) const MOST: usize = 1024;

/// A longer value is not looked at.
const ROOM: usize = 16;

/// The number that `UV_THREADPOOL_SIZE` asks for, between 1 and 1024; 4 without it.
pub(crate) fn asked_for() -> usize {
    env::copy(c"UV_THREADPOOL_SIZE", &mut [0; ROOM]).map_or(USUAL, size)
}

/// What a value means, as libuv has it: a number in front counts, as far as it fits into 32 bits, and none is 0. The value 0
/// stands for 1, and a negative one, which is a very large one without its sign, for as many as there can be.
fn size(value: &[u8]) -> usize {
    let value = value.trim_ascii_start();
    let (is_negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    // Fewer than 16 digits fit.
    let digits = digits.iter().take_while(|digit| digit.is_ascii_digit());
    let number = digits.fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    let number = if is_negative { -number } else { number };
    (number as u32 as usize).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_mean_what_they_mean_to_libuv() {
        for (value, expected) in [
            ("1", 1),
            ("4", 4),
            ("1024", 1024),
            ("1025", 1024),
            ("0", 1),
            ("", 1),
            ("many", 1),
            ("-1", 1024),
            ("-0", 1),
            ("8 threads", 8),
            ("8x", 8),
            (" 3", 3),
            ("+5", 5),
            ("--5", 1),
            ("4294967298", 2),
            ("999999999999999", 1024),
        ] {
            assert_eq!(size(value.as_bytes()), expected, "{value:?}");
        }
    }
}
