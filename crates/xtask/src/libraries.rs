//! The C libraries in the form in which they ship.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files;

/// The format of objects, as the binutils call it.
const FORMAT: &str = if cfg!(target_arch = "aarch64") { "elf64-littleaarch64" } else { "elf64-x86-64" };

/// The two files that were built.
pub(crate) struct Libraries {
    pub(crate) shared: PathBuf,
    pub(crate) static_: PathBuf,
}

/// Builds both: optimised as one program, since cargo does that only for a crate that is no Rust library at the same
/// time, and without anything that a debugger or a Rust program would want.
pub(crate) fn build(root: &Path) -> Result<Libraries, String> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = files::at(&target, "find", std::path::absolute(&target))?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut rustc = Command::new(cargo);
    rustc.current_dir(root).args(["rustc", "--locked", "-p", "oxuv-c", "--lib", "--profile", "ship"]);
    rustc.args(["--crate-type", "cdylib,staticlib", "--target-dir"]).arg(&target);
    run(&mut rustc)?;
    let built = target.join("ship");
    let static_ = one_object(root, &built)?;
    Ok(Libraries { shared: built.join("libuv.so"), static_ })
}

/// Makes of the static library one of a single object, in which only libuv's functions are global. As it comes, it has
/// all of Rust's standard library with its symbols, which clash if the program has Rust in it, too.
fn one_object(root: &Path, built: &Path) -> Result<PathBuf, String> {
    let directory = built.join("one-object");
    files::directory(&directory)?;
    let (linked, object, archive) = (directory.join("linked.o"), directory.join("uv.o"), directory.join("libuv.a"));

    // What the functions need is taken from the archive; what is not asked for stays behind. Groups are dissolved: of
    // two of the same name a linker would drop ours, whose symbols are local by then.
    let mut ld = Command::new("ld");
    ld.args(["-r", "--gc-sections", "--force-group-allocation", "-o"]).arg(&linked);
    for name in functions(root)? {
        ld.arg("-u").arg(name);
    }
    run(ld.arg(built.join("libuv.a")))?;

    let mut objcopy = Command::new("objcopy");
    // Some of the standard library's objects have LLVM's code beside the machine's. A linker with a plugin of another LLVM
    // fails on it; so would objcopy if it guessed the format by its plugins.
    objcopy.args(["--input-target", FORMAT, "--output-target", FORMAT]);
    objcopy.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    objcopy.args(["--wildcard", "--keep-global-symbol=uv_*", "--strip-unneeded"]);
    run(objcopy.arg(&linked).arg(&object))?;

    // `ar` adds to an archive that is there.
    if archive.exists() {
        files::at(&archive, "remove", std::fs::remove_file(&archive))?;
    }
    run(Command::new("ar").arg("rcsD").arg(&archive).arg(&object))?;
    Ok(archive)
}

/// libuv's functions.
fn functions(root: &Path) -> Result<Vec<String>, String> {
    let path = root.join("crates/oxuv-c/abi/symbols.txt");
    let text = files::at(&path, "read", std::fs::read_to_string(&path))?;
    Ok(text.lines().map(String::from).collect())
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status}")),
        Err(error) => Err(format!("cannot run {name}: {error}")),
    }
}
