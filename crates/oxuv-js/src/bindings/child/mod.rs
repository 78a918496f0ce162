//! Child processes: `lib/child_process.js` stands on these.

mod command;
mod sync;

use rquickjs::function::Func;
use rquickjs::{Object, Result};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("spawnSync", Func::from(sync::spawn))
}
