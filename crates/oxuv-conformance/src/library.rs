//! The library that is tested.

use std::path::PathBuf;
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

impl Library {
    /// The file of the shared library, after building it if need be.
    pub fn provide(&self, source: &Source, jobs: usize) -> Result<PathBuf, String> {
        match self {
            Library::Ours { release } => build_ours(*release),
            Library::Upstream => compile::libuv(source, jobs),
            Library::File(path) => path.canonicalize().map_err(|error| format!("{}: {error}", path.display())),
        }
    }
}

fn build_ours(release: bool) -> Result<PathBuf, String> {
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
    let line = messages.lines().find(|line| line.contains("libuv.so\"")).ok_or("cargo does not tell of libuv.so")?;
    // The name stands in a list of files: find it by its end.
    let end = line.find("libuv.so\"").unwrap_or_default() + "libuv.so".len();
    let start = line[..end].rfind('"').unwrap_or_default() + 1;
    Ok(line[start..end].into())
}
