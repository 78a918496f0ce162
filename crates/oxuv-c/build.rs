//! Gives the shared library the name that programs linked with libuv ask for, and an unwinder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libuv.so.1");

    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        match static_unwinder() {
            Ok(directory) => println!("cargo:rustc-cdylib-link-arg=-L{}", directory.display()),
            Err(error) => println!("cargo:warning=libuv.so.1 will need libgcc_s.so.1: no static unwinder, {error}"),
        }
    }
}

/// A directory where the linker finds the compiler's unwinder in its static form.
///
/// libuv needs the C library alone, and so shall this. But Rust's standard library asks the linker for `-lgcc_s`, and
/// would get `libgcc_s.so.1`. What is found first is taken: `libgcc_s.a` in this directory, which is `libgcc_eh.a`.
fn static_unwinder() -> io::Result<PathBuf> {
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let compiler = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".into());
    let output = Command::new(&compiler).arg("-print-file-name=libgcc_eh.a").output()?;
    // A compiler that has none says the bare name.
    let name = String::from_utf8_lossy(&output.stdout);
    let archive = Path::new(name.trim_end());
    if !archive.is_absolute() {
        return Err(io::Error::other(format!("{compiler} has no libgcc_eh.a")));
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    fs::copy(archive, directory.join("libgcc_s.a"))?;
    Ok(directory)
}
