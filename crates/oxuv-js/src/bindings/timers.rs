//! Timers and immediates: `lib/timers.js` stands on these.

use std::cell::Cell;
use std::rc::Rc;

use oxuv::node::ImmediateKey;
use oxuv_js_engine::Bytes;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use super::OrThrow;
use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    // Milliseconds of the monotonic clock at which timers begin to count.
    object.set("base", host(object.ctx()).timers().base().as_millis() as f64)?;
    object.set("insert", Func::from(insert))?;
    object.set("remove", Func::from(remove))?;
    object.set("setReferenced", Func::from(set_referenced))?;
    // The immediates that wait are one to the loop.
    let waiting: Rc<Cell<Option<ImmediateKey>>> = Rc::default();
    let key = waiting.clone();
    object.set("addImmediates", Func::from(move |ctx: Ctx<'_>| add_immediates(&ctx, &key)))?;
    let refer = move |ctx: Ctx<'_>, is_referenced: bool| match waiting.get() {
        Some(key) => host(&ctx).immediates().set_referenced(key, is_referenced).or_throw(&ctx),
        None => Ok(()),
    };
    object.set("setImmediatesReferenced", Func::from(refer))
}

/// Starts timers that count from `start`. Each is two numbers in `timers`, of which so many are meant: its own, negative if it
/// does not keep the loop alive, and its duration in milliseconds.
fn insert(ctx: Ctx<'_>, start: f64, count: usize, timers: Bytes) -> Result<()> {
    let host = host(&ctx);
    let number = |bytes: &[u8; 4]| i32::from_ne_bytes(*bytes);
    let (numbers, _) = timers.0.as_chunks();
    let timers = numbers[..count.min(numbers.len())].as_chunks().0.iter().map(|[own, duration]| {
        let own = number(own);
        (own.unsigned_abs(), number(duration).cast_unsigned(), own > 0)
    });
    host.timers().insert_all(start as u64, timers, |number, key| host.timer_keys.set(*number, key)).or_throw(&ctx)
}

/// Stops a timer: true unless it is due already.
fn remove(ctx: Ctx<'_>, number: u32) -> Result<bool> {
    let host = host(&ctx);
    let Some(key) = host.timer_keys.get(number) else { return Ok(false) };
    host.timers().remove(key).or_throw(&ctx).map(|task| task.is_some())
}

fn set_referenced(ctx: Ctx<'_>, number: u32, is_referenced: bool) -> Result<()> {
    let host = host(&ctx);
    let Some(key) = host.timer_keys.get(number) else { return Ok(()) };
    host.timers().set_referenced(key, is_referenced).or_throw(&ctx)
}

fn add_immediates(ctx: &Ctx<'_>, waiting: &Cell<Option<ImmediateKey>>) -> Result<()> {
    waiting.set(Some(host(ctx).immediates().add((), true).or_throw(ctx)?));
    Ok(())
}
