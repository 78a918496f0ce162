//! ES modules: the engine asks, `lib/esm.js` answers.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Function, Module, Object, Promise, Result, Value};

use super::engine::readable;
use crate::host::{Kept, ModuleHooks, host};

/// Keeps the functions that `lib/esm.js` gives.
pub(super) fn set_hooks(ctx: Ctx<'_>, resolve: Kept, load: Kept, meta: Kept) {
    // A second time would be the library's own mistake: the first stay.
    let _ = host(&ctx).module_hooks.set(ModuleHooks { resolve, load, meta });
}

/// Imports a module by its URL.
pub(super) fn import<'js>(ctx: Ctx<'js>, url: String) -> Result<Promise<'js>> {
    Module::import(&ctx, url)
}

/// Imports a module by its URL, and gives the module's namespace to `give` before this returns: unless the module has an
/// `await` at its top. The promise of its evaluation.
pub(super) fn import_sync<'js>(ctx: Ctx<'js>, url: String, give: Function<'js>) -> Result<Promise<'js>> {
    let host = host(&ctx);
    let number = host.imports.get();
    host.imports.set(number + 1);
    let url = ctx.json_stringify(url)?.map(|url| url.to_string()).transpose()?.unwrap_or_default();
    let source = format!("import * as all from {url};\nimport.meta.give(all);\n");
    let module = Module::declare(ctx, format!("node:internal/require{number}"), source)?;
    module.meta()?.set("give", give)?;
    Ok(module.eval()?.1)
}

/// Finds errors in the syntax of a module.
pub(super) fn check(ctx: Ctx<'_>, source: String, url: String) -> Result<()> {
    Module::declare(ctx, url, readable(&source).as_ref()).map(drop)
}

/// Where specifiers lead.
pub(crate) struct Resolve;

impl Resolver for Resolve {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let host = host(ctx);
        let resolve = host.module_hooks(ctx)?.resolve.clone().restore(ctx)?;
        resolve.call((base, name))
    }
}

/// What is at a URL.
pub(crate) struct Load;

impl Loader for Load {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let kind = attributes.map(|attributes| attributes.get_type()).transpose()?.flatten();
        let host = host(ctx);
        let hooks = host.module_hooks(ctx)?;
        let found: Object<'js> = hooks.load.clone().restore(ctx)?.call((name, kind))?;
        let module = Module::declare(ctx.clone(), name, readable(&found.get::<_, String>("source")?).as_ref())?;
        let take: Value<'js> = found.get("take")?;
        hooks.meta.clone().restore(ctx)?.call::<_, ()>((module.meta()?, name, take))?;
        Ok(module)
    }
}
