//! How long the rest of the plan takes.

use regreen_model::{Event, OutlineRow, RunConfig, TimeForecast};

/// How many tasks must be done before the rest can be estimated without a history.
const ESTIMATE_AFTER: u64 = 2;

/// What this process has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Originals that it has finished.
    done: u64,
    /// How long these should have taken.
    expected_ms: u64,
}

impl Pace {
    /// Adds a finished original.
    pub(super) fn finish(&mut self, row: &OutlineRow, times: Option<&TimeForecast>) {
        self.done += 1;
        let expected = times.and_then(|times| times.of(&row.features));
        self.expected_ms += expected.map_or(0, |times| times.task_ms);
    }

    /// Estimates the time for the open rows after so much work. With a history, the times that its
    /// tasks took count, corrected by how the tasks so far have kept to theirs. Without one, every task
    /// takes as long as those so far.
    pub(super) fn left_ms(
        &self,
        rows: &[OutlineRow],
        open: u64,
        worked_ms: u64,
        config: &RunConfig,
    ) -> Option<u64> {
        if open == 0 {
            return None;
        }
        let times = config.times.as_ref();
        let expected = times.and_then(|times| times.time_left(rows, config.include_optional));
        match expected {
            Some(expected) => Some(self.corrected(expected, open, worked_ms)),
            None if self.done < ESTIMATE_AFTER => None,
            None => Some(worked_ms / self.done * open),
        }
    }

    /// The history counts like two more tasks that have kept to their times.
    fn corrected(&self, expected: u64, open: u64, worked_ms: u64) -> u64 {
        if self.done == 0 {
            return expected;
        }
        let prior = expected.saturating_mul(2) / open;
        let taken = u128::from(worked_ms.saturating_add(prior));
        let planned = u128::from(self.expected_ms.saturating_add(prior)).max(1);
        u64::try_from(u128::from(expected) * taken / planned).unwrap_or(u64::MAX)
    }
}

/// Returns the original that an event finishes.
pub(super) fn finished<'r>(event: &Event, rows: &'r [OutlineRow]) -> Option<&'r OutlineRow> {
    let Event::TaskDone { task, .. } = event else {
        return None;
    };
    rows.iter()
        .find(|row| row.key == *task)
        .filter(|row| row.is_original())
}

#[cfg(test)]
mod tests {
    use regreen_model::{GroupTimes, OutlineKind, TaskFeatures, TaskGroup, TaskId, TaskKey};

    use super::*;

    fn rows(open: usize) -> Vec<OutlineRow> {
        let row = |n: usize| OutlineRow {
            key: TaskKey {
                id: TaskId::parse(&format!("1.{n}")).unwrap(),
                occurrence: 0,
                title: "Do it".to_owned(),
            },
            depth: 0,
            kind: OutlineKind::Task,
            done: false,
            optional: false,
            features: TaskFeatures::default(),
            line: 0,
        };
        (1..=open).map(row).collect()
    }

    fn left(pace: Pace, worked_ms: u64, times: Option<TimeForecast>) -> Option<u64> {
        let config = RunConfig {
            times: times.map(Box::new),
            ..RunConfig::default()
        };
        pace.left_ms(&rows(3), 3, worked_ms, &config)
    }

    /// Every task takes a minute.
    fn history() -> TimeForecast {
        TimeForecast {
            groups: vec![GroupTimes {
                group: TaskGroup::default(),
                cases: 20,
                limit: None,
                task_ms: 60_000,
            }],
            ..TimeForecast::default()
        }
    }

    #[test]
    fn a_history_estimates_before_anything_is_done_and_is_corrected_by_what_is() {
        let mut pace = Pace::default();
        assert_eq!(left(pace, 0, None), None);
        assert_eq!(left(pace, 5_000, Some(history())), Some(180_000));
        for row in rows(2) {
            pace.finish(&row, Some(&history()));
        }
        assert_eq!(left(pace, 120_000, Some(history())), Some(180_000));
        // Twice as slow as expected, as far as two tasks of four show.
        assert_eq!(left(pace, 240_000, Some(history())), Some(270_000));
        assert_eq!(left(pace, 240_000, None), Some(360_000));
    }
}
