//! The library that is tested.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::compile;
use crate::source::{Source, cargo};

/// Which library is tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Library {
    /// Ours, built now.
    Ours {
        /// With cargo's release profile.
        release: bool,
    },
    /// libuv's, built now.
    Upstream,
    /// A file.
    File(PathBuf),
}

/// How the tests are linked with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// They load it: `libuv.so.1`.
    Shared,
    /// They have it in them: `libuv.a`.
    Static,
}

impl Library {
    /// The file of the library, after building it if need be.
    pub fn provide(&self, form: Form, source: &Source, jobs: usize) -> Result<PathBuf, String> {
        match self {
            Library::Ours { release } => build_ours(*release, form),
            Library::Upstream => compile::libuv(source, form, jobs),
            Library::File(path) => path.canonicalize().map_err(|error| format!("{}: {error}", path.display())),
        }
    }
}

fn build_ours(release: bool, form: Form) -> Result<PathBuf, String> {
    let mut command = Command::new(cargo());
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["build", "--package=oxuv-c", "--lib", "--message-format=json-render-diagnostics"]);
    if release {
        command.arg("--release");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo does not start: {error}"))?;
    if !output.status.success() {
        return Err("cargo cannot build our library".into());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let name = match form {
        Form::Shared => "libuv.so",
        Form::Static => "libuv.a",
    };
    // It stands in a list of files: find it by its end.
    let end = messages.find(&format!("/{name}\"")).ok_or_else(|| format!("cargo does not tell of {name}"))?;
    let start = messages[..end].rfind('"').unwrap_or_default() + 1;
    Ok(Path::new(&messages[start..end]).join(name))
}
