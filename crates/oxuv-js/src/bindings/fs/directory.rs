//! Directories that are read piece by piece: `lib/internal/fs/directory.js` stands on these.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use oxuv::Errno;
use oxuv::fs::blocking;
use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, IntoJs, JsLifetime, Object, Result, Value};

use super::values::{Name, Names, Path};
use super::{Callback, perform, perform_with};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("opendir", Func::from(open))
}

/// An open directory. A read that is under way when it is closed keeps it to its end.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Directory")]
pub struct Directory {
    #[qjs(skip_trace)]
    open: RefCell<Option<Arc<Mutex<blocking::Directory>>>>,
}

struct Opened(blocking::Directory);

impl<'js> IntoJs<'js> for Opened {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let open = RefCell::new(Some(Arc::new(Mutex::new(self.0))));
        Class::instance(ctx.clone(), Directory { open })?.into_js(ctx)
    }
}

fn open<'js>(ctx: Ctx<'js>, callback: Callback<'js>, path: Path) -> Result<Value<'js>> {
    perform_with(ctx, callback, move || blocking::Directory::open(&path.0), |_, directory| Opened(directory))
}

#[rquickjs::methods]
impl Directory {
    /// The next entries, so many at most; none at the end.
    fn read<'js>(&self, ctx: Ctx<'js>, callback: Callback<'js>, count: f64, raw: bool) -> Result<Value<'js>> {
        let directory = self.open.borrow().clone();
        perform(ctx, callback, move || {
            let directory = directory.ok_or(Errno::EBADF)?;
            let mut directory = directory.lock().unwrap_or_else(PoisonError::into_inner);
            let mut names = Vec::new();
            while names.len() < count as usize {
                let Some(entry) = directory.next_entry()? else { break };
                names.try_reserve(1)?;
                names.push((Name { bytes: entry.name.to_bytes().to_vec(), raw }, entry.kind));
            }
            Ok(Names(names))
        })
    }

    fn close<'js>(&self, ctx: Ctx<'js>, callback: Callback<'js>) -> Result<Value<'js>> {
        let directory = self.open.borrow_mut().take();
        perform(ctx, callback, move || {
            drop(directory);
            Ok(())
        })
    }
}
