//! Makes a test of each script: a list of their files and names, as a macro for the drivers' tests.

#[allow(dead_code, unreachable_pub)] // It is a module of the library; only the names are wanted here.
#[path = "src/script.rs"]
mod script;

use std::collections::HashSet;
use std::fmt::Write;
use std::{env, fs, path::Path};

fn main() {
    let folder = Path::new("scripts");
    println!("cargo::rerun-if-changed=scripts");
    println!("cargo::rerun-if-changed=src/script.rs");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "order"));
    files.sort();

    let (mut tests, mut texts) = (String::new(), String::new());
    for path in &files {
        let file = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let scripts = script::parse(&text).unwrap_or_else(|error| panic!("scripts/{file}.order:{error}"));
        writeln!(tests, "mod r#{file} {{").unwrap();
        let mut names = HashSet::new();
        for script in scripts {
            let name = script.name();
            assert!(names.insert(name.clone()), "scripts/{file}.order: two scripts are called {:?}", script.title);
            writeln!(tests, "#[test] fn {name}() {{ $crate::check::<$driver>({file:?}, {name:?}); }}").unwrap();
        }
        writeln!(tests, "}}").unwrap();
        writeln!(texts, "({file:?}, include_str!({:?})),", path.canonicalize().unwrap()).unwrap();
    }
    let out = env::var("OUT_DIR").unwrap();
    let of_macro = format!(
        "/// A test of each script, for a driver.\n#[macro_export]\nmacro_rules! script_tests {{ ($driver:path) => {{\n{tests}}} }}\n"
    );
    let of_texts =
        format!("/// The scripts' files: names and texts.\npub const FILES: &[(&str, &str)] = &[\n{texts}];\n");
    fs::write(Path::new(&out).join("scripts.rs"), of_macro + &of_texts).unwrap();
}
