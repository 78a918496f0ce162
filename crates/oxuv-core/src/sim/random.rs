//! The one source of chance.

/// A small generator of pseudo-random numbers (xorshift64*): the same seed gives the same run.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator that gives the numbers of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize) % bound
    }

    /// True so many times in a thousand. What never happens draws no number.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        per_mille > 0 && self.below(1000) < usize::from(per_mille)
    }

    /// One of the elements, `None` when there are none.
    pub fn pick<'a, T>(&mut self, elements: &'a [T]) -> Option<&'a T> {
        if elements.is_empty() { None } else { Some(&elements[self.below(elements.len())]) }
    }
}
