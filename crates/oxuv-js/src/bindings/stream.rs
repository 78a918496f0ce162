//! Stream handles: TCP, pipes of every kind and terminals, all by one class. `net`, `tty` and `child_process` stand on it.
//!
//! A handle is an object of the class `Stream`, with the methods that Node's handles have. What it calls is a property of it
//! or an argument, and is called from the loop as `callback(status, ...)`: 0, a count, or the negative number of an error. A
//! method returns 0 or such a number. A handle is the loop's until it is closed; what it is to call lives so long at most.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use oxuv::{Errno, Handle, Pipe, Tcp, Tty};
use oxuv_js_engine::Bytes;
use rquickjs::class::Trace;
use rquickjs::function::{IntoArgs, Opt, This};
use rquickjs::{ArrayBuffer, Class, Ctx, Function, JsLifetime, Object, Persistent, Result, Value};

use super::{net, stream_write};
use crate::host::{Host, Kept, host};

/// A stream of the loop's, whatever its kind.
#[derive(Clone)]
pub(crate) enum AnyStream {
    Tcp(Tcp),
    Pipe(Pipe),
    Tty(Tty),
}

/// Does the same with a stream of any kind.
macro_rules! each {
    ($stream:expr, $name:ident => $what:expr) => {
        match $stream {
            $crate::bindings::stream::AnyStream::Tcp($name) => $what,
            $crate::bindings::stream::AnyStream::Pipe($name) => $what,
            $crate::bindings::stream::AnyStream::Tty($name) => $what,
        }
    };
}
pub(super) use each;

impl AnyStream {
    pub(crate) fn handle(&self) -> &Handle {
        each!(self, stream => stream)
    }
}

/// What the script's side has of a stream.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Stream")]
pub(crate) struct Stream {
    #[qjs(skip_trace)]
    pub(super) stream: AnyStream,
    #[qjs(skip_trace)]
    pub(super) bytes_read: Rc<Cell<f64>>,
    #[qjs(skip_trace)]
    pub(super) bytes_written: Cell<f64>,
}

impl Stream {
    /// The object that the script gets.
    pub(crate) fn wrap<'js>(ctx: &Ctx<'js>, stream: AnyStream) -> Result<Class<'js, Stream>> {
        let (bytes_read, bytes_written) = (Rc::default(), Cell::default());
        Class::instance(ctx.clone(), Stream { stream, bytes_read, bytes_written })
    }
}

/// 0, or the negative number of the error.
pub(crate) fn code(result: oxuv::Result<()>) -> i32 {
    result.map_or_else(Errno::code, |()| 0)
}

/// A function of the script's, for a closure that the loop calls.
pub(crate) struct Caller {
    host: Weak<Host>,
    function: Kept,
    /// Where it was given, if anybody wants to know.
    place: Option<Rc<str>>,
}

impl Caller {
    pub(crate) fn new(ctx: &Ctx<'_>, function: Kept) -> Caller {
        let host = host(ctx);
        let (function, place) = (host.in_frame(ctx, function), host.place(ctx));
        Caller { host: Rc::downgrade(&host), function, place }
    }

    /// Whose it is, as long as that is there.
    pub(crate) fn host(&self) -> Option<Rc<Host>> {
        self.host.upgrade()
    }

    /// Calls it with what `args` makes, and runs ticks and microtasks. If there is no memory for that, it is an exception of
    /// the script's.
    pub(crate) fn call<A>(&self, args: impl for<'js> FnOnce(&Ctx<'js>) -> Result<A>)
    where
        A: for<'js> IntoArgs<'js>,
    {
        self.call_with(|host, ctx, function| {
            let args = args(ctx)?;
            host.call_back(ctx, function, args);
            Ok(())
        });
    }

    /// The same, for what cannot outlive the engine's lock.
    pub(crate) fn call_with(&self, call: impl for<'js> FnOnce(&Host, &Ctx<'js>, &Function<'js>) -> Result<()>) {
        let Some(host) = self.host.upgrade() else { return };
        let call = |ctx: Ctx<'_>| {
            let called = self.function.clone().restore(&ctx).and_then(|function| call(&host, &ctx, &function));
            if let Err(error) = called {
                host.uncaught_error(&ctx, error);
            }
        };
        host.caused_by(self.place.as_ref(), || host.context.with(call));
    }

    /// Calls it with a status.
    pub(crate) fn status(self, result: oxuv::Result<()>) {
        self.call(|_| Ok((code(result),)));
    }
}

/// A handle's object, for a closure that calls what it has as a property.
pub(crate) struct Owner {
    host: Weak<Host>,
    object: Persistent<Object<'static>>,
}

impl Owner {
    fn new<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Owner {
        Owner { host: Rc::downgrade(&host(ctx)), object: Persistent::save(ctx, object.clone()) }
    }

    /// Calls the property with the status and with what `value` makes.
    pub(super) fn call(
        &self,
        name: &str,
        status: i32,
        value: impl for<'js> FnOnce(&Ctx<'js>) -> Result<Option<Class<'js, Stream>>>,
    ) {
        let Some(host) = self.host.upgrade() else { return };
        host.context.with(|ctx| {
            let call = || {
                let object = self.object.clone().restore(&ctx)?;
                let function: Function<'_> = object.get(name)?;
                let value = value(&ctx)?;
                host.call_back(&ctx, &function, (This(object), status, value));
                Ok(())
            };
            if let Err(error) = call() {
                host.uncaught_error(&ctx, error);
            }
        });
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Stream {
    /// Reads, and calls the property `onread(count, buffer)`, or `onread(error)`; the end of the stream is EOF. Which function
    /// that is, is looked up here.
    fn read_start<'js>(this: This<Class<'js, Stream>>, ctx: Ctx<'js>) -> Result<i32> {
        let reader = Caller::new(&ctx, this.get("onread")?);
        let this = this.borrow();
        let count = this.bytes_read.clone();
        let read = move |bytes: oxuv::Result<&[u8]>| match bytes {
            Ok(bytes) => {
                count.set(count.get() + bytes.len() as f64);
                // The one copy there is, into memory that counts towards what the script may use.
                reader.call_with(|host, ctx, function| {
                    let buffer = ArrayBuffer::new_copy(ctx.clone(), bytes)?;
                    host.call_back(ctx, function, (bytes.len() as i32, buffer));
                    Ok(())
                });
            }
            Err(errno) => reader.call(|_| Ok((errno.code(),))),
        };
        Ok(code(each!(&this.stream, stream => {
            let _ = stream.read_stop();
            stream.read_start(move |_, bytes| read(bytes))
        })))
    }

    fn read_stop(&self) -> i32 {
        code(each!(&self.stream, stream => stream.read_stop()))
    }

    /// Writes bytes, or a text as UTF-8. 0 when the kernel has taken all of it; 1 when it will, and `done(status)` is called then.
    fn write(&self, ctx: Ctx<'_>, bytes: Bytes, done: Kept) -> i32 {
        stream_write::write(self, vec![bytes.0], Caller::new(&ctx, done))
    }

    /// Sends what the kernel takes at once. How many bytes are left, or the negative number of the error.
    fn try_write(&self, bytes: Bytes) -> i32 {
        stream_write::try_write(self, &bytes.0)
    }

    /// As `write`, of several in a row.
    fn writev(&self, ctx: Ctx<'_>, parts: Vec<Bytes>, done: Kept) -> i32 {
        stream_write::write(self, parts.into_iter().map(|part| part.0).collect(), Caller::new(&ctx, done))
    }

    /// Ends the writing side behind everything that is written; then `done(status)`.
    fn shutdown(&self, ctx: Ctx<'_>, done: Kept) -> i32 {
        let done = Caller::new(&ctx, done);
        code(each!(&self.stream, stream => stream.shutdown(move |_, result| done.status(result))))
    }

    /// Closes it, and calls `done` in the closing phase. Closed is closed: again does nothing.
    fn close<'js>(&self, ctx: Ctx<'js>, done: Opt<Value<'js>>) -> Result<()> {
        let handle = self.stream.handle();
        if handle.is_closing() {
            return Ok(());
        }
        let _ = match net::callback(&ctx, done)? {
            Some(done) => handle.close_then(move |_| done.call(|_| Ok(()))),
            None => handle.close(),
        };
        Ok(())
    }

    /// As `close`, and resets the connection.
    fn reset<'js>(&self, ctx: Ctx<'js>, done: Opt<Value<'js>>) -> Result<i32> {
        net::reset(&self.stream, net::callback(&ctx, done)?)
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        let _ = self.stream.handle().r#ref();
    }

    fn unref(&self) {
        let _ = self.stream.handle().unref();
    }

    fn has_ref(&self) -> bool {
        self.stream.handle().has_ref()
    }

    /// The number of its descriptor, -1 without one.
    #[qjs(get)]
    fn fd(&self) -> i32 {
        self.stream.handle().raw_fd().unwrap_or(-1)
    }

    #[qjs(get)]
    fn bytes_read(&self) -> f64 {
        self.bytes_read.get()
    }

    #[qjs(get)]
    fn bytes_written(&self) -> f64 {
        self.bytes_written.get()
    }

    /// Bytes that the kernel has not taken.
    #[qjs(get)]
    fn write_queue_size(&self) -> f64 {
        each!(&self.stream, stream => stream.write_queue_size()) as f64
    }

    /// `pipe`, `tcp` or `tty`.
    #[qjs(get)]
    fn kind(&self) -> &'static str {
        match self.stream {
            AnyStream::Tcp(_) => "tcp",
            AnyStream::Pipe(_) => "pipe",
            AnyStream::Tty(_) => "tty",
        }
    }

    /// Whether it can be read from, and written to: what is known of a pipe that was opened.
    #[qjs(get)]
    fn readable(&self) -> bool {
        each!(&self.stream, stream => stream.is_readable())
    }

    #[qjs(get)]
    fn writable(&self) -> bool {
        each!(&self.stream, stream => stream.is_writable())
    }

    /// Takes over a descriptor by its number.
    fn open(&self, ctx: Ctx<'_>, number: i32) -> i32 {
        code(net::open(&host(&ctx), &self.stream, number))
    }

    /// Binds it to an address and a port, or a pipe to a path. Flags: 1 for IPv6 alone.
    fn bind(&self, address: String, port: Opt<u16>, flags: Opt<u32>) -> i32 {
        code(net::bind(&self.stream, &address, port.0.unwrap_or(0), flags.0.unwrap_or(0)))
    }

    /// Listens, and calls the property `onconnection(status, handle)` that it has by then.
    fn listen<'js>(this: This<Class<'js, Stream>>, ctx: Ctx<'js>, backlog: i32) -> Result<i32> {
        let listener = Owner::new(&ctx, &this.0);
        Ok(code(net::listen(&this.borrow().stream, backlog, listener)))
    }

    /// Connects to an address and a port, or a pipe to a path; then `done(status)`.
    fn connect(&self, ctx: Ctx<'_>, address: String, port: u16, done: Kept) -> i32 {
        code(net::connect(&self.stream, &address, port, Caller::new(&ctx, done)))
    }

    /// Fills `out` with the address it is bound to.
    fn getsockname(&self, out: Object<'_>) -> Result<i32> {
        net::local_address(&self.stream, &out)
    }

    /// Fills `out` with the address of the other end.
    fn getpeername(&self, out: Object<'_>) -> Result<i32> {
        net::peer_address(&self.stream, &out)
    }

    fn set_no_delay(&self, on: bool) -> i32 {
        net::set_no_delay(&self.stream, on)
    }

    /// Has an idle connection probed after so many seconds.
    fn set_keep_alive(&self, on: bool, seconds: f64) -> i32 {
        net::set_keep_alive(&self.stream, on, seconds)
    }

    /// Lets all users read (1), and write (2), through a pipe's path.
    fn fchmod(&self, mode: u32) -> i32 {
        net::chmod(&self.stream, mode)
    }
}
