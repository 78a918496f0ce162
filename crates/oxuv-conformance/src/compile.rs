//! C files to objects, kept from one run to the next.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::Form;
use crate::source::{PRIVATE, Source};
use crate::{about, parallel, run_tool};

/// Which `uv.h` the tests are compiled against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// libuv's.
    Libuv,
    /// Ours.
    Ours,
}

const DEFINES: [&str; 3] = ["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE_SOURCE"];
const OUR_HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../oxuv-c/include");

/// Compiles libuv's tests. Those with flags of their own lie beside the others.
pub fn tests(source: &Source, header: Header, cflags: &[String], jobs: usize) -> Result<Vec<PathBuf>, String> {
    let private = |path: &Path| PRIVATE.iter().any(|name| path.ends_with(name));
    let (theirs, sources): (Vec<PathBuf>, Vec<PathBuf>) =
        source.tests()?.into_iter().partition(|path| header == Header::Libuv || private(path));
    let mut flags = vec!["-DUSING_UV_SHARED=1", "-g", "-w"];
    flags.extend(cflags.iter().map(String::as_str));
    let kind = if cflags.is_empty() { "" } else { "-flags" };
    let mut objects =
        objects(&source.target.join(format!("tests-libuv{kind}")), &theirs, &source.headers(), &flags, jobs)?;
    if header == Header::Ours {
        let folder = source.target.join(format!("tests-ours{kind}"));
        objects.extend(objects_of_ours(&folder, &sources, &flags, jobs)?);
    }
    Ok(objects)
}

fn objects_of_ours(folder: &Path, sources: &[PathBuf], flags: &[&str], jobs: usize) -> Result<Vec<PathBuf>, String> {
    objects(folder, sources, Path::new(OUR_HEADERS), flags, jobs)
}

/// Compiles libuv itself, and makes a library of this form of it.
pub fn libuv(source: &Source, form: Form, jobs: usize) -> Result<PathBuf, String> {
    let inner = source.libuv.join("src");
    let inner = format!("-I{}", inner.display());
    // The assertions stay: a test that runs into one fails.
    let flags =
        ["-O2", "-g", "-w", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-DBUILDING_UV_SHARED=1", &inner];
    let objects = objects(&source.target.join("libuv"), &source.library()?, &source.headers(), &flags, jobs)?;
    if form == Form::Static {
        let library = source.target.join("libuv/libuv.a");
        run_tool(Command::new("ar").arg("rcs").arg(&library).args(objects))?;
        return Ok(library);
    }
    let library = source.target.join("libuv/libuv.so.1");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-Wl,-soname,libuv.so.1", "-o"]).arg(&library).args(objects).args([
        "-lpthread",
        "-ldl",
        "-lrt",
    ]);
    run_tool(&mut cc)?;
    Ok(library)
}

/// Compiles sources into `folder`. Objects lie in a folder of it that is named by the headers and flags, so that one that is
/// there is up to date: the registry's sources never change.
fn objects(
    folder: &Path,
    sources: &[PathBuf],
    headers: &Path,
    flags: &[&str],
    jobs: usize,
) -> Result<Vec<PathBuf>, String> {
    let version = run_tool(Command::new("cc").arg("--version"))?;
    let mut hasher = DefaultHasher::new();
    (&version, flags, DEFINES).hash(&mut hasher);
    sources.first().and_then(|path| path.parent()).hash(&mut hasher);
    hash_files(headers, &mut hasher)?;
    let name = format!("{:016x}", hasher.finish());
    let current = folder.join(&name);
    fs::create_dir_all(&current).map_err(about(current.display()))?;
    remove_others(folder, &name)?;

    let made = parallel::map(jobs, sources, |path| {
        let object = current.join(path.file_name().unwrap_or_default()).with_extension("o");
        if object.exists() {
            return Ok(object);
        }
        let unfinished = object.with_extension("unfinished");
        let mut cc = Command::new("cc");
        cc.arg("-I").arg(headers).args(DEFINES).args(flags).arg("-c").arg(path).arg("-o").arg(&unfinished);
        run_tool(&mut cc).map_err(about(path.display()))?;
        fs::rename(&unfinished, &object).map_err(about(object.display()))?;
        Ok(object)
    });
    made.into_iter().collect()
}

fn hash_files(folder: &Path, hasher: &mut DefaultHasher) -> Result<(), String> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(about(folder.display()))? {
        entries.push(entry.map_err(about(folder.display()))?.path());
    }
    entries.sort();
    for path in entries {
        path.hash(hasher);
        if path.is_dir() {
            hash_files(&path, hasher)?;
        } else {
            fs::read(&path).map_err(about(path.display()))?.hash(hasher);
        }
    }
    Ok(())
}

/// Objects of older headers and flags.
fn remove_others(folder: &Path, current: &str) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(about(folder.display()))?.flatten() {
        if entry.path().is_dir() && entry.file_name() != current {
            fs::remove_dir_all(entry.path()).map_err(about(entry.path().display()))?;
        }
    }
    Ok(())
}
