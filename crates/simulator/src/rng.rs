//! Random numbers that can be replayed and shrunk.

/// Pseudo-random numbers. Every number drawn is recorded; replayed in this order, they lead to the
/// same run. 0 is always the most ordinary choice.
#[derive(Debug)]
pub(crate) struct Rng {
    source: Numbers,
    drawn: Vec<u64>,
}

#[derive(Debug)]
enum Numbers {
    Seed(u64),
    /// Replays recorded numbers, followed by zeros.
    Script(std::vec::IntoIter<u64>),
}

impl Rng {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self {
            source: Numbers::Seed(seed),
            drawn: Vec::new(),
        }
    }

    pub(crate) fn scripted(drawn: Vec<u64>) -> Self {
        Self {
            source: Numbers::Script(drawn.into_iter()),
            drawn: Vec::new(),
        }
    }

    /// Returns all numbers drawn so far.
    pub(crate) fn drawn(self) -> Vec<u64> {
        self.drawn
    }

    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        let sides = sides.max(1);
        let drawn = match &mut self.source {
            Numbers::Seed(state) => next(state) % sides,
            Numbers::Script(drawn) => drawn.next().unwrap_or(0).min(sides - 1),
        };
        self.drawn.push(drawn);
        drawn
    }

    pub(crate) fn index(&mut self, sides: usize) -> usize {
        let sides = u64::try_from(sides).unwrap_or(u64::MAX);
        usize::try_from(self.below(sides)).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// Picks one of several; `None` if there are none.
    pub(crate) fn pick<T>(&mut self, from: impl IntoIterator<Item = T>) -> Option<T> {
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
