//! CommonJS and ES modules, what is said of errors, and the command line. The scripts of `tests/scripts/modules` print what
//! Node prints; of errors the first lines are compared, since what is below the script's own frames is up to the program.

mod runner;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use runner::{Ran, program, run, scratch};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/modules")
}

#[test]
fn scripts_print_what_node_prints() {
    let mut scripts: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "js" || ending == "mjs"));
    scripts.sort();
    assert!(scripts.len() >= 11);
    for script in scripts {
        let ran = run(program().arg(&script), None);
        let expected = fs::read_to_string(script.with_extension("out")).unwrap();
        assert_eq!(ran.text(), expected, "{}\n{}", script.display(), ran.err);
    }
}

/// A folder of its own for a test, with these files.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let path = scratch("folder");
        fs::create_dir_all(&path).unwrap();
        let folder = Folder(path.canonicalize().unwrap());
        for (name, text) in files {
            let path = folder.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, None)
    }

    fn run_with(&self, args: &[&str], input: Option<&str>) -> Ran {
        let mut ran = run(program().args(args).current_dir(&self.0), input.map(str::as_bytes));
        let here = self.0.to_str().unwrap();
        for text in [&mut ran.out, &mut ran.err] {
            *text = text.replace(here, "DIR");
        }
        ran
    }

    /// What standard error must begin with, when this is the script.
    fn says(&self, args: &[&str], start: &str) {
        let ran = self.run(args);
        assert!(ran.err.starts_with(start), "{args:?} says\n{}\ninstead of\n{start}", ran.err);
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn errors_name_file_line_and_column() {
    let folder = Folder::new(&[
        ("thrown.js", "function f() {\n  throw new TypeError('bad');\n}\nf();\n"),
        ("syntax.js", "let x = 1;\nlet y = = 2;\n"),
        ("requires.js", "require('./syntax');\n"),
        ("data.js", "require('./data.json');\n"),
        ("data.json", "{\n  \"a\": oops\n}\n"),
        ("timer.js", "setTimeout(() => {\n\tnull.x;\n}, 1);\n"),
        ("endless.js", "function r() { return r() + 1; }\nr();\n"),
        ("missing.js", "\n  require('./none');\n"),
        ("import.cjs", "import x from 'y';\n"),
        ("lines.js", "throw new Error('first\\nsecond');\n"),
        (
            "own.js",
            "class Own extends Error {\n  constructor(text) { super(text); this.name = 'Own'; this.code = 5; }\n}\nthrow new Own('mine');\n",
        ),
    ]);
    folder.says(&["thrown.js"], "DIR/thrown.js:2\n  throw new TypeError('bad');\n            ^\n\nTypeError: bad\n    at f (DIR/thrown.js:2:13)\n    at Object.<anonymous> (DIR/thrown.js:4:1)\n");
    let syntax = "DIR/syntax.js:2\nlet y = = 2;\n        ^\n\nSyntaxError: unexpected token in expression: '='\n    at DIR/syntax.js:2:9\n";
    folder.says(&["syntax.js"], syntax);
    folder.says(&["requires.js"], syntax);
    folder.says(&["-c", "syntax.js"], syntax);
    folder.says(&["-c", "import.cjs"], "DIR/import.cjs:1\nimport x from 'y';\n       ^\n\nSyntaxError: ");
    folder.says(&["-e", "require('zlib')"], "[eval]:1\nrequire('zlib')\n^\n\nError: Cannot find module 'zlib': 'zlib' is one of Node's modules that oxuv does not have\n");
    folder.says(&["data.js"], "DIR/data.json:2\n  \"a\": oops\n       ^\n\nSyntaxError: DIR/data.json: unexpected token: 'oops'\n    at DIR/data.json:2:8\n");
    folder.says(
        &["timer.js"],
        "DIR/timer.js:2\n\tnull.x;\n\t^\n\nTypeError: cannot read property 'x' of null\n    at DIR/timer.js:2:2\n",
    );
    folder.says(&["endless.js"], "DIR/endless.js:1\nfunction r() { return r() + 1; }\n                     ^\n\nRangeError: Maximum call stack size exceeded\n    at r (DIR/endless.js:1:22)\n");
    folder.says(&["missing.js"], "DIR/missing.js:2\n  require('./none');\n  ^\n\nError: Cannot find module './none'\nRequire stack:\n- DIR/missing.js\n    at ");
    folder.says(&["import.cjs"], "DIR/import.cjs:1\nimport x from 'y';\n       ^\n\nSyntaxError: Cannot use import statement outside a module\n    at DIR/import.cjs:1:8\n");
    folder.says(&["lines.js"], "DIR/lines.js:1\nthrow new Error('first\\nsecond');\n          ^\n\nError: first\nsecond\n    at Object.<anonymous> (DIR/lines.js:1:11)\n");
    folder.says(&["own.js"], "DIR/own.js:4\nthrow new Own('mine');\n          ^\n\nOwn: mine\n    at Object.<anonymous> (DIR/own.js:4:11) {\n  code: 5\n}\n");
    folder.says(&["nothing"], "Error: Cannot find module 'DIR/nothing'\n");
    folder.says(&["."], "Error: Cannot find module 'DIR'\n");
    folder.says(
        &["-e", "\n  throw new Error('x')"],
        "[eval]:2\n  throw new Error('x')\n            ^\n\nError: x\n    at [eval]:2:13\n",
    );
    folder.says(&["-e", "let a = ;"], "[eval]:1\nlet a = ;\n        ^\n\nSyntaxError: ");
    let ran = folder.run_with(&[], Some("let a = 1;\n a.b.c;\n"));
    assert!(
        ran.err.starts_with(
            "[stdin]:2\n a.b.c;\n ^\n\nTypeError: cannot read property 'c' of undefined\n    at [stdin]:2:"
        ),
        "{}",
        ran.err
    );
}

#[test]
fn errors_of_es_modules_name_their_place_too() {
    let folder = Folder::new(&[
        ("top.mjs", "import './bad.mjs';\n"),
        ("bad.mjs", "let a = 1;\n  let y = = 2;\n"),
        ("export.mjs", "import { ok,\n  nothing } from './ok.mjs';\n"),
        ("ok.mjs", "export const ok = 1;\n"),
        ("file.mjs", "\nimport x from './none.mjs';\n"),
        ("package.mjs", "import 'nothing-of-that-name';\n"),
        ("dynamic.mjs", "await import('./none.mjs');\n"),
        ("builtin.mjs", "import 'node:nope';\n"),
        ("common.mjs", "import { b } from './common.cjs';\n"),
        ("common.cjs", "exports.a = 1;\n"),
        ("rejected.mjs", "await null;\nawait Promise.reject(new Error('no'));\n"),
        ("callback.mjs", "const f = () => { throw new RangeError('late'); };\nsetTimeout(f, 1);\n"),
        ("scope.mjs", "require('fs');\n"),
        ("found.js", "import './bad.mjs';\n"),
    ]);
    let syntax = "file://DIR/bad.mjs:2\n  let y = = 2;\n          ^\n\nSyntaxError: unexpected token in expression: '='\n    at file://DIR/bad.mjs:2:11\n";
    folder.says(&["top.mjs"], syntax);
    folder.says(&["found.js"], syntax);
    folder.says(&["export.mjs"], "file://DIR/export.mjs:2\n  nothing } from './ok.mjs';\n  ^\n\nSyntaxError: The requested module './ok.mjs' does not provide an export named 'nothing'\n    at file://DIR/export.mjs:2:3\n");
    folder.says(&["file.mjs"], "file://DIR/file.mjs:2\nimport x from './none.mjs';\n              ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find module 'DIR/none.mjs' imported from DIR/file.mjs\n    at file://DIR/file.mjs:2:15\n");
    folder.says(&["package.mjs"], "file://DIR/package.mjs:1\nimport 'nothing-of-that-name';\n       ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'nothing-of-that-name' imported from DIR/package.mjs\n");
    folder.says(
        &["dynamic.mjs"],
        "file://DIR/dynamic.mjs:1\nawait import('./none.mjs');\n             ^\n\nError [ERR_MODULE_NOT_FOUND]: ",
    );
    folder.says(&["builtin.mjs"], "file://DIR/builtin.mjs:1\nimport 'node:nope';\n       ^\n\nError [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:nope\n");
    folder.says(&["common.mjs"], "file://DIR/common.mjs:1\nimport { b } from './common.cjs';\n         ^\n\nSyntaxError: Named export 'b' not found. The requested module './common.cjs' is a CommonJS module, ");
    folder.says(&["rejected.mjs"], "file://DIR/rejected.mjs:2\nawait Promise.reject(new Error('no'));\n                         ^\n\nError: no\n    at file://DIR/rejected.mjs:2:26\n");
    folder.says(&["callback.mjs"], "file://DIR/callback.mjs:1\nconst f = () => { throw new RangeError('late'); };\n                            ^\n\nRangeError: late\n    at f (file://DIR/callback.mjs:1:29)\n");
    folder.says(&["scope.mjs"], "file://DIR/scope.mjs:1\nrequire('fs');\n^\n\nReferenceError: require is not defined in ES module scope, you can use import instead\n    at file://DIR/scope.mjs:1:1\n");
    folder.says(
        &["--input-type=module", "-e", "throw new Error('x')"],
        "file://DIR/[eval1]:1\nthrow new Error('x')\n          ^\n\nError: x\n    at file://DIR/[eval1]:1:11\n",
    );
}

#[test]
fn traces_show_little_of_the_library() {
    let folder = Folder::new(&[("a.js", "require('./b');"), ("b.js", "console.log(new Error('x').stack)")]);
    let ran = folder.run(&["a.js"]);
    let frames: Vec<_> = ran.out.lines().skip(1).collect();
    assert_eq!(frames[0], "    at Object.<anonymous> (DIR/b.js:1:17)");
    assert_eq!(*frames.last().unwrap(), "    at Object.<anonymous> (DIR/a.js:1:1)");
    let ran = folder.run(&["-e", "setTimeout(() => console.log(new Error('x').stack))"]);
    assert!(ran.out.lines().count() <= 5, "{}", ran.out);
}

#[test]
fn the_command_line_is_as_nodes() {
    let argv = "console.log(JSON.stringify([process.argv.slice(1), process.execArgv]))";
    let folder = Folder::new(&[
        ("argv.js", argv),
        ("folder/index.js", argv),
        ("argv.mjs", argv),
        ("first.js", "globalThis.first = 1;"),
        ("global.js", "console.log(first, module.parent, require.main === module)"),
        ("she", "#!/usr/bin/env oxuv\nconsole.log('shell')"),
        ("fine.js", "console.log('must not run'); return;"),
        ("fine.mjs", "await null; console.log('must not run')"),
    ]);
    symlink(folder.0.join("argv.js"), folder.0.join("link.js")).unwrap();
    for (args, input, out) in [
        (&["argv.js", "-e", "--x", "--", "-"][..], None, "[[\"DIR/argv.js\",\"-e\",\"--x\",\"--\",\"-\"],[]]\n"),
        (&["argv"], None, "[[\"DIR/argv\"],[]]\n"),
        (&["link.js"], None, "[[\"DIR/link.js\"],[]]\n"),
        (&["folder", "a"], None, "[[\"DIR/folder\",\"a\"],[]]\n"),
        (&["./argv.mjs"], None, "[[\"DIR/argv.mjs\"],[]]\n"),
        (&["--no-warnings", "--", "argv.js", "a"], None, "[[\"DIR/argv.js\",\"a\"],[\"--no-warnings\"]]\n"),
        (&["-e", argv, "a", "--b"], None, &format!("[[\"a\",\"--b\"],[\"-e\",\"{argv}\"]]\n")),
        (&["-e", "console.log(process.argv.slice(1))", "--", "-a"], None, "[ '-a' ]\n"),
        (&["-", "a"], Some(argv), "[[\"-\",\"a\"],[\"\"]]\n".replace("[\"\"]", "[]").as_str()),
        (
            &[],
            Some("console.log(__filename, typeof util.inspect, require('util') === util)"),
            "[stdin] function true\n",
        ),
        (&["-p", "[1, 'x']"], None, "[ 1, 'x' ]\n"),
        (&["-pe", "1 + 1", "a"], None, "2\n"),
        (&["-p"], Some("6 * 7"), "42\n"),
        (&["-r", "./first.js", "--require", "./first", "global.js"], None, "1 null true\n"),
        (&["-r", "./first.js", "-e", "console.log(first)"], None, "1\n"),
        (&["she"], None, "shell\n"),
        (&["-c", "fine.js"], None, ""),
        (&["--check", "fine.mjs"], None, ""),
        (
            &["-e", "import util from 'util'; console.log(typeof util.inspect, typeof require)"],
            None,
            "function undefined\n",
        ),
        (&[], Some("import { inspect } from 'util';\nconsole.log(await inspect(1));\n"), "1\n"),
        (&["--input-type=module", "-e", "console.log(typeof require)"], None, "undefined\n"),
        (
            &["-e", "import('./argv.mjs').then(() => console.log('imported'))"],
            None,
            &format!("[[],[\"-e\",\"{}\"]]\nimported\n", "import('./argv.mjs').then(() => console.log('imported'))"),
        ),
        (&["--version"], None, concat!("oxuv ", env!("CARGO_PKG_VERSION"), "\n")),
    ] {
        let ran = folder.run_with(args, input);
        assert_eq!(ran.text(), format!("{out}--- exit 0\n"), "{args:?}\n{}", ran.err);
    }
    for args in [
        &["--nothing"][..],
        &["-e"],
        &["-r"],
        &["--input-type=x", "-e", "1"],
        &["-c", "-e", "1"],
        &["--max-memory=0", "she"],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.out.as_str(), ran.status.code()), ("", Some(9)), "{args:?}");
        assert!(ran.err.starts_with("oxuv: ") && ran.err.contains("--help"), "{}", ran.err);
    }
    let help = folder.run(&["--help"]).out;
    for option in ["-e", "-p", "-c", "-i", "-r", "--input-type", "--max-memory", "--no-warnings", "-h", "-v"] {
        assert!(help.contains(option), "{option}");
    }
}

#[test]
fn odd_places_are_no_trouble() {
    use std::ffi::OsStr;

    // A working directory that is gone.
    let folder = Folder::new(&[]);
    let ran = run(
        std::process::Command::new("sh")
            .args(["-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" -e \"$1\""])
            .args([env!("CARGO_BIN_EXE_oxuv"), "console.log(require('util').inspect(1)); process.cwd()"])
            .current_dir(&folder.0),
        None,
    );
    assert_eq!(ran.text(), "1\n--- exit 1\n", "{}", ran.err);
    assert!(ran.err.contains("ENOENT: no such file or directory, uv_cwd"), "{}", ran.err);

    // A name that is no text.
    let name = folder.0.join(OsStr::from_bytes(b"odd\xff.js"));
    fs::write(&name, "console.log('ran')").unwrap();
    let ran = run(program().arg(&name), None);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.err.contains("Cannot find module"), "{}", ran.err);

    // Names that mean something in a URL.
    fs::write(folder.0.join("a?b#c%20 d.mjs"), "import './e%f.mjs?x'; console.log(import.meta.filename.slice(-14))")
        .unwrap();
    fs::write(folder.0.join("e%f.mjs"), "console.log(import.meta.url.slice(-12))").unwrap();
    let ran = folder.run(&["a?b#c%20 d.mjs"]);
    assert_eq!(ran.text(), "--- exit 1\n", "what stands in a specifier is decoded: {}", ran.err);
    fs::write(folder.0.join("a?b#c%20 d.mjs"), "import './e%25f.mjs?x'; console.log(import.meta.filename.slice(-14))")
        .unwrap();
    let ran = folder.run(&["a?b#c%20 d.mjs"]);
    assert_eq!(ran.text(), "/e%25f.mjs?x\na?b#c%20 d.mjs\n--- exit 0\n", "{}", ran.err);
}
