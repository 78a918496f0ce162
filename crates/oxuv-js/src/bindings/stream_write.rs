//! What a stream writes: at once what the kernel takes, and the rest by a request.

use oxuv::Errno;

use super::stream::{Caller, Stream, code, each};

/// Bytes, of which the first are sent.
struct Part {
    bytes: Vec<u8>,
    sent: usize,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }
}

/// Writes all of the parts. 0 when the kernel has taken them; 1 when it will, and `done` is called then.
pub(super) fn write(to: &Stream, mut parts: Vec<Vec<u8>>, done: Caller) -> i32 {
    // The kernel would have nothing to take.
    parts.retain(|part| !part.is_empty());
    let total: usize = parts.iter().map(Vec::len).sum();
    if total == 0 {
        return 0;
    }
    let sent = match each!(&to.stream, stream => stream.try_write_vectored(&parts)) {
        Ok(sent) => sent,
        Err(Errno::EAGAIN) => 0,
        Err(errno) => return errno.code(),
    };
    to.bytes_written.set(to.bytes_written.get() + total as f64);
    if sent == total {
        return 0;
    }
    let rest = rest(parts, sent);
    let written = each!(&to.stream, stream => stream.write_vectored(rest, move |_, result| done.status(result)));
    if written.is_ok() { 1 } else { code(written) }
}

/// Sends what the kernel takes at once. How many bytes are left, or the negative number of the error.
pub(super) fn try_write(to: &Stream, bytes: &[u8]) -> i32 {
    if bytes.is_empty() {
        return 0;
    }
    let sent = match each!(&to.stream, stream => stream.try_write(bytes)) {
        Ok(sent) => sent,
        Err(Errno::EAGAIN) => 0,
        Err(errno) => return errno.code(),
    };
    to.bytes_written.set(to.bytes_written.get() + sent as f64);
    (bytes.len() - sent) as i32
}

/// What is left of the parts when so many bytes of them are sent.
fn rest(parts: Vec<Vec<u8>>, mut sent: usize) -> Vec<Part> {
    let mut rest = Vec::with_capacity(parts.len());
    for bytes in parts {
        if sent >= bytes.len() {
            sent -= bytes.len();
        } else {
            rest.push(Part { bytes, sent });
            sent = 0;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_was_not_sent() {
        let text = |sent| {
            let parts = ["ab", "c", "def"].map(|part| part.as_bytes().to_vec()).to_vec();
            rest(parts, sent).iter().map(|part| String::from_utf8_lossy(part.as_ref()).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(text(0), ["ab", "c", "def"]);
        assert_eq!(text(1), ["b", "c", "def"]);
        assert_eq!(text(2), ["c", "def"]);
        assert_eq!(text(3), ["def"]);
        assert_eq!(text(5), ["f"]);
    }
}
