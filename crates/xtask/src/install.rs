//! `cargo xtask install`: lays the C library out as a distribution would.

use std::path::{Component, Path, PathBuf};

use pico_args::Arguments;

use crate::{files, libraries};

/// libuv's, which this library stands in for.
const VERSION: &str = "1.53.0";
/// libuv's name for the file has a version of the binary interface, not of the library.
const SOVERSION: &str = "1.0.0";

/// Where things go.
pub(crate) struct Places {
    prefix: PathBuf,
    libdir: PathBuf,
    includedir: PathBuf,
    destdir: Option<PathBuf>,
}

impl Places {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Places, String> {
        let mut path = |name| {
            let path = arguments.opt_value_from_os_str(name, |value| Ok::<_, String>(PathBuf::from(value)));
            path.map_err(|error| error.to_string())
        };
        let (prefix, destdir) = (path("--prefix")?, path("--destdir")?);
        let (libdir, includedir) = (path("--libdir")?, path("--includedir")?);
        if let [other, ..] = &arguments.finish()[..] {
            return Err(format!("{} is not understood; see --help", other.display()));
        }
        let prefix = prefix.ok_or("--prefix DIR is missing")?;
        let prefix = files::at(&prefix, "find", std::path::absolute(&prefix))?;
        Ok(Places {
            libdir: inside("--libdir", &prefix, libdir.unwrap_or_else(|| "lib".into()))?,
            includedir: inside("--includedir", &prefix, includedir.unwrap_or_else(|| "include".into()))?,
            prefix,
            destdir,
        })
    }

    /// Where a file of the prefix is put now.
    fn now(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.prefix.join(path);
        match &self.destdir {
            Some(destdir) => destdir.join(path.strip_prefix("/").unwrap_or(&path)),
            None => path,
        }
    }
}

/// A directory as seen from the prefix; it may be given from the root, too.
fn inside(option: &str, prefix: &Path, path: PathBuf) -> Result<PathBuf, String> {
    let relative = path.strip_prefix(prefix).unwrap_or(&path);
    if relative.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(relative.into())
    } else {
        Err(format!("{option} {} is not inside the prefix {}", path.display(), prefix.display()))
    }
}

pub(crate) fn install(places: &Places) -> Result<(), String> {
    let root = root()?;
    let (lib, include) = (places.now(&places.libdir), places.now(&places.includedir));
    let (pkgconfig, cmake, doc) = (lib.join("pkgconfig"), lib.join("cmake/libuv"), places.now("share/doc/libuv"));
    let texts = Texts::new(&root, places)?;
    for directory in [&lib, &include, &pkgconfig, &cmake, &doc] {
        files::directory(directory)?;
        files::writable(directory)?;
    }
    let built = libraries::build(&root)?;

    files::copy_all(&root.join("crates/oxuv-c/include"), &include)?;
    files::copy(&built.static_, &lib.join("libuv.a"))?;
    files::copy(&built.shared, &lib.join(format!("libuv.so.{SOVERSION}")))?;
    files::link(&format!("libuv.so.{SOVERSION}"), &lib.join("libuv.so.1"))?;
    files::link("libuv.so.1", &lib.join("libuv.so"))?;
    for name in ["libuv.pc", "libuv-static.pc"] {
        files::write(&pkgconfig.join(name), texts.fill(name)?)?;
    }
    for name in ["libuvConfig.cmake", "libuvConfigVersion.cmake"] {
        files::write(&cmake.join(name), texts.fill(name)?)?;
    }
    for name in ["LICENSE", "CHANGELOG.md"] {
        let file = root.join(name);
        files::copy(&file, &doc.join(file.file_name().unwrap_or_default()))?;
    }
    println!("installed libuv {VERSION} (oxuv) in {}", places.now("").display());
    Ok(())
}

/// The repository.
fn root() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(PathBuf::from).ok_or_else(|| format!("{} is in no repository", here.display()))
}

/// The texts made of `crates/oxuv-c/package/*.in`.
struct Texts {
    package: PathBuf,
    words: [(&'static str, String); 7],
}

impl Texts {
    fn new(root: &Path, places: &Places) -> Result<Texts, String> {
        let text = |path: &Path| {
            let text = path.to_str().filter(|text| !text.contains(['"', '\\', '$', '\n', '#']));
            text.map(String::from).ok_or_else(|| format!("{} cannot stand in a libuv.pc", path.display()))
        };
        let (libdir, includedir) = (text(&places.libdir)?, text(&places.includedir)?);
        let up = "../".repeat(places.libdir.components().count() + 2);
        let words = [
            ("@PREFIX@", text(&places.prefix)?),
            ("@LIBDIR@", format!("${{prefix}}/{libdir}")),
            ("@INCLUDEDIR@", format!("${{prefix}}/{includedir}")),
            ("@INCLUDE_FROM_CMAKE@", format!("{up}{includedir}")),
            ("@VERSION@", VERSION.into()),
            ("@SOVERSION@", SOVERSION.into()),
            ("@URL@", env!("CARGO_PKG_REPOSITORY").into()),
        ];
        Ok(Texts { package: root.join("crates/oxuv-c/package"), words })
    }

    fn fill(&self, name: &str) -> Result<String, String> {
        let template = self.package.join(format!("{name}.in"));
        let text = files::at(&template, "read", std::fs::read_to_string(&template))?;
        Ok(self.words.iter().fold(text, |text, (word, value)| text.replace(word, value)))
    }
}
