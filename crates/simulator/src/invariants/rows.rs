//! All is green only when every required original is ticked, also those that an agent took out.

use std::collections::BTreeSet;

use regreen_documents::TaskFile;
use regreen_engine::Command;
use regreen_model::{PlanChanges, Task, TaskKey, TaskKind};

use crate::world::{Held, name_of, name_of_task, names};

#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Every task that was there since the run began, and was not removed by people.
    known: BTreeSet<String>,
    /// The tasks before the attempt that was reviewed last, and those that it added.
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

    /// An agent's changes were reviewed. After a crash the same attempt is reviewed once more: if
    /// the plan of before the attempt is restored then, the rows that it had added are gone. In
    /// a list without ids a row with another title in the same position is the same row, edited.
    pub(super) fn reviewed(&mut self, before: &TaskFile, after: &TaskFile, changes: &PlanChanges) {
        let old: BTreeSet<String> = names(before).collect();
        let new: BTreeSet<String> = names(after).collect();
        let (last_old, last_added) = std::mem::take(&mut self.last_review);
        if last_old == old {
            self.known
                .retain(|name| !last_added.contains(name) || new.contains(name));
        }
        for edited in &changes.edited {
            let occurrence = usize::try_from(edited.occurrence).unwrap_or(usize::MAX);
            let row = before.rows_with_id(&edited.id).nth(occurrence);
            if let Some(key) = row.and_then(|row| before.key(row)) {
                self.known.remove(&name_of(&key));
            }
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

    pub(super) fn all_required_are_ticked(&self, file: &TaskFile, with_optional: bool) -> Held {
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

/// Each command changes what it is for, and nothing else.
pub(crate) fn only_what_was_meant_changed(
    command: &Command,
    before: &TaskFile,
    after: &TaskFile,
) -> Held {
    let (old, new) = (before.text(), after.text());
    let is_well = match command {
        // What an agent may do is another matter: see below. A person may do anything.
        Command::Attempt(_) | Command::AskPerson(_) | Command::Repair(_) => true,
        Command::Tick {
            task,
            supersede: true,
            ..
        } => only_boxes_differ(old, new, 1 + before.open_fixes(task).len()),
        Command::Tick { .. } => only_boxes_differ(old, new, 1),
        Command::JudgeClaims { claims, .. } => only_boxes_differ(old, new, claims.len()),
        Command::InsertFix(_) => one_piece_was_added(old, new),
        Command::Modify(_) => only_lines_were_added(old, new),
        Command::ReadPlan(_)
        | Command::Verify { .. }
        | Command::InspectRepair(_)
        | Command::ReadBudget { .. }
        | Command::NoteFailure { .. }
        | Command::Commit(_)
        | Command::Record(_)
        | Command::SaveState(_)
        | Command::Wait { .. }
        | Command::Finish => old == new,
    };
    match is_well {
        true => Ok(()),
        false => Err(format!(
            "bytes changed that nobody meant to change: {old:?} became {new:?}"
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
    // The last line may have got an ending.
    old.all(|old| lines.any(|new| new == old || new.trim_end_matches(['\r', '\n']) == old))
}

/// Rows that are done or being worked on are as they were before an attempt.
pub(crate) fn protected_rows_are_as_they_were(
    before: &TaskFile,
    after: &TaskFile,
    running: &[TaskKey],
) -> Held {
    for row in before.rows() {
        let Some(key) = before.key(row) else { continue };
        let is_protected = before.is_done(row) || running.contains(&key);
        // The rows in a group are their own.
        if !is_protected || before.kind(row) == Some(TaskKind::Group) {
            continue;
        }
        let now = after.resolve(&key).and_then(|row| after.block(row));
        if before.block(row) != now {
            return Err(format!(
                "an agent changed {key}, which is protected: {:?} became {now:?}",
                before.block(row)
            ));
        }
    }
    Ok(())
}
