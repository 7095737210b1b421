//! Numbers that look random and are the same for the same seed, on every machine.

/// SplitMix64: small, fast, and good enough to throw lines together.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }

    /// True in `percent` of a hundred throws.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the words; said twice, a word is twice as likely.
    pub(super) fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_throws_for_ever() {
        let mut dice = Dice::new(7);
        let throws: Vec<usize> = (0..6).map(|_| dice.below(100)).collect();
        assert_eq!(throws, [87, 4, 46, 3, 74, 5]);
    }
}
