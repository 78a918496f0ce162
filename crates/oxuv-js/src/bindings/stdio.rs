//! Standard input, output and error: `lib/internal/stdio.js` stands on these.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::{Rc, Weak};

use oxuv::fs::blocking;
use oxuv::{Errno, Poll, Readiness, Tty};
use oxuv_js_bytes::Bytes;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use super::fs::write_all;
use crate::host::{Host, Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("write", Func::from(write))?;
    object.set("kind", Func::from(kind))?;
    object.set("windowSize", Func::from(window_size))?;
    let input = Rc::new(RefCell::new(None));
    let (starts, stops) = (input.clone(), input);
    object.set("startReading", Func::from(move |ctx: Ctx<'_>, callback: Kept| start(&starts, &ctx, callback)))?;
    object.set("stopReading", Func::from(move || stop(&stops)))
}

fn standard(number: i32) -> BorrowedFd<'static> {
    match number {
        0 => rustix::stdio::stdin(),
        1 => rustix::stdio::stdout(),
        _ => rustix::stdio::stderr(),
    }
}

/// Writes all of it, here and now. Zero, or the negative number of the error.
fn write(ctx: Ctx<'_>, number: i32, bytes: Bytes) -> i32 {
    match host(&ctx).files.get(number).and_then(|fd| write_all(&fd, &bytes.0)) {
        Ok(()) => 0,
        Err(errno) => errno.code(),
    }
}

fn kind(number: i32) -> &'static str {
    let fd = standard(number);
    if rustix::termios::isatty(fd) {
        return "tty";
    }
    match blocking::file_metadata(fd).map(|found| found.mode & 0o170_000) {
        Ok(0o100_000 | 0o020_000) => "file",
        Ok(0o010_000 | 0o140_000) => "pipe",
        _ => "unknown",
    }
}

/// Columns and rows of a terminal.
fn window_size(number: i32) -> Option<Vec<u16>> {
    let size = rustix::termios::tcgetwinsize(standard(number)).ok()?;
    Some(vec![size.ws_col, size.ws_row])
}

/// What standard input is read with. A terminal is opened anew for that, so that it goes on to block for others.
enum Input {
    Terminal(Tty),
    Polled(Poll),
}

type Place = RefCell<Option<Input>>;

/// Calls `callback(errno, bytes)` with what comes; no bytes are the end. False for a file, which is read otherwise.
fn start(input: &Place, ctx: &Ctx<'_>, callback: Kept) -> Result<bool> {
    stop(input);
    let host = host(ctx);
    let reader = Reader { host: Rc::downgrade(&host), callback };
    let started = if kind(0) == "tty" { read_terminal(&host, reader) } else { read_polled(&host, reader) };
    match started {
        Ok(started) => {
            *input.borrow_mut() = Some(started);
            Ok(true)
        }
        Err(_) => Ok(false),
    }
}

fn stop(input: &Place) {
    // The handle may be closing, if the loop is at its end.
    let _ = match input.take() {
        Some(Input::Terminal(tty)) => tty.close(),
        Some(Input::Polled(poll)) => poll.close(),
        None => Ok(()),
    };
}

struct Reader {
    host: Weak<Host>,
    callback: Kept,
}

impl Reader {
    fn tell(&self, read: oxuv::Result<Vec<u8>>) {
        let Some(host) = self.host.upgrade() else { return };
        host.context.with(|ctx| {
            let Ok(callback) = self.callback.clone().restore(&ctx) else { return };
            match read {
                Ok(bytes) => host.call_back(&ctx, &callback, (0, Bytes(bytes))),
                Err(errno) => host.call_back(&ctx, &callback, (errno.code(), ())),
            };
        });
    }
}

fn read_terminal(host: &Host, reader: Reader) -> oxuv::Result<Input> {
    let tty = Tty::stdin(&host.lp)?;
    tty.read_start(move |_, read| match read {
        Ok(bytes) => reader.tell(Ok(bytes.to_vec())),
        Err(Errno::EOF) => reader.tell(Ok(Vec::new())),
        Err(errno) => reader.tell(Err(errno)),
    })?;
    Ok(Input::Terminal(tty))
}

fn read_polled(host: &Host, reader: Reader) -> oxuv::Result<Input> {
    let poll = Poll::new(&host.lp, standard(0))?;
    poll.start(Readiness::READ, move |_, ready| {
        let mut bytes = Vec::with_capacity(64 * 1024);
        match ready.and_then(|_| blocking::read_to_vec(standard(0), &mut bytes, None)) {
            Err(Errno::EAGAIN) => {}
            Ok(_) => {
                bytes.shrink_to_fit();
                reader.tell(Ok(bytes));
            }
            Err(errno) => reader.tell(Err(errno)),
        }
    })?;
    Ok(Input::Polled(poll))
}
