//! Gives the shared library the name that programs linked with libuv ask for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libuv.so.1");
}
