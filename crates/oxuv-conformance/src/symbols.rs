//! What object files define and want, read with `nm`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::Form;
use crate::{run_quietly, run_tool};

/// The symbols of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Its file.
    pub file: PathBuf,
    /// What others may use.
    pub defined: BTreeSet<String>,
    /// What others must provide.
    pub wanted: BTreeSet<String>,
}

/// Reads the symbols of objects, of which there must be two at least: of one alone nm does not tell the name.
pub fn of_objects(files: &[PathBuf]) -> Result<Vec<Symbols>, String> {
    Ok(parse(&run_tool(Command::new("nm").arg("-g").args(files))?))
}

/// The functions that a library has for others.
pub fn of_library(file: &Path, form: Form) -> Result<BTreeSet<String>, String> {
    let which = match form {
        Form::Shared => "-D",
        Form::Static => "-g",
    };
    // Of each object without symbols it complains.
    let text = run_quietly(Command::new("nm").args([which, "--defined-only"]).arg(file))?;
    let names = text.lines().filter_map(|line| line.rsplit(' ').next());
    // Symbols of some distributions' libraries have a version.
    Ok(names.map(|name| name.split('@').next().unwrap_or(name).to_owned()).collect())
}

/// Reads what `nm -g` prints on several files.
pub fn parse(text: &str) -> Vec<Symbols> {
    let mut objects: Vec<Symbols> = Vec::new();
    for line in text.lines() {
        if let Some(file) = line.strip_suffix(':') {
            objects.push(Symbols { file: file.into(), ..Symbols::default() });
            continue;
        }
        let mut words = line.split_whitespace().rev();
        if let (Some(object), Some(name), Some(letter)) = (objects.last_mut(), words.next(), words.next()) {
            let symbols = if letter == "U" { &mut object.wanted } else { &mut object.defined };
            symbols.insert(name.to_owned());
        }
    }
    objects
}
