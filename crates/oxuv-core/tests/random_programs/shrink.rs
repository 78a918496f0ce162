//! Makes a failing program small: leaves out whatever it fails without.

use oxuv_core::sim::{Fault, Faults};

use crate::draw::STARTS;
use crate::program::{Action, Program};

/// The smallest program that still fails, with its failure.
pub(crate) fn shrink(
    program: Program,
    failure: String,
    fails: impl Fn(&Program) -> Option<String>,
) -> (Program, String) {
    let mut best = (program, failure);
    let mut tries = 3000_usize;
    loop {
        let size = weight(&best.0);
        let mut attempt = |best: &mut (Program, String), change: &dyn Fn(&mut Program)| -> bool {
            let mut smaller = best.0.clone();
            change(&mut smaller);
            if smaller == best.0 || tries == 0 {
                return false;
            }
            tries -= 1;
            let Some(failure) = fails(&smaller) else { return false };
            *best = (smaller, failure);
            true
        };
        attempt(&mut best, &|program| program.faults = Faults::none());
        for fault in Fault::ALL {
            attempt(&mut best, &|program| *program.faults.often(fault) = 0);
        }
        attempt(&mut best, &|program| program.start = STARTS[0].1);
        attempt(&mut best, &|program| program.ring = false);
        for place in 0..best.0.callbacks.len() {
            attempt(&mut best, &|program| program.callbacks[place].clear());
        }
        shrink_list(&mut best, &mut attempt, &|program| &mut program.outside);
        for place in 0..best.0.callbacks.len() {
            for nth in 0..best.0.callbacks[place].len() {
                shrink_list(&mut best, &mut attempt, &|program| &mut program.callbacks[place][nth]);
            }
        }
        if weight(&best.0) == size || tries == 0 {
            return best;
        }
    }
}

fn weight(program: &Program) -> usize {
    let mut faults = program.faults;
    let committed = Fault::ALL.into_iter().filter(|&fault| *faults.often(fault) > 0).count();
    program.size() + committed + usize::from(program.start != STARTS[0].1) + usize::from(program.ring)
}

type Best = (Program, String);
type Attempt<'a> = dyn FnMut(&mut Best, &dyn Fn(&mut Program)) -> bool + 'a;

/// Leaves out actions of a list, first many at a time and then one by one, from its end.
fn shrink_list(best: &mut Best, attempt: &mut Attempt<'_>, list: &dyn Fn(&mut Program) -> &mut Vec<Action>) {
    let mut length = list(&mut best.0).len();
    let mut chunk = length;
    while chunk > 0 {
        let mut end = length;
        while end > 0 {
            let start = end.saturating_sub(chunk);
            if attempt(best, &|program| drop(list(program).drain(start..end))) {
                length -= end - start;
            }
            end = start;
        }
        chunk /= 2;
    }
}
