//! What an observed script tells of itself: `lib/internal/observing.js` stands on these.

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use oxuv::observe::CallbackKind;

use crate::host::host;

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("begin", Func::from(begin))?;
    object.set("cause", Func::from(|ctx: Ctx<'_>| host(&ctx).cause().unwrap_or_default().to_string()))?;
    object.set("setCause", Func::from(|ctx: Ctx<'_>, place: String| host(&ctx).set_cause(&place)))?;
    object.set("exit", Func::from(exit))
}

/// A timer's callback or an immediate's begins, which comes from this place.
fn begin(ctx: Ctx<'_>, is_timer: bool, place: Option<String>) {
    let host = host(&ctx);
    let place = place.unwrap_or_default();
    host.lp.begin_part(if is_timer { CallbackKind::Timer } else { CallbackKind::Immediate }, &place);
    host.set_cause(&place);
}

/// The script is about to end the process.
fn exit(ctx: Ctx<'_>) {
    let host = host(&ctx);
    if let Some(observed) = &host.observed {
        observed.tell_at_exit(&ctx, &host);
    }
}
