//! The loop's own measurements: `performance.eventLoopUtilization()` and `performance.nodeTiming` stand on these.

use oxuv::Metrics;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("idle", Func::from(|ctx: Ctx<'_>| host(&ctx).idle_clock.idle_time().as_secs_f64() * 1e3))?;
    object.set("metrics", Func::from(metrics))?;
    object.set("loopSpan", Func::from(loop_span))
}

/// The loop's counts: turns, events, and those of them that were there before it waited, which are counted from the first call on.
fn metrics(ctx: Ctx<'_>) -> Vec<f64> {
    let lp = &host(&ctx).lp;
    lp.measure_idle_time();
    let Metrics { turns, events, events_waiting } = lp.metrics();
    vec![turns as f64, events as f64, events_waiting as f64]
}

/// When the loop began and ended, on the clock of `nanoseconds()`; negative where it has not.
fn loop_span(ctx: Ctx<'_>) -> Vec<f64> {
    let (start, end) = host(&ctx).loop_span.get();
    vec![start, end]
}
