//! The counts that new ones are compared with: a file in the repository.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::repository;

/// How much more than the baseline is a regression, in percent.
const TOLERANCE: u64 = 20;

const HEADING: &str = "# Instructions of regreen's own process. Written by `cargo xtask bench instructions --update`.\n";

/// Instructions by scenario.
pub(in crate::bench) type Counts = BTreeMap<String, u64>;

/// A count beside the baseline's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::bench) struct Compared {
    pub(in crate::bench) scenario: String,
    /// `None` for a new scenario.
    pub(in crate::bench) before: Option<u64>,
    pub(in crate::bench) now: u64,
}

pub(super) fn read() -> Result<Counts, String> {
    let path = path();
    match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Counts::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

pub(super) fn write(counts: &Counts) -> Result<(), String> {
    let text = toml::to_string(counts).map_err(|error| error.to_string())?;
    let path = path();
    fs::write(&path, format!("{HEADING}{text}"))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn path() -> PathBuf {
    repository::root().join("xtask/benches/instructions.toml")
}

/// Compares counts with the baseline, in the order of the scenarios' names.
pub(super) fn compare(baseline: &Counts, counts: &Counts) -> Vec<Compared> {
    let counts = counts.iter();
    counts
        .map(|(scenario, now)| Compared {
            scenario: scenario.clone(),
            before: baseline.get(scenario).copied(),
            now: *now,
        })
        .collect()
}

impl Compared {
    /// Whether it takes more than a fifth more than before.
    pub(in crate::bench) fn is_regression(&self) -> bool {
        let before = self.before.map(u128::from);
        let most = |before| before * u128::from(100 + TOLERANCE);
        before.is_some_and(|before| u128::from(self.now) * 100 > most(before))
    }

    /// Returns the change as `+3 %`.
    pub(in crate::bench) fn change(&self) -> String {
        let Some(before) = self.before.filter(|before| *before > 0) else {
            return "new".to_owned();
        };
        let ratio = self.now as f64 / before as f64;
        let percent = (ratio - 1.0) * 100.0;
        format!("{percent:+.0} %")
    }
}

/// Writes a count as people read it: `23.6 M`.
pub(in crate::bench) fn shown(count: u64) -> String {
    match count {
        ..1_000_000 => format!("{} k", count / 1000),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(before: Option<u64>, now: u64) -> Compared {
        Compared {
            scenario: "start".to_owned(),
            before,
            now,
        }
    }

    #[test]
    fn more_than_a_fifth_more_is_a_regression() {
        assert!(!compared(Some(1000), 1200).is_regression());
        assert!(compared(Some(1000), 1201).is_regression());
        assert!(!compared(Some(1000), 10).is_regression());
        assert!(!compared(None, 1000).is_regression());
    }

    #[test]
    fn a_change_is_shown_in_percent() {
        assert_eq!(compared(Some(1000), 1050).change(), "+5 %");
        assert_eq!(compared(Some(1000), 500).change(), "-50 %");
        assert_eq!(compared(None, 1000).change(), "new");
        assert_eq!(shown(23_590_000), "23.6 M");
        assert_eq!(shown(640_900), "640 k");
    }

    #[test]
    fn the_baseline_in_the_repository_can_be_read_and_is_not_empty() {
        let counts = read().unwrap();
        assert!(counts.values().all(|count| *count > 0));
        assert!(!counts.is_empty());
    }
}
