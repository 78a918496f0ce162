//! Shows each key that is typed, until q: a terminal in raw mode gives them one by one, and does not print them itself.

use oxuv::{Errno, Loop, Mode, Result, Tty, TtyMode};

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let terminal = match Tty::stdin(&lp) {
        Ok(terminal) => terminal,
        Err(Errno::ENOTTY) => {
            println!("standard input is no terminal: there are no keys to show");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let size = terminal.window_size()?;
    println!("a window of {} by {}; type, and end with q", size.columns, size.rows);
    terminal.set_mode(TtyMode::Raw)?;
    terminal.read_start(|terminal, read| match read {
        Ok(keys) => {
            for key in keys {
                println!("{key:3} {}", key.escape_ascii());
            }
            if keys.contains(&b'q') {
                terminal.close().unwrap(); // and it is as it was
            }
        }
        Err(_) => terminal.close().unwrap(), // it is hung up
    })?;
    lp.run(Mode::Default)?;
    println!("done");
    Ok(())
}
