//! The head of a message: its first line and its header fields, read by the crate `httparse`, and what they say about the body.

use std::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Status};

use super::fault::Fault;
use super::{Kind, METHOD_CONNECT, METHODS};

/// A field: its name and its value.
pub(super) type Field<'a> = (&'a [u8], &'a [u8]);

/// What stands before the body.
pub(super) struct Head<'a> {
    /// The minor number of the version; the major is 1.
    pub(super) minor: u8,
    /// Of a request: which of `METHODS`.
    pub(super) method: usize,
    /// Of a response.
    pub(super) status: u16,
    /// The target of a request, or the words behind the status.
    pub(super) text: &'a [u8],
    pub(super) fields: Vec<Field<'a>>,
    pub(super) framing: Framing,
}

/// What the fields say about the body and the connection.
#[derive(Clone, Copy, Default)]
pub(super) struct Framing {
    pub(super) length: Option<u64>,
    pub(super) has_codings: bool,
    pub(super) is_chunked: bool,
    pub(super) has_close: bool,
    pub(super) has_keep_alive: bool,
    pub(super) has_upgrade_option: bool,
    pub(super) has_upgrade: bool,
    pub(super) has_expect: bool,
}

/// How strict the reading is.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) limit: usize,
    pub(super) is_lenient: bool,
}

/// The head that these bytes begin with, and its length. `None` if it is not complete.
///
/// # Errors
/// It is none. The place of the fault counts from the beginning of the bytes.
pub(super) fn parse(bytes: &[u8], kind: Kind, rules: Rules) -> Result<Option<(Head<'_>, usize)>, Fault> {
    check_beginning(bytes, kind)?;
    let found = match read(bytes, bytes, kind, rules, 64) {
        // Octets that are no ASCII in a target are let through, as are control characters in values if that is wanted.
        Err(fault) => match masked(bytes, rules.is_lenient) {
            Some(mask) => read(&mask, bytes, kind, rules, 64).map_err(|_| fault)?,
            None => return Err(fault),
        },
        Ok(found) => found,
    };
    if found.is_none() {
        check_lines(bytes)?;
        // What is not complete cannot be counted exactly: at least three bytes of a line are not text.
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        if bytes.len().saturating_sub(3 * lines + 32) >= rules.limit {
            return Err(Fault::HEADER_OVERFLOW.at(bytes.len()));
        }
    }
    Ok(found)
}

/// Faults that show before there is a whole line.
fn check_beginning(bytes: &[u8], kind: Kind) -> Result<(), Fault> {
    match kind {
        Kind::Response => {
            let begin = &bytes[..bytes.len().min(5)];
            if !b"HTTP/".starts_with(begin) {
                return Err(Fault::EXPECTED_HTTP.at(0));
            }
        }
        Kind::Request => {
            let end = bytes.iter().take(24).position(|byte| !byte.is_ascii_uppercase() && *byte != b'-');
            let word = &bytes[..end.unwrap_or(bytes.len().min(24))];
            let is_known = match end {
                Some(end) if bytes[end] == b' ' => METHODS.iter().any(|method| method.as_bytes() == word),
                Some(_) => false,
                None => METHODS.iter().any(|method| method.as_bytes().starts_with(word)),
            };
            if !is_known {
                return Err(Fault::METHOD.at(1));
            }
        }
    }
    Ok(())
}

/// Lines end with CR and LF. Either of them alone has another meaning to others.
fn check_lines(bytes: &[u8]) -> Result<(), Fault> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' if at == 0 || bytes[at - 1] != b'\r' => return Err(Fault::CR_EXPECTED.at(at)),
            b'\r' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => return Err(Fault::LF_EXPECTED.at(at + 1)),
            _ => {}
        }
    }
    Ok(())
}

/// The same with a harmless letter for each octet that `httparse` might refuse and we do not, and with 1.0 for the oldest of
/// versions. `None` if there is none.
fn masked(bytes: &[u8], is_lenient: bool) -> Option<Vec<u8>> {
    if let Some(rest) = bytes.strip_prefix(b"HTTP/0.9 ") {
        return Some([b"HTTP/1.0 ", rest].concat());
    }
    let passes = |byte: u8| byte >= 0x80 || (is_lenient && matches!(byte, 1..=8 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f));
    let has_some = bytes.iter().any(|byte| passes(*byte));
    has_some.then(|| bytes.iter().map(|byte| if passes(*byte) { b'x' } else { *byte }).collect())
}

/// Reads `bytes`; what is found is taken from the same places of `original`.
fn read<'a>(
    bytes: &[u8],
    original: &'a [u8],
    kind: Kind,
    rules: Rules,
    room: usize,
) -> Result<Option<(Head<'a>, usize)>, Fault> {
    if room > 64 {
        return read_into(bytes, original, kind, rules, &mut vec![MaybeUninit::uninit(); room]);
    }
    read_into(bytes, original, kind, rules, &mut [const { MaybeUninit::uninit() }; 64])
}

fn read_into<'a, 'b>(
    bytes: &'b [u8],
    original: &'a [u8],
    kind: Kind,
    rules: Rules,
    room: &mut [MaybeUninit<Header<'b>>],
) -> Result<Option<(Head<'a>, usize)>, Fault> {
    let places = room.len();
    let place = |part: &[u8]| {
        let start = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        original.get(start..start + part.len()).unwrap_or(&[])
    };
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    let (status, first, headers) = match kind {
        Kind::Request => {
            let mut request = httparse::Request::new(&mut []);
            let status = config.parse_request_with_uninit_headers(&mut request, bytes, room);
            let method = request.method.and_then(|method| METHODS.iter().position(|known| *known == method));
            let first =
                (request.version, method.unwrap_or(0), 0, request.path.map_or(&[][..], |path| place(path.as_bytes())));
            (status, first, &*request.headers)
        }
        Kind::Response => {
            let mut response = httparse::Response::new(&mut []);
            let status = config.parse_response_with_uninit_headers(&mut response, bytes, room);
            let first =
                (response.version, 0, response.code.unwrap_or(0), words(place(&[]), bytes, original, &response));
            (status, first, &*response.headers)
        }
    };
    let (minor, method, status_code, text) = first;
    let size = match status {
        Ok(Status::Complete(size)) => size,
        Ok(Status::Partial) => return Ok(None),
        Err(Error::TooManyHeaders) if places < 1 << 20 => return read(bytes, original, kind, rules, places * 8),
        Err(error) => return Err(fault_of(error, bytes, kind, minor.is_some())),
    };
    check_lines(&bytes[..size])?;
    if kind == Kind::Request {
        check_target(text, method == METHOD_CONNECT).map_err(|fault| fault.at(end_of(text, original)))?;
    }
    let fields: Vec<Field<'a>> =
        headers.iter().map(|header| (place(header.name.as_bytes()), place(header.value))).collect();
    check_size(&fields, text, original, rules)?;
    let framing = Framing::of(&fields, original, kind, rules)?;
    let head = Head { minor: minor.unwrap_or(1), method, status: status_code, text, fields, framing };
    Ok(Some((head, size)))
}

/// A target is a path, `*`, a whole URL or, for CONNECT, a host and its port. What else there is others might take for any of these.
fn check_target(target: &[u8], is_connect: bool) -> Result<(), Fault> {
    let server = match target {
        [b'/' | b'*', ..] if !is_connect => return Ok(()),
        _ if is_connect => target,
        [first, ..] if first.is_ascii_alphabetic() => {
            let scheme = target.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            match &target[scheme..] {
                [] => return Err(Fault::URL),
                [b':', b'/', b'/', server @ ..] => server,
                _ => return Err(Fault::URL_SCHEMA),
            }
        }
        _ => return Err(Fault::URL_START),
    };
    let end = server.iter().position(|byte| b"/?".contains(byte)).unwrap_or(server.len());
    let server = &server[..end];
    let is_good = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()%;:&=+$,[]@".contains(byte);
    if !server.iter().all(is_good) || server.iter().filter(|byte| **byte == b'@').count() > 1 {
        return Err(Fault::URL_SERVER);
    }
    Ok(())
}

/// The words behind the status. `httparse` has none of them if one is no ASCII.
fn words<'a>(none: &'a [u8], bytes: &[u8], original: &'a [u8], response: &httparse::Response<'_, '_>) -> &'a [u8] {
    if response.version.is_none() || response.code.is_none() {
        return none;
    }
    let end = bytes.iter().position(|byte| *byte == b'\r').unwrap_or(bytes.len());
    let line = &original[..end];
    line.get("HTTP/1.1 200 ".len()..).unwrap_or(none)
}

/// The error that Node has for one of `httparse`'s.
fn fault_of(error: Error, bytes: &[u8], kind: Kind, has_version: bool) -> Fault {
    if let Err(fault) = check_lines(bytes) {
        return fault;
    }
    match error {
        Error::HeaderName | Error::HeaderValue => Fault::HEADER_TOKEN.at(0),
        Error::NewLine if has_version || kind == Kind::Response => Fault::LF_EXPECTED.at(0),
        Error::Status => Fault::STATUS.at(0),
        Error::Version => Fault::VERSION.at(0),
        Error::TooManyHeaders => Fault::HEADER_OVERFLOW.at(bytes.len()),
        Error::Token | Error::NewLine if kind == Kind::Request => Fault::URL.at(0),
        Error::Token | Error::NewLine => Fault::HEADER_TOKEN.at(0),
    }
}

/// Names, values and the text of the first line count towards the limit; what is between them does not.
fn check_size(fields: &[Field<'_>], text: &[u8], bytes: &[u8], rules: Rules) -> Result<(), Fault> {
    if bytes.len() < rules.limit {
        return Ok(());
    }
    let mut count = text.len();
    for (name, value) in fields {
        count += name.len() + value.len();
        if count >= rules.limit {
            return Err(Fault::HEADER_OVERFLOW.at(end_of(value, bytes) + 1));
        }
    }
    if count >= rules.limit { Err(Fault::HEADER_OVERFLOW.at(0)) } else { Ok(()) }
}

/// Where a part ends in the whole.
fn end_of(part: &[u8], whole: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr()) + part.len()
}

/// The members of a list, without the white space around them.
fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

impl Framing {
    fn of(fields: &[Field<'_>], bytes: &[u8], kind: Kind, rules: Rules) -> Result<Framing, Fault> {
        let mut framing = Framing::default();
        for (name, value) in fields {
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
            match name.len() {
                6 if is("expect") => framing.has_expect = true,
                7 if is("upgrade") => framing.has_upgrade = true,
                10 if is("connection") => framing.take_options(value),
                14 if is("content-length") => {
                    framing.take_length(value, rules).map_err(|fault| fault.at(end_of(value, bytes)))?
                }
                16 if is("proxy-connection") => framing.take_options(value),
                17 if is("transfer-encoding") => {
                    framing.take_codings(value, kind, rules).map_err(|fault| fault.at(end_of(value, bytes)))?;
                }
                _ => {}
            }
        }
        Ok(framing)
    }

    fn take_options(&mut self, value: &[u8]) {
        for option in members(value) {
            self.has_close |= option.eq_ignore_ascii_case(b"close");
            self.has_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.has_upgrade_option |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }

    fn take_length(&mut self, value: &[u8], rules: Rules) -> Result<(), Fault> {
        if self.length.is_some() {
            return Err(Fault::SECOND_LENGTH);
        }
        if self.has_codings && !rules.is_lenient {
            return Err(Fault::LENGTH_WITH_CODINGS);
        }
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(Fault::LENGTH);
        }
        let length = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        self.length = Some(length.ok_or(Fault::LENGTH_OVERFLOW)?);
        Ok(())
    }

    fn take_codings(&mut self, value: &[u8], kind: Kind, rules: Rules) -> Result<(), Fault> {
        if self.length.is_some() && !rules.is_lenient {
            return Err(Fault::CODINGS_WITH_LENGTH);
        }
        if self.has_codings && !rules.is_lenient {
            return Err(Fault::CODINGS);
        }
        let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
        // Nothing comes behind the chunks.
        let before = members(value).count().saturating_sub(1);
        if kind == Kind::Request && !rules.is_lenient && members(value).take(before).any(is_chunked) {
            return Err(Fault::CODINGS_ORDER);
        }
        self.has_codings = true;
        self.is_chunked = members(value).last().is_some_and(is_chunked);
        Ok(())
    }
}

/// The fields behind a chunked body, with their length. `None` if they are not complete.
pub(super) fn parse_trailers(bytes: &[u8], rules: Rules) -> Result<Option<(Vec<Field<'_>>, usize)>, Fault> {
    let mut room = vec![httparse::EMPTY_HEADER; 1 + bytes.iter().filter(|byte| **byte == b'\n').count()];
    match httparse::parse_headers(bytes, &mut room) {
        Ok(Status::Complete((size, headers))) => {
            check_lines(&bytes[..size])?;
            let fields: Vec<Field<'_>> = headers.iter().map(|header| (header.name.as_bytes(), header.value)).collect();
            check_size(&fields, &[], bytes, rules)?;
            Ok(Some((fields, size)))
        }
        Ok(Status::Partial) => {
            check_lines(bytes)?;
            if bytes.len() >= rules.limit { Err(Fault::HEADER_OVERFLOW.at(bytes.len())) } else { Ok(None) }
        }
        Err(_) => Err(check_lines(bytes).err().unwrap_or(Fault::HEADER_TOKEN)),
    }
}
