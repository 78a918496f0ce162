//! The test program: libuv's tests, linked with the library under test and with stubs for what that lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::Form;
use crate::symbols::{self, Symbols};
use crate::{about, leaks, run_tool, stubs};

/// The linked program.
#[derive(Debug)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// The names of the tests, and the file that each stands in (none if the file is left out).
    pub tests: BTreeMap<String, Option<String>>,
    /// The functions that the library lacks, and the files of tests that use them.
    pub missing: BTreeMap<String, BTreeSet<String>>,
}

impl Program {
    /// Links the program in `folder`, with copies of the libraries beside it; with `leaks` it tells what it leaves behind.
    pub fn link(
        folder: &Path,
        objects: &[PathBuf],
        library: &Path,
        form: Form,
        leaks: bool,
        flags: &[String],
    ) -> Result<Program, String> {
        let symbols = symbols::of_objects(objects)?;
        let exports = symbols::of_library(library, form)?;
        let missing = missing(&symbols, &exports);
        let copy = folder.join(match form {
            Form::Shared => "libuv.so.1",
            Form::Static => "libuv.a",
        });
        fs::copy(library, &copy).map_err(about(library.display()))?;

        let source = stubs::missing_functions(&missing.keys().cloned().collect());
        let stubs = folder.join("libstubs.so");
        compile(&source, &folder.join("stubs.c"), &["-shared", "-fPIC", "-Wl,-soname,libstubs.so"], &stubs)?;
        let source = stubs::left_out_tests(&left_out(&symbols));
        let left_out = folder.join("left-out.o");
        compile(&source, &folder.join("left-out.c"), &["-c"], &left_out)?;

        let path = folder.join("uv_run_tests");
        let mut cc = Command::new("cc");
        cc.arg("-o").arg(&path).args(objects).arg(left_out).arg(copy).arg(stubs);
        if leaks {
            let object = folder.join("leaks.o");
            compile(leaks::SOURCE, &folder.join("leaks.c"), &["-c"], &object)?;
            cc.arg("-fsanitize=leak").arg(object);
        }
        run_tool(cc.args(["-Wl,-rpath,$ORIGIN", "-lpthread", "-ldl", "-lrt", "-lm", "-lutil"]).args(flags))?;
        let tests = tests(&path, &symbols)?;
        Ok(Program { path, tests, missing })
    }
}

fn compile(source: &str, file: &Path, flags: &[&str], result: &Path) -> Result<(), String> {
    fs::write(file, source).map_err(about(file.display()))?;
    run_tool(Command::new("cc").arg("-w").args(flags).arg(file).arg("-o").arg(result)).map(drop)
}

/// The functions of libuv's interface that are wanted and not exported, and by which files.
fn missing(objects: &[Symbols], exports: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut missing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for object in objects {
        for name in object.wanted.iter().filter(|name| name.starts_with("uv_") && !exports.contains(*name)) {
            missing.entry(name.clone()).or_default().insert(area_of(&object.file));
        }
    }
    missing
}

/// The tests that are in the runner's list, and in no object.
fn left_out(objects: &[Symbols]) -> BTreeSet<String> {
    let defined: BTreeSet<&String> = objects.iter().flat_map(|object| &object.defined).collect();
    let wanted = objects.iter().flat_map(|object| &object.wanted);
    wanted.filter(|name| name.starts_with("run_test_") && !defined.contains(name)).cloned().collect()
}

fn tests(program: &Path, objects: &[Symbols]) -> Result<BTreeMap<String, Option<String>>, String> {
    let list = run_tool(Command::new(program).arg("--list").env("UV_RUN_AS_ROOT", "1"))?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let tests = names.map(|name| {
        let symbol = format!("run_test_{name}");
        let object = objects.iter().find(|object| object.defined.contains(&symbol));
        (name.to_owned(), object.map(|object| area_of(&object.file)))
    });
    Ok(tests.collect())
}

/// `tcp-open` for `.../test-tcp-open.o`.
fn area_of(object: &Path) -> String {
    let stem = object.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("test-").unwrap_or(&stem).to_owned()
}
