use regreen_model::{Fields, PlainLine, ProposedTask, TaskId};

use super::row::RowId;
use super::task_file::TaskFile;

const TITLE_CHARS: usize = 120;
/// What may stand between a row's id and its title, and is neither.
const SEPARATORS: [char; 5] = ['-', '–', '—', ':', ' '];

/// A task as an agent proposes it: what it says, whatever it calls itself.
pub(crate) struct Proposal {
    pub(crate) title: PlainLine,
    pub(crate) fields: Fields,
}

impl Proposal {
    pub(crate) fn read(original: &TaskId, task: &ProposedTask) -> Self {
        match task {
            ProposedTask::Lines(lines) => Self::of_lines(original, lines),
            ProposedTask::Fields {
                title,
                action,
                files,
                done_when,
                verify,
                commit,
            } => Self {
                title: own_title(original, title),
                fields: Fields {
                    action: action.clone(),
                    files: files.clone(),
                    done_when: done_when.clone(),
                    verify: verify.clone(),
                    commit: commit.clone(),
                },
            },
        }
    }

    /// The first row of the lines, as any row of a task file is read; lines without a row are
    /// a title.
    fn of_lines(original: &TaskId, lines: &str) -> Self {
        let file = TaskFile::read(lines);
        let row = file.row(RowId(0)).zip(file.task(RowId(0)));
        let Some((row, task)) = row else {
            return Self {
                title: own_title(original, lines),
                fields: Fields::default(),
            };
        };
        let title = match row.id.as_ref().filter(|_| !row.numbered) {
            Some(id) => format!("{id} {}", task.title),
            None => task.title,
        };
        Self {
            title: own_title(original, &title),
            fields: task.fields,
        }
    }
}

/// The title without the number that its author expects: the next free one is what it gets.
fn own_title(original: &TaskId, text: &str) -> PlainLine {
    let line = PlainLine::first_of(text, TITLE_CHARS);
    let words = line.as_str().trim_start_matches(SEPARATORS);
    let (first, rest) = words.split_once(' ').unwrap_or_default();
    let id = TaskId::parse(first.trim_end_matches([':', '.']));
    let words = match id.and_then(|id| original.child_number(&id)) {
        Some(_) => rest.trim_start_matches(SEPARATORS),
        None => words,
    };
    PlainLine::flatten(words, TITLE_CHARS)
}
