//! Findings, shrunk: every disturbance that a finding doesn't need is removed.

use regreen_engine::JournalLine;

use crate::mutant::Mutant;
use crate::rng::Rng;
use crate::run_with;

/// A violated invariant.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed of the run.
    pub seed: u64,
    /// The violated invariant.
    pub what: String,
    /// The steps that led to it.
    pub journal: Vec<JournalLine>,
    /// The task file at the end.
    pub tasks: String,
    /// The random choices.
    pub(crate) drawn: Vec<u64>,
}

impl Finding {
    /// Returns the journal as text: one line of JSON per step.
    #[must_use]
    pub fn journal_text(&self) -> String {
        let lines = self.journal.iter().map(serde_json::to_string);
        lines
            .map_while(Result::ok)
            .map(|line| line + "\n")
            .collect()
    }

    /// Shrinks the finding to as few disturbances as possible.
    #[must_use]
    pub fn smallest(self, mutant: Option<Mutant>) -> Self {
        smallest(self, mutant)
    }

    /// Returns how much of it a reader must understand.
    fn weight(&self) -> (usize, u64, usize) {
        let unusual = self.drawn.iter().filter(|drawn| **drawn > 0);
        (unusual.count(), self.drawn.iter().sum(), self.drawn.len())
    }
}

/// How many runs shrinking a finding may take.
const MOST_TRIES: u32 = 3_000;

/// Shrinks a finding: sets random choices to 0, which is the most ordinary one, or removes them,
/// for as long as an invariant is still violated.
fn smallest(finding: Finding, mutant: Option<Mutant>) -> Finding {
    let mut shrinking = Shrinking {
        tries: 0,
        best: finding,
        mutant,
    };
    let mut size = shrinking.best.drawn.len().next_power_of_two();
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
    /// Removes every piece of this size that isn't needed. Returns whether there was one.
    fn without(&mut self, size: usize) -> bool {
        self.at_every(size, |drawn, at| {
            let end = (at + size).min(drawn.len());
            drawn.drain(at..end);
        })
    }

    fn zeroed(&mut self, size: usize) -> bool {
        self.at_every(size, |drawn, at| {
            let end = (at + size).min(drawn.len());
            if let Some(piece) = drawn.get_mut(at..end) {
                piece.fill(0);
            }
        })
    }

    fn at_every(&mut self, size: usize, change: impl Fn(&mut Vec<u64>, usize)) -> bool {
        let (mut at, mut is_smaller) = (0, false);
        while at < self.best.drawn.len() && self.tries < MOST_TRIES {
            let mut drawn = self.best.drawn.clone();
            change(&mut drawn, at);
            match drawn != self.best.drawn && self.is_found_with(drawn) {
                true => is_smaller = true,
                false => at += size,
            }
        }
        is_smaller
    }

    fn is_found_with(&mut self, drawn: Vec<u64>) -> bool {
        self.tries += 1;
        let Err(found) = run_with(self.best.seed, Rng::scripted(drawn), self.mutant) else {
            return false;
        };
        let is_smaller = found.weight() < self.best.weight();
        if is_smaller {
            self.best = *found;
        }
        is_smaller
    }
}
