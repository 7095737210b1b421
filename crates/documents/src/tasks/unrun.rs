//! Open rows and lines that look like tasks but aren't: nothing runs or ticks them.

use regreen_model::{PlainLine, Task, TaskKind};

use super::row::RowId;
use super::task_file::TaskFile;

/// How to turn such rows into tasks.
pub const UNRUN_HELP: &str = "give it an id like the other tasks have to make it a task";

/// How many rows are named; the rest are only counted.
const NAMED: usize = 4;
const TITLE_CHARS: usize = 60;

/// Open rows that never run, because the other tasks have ids and these don't, and lines that only
/// look like rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnrunRows {
    rows: Vec<Task>,
    /// The lines that look like rows, with their texts.
    look_alikes: Vec<(usize, String)>,
}

impl TaskFile {
    /// Returns the open rows that never run. Checklist items within a task are part of its text,
    /// unless they have their own Verify.
    #[must_use]
    pub fn unrun_rows(&self) -> UnrunRows {
        let is_open = |row: &RowId| self.kind(*row) == Some(TaskKind::Checklist);
        let rows = self.rows().filter(|row| !self.is_done(*row));
        let rows = rows.filter(is_open).filter_map(|row| {
            let task = self.task(row)?;
            let is_text = self.parent(row).is_some() && task.fields.verify.is_none();
            (!is_text).then_some(task)
        });
        UnrunRows {
            rows: rows.collect(),
            look_alikes: self.look_alikes(),
        }
    }
}

impl UnrunRows {
    /// Returns the rows.
    #[must_use]
    pub fn rows(&self) -> &[Task] {
        &self.rows
    }

    /// Returns a text with their number; `None` if there are none.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match self.rows.len() {
            0 => None,
            1 => Some("1 open row has no id, so it is not run".to_owned()),
            rows => Some(format!("{rows} open rows have no id, so they are not run")),
        }
    }

    /// Returns the message for views that don't show the rows themselves.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let notices = [self.rows_notice(), self.look_alikes_notice()];
        let notices: Vec<String> = notices.into_iter().flatten().collect();
        (!notices.is_empty()).then(|| notices.join(". "))
    }

    fn look_alikes_notice(&self) -> Option<String> {
        let named = |(line, text): &(usize, String)| {
            format!("line {line} ({})", PlainLine::flatten(text, TITLE_CHARS))
        };
        let names: Vec<String> = self.look_alikes.iter().take(NAMED).map(named).collect();
        let more = match self.look_alikes.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = match self.look_alikes.len() {
            0 => return None,
            1 => "1 line looks like a task, but is not one, so it is not run".to_owned(),
            lines => {
                format!("{lines} lines look like tasks, but are not, so they are not run")
            }
        };
        Some(format!(
            "{message}: {}{more}; write `- [ ] ` with these spaces",
            names.join(", ")
        ))
    }

    fn rows_notice(&self) -> Option<String> {
        let named = |task: &Task| {
            let title = PlainLine::flatten(&task.title, TITLE_CHARS);
            let verify = task.fields.verify.as_ref().map(|_| ", with a Verify");
            format!("line {} ({title}{})", task.line, verify.unwrap_or_default())
        };
        let names: Vec<String> = self.rows.iter().take(NAMED).map(named).collect();
        let more = match self.rows.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = self.message()?;
        Some(format!(
            "{message}: {}{more}; {UNRUN_HELP}",
            names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> Option<String> {
        TaskFile::read(text).unrun_rows().notice()
    }

    #[test]
    fn open_rows_without_an_id_are_named_unless_they_are_text_of_a_task() {
        let tasks = "- [ ] 1.1 a\n  - [ ] part\n- [ ] 1.2 b\n";
        assert_eq!(notice(tasks), None);
        let one = format!("{tasks}- [x] done\n- [ ] Task 1.3: c\n  - **Verify**: `make`\n");
        assert_eq!(
            notice(&one).as_deref(),
            Some(
                "1 open row has no id, so it is not run: line 5 (Task 1.3: c, with a Verify); give it an id like the other tasks have to make it a task"
            )
        );
        let many = one + &"- [ ] more\n".repeat(5);
        let said = notice(&many).unwrap();
        assert!(said.starts_with("6 open rows have no id, so they are not run: line 5 ("));
        assert!(said.contains("line 9 (more) and 2 more; give it"), "{said}");
    }

    #[test]
    fn lines_that_only_look_like_tasks_are_named() {
        for line in [
            "- [] 1.2 b",
            "-[ ] 1.2 b",
            "- [ ]1.2 b",
            "- [  ] 1.2 b",
            "- [✓] 1.2 b",
            "- [ ]\u{a0}1.2 b",
            "-\u{a0}[ ] 1.2 b",
            "- [\u{a0}] 1.2 b",
            "\u{200b}- [ ] 1.2 b",
        ] {
            let text = format!("- [ ] 1.1 a\n{line}\n  - **Verify**: `false`\n- [ ] 1.3 c\n");
            let said = notice(&text).unwrap_or_default();
            assert!(said.contains("line 2 ("), "{line}: {said:?}");
            let file = TaskFile::read(text);
            // Its Verify is its own, not that of the row above.
            assert!(
                file.rows().all(|row| file.verify_commands(row).is_empty()),
                "{line}"
            );
        }
        for line in ["- [link](x)", "- [P] a", "Text - [ ] b", "- a [ ] b"] {
            assert_eq!(
                notice(&format!("- [ ] 1.1 a\n- [ ] 1.2 b\n{line}\n")),
                None,
                "{line}"
            );
        }
    }

    #[test]
    fn a_part_of_a_task_with_a_verify_of_its_own_is_named() {
        let tasks =
            "- [ ] 1.1 a\n  - [ ] part\n    - **Verify**: `make`\n- [ ] 1.2 b\n  - [ ] text\n";
        let rows = TaskFile::read(tasks).unrun_rows();
        let lines: Vec<usize> = rows.rows().iter().map(|row| row.line).collect();
        assert_eq!(lines, [2]);
    }
}
