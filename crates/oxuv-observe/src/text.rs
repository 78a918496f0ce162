//! Text as traces need it, written piece by piece into a buffer that is used again and again.

use std::borrow::Cow;
use std::io::Write;

/// Appends a number.
pub(crate) fn number(to: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// How many characters [`microseconds`] makes: enough for 30 years.
pub(crate) const FIXED: usize = 20;

/// No time, as [`microseconds`] has it.
pub(crate) const NOTHING: &[u8; FIXED] = b"               0.000";

/// The figures of the numbers below 100, two of each.
const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

/// Nanoseconds as microseconds with three places, spaces before them. It is written twice for each span, so two figures at a time.
pub(crate) fn microseconds(nanoseconds: u64) -> [u8; FIXED] {
    let mut text = [b' '; FIXED];
    let (mut rest, places) = (nanoseconds / 1000, nanoseconds % 1000);
    let pair = |number: u64| [PAIRS[2 * number as usize], PAIRS[2 * number as usize + 1]];
    text[FIXED - 4] = b'.';
    text[FIXED - 3] = b'0' + (places / 100) as u8;
    text[FIXED - 2..].copy_from_slice(&pair(places % 100));
    let mut at = FIXED - 4;
    while rest >= 10 && at >= 2 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&pair(rest % 100));
        rest /= 100;
    }
    if at > 0 && (rest > 0 || at == FIXED - 4) {
        text[at - 1] = b'0' + (rest % 10) as u8;
    }
    text
}

/// Appends text as it stands between the quotes of JSON. What is no UTF-8 becomes question marks.
pub(crate) fn escaped(to: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                // Writing to memory does not fail.
                let _ = write!(to, "\\u{byte:04x}");
            }
            _ => to.push(byte),
        }
    }
}

/// Whether text is ASCII that stands between quotes as it is: so are most names.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    // Without a way out on the way, so that it is done for many at once.
    text.iter().fold(true, |is, &byte| is & (byte.wrapping_sub(b' ') < 0x5f) & (byte != b'"') & (byte != b'\\'))
}

/// The longest text in a trace, in bytes.
pub(crate) const LONGEST: usize = 400;

/// Text of whatever origin, without what is no UTF-8, and not too long for a trace.
pub(crate) fn short(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(&text[..text.len().min(LONGEST)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_places() {
        let text = |time| String::from_utf8(microseconds(time).to_vec()).unwrap();
        for (time, expected) in [
            (0, "0.000"),
            (7, "0.007"),
            (1_000, "1.000"),
            (10_000, "10.000"),
            (100_042, "100.042"),
            (1_234_567, "1234.567"),
            (60_000_000_000, "60000000.000"),
            (1_234_567_890_123_456_789, "1234567890123456.789"),
        ] {
            assert_eq!(text(time), format!("{expected:>20}"));
        }
        assert_eq!(&microseconds(0), NOTHING);
        // More than there is room for loses its first figures, and stays a number.
        assert!(text(u64::MAX).trim().parse::<f64>().is_ok());
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        let mut text = Vec::new();
        escaped(&mut text, b"a\"b\\c\n\x01");
        assert_eq!(text, b"a\\\"b\\\\c\\u000a\\u0001");
        assert!(is_plain(b"on_timer <~ T>") && is_plain(b""));
        assert!(!["a\"b", "\\", "\n", "\x7f", "\u{fc}"].into_iter().any(|text| is_plain(text.as_bytes())));
    }
}
