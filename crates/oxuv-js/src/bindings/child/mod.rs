//! Child processes: `lib/child_process.js` stands on these.

mod command;
mod passing;
mod process;
mod sync;

use rquickjs::function::Func;
use rquickjs::{Object, Result};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("spawn", Func::from(process::spawn))?;
    object.set("spawnSync", Func::from(sync::spawn))?;
    object.set("writeWithHandle", Func::from(passing::write_with_handle))?;
    object.set("takeHandle", Func::from(passing::take_handle))
}
