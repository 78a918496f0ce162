//! A trace as a page for any browser, with nothing beside it and no network.

use std::io::{self, BufRead, Write};

/// What stands before the trace in the page.
const HEAD: &str = include_str!("view/head.html");

/// The page's script.
const SCRIPT: [&str; 3] =
    [include_str!("view/read.js"), include_str!("view/timeline.js"), include_str!("view/tables.js")];

/// The most of a trace that a page has, in bytes: more than a million records. A browser has a limit for one text, of 512 MiB, and needs
/// several times that for what it makes of it.
const MOST: u64 = 256 << 20;

/// Writes a page that shows this trace: the timeline by turn and phase, the longest callbacks, how long turns and callbacks take, and
/// what the pool's lanes did. A trace that was cut off anywhere is shown as far as it goes, and one that is too long for a page in
/// part; the page says so. Whatever is in the trace, the page takes it for text.
///
/// # Errors
/// Those of reading and writing; `InvalidData` for what is no trace.
pub fn write(mut trace: impl BufRead, mut to: impl Write) -> io::Result<()> {
    let first = next_letter(&mut trace)?;
    if first == Some(b'{') {
        let why = "this is no trace in array form: the list of records must be all of the file, without `traceEvents`";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let opens = first == Some(b'[');
    trace.consume(usize::from(opens));
    if !opens || !matches!(next_letter(&mut trace)?, Some(b'{' | b']')) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "this is no trace: there is no list of records"));
    }
    to.write_all(HEAD.as_bytes())?;
    to.write_all(b"[")?;
    let mut begin = trace.take(MOST);
    loop {
        let piece = begin.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        // The records stand in a script's element as data. Only texts have this letter, and there it may be written so.
        for (nth, part) in piece.split(|byte| *byte == b'<').enumerate() {
            to.write_all(if nth == 0 { b"" } else { b"\\u003c" })?;
            to.write_all(part)?;
        }
        let length = piece.len();
        begin.consume(length);
    }
    let is_cut = !begin.into_inner().fill_buf()?.is_empty();
    write!(to, "</script>\n<script type=\"application/json\" id=\"cut\">{is_cut}</script>\n<script>\n")?;
    SCRIPT.into_iter().try_for_each(|part| to.write_all(part.as_bytes()))?;
    to.write_all(b"</script>\n</body>\n</html>\n")?;
    to.flush()
}

/// What comes next but for space, which is skipped.
fn next_letter(trace: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match trace.fill_buf()?.first() {
            Some(byte) if byte.is_ascii_whitespace() => trace.consume(1),
            next => return Ok(next.copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn page(trace: &str) -> String {
        let mut page = Vec::new();
        write(trace.as_bytes(), &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn a_trace_cannot_leave_its_place_in_the_page() {
        let page = page("[{\"name\":\"</script><script>alert(1)</script>\"}]\n");
        assert!(!page.contains("alert(1)</script>") && page.contains("\\u003c/script>\\u003cscript>alert(1)"));
        assert_eq!(page.matches("</html>").count(), 1);
    }

    #[test]
    fn a_page_asks_for_nothing_from_elsewhere() {
        let page = page("[]");
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="));
        assert!(!page.contains("innerHTML") && !page.contains("eval("));
    }

    #[test]
    fn what_is_no_trace_is_an_error() {
        for text in ["", " \n", "{\"a\":1}", "<html>", "\0\0\0", "[", "[package]\n", "[[[["] {
            let error = write(text.as_bytes(), io::sink()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{text:?}");
        }
    }

    #[test]
    fn of_a_trace_that_is_an_object_it_is_said_that_it_is_no_array() {
        let error = write(&b"{\"traceEvents\":[]}"[..], io::sink()).unwrap_err();
        assert!(error.to_string().starts_with("this is no trace in array form"), "{error}");
    }

    #[test]
    fn of_a_trace_without_an_end_the_page_has_a_part() {
        struct Count(u64);
        impl Write for Count {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 += bytes.len() as u64;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let endless = io::BufReader::with_capacity(1 << 20, b"[{".chain(io::repeat(b' ')));
        let mut count = Count(0);
        write(endless, &mut count).unwrap();
        assert!((MOST..MOST + (1 << 20)).contains(&count.0), "{}", count.0);
    }
}
