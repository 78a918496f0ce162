//! Compiles the files of `lib/` to the engine's bytecode: the program reads that in a fraction of the time that parsing takes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use rquickjs::{CatchResultExt, Context, Module, Runtime, WriteOptions};

fn main() {
    println!("cargo::rerun-if-changed=lib");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/library.rs");
    let mut files = Vec::new();
    find(Path::new("lib"), &mut files).expect("the folder lib can be read");
    if Path::new("vendor").exists() {
        println!("cargo::rerun-if-changed=vendor");
        find(Path::new("vendor"), &mut files).expect("the folder vendor can be read");
    }
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let mut list = String::from("&[\n");
    for (number, path) in files.iter().enumerate() {
        let name = name(path).expect("names of the library are plain");
        let source = fs::read_to_string(path).expect("a file of lib can be read");
        let bytecode = compile(&name, &source).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = out.join(format!("{number}.bytecode"));
        fs::write(&file, bytecode).expect("the folder of the build can be written");
        writeln!(list, "({name:?}, include_bytes!({file:?})),").expect("text takes what is written");
    }
    list.push(']');
    fs::write(out.join("library.rs"), list).expect("the folder of the build can be written");
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "js") {
            files.push(path);
        }
    }
    Ok(())
}

/// The packages of `vendor/` that are more than one file.
const FOLDERS: [&str; 1] = ["vendor/readable-stream"];

/// The name by which the library requires a file: its path in `lib/`, or for a package `vendor/NAME` if it is one file, else the
/// file's path in `vendor/`.
fn name(path: &Path) -> Option<String> {
    let is_whole = FOLDERS.iter().any(|folder| path.starts_with(folder));
    match path.strip_prefix("lib") {
        Ok(inner) => Some(inner.with_extension("").to_str()?.to_owned()),
        Err(_) if is_whole => path.with_extension("").to_str().map(str::to_owned),
        Err(_) => path.iter().take(2).collect::<PathBuf>().to_str().map(str::to_owned),
    }
}

/// The bytecode of a file. The engine reads back modules only, so the function that the file is the body of is what a module
/// exports. Its lines keep their numbers.
fn compile(name: &str, source: &str) -> Result<Vec<u8>, String> {
    let parameters = if name == "bootstrap" { "native" } else { "exports, require, module, binding" };
    let text = format!("export default (function ({parameters}) {{ {source}\n}})");
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    context.with(|ctx| {
        let compiled = Module::declare(ctx.clone(), file_name(name), text);
        let bytecode =
            compiled.and_then(|module| module.write(WriteOptions { strip_source: true, ..WriteOptions::default() }));
        bytecode.catch(&ctx).map_err(|error| error.to_string())
    })
}

/// The name that stands in traces: as in Node, what is not for scripts is `internal`.
fn file_name(name: &str) -> String {
    let is_internal =
        fs::read_to_string("src/library.rs").is_ok_and(|list| !list.contains(&format!("\n    \"{name}\",\n")));
    if is_internal && !name.starts_with("internal/") { format!("node:internal/{name}") } else { format!("node:{name}") }
}
