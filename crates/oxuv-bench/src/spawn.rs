//! The workload of `c/spawn.c`: a child after the other, of a parent with so many megabytes of memory in use.

use std::hint::black_box;

use oxuv::{Command, Loop, LoopRef, Mode, Result, Stdio};

use crate::program::{Spent, timed_section};

pub(crate) fn run(megabytes: usize, operations: usize) -> Result<Spent> {
    let memory = vec![1_u8; megabytes << 20];
    let lp = Loop::new()?;
    let spent = timed_section(|| {
        start(&lp, operations)?;
        lp.run(Mode::Default).map(drop)
    });
    black_box(memory);
    spent
}

fn start(lp: &LoopRef, left: usize) -> Result<()> {
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn(lp, move |process, status| {
        assert!(status.is_ok_and(|status| status.success()), "the child has failed");
        let next = move |process: &oxuv::Handle| {
            if left > 1 {
                start(process.owner(), left - 1).expect("another child can be made");
            }
        };
        process.close_then(next).expect("the handle is open");
    })?;
    Ok(())
}
