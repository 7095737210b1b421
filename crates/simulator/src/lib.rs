//! Runs in a world made of numbers: agents that pass, fail, lie, time out and meddle with the
//! plan, people who edit it at any time, crashes between any two steps, clocks that jump. The
//! task file and the state file are the real ones, of `documents`.
//!
//! A seed gives the same run on every machine. After every step it is checked what must hold
//! whatever happens (`invariants`); what does not hold is a [`Finding`], which can be made as
//! small as possible and written down as a journal that `regreen replay` shows.
//!
//! ```
//! let finished = regreen_simulator::run(1, None).expect("what must hold, holds");
//! assert!(finished.steps > 0);
//! ```

mod agent;
mod attempt;
mod diagnoses;
mod finding;
mod invariants;
mod mutant;
mod people;
mod performer;
mod process;
mod rng;
mod task_lists;
mod transitions;
mod world;

use std::collections::BTreeSet;

use regreen_model::RunOutcome;

use self::rng::Rng;
use self::world::World;

pub use self::finding::Finding;
pub use self::mutant::Mutant;
pub use self::transitions::{Transition, expected_transitions};

/// A simulated run in which everything held.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    pub steps: usize,
    pub outcome: Option<RunOutcome>,
    pub reached: BTreeSet<Transition>,
}

/// Simulates the run of a seed, with a bug or without.
///
/// # Errors
/// If something does not hold.
pub fn run(seed: u64, mutant: Option<Mutant>) -> Result<FinishedRun, Box<Finding>> {
    run_with(seed, Rng::seeded(seed), mutant)
}

fn run_with(seed: u64, rng: Rng, mutant: Option<Mutant>) -> Result<FinishedRun, Box<Finding>> {
    let mut world = World::new(rng, mutant);
    match world.live() {
        Ok(()) => Ok(FinishedRun {
            steps: world.journal.len(),
            outcome: world.state.outcome,
            reached: world.reached,
        }),
        Err(what) => Err(Box::new(Finding {
            seed,
            what,
            journal: world.journal,
            tasks: world.file.text().to_owned(),
            drawn: world.rng.drawn(),
        })),
    }
}
