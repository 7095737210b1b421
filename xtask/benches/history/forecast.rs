//! How good predictions are for tasks that the history has not seen, in worlds whose truth is known.

use regreen_history::History;

#[path = "../../../crates/history/tests/generated/mod.rs"]
mod generated;

use generated::{Score, World, score};

const RUNS: u64 = 400;
const SEEDS: [u64; 5] = [11, 12, 13, 14, 15];
const COVERAGE: std::ops::RangeInclusive<f64> = 0.85..=0.95;
/// Where nothing matters, a prediction can only be as good as the base rate, give or take chance.
const CHANCE: f64 = 1.01;

/// Prints the scores of worlds in which agents, tasks and drift matter more or less. Returns whether all
/// promises are kept.
pub(crate) fn measure() -> bool {
    println!("predictions for the last two fifths of {RUNS} runs, each from those before it");
    println!("  effect drift   attempts  in the 90 % limit   Brier score   base rate's");
    let mut keeps = true;
    for (effect, drift) in [(1.0, 0.0), (1.0, 1.0), (0.5, 1.0), (0.0, 0.0)] {
        let scores = SEEDS.map(|seed| {
            predicted(World {
                seed,
                runs: RUNS,
                effect,
                drift,
            })
        });
        let most = if effect > 0.0 { 1.0 } else { CHANCE };
        for score in &scores {
            // Almost every attempt has a limit, or its coverage would say little.
            keeps &= score.limits * 10 > score.attempts * 9;
            keeps &= COVERAGE.contains(&score.coverage());
            keeps &= score.brier() <= most * score.base_brier();
        }
        let mean = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
        let coverages = scores.iter().map(Score::coverage);
        let (low, high) = coverages.fold((1.0, 0.0), |(low, high): (f64, f64), one| {
            (low.min(one), high.max(one))
        });
        let attempts: u64 = scores.iter().map(|score| score.attempts).sum();
        println!(
            "  {effect:>6} {drift:>5} {attempts:>10}      {low:.3} to {high:.3}        {:.4}         {:.4}",
            mean(Score::brier),
            mean(Score::base_brier)
        );
    }
    keeps
}

fn predicted(world: World) -> Score {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(&folder.path().join("history.db"), 0).unwrap();
    let runs = world.generate();
    let known = runs.len() * 3 / 5;
    score(&mut history, &runs, known, 5)
}
