//! Chance that can be repeated, and made smaller.

/// Numbers that look random. Each that was rolled is remembered: given again, in this order,
/// they lead to the same run. 0 always stands for what is least unusual.
#[derive(Debug)]
pub(super) struct Dice {
    source: Source,
    rolled: Vec<u64>,
}

#[derive(Debug)]
enum Source {
    Seed(u64),
    /// What was rolled before, and then nothing but 0.
    Script(std::vec::IntoIter<u64>),
}

impl Dice {
    pub(super) fn seeded(seed: u64) -> Self {
        Self {
            source: Source::Seed(seed),
            rolled: Vec::new(),
        }
    }

    pub(super) fn scripted(rolls: Vec<u64>) -> Self {
        Self {
            source: Source::Script(rolls.into_iter()),
            rolled: Vec::new(),
        }
    }

    /// All that was rolled so far.
    pub(super) fn rolled(self) -> Vec<u64> {
        self.rolled
    }

    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        let sides = sides.max(1);
        let rolled = match &mut self.source {
            Source::Seed(state) => next(state) % sides,
            Source::Script(rolls) => rolls.next().unwrap_or(0).min(sides - 1),
        };
        self.rolled.push(rolled);
        rolled
    }

    pub(super) fn index(&mut self, sides: usize) -> usize {
        let sides = u64::try_from(sides).unwrap_or(u64::MAX);
        usize::try_from(self.roll(sides)).unwrap_or(0)
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.roll(n) == n - 1
    }

    /// One of several; `None` of none.
    pub(super) fn pick<T>(&mut self, from: impl IntoIterator<Item = T>) -> Option<T> {
        let mut from: Vec<T> = from.into_iter().collect();
        if from.is_empty() {
            return None;
        }
        let at = self.index(from.len());
        Some(from.swap_remove(at))
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
