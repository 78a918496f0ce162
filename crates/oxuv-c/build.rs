//! Gives the shared library the name that programs linked with libuv ask for, and an unwinder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={UNWINDER}");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libuv.so.1");

    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        match carry_unwinder() {
            Ok(arguments) => arguments.iter().for_each(|argument| println!("cargo:rustc-cdylib-link-arg={argument}")),
            Err(error) => println!("cargo:warning=libuv.so.1 will need libgcc_s.so.1: no static unwinder, {error}"),
        }
    }
}

const UNWINDER: &str = "link/unwinder.c";

/// What the linker must be told so that the library carries the compiler's unwinder.
///
/// libuv needs the C library alone, and so shall this. But Rust's standard library asks the linker for `-lgcc_s`, and
/// would get `libgcc_s.so.1`. What is found first is taken: in our directory, a linker script of this name that says
/// where the static form of the same is.
fn carry_unwinder() -> io::Result<Vec<String>> {
    let archive = ask(&["-print-file-name=libgcc_eh.a"])?;
    // A compiler that has none says the bare name.
    if !Path::new(archive.trim_end()).is_absolute() {
        return Err(io::Error::other("the C compiler has no libgcc_eh.a"));
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let object = directory.join("unwinder.o").display().to_string();
    ask(&["-std=c99", "-Wall", "-Wextra", "-O2", "-fPIC", "-fexceptions", "-c", UNWINDER, "-o", &object])?;
    fs::write(directory.join("libgcc_s.so"), format!("INPUT(\"{object}\" \"{}\")\n", archive.trim_end()))?;

    let source = fs::read_to_string(UNWINDER)?;
    let wrapped = source.lines().filter_map(|line| line.strip_prefix("WRAP(")?.split(", ").nth(1));
    let wrap = wrapped.map(|name| format!("-Wl,--wrap={name}"));
    Ok(wrap.chain([format!("-L{}", directory.display())]).collect())
}

/// Runs the C compiler that links, and returns what it says.
fn ask(arguments: &[&str]) -> io::Result<String> {
    let compiler = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".into());
    let output = Command::new(&compiler).args(arguments).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{compiler}: {}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
