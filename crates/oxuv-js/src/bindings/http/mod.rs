//! HTTP/1.1 as it comes: a parser per connection. `lib/internal/http/parser.js` stands on it.

mod fault;
mod head;
mod parser;
#[cfg(test)]
mod tests;
#[cfg(any(test, fuzzing))]
pub(crate) mod told;

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Array, ArrayBuffer, Class, Ctx, IntoJs, JsLifetime, Object, Result, String as Text, Value};

use super::stream::{self, Caller, Stream, each};
use crate::host::Kept;
use fault::Fault;
use head::Field;
use oxuv_js_engine::Bytes;
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

/// The place of CONNECT among them.
const METHOD_CONNECT: usize = 3;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("methods", METHODS.to_vec())?;
    object.set("parser", Func::from(HttpParser::new))
}

/// What the script's side has of a parser.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Parser")]
pub(crate) struct HttpParser {
    #[qjs(skip_trace)]
    parser: Rc<RefCell<Parser>>,
}

impl HttpParser {
    fn new(is_request: bool, limit: f64, is_lenient: bool) -> HttpParser {
        let kind = if is_request { Kind::Request } else { Kind::Response };
        HttpParser { parser: Rc::new(RefCell::new(Parser::new(kind, limit as usize, is_lenient))) }
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
    fn execute<'js>(&self, ctx: Ctx<'js>, bytes: Bytes, passed: f64) -> Result<Array<'js>> {
        let mut parser = self.parser.borrow_mut();
        parser.pass(passed as u64);
        read(&mut parser, &ctx, &bytes.0, None).map(|(list, _)| list)
    }

    /// Reads from a stream, and calls `callback(events, chunk)`. Parts of bodies are buffers in these events. `chunk` is all
    /// that came, if some of it is not read. An error of the stream, or its end, is `callback(error)`.
    fn read_from<'js>(&self, ctx: Ctx<'js>, stream: Class<'js, Stream>, callback: Kept) -> i32 {
        let (parser, caller) = (self.parser.clone(), Caller::new(&ctx, callback));
        let stream = stream.borrow();
        let count = stream.bytes_read.clone();
        let on_read = move |bytes: oxuv::Result<&[u8]>| match bytes {
            Ok(bytes) => {
                count.set(count.get() + bytes.len() as f64);
                caller.call_with(|host, ctx, function| {
                    let (list, read) = read(&mut parser.borrow_mut(), ctx, bytes, Some(bytes))?;
                    let rest = (read < bytes.len()).then(|| ArrayBuffer::new_copy(ctx.clone(), bytes)).transpose()?;
                    host.call_back(ctx, function, (list, rest));
                    Ok(())
                });
            }
            Err(errno) => caller.call(|_| Ok((errno.code(),))),
        };
        stream::code(each!(&stream.stream, stream => {
            let _ = stream.read_stop();
            stream.read_start(move |_, bytes| on_read(bytes))
        }))
    }

    /// Whether another protocol follows the head that was told of last.
    fn decide(&self, is_upgrade: bool) {
        self.parser.borrow_mut().decide(is_upgrade);
    }

    /// What the next response is for: 0, 1 for HEAD, 2 for CONNECT.
    fn ask(&self, method: i32) {
        self.parser.borrow_mut().ask(match method {
            1 => Asked::Head,
            2 => Asked::Connect,
            _ => Asked::Any,
        });
    }

    /// The end of the connection's bytes: the events that this makes.
    fn finish<'js>(&self, ctx: Ctx<'js>) -> Result<Array<'js>> {
        let mut list = List { array: Array::new(ctx.clone())?, length: 0 };
        let mut parser = self.parser.borrow_mut();
        match parser.finish() {
            Ok(true) => {
                list.push(event::END)?;
                list.push(Value::new_undefined(ctx))?;
            }
            Ok(false) => {}
            Err(fault) => list.push_fault(fault)?,
        }
        list.push_state(&parser, 0)?;
        Ok(list.array)
    }
}

/// Reads all of the bytes that are HTTP: the events, and how many bytes that were. Parts of bodies are copied from `source`.
fn read<'js>(parser: &mut Parser, ctx: &Ctx<'js>, bytes: &[u8], source: Option<&[u8]>) -> Result<(Array<'js>, usize)> {
    let mut list = List { array: Array::new(ctx.clone())?, length: 0 };
    let mut at = 0;
    loop {
        match (parser.next(bytes, &mut at), source) {
            (Ok(Some(Event::Body(range))), Some(source)) => {
                list.push(event::BODY)?;
                list.push(ArrayBuffer::new_copy(ctx.clone(), &source[range])?)?;
                list.push(0)?;
            }
            (Ok(Some(event)), _) => list.push_event(ctx, event)?,
            (Ok(None), _) => break,
            (Err(fault), _) => {
                list.push_fault(fault)?;
                // What is wrong is shown with all that came.
                at = 0;
                break;
            }
        }
    }
    list.push_state(parser, at)?;
    Ok((list.array, at))
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
