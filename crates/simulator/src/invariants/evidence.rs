//! Every tick has its evidence.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::TaskFile;
use regreen_model::{AttemptClass, AttemptReport, ChoiceKind, Mark, PickedTask, TaskKey, Verdict};

use crate::world::Check;
use crate::world::name_of;

/// Why a box may be ticked, by task name.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// A person ticked it, or it was ticked from the start.
    word: BTreeSet<String>,
    /// It passed, its claim was verified, or it was superseded.
    proved: BTreeSet<String>,
    /// Whether the last attempt signalled completion.
    signalled: BTreeMap<String, bool>,
    /// Whether the last check passed, or had nothing to run.
    passed: BTreeMap<String, bool>,
    /// Rows that were groups when picked, which have no attempts. People can turn a failed task
    /// into a group; the file at each pick decides.
    groups: BTreeSet<String>,
    /// Tasks whose last check has known failures.
    with_known_failures: BTreeSet<String>,
    /// Tasks that fixed nothing that was open when they were picked: their own checks decide.
    on_their_own: BTreeSet<String>,
}

impl Evidence {
    pub(super) fn of(file: &TaskFile) -> Self {
        Self {
            word: ticked(file).collect(),
            ..Self::default()
        }
    }

    pub(super) fn starts(&mut self, name: &str) {
        self.passed.remove(name);
    }

    pub(super) fn saw_attempt(&mut self, name: &str, report: &AttemptReport) {
        let is_well = report.class == AttemptClass::Ordinary
            && report.signalled
            && !report.reports_failure
            && !report.ending.timed_out
            && report.contradiction.is_none();
        self.signalled.insert(name.to_owned(), is_well);
    }

    /// Records a repair. An automatic fix needs no signal, and the task it fixes decides whether it
    /// worked.
    pub(super) fn saw_repair(&mut self, name: &str) {
        self.signalled.insert(name.to_owned(), true);
        self.passed.insert(name.to_owned(), true);
    }

    pub(super) fn picked(&mut self, picked: &PickedTask) {
        let name = name_of(&picked.task);
        match picked.is_group {
            true => self.groups.insert(name),
            false => self.groups.remove(&name),
        };
        let name = name_of(&picked.task);
        match picked.is_fix() {
            true => self.on_their_own.remove(&name),
            false => self.on_their_own.insert(name),
        };
    }

    pub(super) fn is_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    pub(super) fn saw_verdict(&mut self, name: &str, verdict: &Verdict) {
        let is_red = matches!(verdict, Verdict::Red { .. });
        self.passed.insert(name.to_owned(), !is_red);
        self.with_known_failures.remove(name);
    }

    /// Records what is true about the tests that failed.
    pub(super) fn saw_review(&mut self, name: &str, is_excused: bool, has_known: bool) {
        self.passed.insert(name.to_owned(), is_excused);
        if has_known {
            self.with_known_failures.insert(name.to_owned());
        }
    }

    /// Checks that a task with known failures is never done without saying so.
    pub(super) fn known_failures_are_told(&self, name: &str, marks: &BTreeSet<Mark>) -> Check {
        if self.with_known_failures.contains(name) && !marks.contains(&Mark::KnownFailures) {
            return Err(format!(
                "{name} is done, and its known failures are not told"
            ));
        }
        Ok(())
    }

    /// Records a judged claim. A tick by an agent is its word that the task is done, as a signal
    /// is. Its check passed without an excuse, whatever an earlier one showed.
    pub(super) fn judged_claim(&mut self, name: &str, holds: bool) {
        if holds {
            self.with_known_failures.remove(name);
            self.proved.insert(name.to_owned());
            self.signalled.insert(name.to_owned(), true);
        }
    }

    /// Checks that a box may be ticked or unticked.
    pub(super) fn ticks(&mut self, file: &TaskFile, task: &TaskKey, done: bool) -> Check {
        let name = name_of(task);
        if !done {
            self.proved.remove(&name);
            return Ok(());
        }
        let Some(row) = file.resolve(task) else {
            return Ok(());
        };
        let says = |map: &BTreeMap<String, bool>| map.get(&name).copied().unwrap_or(false);
        let is_group = self.is_group(&name);
        // The task it fixes decides whether the fix worked.
        let is_judged = says(&self.passed)
            || (task.title.starts_with("Fix:") && self.passed.contains_key(&name));
        if !is_judged || !(is_group || says(&self.signalled)) {
            return Err(format!("task {task} ({name}) is ticked without evidence"));
        }
        self.proved.insert(name);
        // If two rows have the same id, a person may have removed the one that was meant. Then the
        // other takes its place, under a new title.
        self.proved.extend(file.key(row).map(|key| name_of(&key)));
        Ok(())
    }

    /// Records that the final check found the task no longer passing.
    pub(super) fn reopens(&mut self, name: &str) {
        self.proved.remove(name);
        self.word.remove(name);
        self.passed.remove(name);
    }

    /// Checks that a fix may be ticked because its root has passed.
    pub(super) fn supersedes(&mut self, file: &TaskFile, fix: &TaskKey, is_sure: bool) -> Check {
        let Some(row) = file.resolve(fix) else {
            return Ok(());
        };
        let mut fixed = std::iter::successors(file.fixed_by(row), |row| file.fixed_by(*row));
        // Pending edits are made even if a person has unticked the root since, or the done task
        // that the root was a fix of.
        let has_passed = fixed.any(|row| {
            let name = file.key(row).map(|key| name_of(&key)).unwrap_or_default();
            let is_root = file.fixed_by(row).is_none() || self.on_their_own.contains(&name);
            is_root && (self.holds(&name) || self.passed.get(&name) == Some(&true))
        });
        if is_sure && !has_passed {
            return Err(format!("fix {fix} is superseded, but its task is not done"));
        }
        self.proved.insert(name_of(fix));
        Ok(())
    }

    /// Returns whether a person ticked it, or it was ticked from the start.
    pub(super) fn has_word_for(&self, name: &str) -> bool {
        self.word.contains(name)
    }

    fn holds(&self, name: &str) -> bool {
        self.has_word_for(name) || self.proved.contains(name)
    }

    pub(super) fn chosen(&mut self, name: &str, what: ChoiceKind) {
        if what == ChoiceKind::Done {
            self.word.insert(name.to_owned());
        }
    }

    /// Accepts people's ticks, and reopens what they untick.
    pub(super) fn people_edited(&mut self, before: &TaskFile, after: &TaskFile) {
        let (old, new): (BTreeSet<_>, BTreeSet<_>) =
            (ticked(before).collect(), ticked(after).collect());
        self.word.extend(new.difference(&old).cloned());
        for name in old.difference(&new) {
            self.word.remove(name);
            self.proved.remove(name);
        }
    }

    pub(super) fn every_tick_has_its_evidence(&self, file: &TaskFile) -> Check {
        match ticked(file).find(|name| !self.holds(name)) {
            None => Ok(()),
            Some(name) => Err(format!(
                "{name} is ticked, and nothing shows that it is done"
            )),
        }
    }
}

fn ticked(file: &TaskFile) -> impl Iterator<Item = String> {
    let done = file.rows().filter(|row| file.is_done(*row));
    done.filter_map(|row| file.key(row))
        .map(|key| name_of(&key))
}
