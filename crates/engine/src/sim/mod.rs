//! Runs in a world made of numbers: agents that pass, fail, lie, time out and meddle with the
//! plan, people who edit it at any time, crashes between any two steps, clocks that jump. The
//! task file and the state file are the real ones, of `documents`.
//!
//! A seed gives the same run on every machine. After every step it is checked what must hold
//! whatever happens (`invariants`); what does not hold is a [`Finding`], which can be made as
//! small as possible and written down as a journal that `regreen replay` shows.

mod agent;
mod bytes;
mod character;
mod diagnoses;
mod dice;
mod hand;
mod invariants;
mod mutant;
mod name;
mod people;
mod performer;
mod plans;
mod process;
mod shrink;
mod transitions;
mod world;

use std::collections::BTreeSet;

use regreen_model::RunOutcome;

use self::dice::Dice;
use self::world::World;
use crate::journal_line::JournalLine;

pub use self::mutant::Mutant;
pub use self::transitions::Transition;

/// A simulated run in which everything held.
#[derive(Clone, Debug)]
pub struct Ran {
    pub steps: usize,
    pub outcome: Option<RunOutcome>,
    pub reached: BTreeSet<Transition>,
}

/// Something that did not hold.
#[derive(Clone, Debug)]
pub struct Finding {
    pub seed: u64,
    pub what: String,
    /// What led to it.
    pub journal: Vec<JournalLine>,
    /// The task file in the end.
    pub tasks: String,
    /// What chance decided.
    rolls: Vec<u64>,
}

impl Finding {
    /// The journal as text: one line of JSON for each step.
    #[must_use]
    pub fn journal_text(&self) -> String {
        let lines = self.journal.iter().map(serde_json::to_string);
        lines
            .map_while(Result::ok)
            .map(|line| line + "\n")
            .collect()
    }

    /// The same with as few disturbances as possible.
    #[must_use]
    pub fn smallest(self, mutant: Option<Mutant>) -> Self {
        shrink::smallest(self, mutant)
    }

    /// How much has to be understood of it.
    fn weight(&self) -> (usize, u64, usize) {
        let unusual = self.rolls.iter().filter(|rolled| **rolled > 0);
        (unusual.count(), self.rolls.iter().sum(), self.rolls.len())
    }
}

/// Simulates the run of a seed, with a bug or without.
///
/// # Errors
/// If something does not hold.
pub fn run(seed: u64, mutant: Option<Mutant>) -> Result<Ran, Box<Finding>> {
    run_with(seed, Dice::seeded(seed), mutant)
}

fn run_with(seed: u64, dice: Dice, mutant: Option<Mutant>) -> Result<Ran, Box<Finding>> {
    let mut world = World::new(dice, mutant);
    match world.live() {
        Ok(()) => Ok(Ran {
            steps: world.journal.len(),
            outcome: world.state.outcome,
            reached: world.reached,
        }),
        Err(what) => Err(Box::new(Finding {
            seed,
            what,
            journal: world.journal,
            tasks: world.file.text().to_owned(),
            rolls: world.dice.rolled(),
        })),
    }
}
