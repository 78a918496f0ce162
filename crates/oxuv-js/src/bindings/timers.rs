//! Timers and immediates: `lib/timers.js` stands on these.

use oxuv::node::{ImmediateKey, TimerKey};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Persistent, Result};

use super::OrThrow;
use crate::host::host;

type Task = Persistent<Object<'static>>;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("now", Func::from(now))?;
    object.set("insert", Func::from(insert))?;
    object.set("remove", Func::from(remove))?;
    object.set("setReferenced", Func::from(set_referenced))?;
    object.set("addImmediate", Func::from(add_immediate))?;
    object.set("removeImmediate", Func::from(remove_immediate))?;
    object.set("setImmediateReferenced", Func::from(set_immediate_referenced))
}

/// Milliseconds since the program began.
fn now(ctx: Ctx<'_>) -> f64 {
    host(&ctx).timers().now() as f64
}

/// Starts a timer of whole milliseconds, counted from `start`. Keys and times fit into a double.
fn insert(ctx: Ctx<'_>, task: Task, duration: f64, start: f64, is_referenced: bool) -> Result<f64> {
    let key = host(&ctx).timers().insert_from(task, duration as u32, start as u64, is_referenced).or_throw(&ctx)?;
    Ok(key.to_bits() as f64)
}

fn remove(ctx: Ctx<'_>, key: f64) -> Result<()> {
    host(&ctx).timers().remove(TimerKey::from_bits(key as u64)).or_throw(&ctx).map(drop)
}

fn set_referenced(ctx: Ctx<'_>, key: f64, is_referenced: bool) -> Result<()> {
    host(&ctx).timers().set_referenced(TimerKey::from_bits(key as u64), is_referenced).or_throw(&ctx)
}

fn add_immediate(ctx: Ctx<'_>, task: Task, is_referenced: bool) -> Result<f64> {
    let key = host(&ctx).immediates().add(task, is_referenced).or_throw(&ctx)?;
    Ok(key.to_bits() as f64)
}

fn remove_immediate(ctx: Ctx<'_>, key: f64) -> Result<()> {
    host(&ctx).immediates().remove(ImmediateKey::from_bits(key as u64)).or_throw(&ctx).map(drop)
}

fn set_immediate_referenced(ctx: Ctx<'_>, key: f64, is_referenced: bool) -> Result<()> {
    host(&ctx).immediates().set_referenced(ImmediateKey::from_bits(key as u64), is_referenced).or_throw(&ctx)
}
