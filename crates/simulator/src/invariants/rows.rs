//! A run is complete only if every required original is ticked, even those that an agent removed.

use std::collections::BTreeSet;

use regreen_documents::{RowId, TaskFile};
use regreen_engine::Command;
use regreen_model::{Task, TaskKey, TaskKind};

use super::Renamed;
use crate::world::{Check, name_of_task, names};

#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Every task since the start of the run that people haven't removed.
    known: BTreeSet<String>,
    /// The tasks before the last reviewed attempt, and those that it added.
    last_review: (BTreeSet<String>, BTreeSet<String>),
}

impl Rows {
    pub(super) fn of(file: &TaskFile) -> Self {
        Self {
            known: names(file).collect(),
            ..Self::default()
        }
    }

    pub(super) fn added(&mut self, file: &TaskFile) {
        self.known.extend(names(file));
    }

    /// Records the review of an agent's changes. After a crash, the same attempt is reviewed once
    /// more: if the original plan is restored then, the rows that the attempt added are gone. In a
    /// list without ids, a row with another title in the same position is the same row, edited.
    pub(super) fn reviewed(&mut self, before: &TaskFile, after: &TaskFile, renamed: &[Renamed]) {
        let old: BTreeSet<String> = names(before).collect();
        let new: BTreeSet<String> = names(after).collect();
        let (last_old, last_added) = std::mem::take(&mut self.last_review);
        if last_old == old {
            self.known
                .retain(|name| !last_added.contains(name) || new.contains(name));
        }
        for Renamed { old, .. } in renamed {
            self.known.remove(old);
        }
        self.known.extend(new.iter().cloned());
        let added = new.difference(&old).cloned().collect();
        self.last_review = (old, added);
    }

    pub(super) fn removed(&mut self, names: &[String]) {
        for name in names {
            self.known.remove(name);
        }
    }

    pub(super) fn all_required_are_ticked(&self, file: &TaskFile, with_optional: bool) -> Check {
        let tasks = file.tasks();
        let is_required = |task: &&Task| {
            !task.is_fix() && task.kind != TaskKind::Checklist && (with_optional || !task.optional)
        };
        if let Some(open) = tasks.iter().filter(is_required).find(|task| !task.done) {
            return Err(format!("all is green, and {} is open", open.title));
        }
        let there: BTreeSet<String> = tasks.iter().filter_map(name_of_task).collect();
        match self.known.difference(&there).next() {
            None => Ok(()),
            Some(gone) => Err(format!("all is green, and {gone} was taken out")),
        }
    }
}

/// Checks that each command changes only what it is meant to.
pub(crate) fn only_what_was_meant_changed(
    command: &Command,
    before: &TaskFile,
    after: &TaskFile,
) -> Check {
    let (old, new) = (before.text(), after.text());
    let is_well = match command {
        // See below for what an agent may do. A person may do anything.
        Command::Attempt(_)
        | Command::AskPerson(_)
        | Command::AwaitAnswers { .. }
        | Command::Repair(_) => true,
        Command::Tick {
            task,
            supersede: true,
            ..
        } => only_boxes_differ(old, new, 1 + before.open_fixes(task).len()),
        Command::Tick { .. } => only_boxes_differ(old, new, 1),
        Command::JudgeClaims { claims, .. } => only_boxes_differ(old, new, claims.len()),
        Command::Reopen { tasks } => {
            let opened = tasks.iter().flat_map(|task| before.keys_to_reopen(task));
            only_boxes_differ(old, new, opened.count())
        }
        Command::InsertFix(_) => one_piece_was_added(old, new),
        Command::Modify(_) => only_lines_were_added(old, new),
        Command::ReadPlan(_)
        | Command::Verify { .. }
        | Command::ReviewTests(_)
        | Command::AskOpinion(_)
        | Command::Recall(_)
        | Command::InspectRepair(_)
        | Command::ReadBudget { .. }
        | Command::NoteFailure { .. }
        | Command::Commit(_)
        | Command::Record(_)
        | Command::FinalCheck(_)
        | Command::KeepServices(_)
        | Command::CloseCommit { .. }
        | Command::SaveState(_)
        | Command::Wait { .. }
        | Command::Finish => old == new,
    };
    match is_well {
        true => Ok(()),
        false => Err(format!(
            "bytes changed that should not have: {old:?} became {new:?}"
        )),
    }
}

fn only_boxes_differ(old: &str, new: &str, most: usize) -> bool {
    let pairs = old.bytes().zip(new.bytes());
    let differences: Vec<(u8, u8)> = pairs.filter(|(old, new)| old != new).collect();
    let is_box = |byte: u8| b" xX-~".contains(&byte);
    old.len() == new.len()
        && differences.len() <= most
        && differences
            .iter()
            .all(|(old, new)| is_box(*old) && is_box(*new))
}

fn one_piece_was_added(old: &str, new: &str) -> bool {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let same = |(a, b): &(&u8, &u8)| a == b;
    let before = old.iter().zip(new).take_while(same).count();
    let after = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    before + after >= old.len() && new.len() >= old.len()
}

fn only_lines_were_added(old: &str, new: &str) -> bool {
    const MARK: char = '\u{feff}';
    let mut lines = new.trim_start_matches(MARK).split_inclusive('\n');
    let mut old = old.trim_start_matches(MARK).split_inclusive('\n');
    // The last line may have gained a line ending.
    old.all(|old| lines.any(|new| new == old || new.trim_end_matches(['\r', '\n']) == old))
}

/// Checks that finished and running rows are as they were before an attempt.
pub(crate) fn protected_rows_are_as_they_were(
    before: &TaskFile,
    after: &TaskFile,
    running: &[TaskKey],
) -> Check {
    for row in before.rows() {
        let Some(key) = before.key(row) else { continue };
        let is_protected = before.is_done(row) || running.contains(&key);
        if !is_protected {
            continue;
        }
        let was = own_text(before, row);
        let now = after.resolve(&key).map(|row| own_text(after, row));
        if now.as_ref() != Some(&was) {
            return Err(format!(
                "an agent changed {key}, which is protected: {was:?} became {now:?}"
            ));
        }
    }
    Ok(())
}

/// Returns a row's block without nested tasks and fixes: each of these is protected, or not, on its
/// own.
fn own_text(file: &TaskFile, row: RowId) -> String {
    let first = file.task(row).map_or(0, |task| task.line);
    let lines = file.block(row).unwrap_or_default().lines();
    let is_nested = |line: usize| {
        let nested = file.row_on_line(line).filter(|nested| *nested != row);
        nested.is_some_and(|nested| file.key(nested).is_some())
    };
    let own = lines.zip(first..).take_while(|(_, line)| !is_nested(*line));
    let own: Vec<&str> = own.map(|(line, _)| line).collect();
    own.join("\n").trim_end().to_owned()
}
