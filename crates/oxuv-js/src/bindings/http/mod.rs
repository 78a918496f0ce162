//! HTTP/1.1 as it comes: a parser per connection. `lib/internal/http/parser.js` stands on it.

mod fault;
mod head;
mod parser;
#[cfg(test)]
mod tests;

use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Array, Ctx, IntoJs, JsLifetime, Object, Result, String as Text, Value};

use fault::Fault;
use head::Field;
use oxuv_js_bytes::Bytes;
use parser::{Asked, Event, Parser};

/// Which messages a parser reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
}

/// The methods of requests; others are refused. In the order that Node's parser numbers them for scripts: alphabetic.
const METHODS: [&str; 34] = [
    "ACL",
    "BIND",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LINK",
    "LOCK",
    "M-SEARCH",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "NOTIFY",
    "OPTIONS",
    "PATCH",
    "POST",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "PUT",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "TRACE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE",
];

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("methods", METHODS.to_vec())?;
    object.set("parser", Func::from(HttpParser::new))
}

/// What the script's side has of a parser.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Parser")]
pub(crate) struct HttpParser {
    #[qjs(skip_trace)]
    parser: Parser,
}

impl HttpParser {
    fn new(is_request: bool, limit: f64, is_lenient: bool) -> HttpParser {
        let kind = if is_request { Kind::Request } else { Kind::Response };
        HttpParser { parser: Parser::new(kind, limit as usize, is_lenient) }
    }
}

/// The first of the values of an event.
mod event {
    pub(super) const STATE: i32 = 0;
    pub(super) const HEAD: i32 = 1;
    pub(super) const BODY: i32 = 2;
    pub(super) const END: i32 = 3;
    pub(super) const FAULT: i32 = 4;
}

#[rquickjs::methods(rename_all = "camelCase")]
impl HttpParser {
    /// Reads these bytes, and says what is in them: a list of events, each a number and its values.
    ///
    /// * HEAD, minor version, number of the method or status, target or words, names and values of the fields, traits
    ///   (1: the connection is kept, 2: another protocol may follow, 4: the field `Expect`)
    /// * BODY, begin, end: a part of the bytes given
    /// * END, names and values of the trailers, if there are any
    /// * FAULT, code, reason, how many bytes were good
    /// * STATE, 0 between messages or 1 in a head or 2, how many bytes are read, how many of the next need not be given: the
    ///   last event
    ///
    /// `passed` bytes of the body were not given since the last time.
    fn execute<'js>(&mut self, ctx: Ctx<'js>, bytes: Bytes, passed: f64) -> Result<Array<'js>> {
        self.parser.pass(passed as u64);
        let mut list = List { array: Array::new(ctx.clone())?, length: 0 };
        read(&mut self.parser, &ctx, &bytes.0, &mut list)?;
        Ok(list.array)
    }

    /// Whether another protocol follows the head that was told of last.
    fn decide(&mut self, is_upgrade: bool) {
        self.parser.decide(is_upgrade);
    }

    /// What the next response is for: 0, 1 for HEAD, 2 for CONNECT.
    fn ask(&mut self, method: i32) {
        self.parser.ask(match method {
            1 => Asked::Head,
            2 => Asked::Connect,
            _ => Asked::Any,
        });
    }

    /// The end of the connection's bytes: the events that this makes.
    fn finish<'js>(&mut self, ctx: Ctx<'js>) -> Result<Array<'js>> {
        let mut list = List { array: Array::new(ctx.clone())?, length: 0 };
        match self.parser.finish() {
            Ok(true) => {
                list.push(event::END)?;
                list.push(Value::new_undefined(ctx))?;
            }
            Ok(false) => {}
            Err(fault) => list.push_fault(fault)?,
        }
        list.push_state(&self.parser, 0)?;
        Ok(list.array)
    }
}

/// Reads all of the bytes that are HTTP.
fn read<'js>(parser: &mut Parser, ctx: &Ctx<'js>, bytes: &[u8], list: &mut List<'js>) -> Result<()> {
    let mut at = 0;
    loop {
        match parser.next(bytes, &mut at) {
            Ok(Some(event)) => list.push_event(ctx, event)?,
            Ok(None) => break,
            Err(fault) => {
                list.push_fault(fault)?;
                break;
            }
        }
    }
    list.push_state(parser, at)
}

/// A list that grows.
struct List<'js> {
    array: Array<'js>,
    length: usize,
}

impl<'js> List<'js> {
    fn push(&mut self, value: impl IntoJs<'js>) -> Result<()> {
        self.array.set(self.length, value)?;
        self.length += 1;
        Ok(())
    }

    fn push_event(&mut self, ctx: &Ctx<'js>, event: Event<'_>) -> Result<()> {
        match event {
            Event::Head(head, traits) => {
                self.push(event::HEAD)?;
                self.push(i32::from(head.minor))?;
                self.push(head.method as i32 + i32::from(head.status))?;
                self.push(text(ctx, head.text)?)?;
                self.push(fields(ctx, &head.fields)?)?;
                self.push(
                    i32::from(traits.keeps_alive) + 2 * i32::from(traits.upgrades) + 4 * i32::from(traits.expects),
                )
            }
            Event::Body(range) => {
                self.push(event::BODY)?;
                self.push(range.start as f64)?;
                self.push(range.end as f64)
            }
            Event::End(trailers) => {
                self.push(event::END)?;
                match trailers.is_empty() {
                    true => self.push(Value::new_undefined(ctx.clone())),
                    false => self.push(fields(ctx, &trailers)?),
                }
            }
        }
    }

    fn push_fault(&mut self, fault: Fault) -> Result<()> {
        self.push(event::FAULT)?;
        self.push(fault.code)?;
        self.push(fault.reason)?;
        self.push(fault.place as f64)
    }

    fn push_state(&mut self, parser: &Parser, read: usize) -> Result<()> {
        self.push(event::STATE)?;
        self.push(if parser.is_between() { 0 } else { 2 - i32::from(parser.is_in_head()) })?;
        self.push(read as f64)?;
        self.push(parser.left())
    }
}

/// Names and values in turn.
fn fields<'js>(ctx: &Ctx<'js>, fields: &[Field<'_>]) -> Result<Array<'js>> {
    let mut list = List { array: Array::new(ctx.clone())?, length: 0 };
    for (name, value) in fields {
        list.push(text(ctx, name)?)?;
        list.push(text(ctx, value)?)?;
    }
    Ok(list.array)
}

/// Each byte is a character. Line ends within a value, which has several lines then, go.
fn text<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Text<'js>> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() && !text.contains('\r') => Text::from_str(ctx.clone(), text),
        _ => {
            let text: String =
                bytes.iter().filter(|byte| !b"\r\n".contains(byte)).map(|byte| char::from(*byte)).collect();
            Text::from_str(ctx.clone(), &text)
        }
    }
}
