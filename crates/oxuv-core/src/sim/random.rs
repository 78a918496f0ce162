//! The one source of chance.

/// A small generator of pseudo-random numbers (xorshift64*): the same seed gives the same run.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
    /// What is drawn first, from its end: see [`Random::led_by`].
    leads: Vec<u8>,
}

impl Random {
    /// A generator that gives the numbers of this seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, leads: Vec::new() }
    }

    /// A generator that first gives what these bytes say, one for each number, and then the numbers of the seed 0. Who chooses
    /// the bytes, a fuzzer for example, chooses what is drawn, and changes a little of it by changing one.
    pub fn led_by(bytes: &[u8]) -> Random {
        Random { leads: bytes.iter().rev().copied().collect(), ..Random::new(0) }
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if let Some(byte) = self.leads.pop() {
            // Of a thousand, a byte chooses one of 256.
            return usize::from(byte) * bound.div_ceil(256) % bound;
        }
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        ((self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize) % bound
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
