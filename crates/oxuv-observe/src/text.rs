//! Text as traces need it, written piece by piece into a buffer that is used again and again.

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

/// Appends nanoseconds as microseconds with three places.
pub(crate) fn microseconds(to: &mut Vec<u8>, nanoseconds: u64) {
    number(to, nanoseconds / 1000);
    let rest = nanoseconds % 1000;
    to.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
}

fn digit(of: u64) -> u8 {
    b'0' + (of % 10) as u8
}

/// How many characters [`fixed_microseconds`] makes: enough for 30 years.
pub(crate) const FIXED: usize = 20;

/// Nanoseconds as microseconds, spaces before them.
pub(crate) fn fixed_microseconds(nanoseconds: u64) -> [u8; FIXED] {
    let mut fixed = [b' '; FIXED];
    let mut text = [0; FIXED];
    let mut at = FIXED;
    let mut rest = nanoseconds;
    // Three places, a point, and at least one figure before it.
    for place in 0..FIXED {
        if place == 3 {
            at -= 1;
            text[at] = b'.';
        }
        if place > 3 && rest == 0 {
            break;
        }
        if at == 0 {
            break;
        }
        at -= 1;
        text[at] = digit(rest);
        rest /= 10;
    }
    fixed[at..].copy_from_slice(&text[at..]);
    fixed
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

/// Text of whatever origin, without what is no UTF-8, and not too long for a trace.
pub(crate) fn short(text: &[u8]) -> String {
    const LONGEST: usize = 400;
    String::from_utf8_lossy(&text[..text.len().min(LONGEST)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_places() {
        for (time, expected) in [(0, "0.000"), (7, "0.007"), (1_234_567, "1234.567"), (60_000_000_000, "60000000.000")]
        {
            let mut text = Vec::new();
            microseconds(&mut text, time);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
            assert_eq!(String::from_utf8(fixed_microseconds(time).to_vec()).unwrap(), format!("{expected:>20}"));
        }
        // More than there is room for loses its first figures, and stays a number.
        assert!(std::str::from_utf8(&fixed_microseconds(u64::MAX)).unwrap().trim().parse::<f64>().is_ok());
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        let mut text = Vec::new();
        escaped(&mut text, b"a\"b\\c\n\x01");
        assert_eq!(text, b"a\\\"b\\\\c\\u000a\\u0001");
    }
}
