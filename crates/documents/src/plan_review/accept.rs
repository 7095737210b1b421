//! Accepting changes that a review reverted.

use std::ops::Range;

use regreen_model::{ChoiceKind, TaskKey, VerifyCommand};

use super::Matching;
use super::matching::{tasks_of, words};
use crate::{RowId, TaskFile};

/// The maximum number of line pairs to compare, not counting equal lines at both ends.
const MOST_PAIRS: usize = 4_000_000;

/// Applies the changes from `base` to `changed` to the current text; `None` if the current text has
/// changed in the same lines.
#[must_use]
pub fn with_accepted_changes(base: &str, changed: &str, current: &str) -> Option<String> {
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let edits_to = |text: &str| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        Some(by_line(edits(&base, &lines)?))
    };
    let mut edits = edits_to(changed)?;
    for edit in edits_to(current)? {
        if edits.contains(&edit) {
            continue;
        }
        if edits.iter().any(|other| other.touches(&edit)) {
            return None;
        }
        edits.push(edit);
    }
    edits.sort_by_key(|edit| edit.at.start);
    let mut text = String::new();
    let mut from = 0;
    for edit in edits {
        text.extend(base.get(from..edit.at.start)?.iter().copied());
        text.push_str(&edit.with);
        from = edit.at.end;
    }
    text.extend(base.get(from..)?.iter().copied());
    Some(text)
}

/// Returns the differing lines with `-` and `+`; `None` if the texts differ too much.
#[must_use]
pub fn line_diff(before: &str, after: &str) -> Option<String> {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let edits = edits(&before, &after.split_inclusive('\n').collect::<Vec<_>>())?;
    let signed =
        |sign: char, line: &str| format!("{sign} {}\n", line.trim_end_matches(['\r', '\n']));
    let mut diff = String::new();
    for edit in edits {
        let old = before.get(edit.at)?.iter().map(|line| signed('-', line));
        diff.extend(old);
        diff.extend(
            edit.with
                .split_inclusive('\n')
                .map(|line| signed('+', line)),
        );
    }
    Some(diff)
}

/// Divides edits that replace lines by as many others, so that a change to one row doesn't conflict
/// with one to the row below it.
fn by_line(edits: Vec<LineEdit>) -> Vec<LineEdit> {
    let divided = edits.into_iter().flat_map(|edit| {
        let lines: Vec<&str> = edit.with.split_inclusive('\n').collect();
        if lines.len() != edit.at.len() {
            return vec![edit];
        }
        let numbered = edit.at.clone().zip(lines);
        let single = numbered.map(|(line, with)| LineEdit {
            at: line..line + 1,
            with: with.to_owned(),
        });
        single.collect()
    });
    divided.collect()
}

/// A replacement of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineEdit {
    at: Range<usize>,
    with: String,
}

impl LineEdit {
    /// Whether both concern the same lines. An insertion also conflicts with adjacent edits,
    /// because there is no telling which comes first.
    fn touches(&self, other: &Self) -> bool {
        let (a, b) = (&self.at, &other.at);
        if a.is_empty() || b.is_empty() {
            a.start <= b.end && b.start <= a.end
        } else {
            a.start < b.end && b.start < a.end
        }
    }
}

/// Returns the edits from one text to another; `None` if they differ too much.
fn edits(from: &[&str], to: &[&str]) -> Option<Vec<LineEdit>> {
    let is_same = |(a, b): &(&&str, &&str)| a == b;
    let head = from.iter().zip(to).take_while(is_same).count();
    let (old, new) = (from.get(head..)?, to.get(head..)?);
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take_while(is_same).count();
    let old = old.get(..old.len() - tail)?;
    let new = new.get(..new.len() - tail)?;
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return None;
    }
    let common = common_lines(old, new);
    let mut edits = Vec::new();
    let (mut row, mut column) = (0, 0);
    let ends = common.into_iter().chain([(old.len(), new.len())]);
    for (next_row, next_column) in ends {
        if (row, column) != (next_row, next_column) {
            edits.push(LineEdit {
                at: head + row..head + next_row,
                with: new.get(column..next_column)?.concat(),
            });
        }
        (row, column) = (next_row + 1, next_column + 1);
    }
    Some(edits)
}

/// Returns the positions of a longest common subsequence.
fn common_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let length = |lengths: &[u32], row, column| lengths.get(at(row, column)).copied().unwrap_or(0);
    for (row, line) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let longest = if line == other {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(slot) = lengths.get_mut(at(row, column)) {
                *slot = longest;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(line), Some(other)) = (old.get(row), new.get(column)) {
        if line == other {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if length(&lengths, row + 1, column) >= length(&lengths, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Returns the choices that a person makes by changing a plan this way: a removed row is skipped, a
/// ticked one is done, and an unticked or edited one is retried.
#[must_use]
pub fn choices_of_change(before: &TaskFile, after: &TaskFile) -> Vec<(TaskKey, ChoiceKind)> {
    let matching = Matching::of(before, after);
    let choice = |row: usize| {
        let Some(now) = matching.after(row) else {
            return Some((before.key(RowId(row))?, ChoiceKind::Skip));
        };
        let was_done = before.is_done(RowId(row));
        let what = match (was_done, after.is_done(RowId(now))) {
            (false, true) => ChoiceKind::Done,
            (true, false) => ChoiceKind::Retry,
            (false, false) if words(before, row) != words(after, now) => ChoiceKind::Retry,
            // It passed another check than the one that counts now.
            (true, true) if checks(before, row) != checks(after, now) => ChoiceKind::Retry,
            _ => return None,
        };
        Some((after.key(RowId(now))?, what))
    };
    tasks_of(before).filter_map(choice).collect()
}

/// Returns the commands that verify a row.
fn checks(file: &TaskFile, row: usize) -> Vec<VerifyCommand> {
    file.verify_commands(RowId(row))
}

/// Returns the accepted text with the tasks unticked that its changes reopen.
#[must_use]
pub fn with_reopened(before: &TaskFile, accepted: String) -> TaskFile {
    let after = TaskFile::read(accepted);
    let choices = choices_of_change(before, &after);
    let opened = choices
        .into_iter()
        .filter(|(_, what)| *what == ChoiceKind::Retry);
    opened.fold(after, |file, (task, _)| {
        // The box is empty already or can't be set; the choice alone reopens the task.
        let open = file.box_set(&task, false).ok().flatten();
        open.unwrap_or(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Plan\n\n- [ ] 1.1 a\n\n- [ ] 1.2 b\n\n- [ ] 1.3 c\n";

    #[test]
    fn a_change_is_made_in_a_file_that_has_moved_on_elsewhere() {
        let changed = BASE
            .replace("1.3 c", "1.3 [P] c")
            .replace("# Plan", "# My plan");
        let current = BASE.replace("[ ] 1.1", "[x] 1.1");
        let expected = changed.replace("[ ] 1.1", "[x] 1.1");
        assert_eq!(
            with_accepted_changes(BASE, &changed, BASE),
            Some(changed.clone())
        );
        assert_eq!(
            with_accepted_changes(BASE, &changed, &current),
            Some(expected)
        );
        assert_eq!(
            with_accepted_changes(BASE, &changed, &changed),
            Some(changed.clone())
        );
    }

    #[test]
    fn a_change_that_was_made_since_does_not_prevent_the_one_beside_it() {
        let base = "- [ ] 1.2 b\n  - **Verify**: `old`\n- [ ] 1.3 c\n";
        let changed = base.replace("old", "new").replace("[ ] 1.3", "[x] 1.3");
        let current = base.replace("[ ]", "[x]");
        assert_eq!(
            with_accepted_changes(base, &changed, &current),
            Some(current.replace("old", "new"))
        );
    }

    #[test]
    fn a_tick_does_not_prevent_a_change_of_the_line_below_it() {
        let base = "- [ ] 1.1 a\n  - **Verify**: `old`\n- [ ] 1.2 b\n";
        let changed = base.replace("old", "new");
        let current = base.replace("[ ]", "[x]");
        let expected = changed.replace("[ ]", "[x]");
        let merged = with_accepted_changes(base, &changed, &current);
        assert_eq!(merged, Some(expected));
    }

    #[test]
    fn a_change_of_lines_that_have_changed_since_is_refused() {
        let changed = BASE.replace("1.1 a", "1.1 other");
        let current = BASE.replace("[ ] 1.1", "[x] 1.1");
        assert_eq!(with_accepted_changes(BASE, &changed, &current), None);
    }

    #[test]
    fn a_line_added_next_to_a_changed_one_is_refused_and_one_further_away_is_not() {
        let changed = "- [ ] 1.1 other\n- [ ] 1.2 b\n- [ ] 1.3 c\n";
        let base = "- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n";
        let next_to_it = base.replace("a\n", "a\n  - words\n");
        assert_eq!(with_accepted_changes(base, changed, &next_to_it), None);
        let further_away = base.replace("b\n", "b\n  - words\n");
        let expected = changed.replace("b\n", "b\n  - words\n");
        let merged = with_accepted_changes(base, changed, &further_away);
        assert_eq!(merged, Some(expected));
    }

    #[test]
    fn a_done_task_whose_check_changes_is_open_again() {
        let before = TaskFile::read("- [x] 1.1 a\n  - **Verify**: `test -e c`\n");
        let accepted = "- [x] 1.1 a\n  - **Verify**: `test -s c`\n".to_owned();
        let choices = choices_of_change(&before, &TaskFile::read(accepted.as_str()));
        assert_eq!(choices[0].1, ChoiceKind::Retry);
        let after = with_reopened(&before, accepted);
        assert_eq!(after.text(), "- [ ] 1.1 a\n  - **Verify**: `test -s c`\n");
    }

    #[test]
    fn accepted_changes_are_choices_about_tasks() {
        let before =
            TaskFile::read("- [ ] 1.1 a\n- [x] 1.2 b\n- [ ] 1.3 c\n- [ ] 1.4 d\n- [ ] 1.5 e\n");
        let after =
            TaskFile::read("- [x] 1.1 a\n- [ ] 1.2 b\n- [ ]* 1.3 c\n- [ ] 1.5 e\n- [ ] 1.6 f\n");
        let choices = choices_of_change(&before, &after);
        let choices: Vec<(&str, ChoiceKind)> = choices
            .iter()
            .map(|(key, what)| (key.id.as_str(), *what))
            .collect();
        let expected = [
            ("1.1", ChoiceKind::Done),
            ("1.2", ChoiceKind::Retry),
            ("1.3", ChoiceKind::Retry),
            ("1.4", ChoiceKind::Skip),
        ];
        assert_eq!(choices, expected);
    }
}
