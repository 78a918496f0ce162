//! Standard input, output and error: `lib/internal/stdio.js` stands on these.

use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use oxuv::fs::blocking;
use oxuv::{Errno, Poll, Readiness};
use oxuv_js_engine::Bytes;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use super::fs::write_all;
use super::stream::Caller;
use crate::host::{Host, Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("write", Func::from(write))?;
    object.set("kind", Func::from(kind))?;
    object.set("windowSize", Func::from(window_size))?;
    let input = Rc::new(RefCell::new(None));
    let (starts, stops, refs): (Rc<Input>, Rc<Input>, Rc<Input>) = (input.clone(), input.clone(), input);
    object.set("startReading", Func::from(move |ctx: Ctx<'_>, callback: Kept| start(&starts, &ctx, callback)))?;
    object.set("stopReading", Func::from(move || stop(&stops)))?;
    object.set("setReferenced", Func::from(move |is_referenced| set_referenced(&refs, is_referenced)))
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
        Ok(0o040_000) => "directory",
        _ => "unknown",
    }
}

/// Columns and rows of a terminal.
fn window_size(ctx: Ctx<'_>, number: i32) -> Option<Vec<u16>> {
    let terminal = host(&ctx).files.get(number).ok()?;
    let size = rustix::termios::tcgetwinsize(&terminal).ok()?;
    Some(vec![size.ws_col, size.ws_row])
}

/// What standard input is read with, unless it is a terminal or a file.
type Input = RefCell<Option<Poll>>;

/// Calls `callback(errno, bytes)` with what comes; no bytes are the end. False for a file, which is read otherwise.
fn start(input: &Input, ctx: &Ctx<'_>, callback: Kept) -> bool {
    stop(input);
    let caller = Caller::new(ctx, callback);
    match read(ctx, &host(ctx), caller) {
        Ok(started) => {
            *input.borrow_mut() = Some(started);
            true
        }
        Err(_) => false,
    }
}

fn stop(input: &Input) {
    if let Some(poll) = input.take() {
        // The handle may be closing, if the loop is at its end.
        let _ = poll.close();
    }
}

/// Whether reading keeps the loop.
fn set_referenced(input: &Input, is_referenced: bool) {
    if let Some(poll) = &*input.borrow() {
        let _ = if is_referenced { poll.r#ref() } else { poll.unref() };
    }
}

/// Reads when there is something: the descriptor, which others share, goes on to block.
fn read(ctx: &Ctx<'_>, host: &Host, caller: Caller) -> oxuv::Result<Poll> {
    let poll = host.make(ctx, |lp| Poll::new(lp, standard(0)))?;
    poll.start(Readiness::READ, move |_, ready| {
        let mut bytes = Vec::with_capacity(PIECE);
        match ready.and_then(|_| blocking::read_to_vec(standard(0), &mut bytes, None)) {
            Err(Errno::EAGAIN) => {}
            Ok(_) => {
                bytes.shrink_to_fit();
                caller.call(|_| Ok((0, Bytes(bytes))));
            }
            Err(errno) => caller.call(|_| Ok((errno.code(),))),
        }
    })?;
    Ok(poll)
}

/// The most bytes that are read at once.
const PIECE: usize = 64 * 1024;
