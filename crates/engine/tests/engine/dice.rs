/// A small generator of numbers that look random and can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.roll(n) == 0
    }

    /// One of several; `None` of none.
    pub(crate) fn pick<T>(&mut self, from: impl IntoIterator<Item = T>) -> Option<T> {
        let mut from: Vec<T> = from.into_iter().collect();
        let sides = u64::try_from(from.len()).unwrap_or(u64::MAX);
        let at = (sides > 0).then(|| self.roll(sides))?;
        Some(from.swap_remove(usize::try_from(at).ok()?))
    }
}
