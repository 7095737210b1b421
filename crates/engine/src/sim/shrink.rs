//! A finding as small as it can be made: every disturbance that it does not need is left out.

use super::dice::Dice;
use super::mutant::Mutant;
use super::{Finding, run_with};

/// So many runs are made at most to make a finding smaller.
const MOST_TRIES: u32 = 3_000;

/// The same finding with fewer disturbances. What is rolled is set to 0, which stands for what
/// is least unusual, or left out, as long as something is still found.
pub(super) fn smallest(finding: Finding, mutant: Option<Mutant>) -> Finding {
    let mut shrinking = Shrinking {
        tries: 0,
        best: finding,
        mutant,
    };
    let mut size = shrinking.best.rolls.len().next_power_of_two();
    while size > 0 {
        let is_smaller = shrinking.without(size) | shrinking.zeroed(size);
        if !is_smaller || shrinking.tries >= MOST_TRIES {
            size /= 2;
        }
    }
    shrinking.best
}

struct Shrinking {
    tries: u32,
    best: Finding,
    mutant: Option<Mutant>,
}

impl Shrinking {
    /// Leaves out every piece of this size that is not needed; whether there was one.
    fn without(&mut self, size: usize) -> bool {
        self.at_every(size, |rolls, at| {
            let end = (at + size).min(rolls.len());
            rolls.drain(at..end);
        })
    }

    fn zeroed(&mut self, size: usize) -> bool {
        self.at_every(size, |rolls, at| {
            let end = (at + size).min(rolls.len());
            if let Some(piece) = rolls.get_mut(at..end) {
                piece.fill(0);
            }
        })
    }

    fn at_every(&mut self, size: usize, change: impl Fn(&mut Vec<u64>, usize)) -> bool {
        let (mut at, mut is_smaller) = (0, false);
        while at < self.best.rolls.len() && self.tries < MOST_TRIES {
            let mut rolls = self.best.rolls.clone();
            change(&mut rolls, at);
            match rolls != self.best.rolls && self.is_found_with(rolls) {
                true => is_smaller = true,
                false => at += size,
            }
        }
        is_smaller
    }

    fn is_found_with(&mut self, rolls: Vec<u64>) -> bool {
        self.tries += 1;
        let Err(found) = run_with(self.best.seed, Dice::scripted(rolls), self.mutant) else {
            return false;
        };
        let is_smaller = found.weight() < self.best.weight();
        if is_smaller {
            self.best = *found;
        }
        is_smaller
    }
}
