//! The page: tables, with what one must know to read them.

use std::fmt::Write;

use super::Report;
use crate::contestant::Contestant;
use crate::results::Figure;
use crate::table;

const HEAD: &str = "\
# oxuv beside others

This page, its picture and its [numbers](comparison.json) are written by one command, which measures anew:

    cargo run --release -p oxuv-bench -- --write

![CPU time per operation, as ratios to libuv's](comparison.svg)

What an operation of each row is, and what the programs do, tells [the bench's README](../crates/oxuv-bench/README.md).
";

const METHOD: &str = "\
* A contestant's program and its client run on the same core, which they keep busy, and nothing else should run there. So
  the CPU time that the program takes per operation says how much it could do on a core of its own. Where threads
  are the subject (work, files, children) all cores are used; there the figures wobble most, since on a small virtual
  machine it costs much, and differently much, to wake another core.
* Of an echo server the requests alone are counted: its connections are there by then, and each has had one.
* Each round runs every contestant once, one after the other. The first round does not count. A ratio is that to libuv
  in the same round; told are the median and the quartiles of the rounds' ratios. If 1.00 lies between the quartiles, there
  is no difference to speak of.
* Counts do not wobble, and there is one: that of a long run less that of a short one, divided by the operations that
  the long one does more. Instructions are those of the program itself, not the kernel's; callgrind counts them, and the
  calls of malloc and its kin. strace counts the system calls. A ring's requests are neither: valgrind has no rings.
* Memory is the most that the program has in use with many connections or timers, less that with few, divided by the
  difference. Where tasks have buffers of their own, these are of 64 bytes there, and of 64 KiB else.
* libuv 1.53 is built as its crate does, with -O3 and its assertions. Everyone else is built by cargo in release, with
  link-time optimisation, or by cc -O2.
* tokio is its runtime of one thread, monoio is measured with its ring and with epoll. Peers are measured at what they
  have, and at fewer sizes of the echo.
";

pub(super) fn markdown(report: &Report<'_>) -> String {
    let mut page = format!("{HEAD}\n## The method\n\n{METHOD}* Rounds: {}.\n\n## The machine\n\n", report.rounds);
    for (name, text) in &report.machine.lines {
        let _ = writeln!(page, "* {name}: {text}");
    }
    for figure in Figure::ALL {
        if let Some(table) = table::markdown(report.results, figure) {
            let _ = write!(page, "\n## {}\n\n{table}", figure.title());
        }
    }
    page += "\n## Where ours costs more CPU time than libuv\n\nThree rounds of four say so:\n\n";
    let mut is_ahead = true;
    for contestant in [Contestant::C, Contestant::Rust, Contestant::Futures] {
        for (row, ratio) in report.results.dearer(contestant) {
            is_ahead = false;
            let _ = writeln!(page, "* {}, {}: {:.2}", contestant.title(), row.workload.title, ratio.median);
        }
    }
    if is_ahead {
        page += "* nowhere\n";
    }
    if !report.results.failures.is_empty() {
        page += "\n## What did not run\n\n";
        for failure in &report.results.failures {
            let _ = writeln!(page, "* `{failure}`");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::with_report;

    #[test]
    fn the_page_has_the_machine_the_tables_and_what_failed() {
        with_report(|report| {
            let page = markdown(report);
            for part in [
                "](comparison.svg)",
                "](comparison.json)",
                "* Rounds: 3.\n",
                "* processor: an abacus\n",
                "## CPU time per operation in nanoseconds",
                "## Memory in bytes",
                "costs more CPU time than libuv\n\nThree rounds of four say so:\n\n* nowhere\n",
                "## What did not run\n\n* `mio, turn: it has <fallen>`\n",
            ] {
                assert!(page.contains(part), "{part:?} is missing:\n{page}");
            }
            assert!(!page.contains("## Operations per second"), "{page}");
        });
    }

    #[test]
    fn where_ours_is_dearer_is_told() {
        let mut results = crate::results::made_up::results();
        results.contestants = vec![Contestant::Mio, Contestant::Libuv, Contestant::C];
        with_report(|report| {
            let page = markdown(&Report { results: &results, ..*report });
            assert!(page.contains("say so:\n\n* oxuv (C), echo: 1 x 64 B: 1.50\n"), "{page}");
            assert!(!page.contains("nowhere"), "{page}");
        });
    }
}
