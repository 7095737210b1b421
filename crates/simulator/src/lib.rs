//! Simulated runs: agents that pass, fail, lie, time out and tamper with the plan; people who edit
//! it at any time; crashes between any two steps; clocks that jump. The real code of `documents`
//! handles the task file and the state file.
//!
//! A seed gives the same run on every machine. The invariants are checked after every step; a
//! violation is a [`Finding`], which can be shrunk and written as a journal that `regreen replay`
//! shows.
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
mod named_tests;
mod people;
mod performer;
mod plan_attack;
mod plan_guard;
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

/// A simulated run in which every invariant held.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// How many steps it took.
    pub steps: usize,
    /// How it ended.
    pub outcome: Option<RunOutcome>,
    /// The transitions it went through.
    pub reached: BTreeSet<Transition>,
}

/// Simulates the run of a seed, with or without a planted bug.
///
/// # Errors
/// Returns an error if an invariant is violated.
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
