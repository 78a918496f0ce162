//! What a parser says, as text: for tests, and for fuzzing.

use std::fmt;

use super::fault::Fault;
use super::parser::{Event, Parser};

/// A thing that a parser says. Each octet is one letter.
pub(super) enum Told {
    Head(String),
    Body(String),
    End(String),
    /// What is another protocol's.
    Rest(String),
    Fault(&'static str),
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Told::Head(text) | Told::Body(text) => f.write_str(text),
            Told::End(fields) => write!(f, "end{fields}"),
            Told::Rest(text) => write!(f, "rest {text}"),
            Told::Fault(code) => f.write_str(code),
        }
    }
}

/// All that a parser says of these bytes.
pub(super) fn told(parser: &mut Parser, bytes: &[u8]) -> Vec<Told> {
    let show = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    let list = |fields: &[super::Field<'_>]| {
        let fields = fields.iter().map(|(name, value)| format!("{}={}", show(name), show(value)));
        fields.collect::<Vec<_>>().join("|")
    };
    let (mut told, mut at) = (Vec::new(), 0);
    loop {
        match parser.next(bytes, &mut at) {
            Ok(Some(Event::Head(head, traits))) => {
                let alive = if traits.keeps_alive { " alive" } else { "" };
                let upgrades = if traits.upgrades { " upgrade" } else { "" };
                let number = head.method + usize::from(head.status);
                let text = format!("{number} {}{alive}{upgrades} {}", show(head.text), list(&head.fields));
                told.push(Told::Head(text));
            }
            Ok(Some(Event::Body(range))) => told.push(Told::Body(show(&bytes[range]))),
            Ok(Some(Event::End(fields))) => told.push(Told::End(list(&fields))),
            Ok(None) => {
                if at < bytes.len() {
                    told.push(Told::Rest(show(&bytes[at..])));
                }
                return told;
            }
            Err(Fault { code, .. }) => {
                told.push(Told::Fault(code));
                return told;
            }
        }
    }
}

/// How a connection is read.
#[cfg(fuzzing)]
#[derive(Debug, Clone, Copy)]
pub struct Http {
    /// Requests, or responses.
    pub is_request: bool,
    /// What is wrong, but cannot be taken for anything else, passes.
    pub is_lenient: bool,
    /// The first response answers a request by HEAD.
    pub answers_head: bool,
}

/// All that the bytes of a connection say, however many pieces they come in, up to the first fault. When that is found, and which
/// of several, depends on the pieces: a line that is not complete is not always looked at.
#[cfg(fuzzing)]
pub fn tell_http<'a>(http: Http, pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    use super::{Kind, parser::Asked};
    let kind = if http.is_request { Kind::Request } else { Kind::Response };
    let mut parser = Parser::new(kind, 16384, http.is_lenient);
    if http.answers_head {
        parser.ask(Asked::Head);
    }
    let mut all = String::new();
    for piece in pieces {
        for told in told(&mut parser, piece) {
            match told {
                Told::Fault(_) => return all,
                Told::Rest(text) => all.push_str(&text),
                told => all.push_str(&told.to_string()),
            }
        }
    }
    // Its end may be that of a body.
    all + if parser.finish() == Ok(true) { "end" } else { "" }
}
