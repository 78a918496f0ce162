//! Where specifiers lead, in packages whose package.json has anything in it: to a file, or to an error that has a code. The
//! fields `exports` and `imports` never lead out of the package that they are of.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::Bytes;
use oxuv_js::{Options, Program, Source};

/// Looks up each specifier from two places, and checks what is found.
const SCRIPT: &str = r#"
const [folder, ...specifiers] = process.argv.slice(1);
const { createRequire } = require('module');
const fs = require('fs');
const has = (path, field) => {
  try { return JSON.parse(fs.readFileSync(path, 'utf8'))[field] != null; } catch { return false; }
};
const inside = `${folder}/node_modules/p/`;
const hasExports = has(`${inside}package.json`, 'exports');
for (const from of [`${folder}/main.js`, `${inside}a.js`]) {
  const { resolve } = createRequire(from);
  for (const specifier of specifiers) {
    let found;
    try {
      found = resolve(specifier);
    } catch (error) {
      if (!(error instanceof Error) || typeof error.code !== 'string') throw error;
      continue;
    }
    if (require('module').builtinModules.includes(found.replace(/^node:/, ''))) continue;
    if (!fs.statSync(found).isFile()) throw new Error(`${specifier} leads to ${found}, which is no file`);
    const isOfPackage = /^p(\/|$)/.test(specifier) && hasExports;
    if (isOfPackage && !found.startsWith(inside)) throw new Error(`${specifier} leads out of its package, to ${found}`);
    const isImport = specifier.startsWith('#') && from.startsWith(inside);
    if (isImport && !found.startsWith(`${folder}/`)) throw new Error(`${specifier} leads away, to ${found}`);
  }
}
"#;

/// A folder that is as quick as memory, where there is one.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root =
        ["/dev/shm", "/tmp"].map(PathBuf::from).into_iter().find(|path| path.is_dir()).expect("a folder for files");
    root.join(format!("oxuv-fuzz-{}", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut bytes = Bytes(bytes);
    let lines = String::from_utf8_lossy(bytes.text()).into_owned();
    let package = bytes.text();
    let folder = ROOT.join(COUNT.fetch_add(1, Relaxed).to_string());
    let inside = folder.join("node_modules/p");
    fs::create_dir_all(inside.join("lib")).expect("a folder");
    fs::write(folder.join("main.js"), "").expect("a file");
    fs::write(folder.join("package.json"), bytes.0).expect("a file");
    for (name, content) in [("package.json", package), ("a.js", b""), ("index.js", b""), ("lib/b.js", b"")] {
        fs::write(inside.join(name), content).expect("a file");
    }

    let mut args = vec![folder.clone().into_os_string()];
    args.extend(lines.lines().take(20).map(Into::into));
    let options = Options { args, max_memory: Some(64 << 20), ..Options::default() };
    let program = Program::new(options).expect("a program");
    let code = program.run(Source::Eval(SCRIPT.to_owned()));
    assert_eq!(code.ok(), Some(0));
    drop(program);
    fs::remove_dir_all(folder).expect("the folder");
});
