//! `cargo xtask`: jobs about this repository that are not cargo's own.

#![forbid(unsafe_code)]

mod files;
mod install;
mod libraries;

use std::process::ExitCode;

use pico_args::Arguments;

const HELP: &str = "\
Builds the C library as it ships and installs it.

cargo xtask install --prefix DIR [options]

  --prefix DIR      where it will live, for example /usr/local
  --libdir DIR      where libraries go, in the prefix (lib); Debian has lib/x86_64-linux-gnu
  --includedir DIR  where headers go, in the prefix (include)
  --destdir DIR     put all files below this directory, for a package; it is not written into them
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = Arguments::from_env();
    if arguments.contains(["-h", "--help"]) {
        print!("{HELP}");
        return Ok(());
    }
    match arguments.subcommand().map_err(|error| error.to_string())?.as_deref() {
        Some("install") => install::install(&install::Places::parse(arguments)?),
        Some(other) => Err(format!("there is no job {other}; see --help")),
        None => Err(format!("which job?\n\n{HELP}")),
    }
}
