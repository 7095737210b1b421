//! Predictions for tasks of generated journals that the history has not seen, split by time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod generated;

use generated::{Score, World, score};
use regreen_history::{Filter, History};

/// Predicts the last two fifths of the runs of a world.
fn predicted(world: World) -> (Score, History, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(&folder.path().join("history.db"), 0).unwrap();
    let runs = world.generate();
    let known = runs.len() * 3 / 5;
    let score = score(&mut history, &runs, known, 10);
    (score, history, folder)
}

const WORLD: World = World {
    seed: 1,
    runs: 150,
    effect: 1.0,
    drift: 1.0,
};

#[test]
fn nine_of_ten_unseen_attempts_keep_the_limit_and_risks_beat_the_base_rate() {
    for seed in [1, 2, 3] {
        let (score, history, _folder) = predicted(World { seed, ..WORLD });
        assert!(score.limits > score.attempts * 9 / 10, "{score:?}");
        let coverage = score.coverage();
        assert!((0.85..=0.95).contains(&coverage), "seed {seed}: {coverage}");
        let (brier, base) = (score.brier(), score.base_brier());
        assert!(brier < base, "seed {seed}: {brier} with a base of {base}");
        // What `stats` shows about itself, over all tasks, agrees.
        let figures = history
            .statistics(&Filter::default(), i64::MAX)
            .unwrap()
            .forecast;
        let (risk, limit) = (figures.risk.unwrap(), figures.time_limit.unwrap());
        assert!(risk.brier < risk.base_brier, "seed {seed}: {risk:?}");
        assert!(
            (risk.predicted - risk.failed).abs() < 0.04,
            "seed {seed}: {risk:?}"
        );
        assert!((85..=95).contains(&limit.kept.percent()), "{limit:?}");
    }
}

#[test]
fn where_nothing_matters_predictions_are_as_good_as_the_base_rate() {
    let (score, _history, _folder) = predicted(World {
        effect: 0.0,
        drift: 0.0,
        ..WORLD
    });
    let coverage = score.coverage();
    assert!((0.85..=0.95).contains(&coverage), "{coverage}");
    let (brier, base) = (score.brier(), score.base_brier());
    assert!(brier <= base * 1.01, "{brier} with a base of {base}");
}
