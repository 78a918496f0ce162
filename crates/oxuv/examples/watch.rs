//! Tells what happens in a directory and everything beneath it.
//!
//! `cargo run --example watch [DIRECTORY]`; the working directory unless given. The program ends when something called "quit" is
//! made in there.

use std::path::Path;
use std::process::ExitCode;

use oxuv::{FsEvent, FsEvents, FsHappened, Loop, Mode, Result};

fn main() -> ExitCode {
    let directory = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    if let Err(error) = watch(directory.as_ref()) {
        eprintln!("cannot watch {}: {error}", directory.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn watch(directory: &Path) -> Result<()> {
    let lp = Loop::new()?;
    let watch = FsEvent::new(&lp)?;
    watch.recursive(true)?;
    let root = directory.to_path_buf();
    watch.start(directory, move |watch, happened| match happened {
        Ok(happened) => tell(watch, &root, happened),
        Err(error) => eprintln!("not all of it is watched: {error}"),
    })?;
    println!("watching {}", directory.display());
    lp.run(Mode::Default)?;
    Ok(())
}

fn tell(watch: &FsEvent, root: &Path, FsHappened { name, events }: FsHappened<'_>) {
    let Some(name) = name else {
        return println!("too much has happened at once: something was lost");
    };
    let what = if !events.contains(FsEvents::RENAME) {
        "changed"
    } else if root.join(name).symlink_metadata().is_ok() {
        "is there"
    } else {
        "is gone"
    };
    println!("{} {what}", name.display());
    if name == "quit" {
        // EINVAL: it is being closed already.
        let _ = watch.close();
    }
}
