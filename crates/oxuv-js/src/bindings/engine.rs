//! The engine: compiling, microtasks, rejections.

use std::borrow::Cow;

use rquickjs::context::EvalOptions;
use rquickjs::function::Func;
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::modules;
use crate::host::{Kept, host};
use crate::library;

pub(super) fn fill<'js>(object: &Object<'js>) -> Result<()> {
    object.set("runMicrotasks", oxuv_js_engine::job_function(object.ctx(), run_microtasks)?)?;
    object.set("compileFunction", Func::from(compile_function))?;
    object.set("runScript", Func::from(run_script))?;
    object.set("runAsyncScript", Func::from(run_async_script))?;
    object.set("publicModules", Func::from(|| library::PUBLIC.to_vec()))?;
    object.set("setModuleHooks", Func::from(modules::set_hooks))?;
    object.set("importModule", Func::from(modules::import))?;
    object.set("importSync", Func::from(modules::import_sync))?;
    object.set("checkModule", Func::from(modules::check))?;
    object.set("startOptions", Func::from(start_options))?;
    object.set("keepSites", Func::from(|_error: Value<'js>, sites: Value<'js>| sites))?;
    object.set("library", Func::from(library_function))?;
    object.set("watchPromises", Func::from(watch_promises))?;
    object.set("collectGarbage", Func::from(|ctx: Ctx<'_>| ctx.run_gc()))
}

/// Runs all microtasks, those included that they add. What `queueMicrotask` runs catches its own exceptions.
fn run_microtasks(ctx: &Ctx<'_>) {
    let host = host(ctx);
    while !host.is_ending() && ctx.execute_pending_job() {}
}

fn watch_promises(ctx: Ctx<'_>, watcher: Kept, binder: Kept) -> Result<()> {
    host(&ctx).watch_promises(&ctx, watcher, binder)
}

/// What the command line says about the start.
fn start_options(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let host = host(&ctx);
    let object = Object::new(ctx)?;
    object.set("requires", host.options.requires.clone())?;
    object.set("isModule", host.options.is_module)?;
    object.set("isPrinted", host.options.print)?;
    object.set("isChecked", host.options.check)?;
    Ok(object)
}

fn library_function(ctx: Ctx<'_>, name: String) -> Result<Option<Function<'_>>> {
    library::function(&ctx, &name)
}

/// Compiles the body of a function with these parameters. Its lines keep their numbers.
fn compile_function<'js>(ctx: Ctx<'js>, source: String, file: String, parameters: String) -> Result<Function<'js>> {
    let text = format!("(function ({parameters}) {{ {}\n}})", readable(&source));
    ctx.eval_with_options(text, options(&file))
}

/// Runs a script in the global scope; its value.
fn run_script<'js>(ctx: Ctx<'js>, source: String, file: String) -> Result<Value<'js>> {
    ctx.eval_with_options(readable(&source).as_ref(), options(&file))
}

/// Runs a script in which `await` may stand; a promise of an object with its `value`.
fn run_async_script<'js>(ctx: Ctx<'js>, source: String, file: String) -> Result<Value<'js>> {
    let mut options = options(&file);
    options.promise = true;
    ctx.eval_with_options(readable(&source).as_ref(), options)
}

/// The text as the engine can take it. It takes no NUL, which only binary files have: those get another character at its
/// place that is an error anywhere, with nothing before it but the lines, so that the error names the right one.
pub(super) fn readable(source: &str) -> Cow<'_, str> {
    match source.split_once('\0') {
        None => Cow::Borrowed(source),
        Some((before, _)) => {
            let mut text: String = before.chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            text.push('\u{1}');
            Cow::Owned(text)
        }
    }
}

fn options(file: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.global = true;
    options.strict = false;
    options.filename = Some(file.to_owned());
    options
}
