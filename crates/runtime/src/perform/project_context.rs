//! What an agent is told about the project before its first attempt.

use std::path::Path;

use regreen_agents::{ContextItem, named_paths};
use regreen_documents::{ProgressFile, RowId, TaskFile};
use regreen_model::{LookedUp, TaskId};
use regreen_workspace::{MAX_FILE, RelPath, read_text_file, survey_names};

use crate::execution::ExecutionContext;
use crate::performer::Performer;

/// How many notes of earlier tasks are passed on.
const NOTES: usize = 6;

/// Returns what a task needs to know, most important first: the files that it names, how tests are
/// run, notes of the tasks before it, and where to start reading.
pub(super) fn items_for_task(
    performer: &Performer,
    file: &TaskFile,
    row: RowId,
) -> Vec<ContextItem> {
    let block = file.block(row).unwrap_or_default();
    let mut items = items_in(&performer.paths.root, performer.tree.listed_files(), block);
    let progress = read_text_file(&performer.paths.progress, MAX_FILE).unwrap_or_default();
    let progress = ProgressFile::read(progress);
    let done = file.rows().filter(|other| file.is_done(*other));
    let done: Vec<&TaskId> = done.filter_map(|other| file.id(other)).collect();
    let notes = relevant_notes(&progress.learnings(), block, &done);
    let named = items
        .iter()
        .take_while(|item| item.why != MAIN_FILES)
        .count();
    items.splice(named..named, notes);
    items
}

const MAIN_FILES: &str = "Main files, where to start reading";

/// Returns what a text needs to know about the project.
pub(crate) fn items_for_text(root: &Path, text: &str) -> Vec<ContextItem> {
    items_in(root, None, text)
}

/// Returns what a text needs to know about these files of the project.
fn items_in(root: &Path, files: Option<Vec<RelPath>>, text: &str) -> Vec<ContextItem> {
    let found = survey_names(root, files, &named_paths(text));
    let named = found.looked_up.iter().filter_map(of_name);
    let listed = |why: &str, paths: &[String]| {
        let text = paths.join(", ");
        (!text.is_empty()).then(|| ContextItem::new(why, text))
    };
    let command = found.test_command.as_ref();
    let rest = [
        command.map(|command| ContextItem::new("How tests are probably run here", command)),
        listed("Folders with tests", &found.test_folders),
        listed(MAIN_FILES, &found.main_files),
        listed("Configuration", &found.configuration),
    ];
    named.chain(rest.into_iter().flatten()).collect()
}

/// Describes where a file is that the task names; `None` if nothing is called like it.
fn of_name(one: &LookedUp) -> Option<ContextItem> {
    if one.files.contains(&one.name) {
        return Some(ContextItem::new("Named by the task", &one.name));
    }
    let why = format!("Named by the task as {}, found as", one.name);
    (!one.files.is_empty()).then(|| ContextItem::new(why, one.files.join(", ")))
}

/// Returns the notes that a task may need: those about tasks that it names or files that it names,
/// then the newest.
fn relevant_notes(notes: &[&str], block: &str, done: &[&TaskId]) -> Vec<ContextItem> {
    let words: Vec<&str> = words(block).collect();
    let depends_on = done
        .iter()
        .map(|id| id.as_str())
        .filter(|id| words.contains(id));
    let files = named_paths(block);
    let subjects: Vec<&str> = depends_on.chain(files.iter().map(String::as_str)).collect();
    let about = |note: &&&str| {
        let subject = subjects
            .iter()
            .find(|subject| self::words(note).any(|word| word == **subject))?;
        Some(ContextItem::new(
            format!("Note of an earlier task, about {subject}"),
            note.trim_start_matches(['-', '*', ' ']),
        ))
    };
    let mut items: Vec<ContextItem> = notes.iter().rev().filter_map(|note| about(&note)).collect();
    let newest = notes.iter().rev().filter(|note| about(note).is_none());
    items.extend(newest.map(|note| {
        ContextItem::new(
            "Recent note of an earlier task",
            note.trim_start_matches(['-', '*', ' ']),
        )
    }));
    items.truncate(NOTES);
    items
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let words = text.split(move |c| !is_part(c));
    words.map(|word| word.trim_matches(['.', '-', '/']))
}

impl ExecutionContext {
    /// Returns the section about the project, masked; `None` if it is switched off or nothing is
    /// known.
    pub(crate) fn project_section(
        &self,
        items: impl FnOnce() -> Vec<ContextItem>,
    ) -> Option<String> {
        let tokens = self.context_tokens?;
        let root = self.root.to_string_lossy();
        let section = self.prompts.project(&root, &items(), tokens)?;
        Some(self.processes.masks.mask(&section))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_gets_the_files_that_it_names_and_how_tests_are_run() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "src/auth.py",
            "lib/deep/moved.py",
            "tests/test_a.py",
            "README.md",
            ".env",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(root.path().join("Makefile"), "test:\n").unwrap();
        let items = items_for_text(root.path(), "Change `src/auth.py`, src/moved.py and new.py");
        let told: Vec<String> = items
            .iter()
            .map(|item| format!("{}: {}", item.why, item.text))
            .collect();
        assert_eq!(
            told,
            [
                "Named by the task: src/auth.py",
                "Named by the task as src/moved.py, found as: lib/deep/moved.py",
                "How tests are probably run here: make test",
                "Folders with tests: tests/",
                "Main files, where to start reading: README.md",
                "Configuration: Makefile",
            ]
        );
    }

    #[test]
    fn notes_about_the_tasks_and_files_that_a_task_names_come_first() {
        let ids = ["1.1", "1.10"].map(|id| TaskId::parse(id).unwrap());
        let done: Vec<&TaskId> = ids.iter().collect();
        let notes = [
            "- 1.1: use uuid",
            "- new",
            "- 1.10 is odd",
            "- src/a.py is generated",
        ];
        let items = relevant_notes(&notes, "Needs 1.1. Edit `src/a.py`.", &done);
        let told: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(
            told,
            [
                "src/a.py is generated",
                "1.1: use uuid",
                "1.10 is odd",
                "new"
            ]
        );
        assert_eq!(items[1].why, "Note of an earlier task, about 1.1");
        assert_eq!(items[3].why, "Recent note of an earlier task");
    }
}
