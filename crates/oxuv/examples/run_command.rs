//! Runs a command and collects what it prints.
//!
//! `cargo run --release --example run_command -- PROGRAM [ARGUMENT ...]`

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;

use oxuv::{Command, Errno, Loop, Mode, Pipe, Result, Stdio};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: run_command PROGRAM [ARGUMENT ...]");
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(&program);
    if let Err(error) = run(command.args(arguments).stdin(Stdio::null())) {
        eprintln!("{}: {error}", program.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(command: &mut Command) -> Result<()> {
    let lp = Loop::new()?;
    let output = Pipe::new(&lp)?;
    command.stdout(Stdio::pipe(&output)).spawn(&lp, |process, status| {
        match status {
            Ok(status) => println!("{status}"),
            Err(error) => println!("it is gone, nobody knows how: {error}"),
        }
        let _ = process.close();
    })?;
    // The pipe may have more to read when the child has ended, or be held open by a child of its own.
    let collected = Rc::new(RefCell::new(Vec::new()));
    let collecting = Rc::clone(&collected);
    output.read_start(move |output, read| match read {
        Ok(bytes) => collecting.borrow_mut().extend_from_slice(bytes),
        Err(error) => {
            if error != Errno::EOF {
                eprintln!("its output cannot be read: {error}");
            }
            let _ = output.close();
        }
    })?;
    lp.run(Mode::Default)?;
    let collected = collected.borrow();
    println!("{} bytes, {} lines", collected.len(), collected.iter().filter(|&&byte| byte == b'\n').count());
    Ok(())
}
