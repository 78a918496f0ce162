//! Host names as the resolver takes them.

use std::ffi::CStr;
use std::fmt::{self, Write};

use idna::AsciiDenyList;
use idna::uts46::{ErrorPolicy, Hyphens, ProcessingSuccess, Uts46};

use crate::{Errno, Result};

/// A host name in ASCII, 255 bytes long at most.
#[derive(Clone, Copy)]
pub struct HostName {
    /// With a zero behind the name.
    bytes: [u8; 256],
    len: usize,
}

/// More bytes of UTF-8 make no name that fits.
const MOST: usize = 255 * 4;

impl HostName {
    /// The name in ASCII. One that is ASCII is taken as it is; letters beyond that are mapped (large ones to small ones, for
    /// example) and encoded by UTS 46.
    ///
    /// No name is ever cut.
    ///
    /// # Errors
    /// EINVAL for a name that is too long, empty (also after mapping), not UTF-8, has a zero byte, or has letters that names
    /// must not have.
    pub fn new(name: &[u8]) -> Result<HostName> {
        let mut ascii = HostName { bytes: [0; 256], len: 0 };
        if name.is_ascii() {
            ascii.push(name)?;
        } else {
            if name.len() > MOST {
                return Err(Errno::EINVAL);
            }
            ascii.encode(name)?;
        }
        if ascii.len == 0 || ascii.as_bytes().contains(&0) { Err(Errno::EINVAL) } else { Ok(ascii) }
    }

    /// The name, for C.
    pub fn as_c_str(&self) -> &CStr {
        // The bytes behind the name are zeros.
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }

    /// The name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn encode(&mut self, name: &[u8]) -> Result<()> {
        let (uts46, policy) = (Uts46::default(), ErrorPolicy::FailFast);
        let never_unicode = |_: &[char], _: &[char], _: bool| false;
        let mut sink = Sink { name: self, is_full: false };
        let encoded = uts46.process(name, AsciiDenyList::EMPTY, Hyphens::Allow, policy, never_unicode, &mut sink, None);
        match encoded {
            Ok(ProcessingSuccess::WroteToSink) if !sink.is_full => Ok(()),
            Ok(ProcessingSuccess::Passthrough) => self.push(name),
            _ => Err(Errno::EINVAL),
        }
    }

    /// One byte stays zero.
    fn push(&mut self, part: &[u8]) -> Result<()> {
        let end = self.len + part.len();
        if end >= self.bytes.len() {
            return Err(Errno::EINVAL);
        }
        self.bytes[self.len..end].copy_from_slice(part);
        self.len = end;
        Ok(())
    }
}

/// Writes a name as long as there is room. It never fails, since the encoder takes any failure for its own and panics.
struct Sink<'a> {
    name: &'a mut HostName,
    is_full: bool,
}

impl Write for Sink<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.is_full |= self.name.push(part.as_bytes()).is_err();
        Ok(())
    }
}

impl fmt::Debug for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_c_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascii(name: &str) -> Result<String> {
        HostName::new(name.as_bytes()).map(|name| name.as_c_str().to_str().unwrap().to_string())
    }

    #[test]
    fn ascii_is_taken_as_it_is() {
        for name in
            ["localhost", "Example.COM", "_sip._tcp.x", "a..b", ".", "xn--tda", "127.0.0.1", "fe80::1%eth0", "a b"]
        {
            assert_eq!(ascii(name).as_deref(), Ok(name));
        }
    }

    #[test]
    fn other_letters_are_mapped_and_encoded() {
        for (name, expected) in [
            ("M\u{fc}NCHEN.de", "xn--mnchen-3ya.de"),
            ("fa\u{df}.de", "xn--fa-hia.de"),
            ("\u{65e5}\u{672c}\u{8a9e}\u{3002}jp", "xn--wgv71a119e.jp"),
            ("a_b.\u{fc}", "a_b.xn--tda"),
            ("\u{fc}.", "xn--tda."),
            ("\u{2603}.net", "xn--n3h.net"),
            // Letters that only look wide.
            ("\u{ff45}xample.com", "example.com"),
        ] {
            assert_eq!(ascii(name).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn no_name_is_cut() {
        let longest = "a".repeat(255);
        assert_eq!(ascii(&longest), Ok(longest.clone()));
        assert_eq!(ascii(&format!("{longest}a")), Err(Errno::EINVAL));
        assert_eq!(ascii(&"a".repeat(100_000)), Err(Errno::EINVAL));
        // What is encoded grows: these are 250 letters, and then more than 255 bytes.
        assert_eq!(ascii(&format!("{}.\u{fc}", "a".repeat(246))).map(|name| name.len()), Ok(254));
        assert_eq!(ascii(&format!("{}.\u{fc}", "a".repeat(248))), Err(Errno::EINVAL));
        assert_eq!(ascii(&"\u{fc}".repeat(600)), Err(Errno::EINVAL));
        assert_eq!(ascii(&"\u{fc}.".repeat(40)), Err(Errno::EINVAL));
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for name in ["", "\u{ad}", "a\0b", "\0", "\u{fc}\0", "a\0\u{fc}.de", "xn--\u{fc}"] {
            assert_eq!(ascii(name), Err(Errno::EINVAL), "{name:?}");
        }
        for name in [&b"\xff"[..], b"a.\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf8\x88\x80\x80\x80"] {
            assert_eq!(HostName::new(name).map(drop), Err(Errno::EINVAL), "{name:?}");
        }
    }
}
