//! `uv.h` compiles wherever a program's own code does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::build;
use crate::facts::Header;

const C: [&str; 8] = ["c90", "gnu90", "c99", "c11", "gnu11", "c17", "c2x", "c23"];
const CPLUSPLUS: [&str; 7] = ["c++98", "c++03", "c++11", "c++14", "c++17", "c++20", "c++23"];

/// What a program may ask of the system's headers.
const FEATURES: [&str; 4] =
    ["-DNO_FEATURE_ASKED_FOR", "-D_POSIX_C_SOURCE=200112L", "-D_XOPEN_SOURCE=700", "-D_GNU_SOURCE"];

const WARNINGS: [&str; 8] =
    ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wundef", "-Wshadow", "-Wwrite-strings", "-Wredundant-decls"];

/// A compiler, and what it calls the language.
struct Compiler {
    command: &'static str,
    language: &'static str,
}

impl Compiler {
    /// Those that this machine has.
    fn all() -> Vec<Compiler> {
        let mut all = Compiler::of("c", &["gcc", "clang"]);
        if all.is_empty() {
            all = Compiler::of("c", &["cc"]);
        }
        assert!(!all.is_empty(), "a C compiler is needed");
        all.extend(Compiler::of("c++", &["g++", "clang++"]));
        all
    }

    fn of(language: &'static str, commands: &[&'static str]) -> Vec<Compiler> {
        let all = commands.iter().map(|command| Compiler { command, language });
        let (present, absent): (Vec<_>, Vec<_>) = all.partition(|compiler| compiler.knows("-fsyntax-only"));
        for compiler in absent {
            println!("left out: this machine has no {}", compiler.command);
        }
        present
    }

    fn knows(&self, option: &str) -> bool {
        let output = self.compile("extern int x;", &["-fsyntax-only", option]);
        output.is_some_and(|output| output.status.success())
    }

    /// The standards that it knows.
    fn standards(&self) -> Vec<String> {
        let all: &[&str] = if self.language == "c" { &C } else { &CPLUSPLUS };
        let options = all.iter().map(|standard| format!("-std={standard}"));
        options.filter(|option| self.knows(option)).collect()
    }

    /// `None` if there is no such compiler.
    fn compile(&self, source: &str, options: &[&str]) -> Option<Output> {
        let path = build::new_directory().join("source.c");
        std::fs::write(&path, source).unwrap();
        self.compile_file(&path, options)
    }

    fn compile_file(&self, source: &Path, options: &[&str]) -> Option<Output> {
        let mut command = Command::new(self.command);
        command.args(options).arg("-I").arg(build::include()).args(["-x", self.language]).arg(source);
        command.stdin(Stdio::null()).output().ok()
    }
}

#[test]
fn it_compiles_under_every_standard_without_a_warning() {
    let source = build::source_of("header/everything.c");
    for compiler in Compiler::all() {
        for standard in compiler.standards() {
            // In C++ the system's headers show everything, whatever is asked for.
            let features = if compiler.language == "c" { &FEATURES[..] } else { &FEATURES[..1] };
            for features in features {
                let options = [&["-fsyntax-only", &standard, features], &WARNINGS[..]].concat();
                let output = compiler.compile_file(&source, &options).unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{} {standard} {features}:\n{errors}", compiler.command);
            }
        }
    }
}

#[test]
fn each_header_compiles_alone_and_twice() {
    for compiler in Compiler::all() {
        let standards = compiler.standards();
        for header in headers() {
            for standard in [standards.first().unwrap(), standards.last().unwrap()] {
                let options = [&["-fsyntax-only", standard], &WARNINGS[..]].concat();
                let source = format!("#include <{header}>\n#include <{header}>\nextern int x;\n");
                let output = compiler.compile(&source, &options).unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{} {standard} {header}:\n{errors}", compiler.command);
            }
        }
    }
}

/// As programs include them.
fn headers() -> Vec<String> {
    let below: Vec<PathBuf> =
        std::fs::read_dir(build::include().join("uv")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let names = below.iter().map(|path| format!("uv/{}", path.file_name().unwrap().to_str().unwrap()));
    names.chain(["uv.h".to_string()]).collect()
}

/// It defines nothing that would be there twice.
#[test]
fn two_files_of_a_program_may_include_it() {
    for compiler in Compiler::all() {
        let directory = build::new_directory();
        let object = |name: &str, source: &str| {
            let path = directory.join(name);
            let text = format!("#include <uv.h>\n{source}\n");
            build::succeed(compiler.compile(&text, &["-c", "-fPIC", "-o", path.to_str().unwrap()]).unwrap());
            path
        };
        let one = object("one.o", "int main() { return UV_EOF + 4095; }");
        let other = object("other.o", "int other() { return sizeof(uv_loop_t); }");
        let program = directory.join("program");
        build::succeed(Command::new(compiler.command).args([&one, &other]).arg("-o").arg(&program).output().unwrap());
        build::run(&program);
    }
}

#[test]
fn terminals_take_a_number_as_mode_in_cplusplus() {
    let source = "#include <uv.h>\nint set(uv_tty_t* tty, int mode) { return uv_tty_set_mode(tty, mode); }\n";
    for compiler in Compiler::all().iter().filter(|compiler| compiler.language == "c++") {
        build::succeed(compiler.compile(source, &["-fsyntax-only"]).unwrap());
    }
}

#[test]
fn it_declares_libuvs_functions() {
    let expected: BTreeSet<String> = include_str!("../../abi/symbols.txt").lines().map(String::from).collect();
    let declared = Header::ours().functions();
    assert_eq!(declared.len(), 319);
    assert_eq!(declared.difference(&expected).collect::<Vec<_>>(), [""; 0], "declared, and not libuv's");
    assert_eq!(expected.difference(&declared).collect::<Vec<_>>(), [""; 0], "libuv's, and not declared");
}

#[test]
fn its_sets_stay_in_order_and_balanced() {
    assert_eq!(build::run(&build::program("tree.c", build::Link::Static)), "ok\n");
}
