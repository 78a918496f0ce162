//! What a script has of one end of a channel.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use oxuv::{Async, Handle};
use oxuv_js_engine::Bytes;
use rquickjs::class::Trace;
use rquickjs::function::Opt;
use rquickjs::{Array, Class, Ctx, IntoJs, JsLifetime, Result, Value};

use super::channel::{Endpoint, Message};
use crate::bindings::OrThrow;
use crate::bindings::stream::Caller;
use crate::host::{Kept, host};

/// So many messages are told of before others have their turn.
const MOST_AT_ONCE: usize = 1000;

/// One end of a channel.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
pub(crate) struct Port {
    #[qjs(skip_trace)]
    inner: Rc<Inner>,
}

struct Inner {
    /// Nothing once it is closed, or has gone to somebody else.
    end: RefCell<Option<Endpoint>>,
    /// What wakes this thread's loop, from the first `listen` on.
    wake: RefCell<Option<Async>>,
    is_started: Cell<bool>,
    /// Closed by the script's side, which is not told yet.
    is_closing: Cell<bool>,
    /// Whether it is in the midst of telling what has come.
    is_telling: Cell<bool>,
    on_close: RefCell<Weak<Cell<Option<Caller>>>>,
}

/// Two ports that are connected.
pub(super) fn channel(ctx: Ctx<'_>) -> Result<Vec<Class<'_, Port>>> {
    let (one, other) = Endpoint::pair();
    Ok(vec![Port::wrap(&ctx, one)?, Port::wrap(&ctx, other)?])
}

/// A port that hears all others with this name.
pub(super) fn named(ctx: Ctx<'_>, name: String) -> Result<Class<'_, Port>> {
    Port::wrap(&ctx, Endpoint::named(name))
}

impl Port {
    pub(super) fn wrap<'js>(ctx: &Ctx<'js>, end: Endpoint) -> Result<Class<'js, Port>> {
        let inner = Inner {
            end: RefCell::new(Some(end)),
            wake: RefCell::default(),
            is_started: Cell::default(),
            is_closing: Cell::default(),
            is_telling: Cell::default(),
            on_close: RefCell::default(),
        };
        Class::instance(ctx.clone(), Port { inner: Rc::new(inner) })
    }

    /// Takes the end out, for somebody else to have it. Nothing is told here any more.
    pub(super) fn take_end(&self) -> Option<Endpoint> {
        let end = self.inner.end.take();
        if let Some(end) = &end {
            end.set_waker(None);
        }
        if let Some(wake) = self.inner.wake.take() {
            let _ = wake.close();
        }
        end
    }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Port {
    /// Calls `onmessage(bytes, buffers, ports, files)` for what comes once it is started, and `onclose()` when nothing can any more.
    /// This alone does not keep the loop.
    fn listen(&self, ctx: Ctx<'_>, onmessage: Kept, onclose: Kept) -> Result<()> {
        let message = Caller::new(&ctx, onmessage);
        let close = Rc::new(Cell::new(Some(Caller::new(&ctx, onclose))));
        // The loop's handle has it, so that nothing of the engine's is kept longer than the loop.
        *self.inner.on_close.borrow_mut() = Rc::downgrade(&close);
        let inner = Rc::clone(&self.inner);
        let woken = move |wake: &Async| {
            let _kept = &close;
            inner.woken(wake, &message);
        };
        let wake = host(&ctx).make(&ctx, |lp| Async::new(lp, woken)).or_throw(&ctx)?;
        wake.unref().or_throw(&ctx)?;
        let sender = wake.sender().or_throw(&ctx)?;
        *self.inner.wake.borrow_mut() = Some(wake);
        if let Some(end) = &*self.inner.end.borrow() {
            end.set_waker(Some(sender));
        }
        Ok(())
    }

    fn start(&self) {
        if !self.inner.is_started.replace(true) {
            self.inner.wake_up();
        }
    }

    fn stop(&self) {
        self.inner.is_started.set(false);
    }

    /// Sends a message to the other end. What goes with it is gone from here: the script's side empties the buffers.
    fn post<'js>(
        &self,
        ctx: Ctx<'js>,
        bytes: Bytes,
        buffers: Vec<Bytes>,
        ports: Vec<Class<'js, Port>>,
        files: Opt<Vec<i32>>,
    ) -> Result<()> {
        let ends = ports.iter().filter_map(|port| port.borrow().take_end()).collect();
        let host = host(&ctx);
        let files = files.0.unwrap_or_default().into_iter().map(|number| host.files.give_away(number));
        let files = files.collect::<oxuv::Result<_>>().or_throw(&ctx)?;
        if let Some(end) = &*self.inner.end.borrow()
            && !self.inner.is_closing.get()
        {
            let buffers = buffers.into_iter().map(|bytes| bytes.0).collect();
            end.send(Message { bytes: bytes.0, buffers, ends, files });
        }
        Ok(())
    }

    /// The next message, as an array of what `onmessage` is called with.
    fn receive<'js>(&self, ctx: Ctx<'js>) -> Result<Option<Array<'js>>> {
        let message = self.inner.end.borrow().as_ref().and_then(Endpoint::receive);
        let Some(message) = message else { return Ok(None) };
        let (bytes, buffers, ports, files) = message.into_parts(&ctx)?;
        let array = Array::new(ctx)?;
        array.set(0, bytes)?;
        array.set(1, buffers)?;
        array.set(2, ports)?;
        array.set(3, files)?;
        Ok(Some(array))
    }

    /// Closes both ends. What has been sent to the other is still told there; here, what was there when the telling began.
    fn close(&self) {
        self.inner.close();
    }

    #[qjs(get)]
    fn is_open(&self) -> bool {
        self.inner.end.borrow().is_some() && !self.inner.is_closing.get()
    }

    /// Whether the other is an end of the same channel.
    fn is_connected_to(&self, other: Class<'_, Port>) -> bool {
        match (&*self.inner.end.borrow(), &*other.borrow().inner.end.borrow()) {
            (Some(end), Some(other)) => end.is_other(other),
            _ => false,
        }
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        if let Some(wake) = &*self.inner.wake.borrow() {
            let _ = wake.r#ref();
        }
    }

    fn unref(&self) {
        if let Some(wake) = &*self.inner.wake.borrow() {
            let _ = wake.unref();
        }
    }

    fn has_ref(&self) -> bool {
        self.inner.wake.borrow().as_ref().is_some_and(|wake| wake.has_ref())
    }
}

impl Inner {
    fn wake_up(&self) {
        if let Some(wake) = &*self.wake.borrow() {
            // It may be closing.
            let _ = wake.send();
        }
    }

    fn woken(&self, wake: &Async, message: &Caller) {
        self.is_telling.set(true);
        self.tell(wake, message);
        self.is_telling.set(false);
        if self.is_closing.get() {
            self.end.take();
        } else if self.end.borrow().as_ref().is_some_and(Endpoint::is_over) {
            self.close();
        }
    }

    /// Tells what has come, unless it is very much.
    fn tell(&self, wake: &Async, message: &Caller) {
        let waiting = self.end.borrow().as_ref().map_or(0, Endpoint::waiting);
        for _ in 0..waiting.max(MOST_AT_ONCE) {
            if !self.is_started.get() {
                return;
            }
            let received = self.end.borrow().as_ref().and_then(Endpoint::receive);
            let Some(received) = received else { return };
            message.call_with(|host, ctx, function| {
                let parts = received.into_parts(ctx)?;
                host.call_back(ctx, function, parts);
                Ok(())
            });
        }
        // It may be closing.
        let _ = wake.send();
    }

    fn close(&self) {
        if self.is_closing.replace(true) {
            return;
        }
        // One of many hears nothing more, not even in the midst of it.
        let is_named = self.end.borrow().as_ref().is_some_and(Endpoint::is_named);
        if is_named || !self.is_telling.get() {
            self.end.take();
        }
        let on_close = self.on_close.borrow().upgrade();
        if let (Some(wake), Some(on_close)) = (self.wake.take(), on_close) {
            let _ = wake.close_then(move |_: &Handle| {
                if let Some(on_close) = on_close.take() {
                    on_close.call(|_| Ok(()));
                }
            });
        }
    }
}

impl Message {
    /// Into the script. Without memory for it, what came with it is closed.
    fn into_parts<'js>(self, ctx: &Ctx<'js>) -> Result<(Value<'js>, Array<'js>, Array<'js>, Array<'js>)> {
        let bytes = Bytes(self.bytes).into_js(ctx)?;
        let (buffers, ports) = (Array::new(ctx.clone())?, Array::new(ctx.clone())?);
        let numbers = Array::new(ctx.clone())?;
        for (at, buffer) in self.buffers.into_iter().enumerate() {
            buffers.set(at, Bytes(buffer))?;
        }
        for (at, end) in self.ends.into_iter().enumerate() {
            ports.set(at, Port::wrap(ctx, end)?)?;
        }
        for (at, file) in self.files.into_iter().enumerate() {
            numbers.set(at, host(ctx).files.add(file))?;
        }
        Ok((bytes, buffers, ports, numbers))
    }
}
