//! Reviews changes to things that checks depend on but git does not show.

use std::fs;
use std::path::{Path, PathBuf};

use regreen_model::{AttemptClass, AttemptReport, Surroundings, Tampering};
use regreen_workspace::{MAX_FILE, observe_surroundings, read_text_file, stamp_of_surroundings};
use serde::{Deserialize, Serialize};

use crate::atomic_file::write_atomically;
use crate::performer::{PerformError, Performer};
use crate::tree::TreeError;

/// The most changes that are named.
const MAX_NAMED: usize = 8;

/// The state that a run compares its attempts with.
///
/// Agents can write to its file, so only a process that has no copy in memory reads it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Baseline {
    surroundings: Surroundings,
    /// An attempt has weakened a check, and this is how the check was before. Kept until the check
    /// is restored: otherwise the next attempt could pass because of it.
    is_weakened: bool,
    /// Identifies the files of git's settings and hooks as they were last observed.
    #[serde(skip)]
    stamp: String,
}

fn path(performer: &Performer) -> PathBuf {
    let folder = performer.paths.run_folder(&performer.run);
    folder.join("surroundings.json")
}

/// Returns the file with the state from before a check was weakened. Later runs use it too: none of
/// them may pass because of a weakened check.
fn weakened_path(performer: &Performer) -> PathBuf {
    performer.paths.own().join("weakened-check.json")
}

fn saved(performer: &Performer) -> Option<Baseline> {
    read_baseline(&path(performer))
}

fn read_baseline(path: &Path) -> Option<Baseline> {
    let text = read_text_file(path, MAX_FILE).ok()?;
    serde_json::from_str(&text).ok()
}

/// Keeps the baseline for this process, and in a file for the next one.
fn save(performer: &mut Performer, baseline: Baseline) -> Result<(), PerformError> {
    let text = serde_json::to_string(&baseline).unwrap_or_default();
    let weakened = weakened_path(performer);
    if baseline.is_weakened {
        write_atomically(&weakened, text.as_bytes())?;
    } else if weakened.exists() {
        fs::remove_file(&weakened)?;
    }
    performer.baseline = Some(baseline);
    let path = path(performer);
    let is_saved = read_text_file(&path, MAX_FILE).is_ok_and(|saved| saved == text);
    if !is_saved {
        write_atomically(&path, text.as_bytes())?;
    }
    Ok(())
}

fn observe(performer: &mut Performer) -> Result<Surroundings, PerformError> {
    let ignored = performer.tree.take_ignored();
    let seen = observe_surroundings(&performer.paths.root, performer.tree.git(), ignored);
    Ok(Surroundings {
        flagged: performer.tree.flagged(),
        ..seen.map_err(TreeError::from)?
    })
}

fn stamp(performer: &Performer, seen: &Surroundings) -> String {
    let git = performer.tree.git();
    let stamp = git.map(|git| stamp_of_surroundings(git, &seen.hooks_folder));
    stamp.unwrap_or_default()
}

/// Remembers the surroundings before an attempt. Changes since the last attempt are people's own.
pub(super) fn remember_surroundings(performer: &mut Performer) -> Result<(), PerformError> {
    // A person accepts a weakened check by removing the file.
    if let Some(weakened) = read_baseline(&weakened_path(performer)) {
        performer.baseline = Some(weakened);
        return Ok(());
    }
    let earlier = performer.baseline.take().or_else(|| saved(performer));
    let mut surroundings = observe(performer)?;
    if let Some(earlier) = earlier {
        // An ignore pattern of one attempt must not hide what the next one writes.
        surroundings.excludes = earlier.surroundings.excludes;
    }
    save(
        performer,
        Baseline {
            surroundings,
            is_weakened: false,
            stamp: String::new(),
        },
    )
}

/// Lists what an attempt changed in the surroundings. If it weakened a check, it has failed.
pub(super) fn review_surroundings(
    performer: &mut Performer,
    report: AttemptReport,
) -> Result<AttemptReport, PerformError> {
    let baseline = performer.baseline.take().or_else(|| saved(performer));
    let Some(baseline) = baseline else {
        let message = format!(
            "can't tell whether the interrupted attempt changed hooks, git's settings or installed packages: {} is missing or damaged",
            path(performer).display()
        );
        performer.notices.add_all([message]);
        return Ok(report);
    };
    let Some(error) = review(performer, baseline, "attempt")? else {
        return Ok(report);
    };
    if report.class != AttemptClass::Ordinary {
        performer.notices.add(error);
        return Ok(report);
    }
    let mut report = report;
    report.reports_failure = true;
    report.failure.error = error;
    Ok(report)
}

/// Reviews what a check changed in the surroundings, because the agent may have written the check.
/// Returns an error if it weakened another check.
pub(crate) fn review_check(performer: &mut Performer) -> Result<Option<String>, PerformError> {
    let Some(baseline) = performer.baseline.take() else {
        return Ok(None);
    };
    // The second of two runs of a check finds a weakened check as the first run left it.
    let _from_before_the_check = performer.tree.take_ignored();
    let is_same = stamp(performer, &baseline.surroundings) == baseline.stamp;
    if is_same && !baseline.is_weakened {
        performer.baseline = Some(baseline);
        return Ok(None);
    }
    review(performer, baseline, "Verify")
}

/// Lists the changes, and returns an error if one of them weakens a check. `who` is the attempt or
/// the Verify.
fn review(
    performer: &mut Performer,
    baseline: Baseline,
    who: &str,
) -> Result<Option<String>, PerformError> {
    let seen = observe(performer)?;
    let found = baseline.surroundings.tampering(&seen);
    let (weakened, listed): (Vec<_>, Vec<_>) = found
        .iter()
        .partition(|one| matches!(one, Tampering::Weakened(_)));
    let is_weakened = !weakened.is_empty();
    // Even if nothing has changed: the file may have been overwritten.
    save(
        performer,
        Baseline {
            is_weakened,
            stamp: stamp(performer, &baseline.surroundings),
            ..baseline
        },
    )?;
    if !listed.is_empty() {
        let what = words(performer, &listed);
        let message = format!("changed during the {who}, not shown by git: {what}");
        performer.notices.add(message);
    }
    if !is_weakened {
        return Ok(None);
    }
    // Only people can accept it; the error is for the agent as well.
    let accepted = "to keep a check as the agent left it: `rm .regreen/weakened-check.json`";
    performer.notices.add(accepted.to_owned());
    let what = words(performer, &weakened);
    Ok(Some(format!(
        "The {who} weakened a check: {what}. Restore it"
    )))
}

fn words(performer: &Performer, found: &[&Tampering]) -> String {
    let mut words: Vec<String> = found
        .iter()
        .take(MAX_NAMED)
        .map(ToString::to_string)
        .collect();
    if found.len() > MAX_NAMED {
        words.push(format!("{} more", found.len() - MAX_NAMED));
    }
    // Even the name of a setting can contain a password, inside a URL.
    performer.context.processes.masks.mask(&words.join("; "))
}
