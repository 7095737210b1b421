//! A run is green only if every original, as people wrote it, has passed its own check since its
//! work last changed.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::{RowId, TaskFile, verify_commands};
use regreen_model::{ChoiceKind, TaskKey, TaskKind, Verdict, VerifyCommand};

use super::Renamed;
use super::evidence::Evidence;
use crate::world::{Check, name_of};

/// An original as people wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Original {
    kind: TaskKind,
    verify: Vec<VerifyCommand>,
}

/// The plan as people wrote it, whatever agents have made of it, by task name.
#[derive(Debug, Default)]
pub(super) struct Originals {
    written: BTreeMap<String, Original>,
    /// The same before foreign code ran whose changes haven't been reviewed yet.
    before: BTreeMap<String, Original>,
    /// Counts changes and checks.
    time: u64,
    /// When the work of a task last changed.
    changed: BTreeMap<String, u64>,
    /// When its own check last passed, unless it has failed since.
    passed: BTreeMap<String, u64>,
    /// Checks whose verdicts the run doesn't know yet.
    unheard: Vec<(String, Vec<VerifyCommand>, Verdict)>,
    /// Tasks finished in this run: only their checks are repeated at its end.
    finished: BTreeSet<String>,
    skipped: BTreeSet<String>,
    /// Tasks whose checks the last final check didn't repeat; the summary names them.
    left_out: BTreeSet<String>,
}

impl Originals {
    pub(super) fn of(file: &TaskFile) -> Self {
        Self {
            written: originals(file).collect(),
            ..Self::default()
        }
    }

    /// Starts a run. A row that agents removed twice isn't run and keeps its run from being green;
    /// a later run starts with the file as it is.
    pub(super) fn begin_run(&mut self, file: &TaskFile) {
        let there: BTreeSet<String> = originals(file).map(|(name, _)| name).collect();
        self.written.retain(|name, _| there.contains(name));
        self.finished.clear();
        self.left_out.clear();
    }

    /// Records the start of foreign code.
    pub(super) fn agent_begins(&mut self) {
        self.before = self.written.clone();
    }

    /// Accepts a review. An agent's changes don't make it another plan. Where a title names a row,
    /// one with another title in the same position is the same task under another name.
    pub(super) fn reviewed(&mut self, renamed: &[Renamed]) {
        self.written = self.before.clone();
        for Renamed { old, new } in renamed {
            if let Some(original) = self.written.remove(old) {
                self.written.insert(new.clone(), original);
            }
        }
    }

    /// Accepts people's edits: they may write another plan, as long as no foreign code runs.
    pub(super) fn people_edited(&mut self, before: &TaskFile, after: &TaskFile) {
        let old: BTreeMap<String, Original> = originals(before).collect();
        let new: BTreeMap<String, Original> = originals(after).collect();
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            self.written.remove(name);
        }
        // Without the task it fixes, a fix is an original, but nobody wrote it as one.
        let fixes: BTreeSet<String> = fixes(before).collect();
        let ticked: BTreeSet<String> = ticked(after).collect();
        // A finished task stays finished if only the rows around it have moved.
        let has_moved = |name: &String, original: &Original| {
            let old = old.get(name).map(|old| &old.verify);
            ticked.contains(name) && old == Some(&original.verify)
        };
        let is_edited = |(name, original): &(String, Original)| {
            old.get(name) != Some(original) && !fixes.contains(name) && !has_moved(name, original)
        };
        self.written.extend(new.into_iter().filter(is_edited));
    }

    pub(super) fn chosen(&mut self, name: &str, what: ChoiceKind) {
        match what {
            ChoiceKind::Skip => self.skipped.insert(name.to_owned()),
            ChoiceKind::Done | ChoiceKind::Retry => self.skipped.remove(name),
        };
    }

    pub(super) fn work_changed(&mut self, name: &str) {
        self.time += 1;
        self.changed.insert(name.to_owned(), self.time);
    }

    /// Records a check of a task. The result counts once the run knows it: a verdict that died with
    /// its process is worthless, and the check runs again.
    pub(super) fn checked(&mut self, name: &str, commands: &[VerifyCommand], verdict: &Verdict) {
        let check = (name.to_owned(), commands.to_vec(), verdict.clone());
        self.unheard.push(check);
    }

    pub(super) fn heard_checks(&mut self) {
        for (name, commands, verdict) in std::mem::take(&mut self.unheard) {
            self.judge(&name, &commands, &verdict);
        }
    }

    pub(super) fn lost_checks(&mut self) {
        self.unheard.clear();
    }

    /// Applies the verdict. A check other than its own shows nothing about a task.
    fn judge(&mut self, name: &str, commands: &[VerifyCommand], verdict: &Verdict) {
        self.time += 1;
        let original = self.written.get(name);
        if original.is_some_and(|original| original.verify != commands) {
            return;
        }
        match verdict {
            Verdict::Green => drop(self.passed.insert(name.to_owned(), self.time)),
            Verdict::Red { .. } => drop(self.passed.remove(name)),
            Verdict::Unverified => {}
        }
    }

    /// Records a tick. If two rows share an id, people may have removed the one that was checked;
    /// then the other is ticked in its place.
    pub(super) fn ticked(&mut self, file: &TaskFile, task: &TaskKey) {
        let row = file.resolve(task).and_then(|row| file.key(row));
        let passed = self.passed.get(&name_of(task)).copied();
        let other = row.filter(|row| row.title != task.title);
        if let (Some(row), Some(passed)) = (other, passed) {
            self.passed.insert(name_of(&row), passed);
        }
    }

    pub(super) fn finished(&mut self, name: &str) {
        self.finished.insert(name.to_owned());
    }

    pub(super) fn left_out_at_the_end(&mut self, names: impl Iterator<Item = String>) {
        self.left_out = names.collect();
    }

    pub(super) fn all_have_passed(
        &self,
        evidence: &Evidence,
        file: &TaskFile,
        has_gate: bool,
        with_optional: bool,
    ) -> Check {
        let there: BTreeSet<String> = originals(file).map(|(name, _)| name).collect();
        for (name, original) in &self.written {
            let is_required = with_optional || original.kind != TaskKind::Optional;
            if !is_required || self.skipped.contains(name) {
                continue;
            }
            if !there.contains(name) {
                return Err(format!("all is green, and {name} is no longer a task"));
            }
            // The gate isn't for groups; the kind of the row when it was picked decides.
            let is_group = original.kind == TaskKind::Group || evidence.is_group(name);
            let has_check = !original.verify.is_empty() || (has_gate && !is_group);
            if has_check && !evidence.has_word_for(name) {
                self.has_passed(name)?;
            }
        }
        Ok(())
    }

    fn has_passed(&self, name: &str) -> Check {
        let Some(passed) = self.passed.get(name) else {
            return Err(format!(
                "all is green, and {name} has not passed its own check"
            ));
        };
        let changed = self
            .changed
            .get(name)
            .filter(|_| self.finished.contains(name) && !self.left_out.contains(name));
        match changed.is_some_and(|changed| changed > passed) {
            false => Ok(()),
            true => Err(format!("all is green, and {name} changed after its check")),
        }
    }
}

fn ticked(file: &TaskFile) -> impl Iterator<Item = String> {
    let done = file.rows().filter(|row| file.is_done(*row));
    done.filter_map(|row| file.key(row))
        .map(|key| name_of(&key))
}

fn fixes(file: &TaskFile) -> impl Iterator<Item = String> {
    let fixes = file.rows().filter(|row| file.fixed_by(*row).is_some());
    fixes
        .filter_map(|row| file.key(row))
        .map(|key| name_of(&key))
}

fn originals(file: &TaskFile) -> impl Iterator<Item = (String, Original)> {
    let is_original = |row: &RowId| file.fixed_by(*row).is_none();
    file.rows().filter(is_original).filter_map(|row| {
        let (key, kind) = (file.key(row)?, file.kind(row)?);
        let fields = file.task(row)?.fields;
        let verify = fields.verify_fields().flat_map(verify_commands).collect();
        // A group below an optional row, or with a star, is as optional as a task.
        let kind = if file.is_optional(row) {
            TaskKind::Optional
        } else {
            kind
        };
        Some((name_of(&key), Original { kind, verify }))
    })
}
