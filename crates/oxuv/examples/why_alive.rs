//! A loop that does not end, and says why: each handle that keeps it alive, with where it was made.
//!
//! With a path it also writes a trace there, which Perfetto opens.

use std::time::Duration;

use oxuv::{Loop, Mode, Tcp, Timer};

fn main() -> oxuv::Result<()> {
    let lp = Loop::new()?;
    if let Some(path) = std::env::args_os().nth(1) {
        lp.trace(path)?;
    }
    let listener = Tcp::new(&lp)?;
    listener.bind("127.0.0.1:0".parse().expect("an address"))?;
    listener.listen(1, |_: &Tcp, _| {})?;

    // An unreferenced timer does not keep the loop alive, so it is not among those that are printed.
    let patience = Timer::new(&lp)?;
    patience.unref()?;
    let owner = (*lp).clone();
    patience.start(Duration::from_millis(50), move |_| {
        for alive in owner.why_alive() {
            println!("{alive}");
        }
        listener.close().expect("it is open");
    })?;
    lp.run(Mode::Default)?;
    println!("nothing keeps it any more");
    Ok(())
}
