//! The loop's own measurements: `performance.eventLoopUtilization()` and `performance.nodeTiming` stand on these.

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("measure", Func::from(|ctx: Ctx<'_>| host(&ctx).lp.measure_idle_time()))?;
    object.set("idle", Func::from(|ctx: Ctx<'_>| host(&ctx).lp.idle_time().as_secs_f64() * 1e3))?;
    object.set("loopSpan", Func::from(loop_span))
}

/// When the loop began and ended, on the clock of `nanoseconds()`; negative where it has not.
fn loop_span(ctx: Ctx<'_>) -> Vec<f64> {
    let (start, end) = host(&ctx).loop_span.get();
    vec![start, end]
}
