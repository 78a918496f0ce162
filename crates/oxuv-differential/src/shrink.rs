//! Makes a program small that differs: leaves out whatever it differs without.

use crate::program::{Part, Program};

/// The smallest program that still differs.
pub(crate) fn shrink(mut best: Program, mut differs: impl FnMut(&Program) -> bool) -> Program {
    loop {
        let size = best.size();
        for part in 0..best.parts.len() {
            shrink_part(&mut best, part, &mut differs);
        }
        best.parts.retain(|part| !part.steps.is_empty());
        if best.size() == size {
            return best;
        }
    }
}

/// Leaves out steps, first many at a time and then one by one.
fn shrink_part(best: &mut Program, part: usize, differs: &mut impl FnMut(&Program) -> bool) {
    let mut chunk = best.parts[part].steps.len();
    while chunk > 0 {
        let mut end = best.parts[part].steps.len();
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut smaller = best.clone();
            let Part { steps, .. } = &mut smaller.parts[part];
            steps.drain(start..end.min(steps.len()));
            if differs(&smaller) {
                *best = smaller;
            }
            end = start;
        }
        chunk /= 2;
    }
}
