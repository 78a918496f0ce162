//! Sends text through a filter: another program, which changes it.
//!
//! `cargo run --release --example filter -- TEXT PROGRAM [ARGUMENT ...]`, for example
//! `filter 'hello' tr a-z A-Z`.

use std::io::Write;
use std::process::ExitCode;

use oxuv::{Command, Loop, Mode, Pipe, Result, Stdio};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(text), Some(program)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: filter TEXT PROGRAM [ARGUMENT ...]");
        return ExitCode::FAILURE;
    };
    if let Err(error) = filter(text, Command::new(&program).args(arguments)) {
        eprintln!("{program}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn filter(text: String, command: &mut Command) -> Result<()> {
    let lp = Loop::new()?;
    let (input, output) = (Pipe::new(&lp)?, Pipe::new(&lp)?);
    command.stdin(Stdio::pipe(&input)).stdout(Stdio::pipe(&output)).spawn(&lp, |process, status| {
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("the filter has failed");
        }
        let _ = process.close();
    })?;
    // The filter sees the end of its input when the pipe is closed. It may end without having read everything.
    input.write(text, |input, _| {
        let _ = input.close();
    })?;
    output.read_start(|output, read| {
        let printed = read.map(|bytes| std::io::stdout().write_all(bytes));
        if !matches!(printed, Ok(Ok(()))) {
            let _ = output.close();
        }
    })?;
    lp.run(Mode::Default)?;
    println!();
    Ok(())
}
