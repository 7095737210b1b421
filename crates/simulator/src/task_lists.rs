//! Task lists in all the ways that people write them.

use std::ops::Range;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskId};

/// A list to run, and what another row of it looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) text: &'static str,
    /// The prefix of the number of an added row; `None` if rows have no ids.
    pub(crate) id: Option<&'static str>,
}

/// The first word of every title is the name of its row, however the rest changes.
pub(crate) const PLANS: [Plan; 10] = [
    Plan {
        text: "# Tasks\n\n- [ ] 1.1 alpha a\n  - **Verify**: `true`\n  - **Commit**: `feat: a`\n- [x] 1.2 beta b\n- [ ] 1.3 gamma c\n  - **Verify**: `true`\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] alpha a\n- [ ] beta b\n- [ ] gamma c\n",
        id: None,
    },
    Plan {
        text: "- [ ] alpha a\n",
        id: None,
    },
    Plan {
        text: "- [ ] 1. alpha g\n  - **Verify**: `true`\n  - [ ] 1.1 beta a\n  - [ ]* 1.2 gamma b\n- [ ] 2. delta h\n  - [ ] 2.1 epsilon c\n    - **Verify**: `true`\n  - [x] 2.2 zeta d\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] T001 [P] alpha a\r\n- [ ] T002 [P] [US1] beta b\r\n  - **Verify**: `true`\r\n\r\n## Later\r\n\r\n- [ ] T003 gamma c",
        id: Some("T90"),
    },
    Plan {
        text: "## 1. Setup\n\n- [ ] 1.1 alpha a  \n- [x] 1.2 beta b\n\n## 2. Work\n\n- [ ] 2.1 gamma c\n- [ ] 2.2 delta d\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] 1.1 alpha a\n  - **Verify**: `true`\n- [ ] 1.1 beta b\n  - **Verify**: `true`\n- [ ] 1.2 gamma c\n",
        id: Some("8."),
    },
    Plan {
        text: "* [ ] 1.1 alpha a\n\n  ```\n  - [ ] no row\n  ```\n* [ ] 1.2 [VERIFY] beta b\n  - **Verify**: `true`\n\n\n* [X] 1.3 gamma c\n* [-] 1.10 delta d",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] 1.1 alpha a\n  - **Verify**: `true`\n- [x] 1.1.1 [FIX 1.1] Fix: it broke\n- [ ] 1.1.2 [FIX 1.1] Fix: it broke\n- [ ] 1.2 beta b\n- [ ] 1.2.1 [FIX 1.2] Fix: it broke\n",
        id: Some("8."),
    },
    Plan {
        text: "\u{feff}- [ ] alpha a\r\n  - **Verify**: `true`\r\n  - [ ] a checklist item\r\n- [ ] beta b",
        id: None,
    },
];

impl Plan {
    /// Returns another row of the list, without its line ending.
    pub(crate) fn row(&self, name: &str, number: u64, is_ticked: bool) -> String {
        let mark = if is_ticked { 'x' } else { ' ' };
        match self.id {
            Some(id) => format!("- [{mark}] {id}{number} {name} n"),
            None => format!("- [{mark}] {name} n"),
        }
    }

    /// Returns whether tasks are named by their position, which other rows can take.
    pub(crate) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Chooses a task that can be requested by id.
    pub(crate) fn first_id(&self) -> Option<TaskId> {
        let id = if self.text.contains("T001") {
            "T001"
        } else {
            "1.1"
        };
        self.id.and_then(|_| TaskId::parse(id))
    }
}

/// Sets the box of a row.
pub(crate) fn with_box(file: &TaskFile, task: &Task, done: bool) -> String {
    let mut lines = lines(file.text());
    if let Some(line) = lines.get_mut(task.line - 1) {
        *line = match done {
            true => line.replacen("[ ]", "[x]", 1).replacen("[-]", "[x]", 1),
            false => line.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1),
        };
    }
    lines.concat()
}

pub(crate) fn without(file: &TaskFile, task: &Task) -> String {
    let mut lines = lines(file.text());
    lines.drain(block(file, task, lines.len()));
    lines.concat()
}

/// Inserts a line after a row and its block.
pub(crate) fn with_line_after(file: &TaskFile, task: &Task, line: &str) -> String {
    let mut lines = lines(file.text());
    let end = block(file, task, lines.len()).end;
    let eol = if file.text().contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    if let Some(last) = end.checked_sub(1).and_then(|at| lines.get_mut(at))
        && !last.ends_with('\n')
    {
        last.push_str(eol);
    }
    lines.insert(end, format!("{line}{eol}"));
    lines.concat()
}

pub(crate) fn with_words(file: &TaskFile, task: &Task, words: &str) -> String {
    let mut lines = lines(file.text());
    if let Some(line) = lines.get_mut(task.line - 1) {
        let end = line.trim_end().len();
        line.insert_str(end, words);
    }
    lines.concat()
}

/// Moves a row to the end of the text.
pub(crate) fn moved_to_end(file: &TaskFile, task: &Task) -> String {
    let mut lines = lines(file.text());
    let block = block(file, task, lines.len());
    let mut moved: Vec<String> = lines.drain(block).collect();
    let eol = if file.text().contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    for line in lines.iter_mut().chain(&mut moved) {
        if !line.ends_with('\n') {
            line.push_str(eol);
        }
    }
    lines.extend(moved);
    lines.concat()
}

/// Replaces the command in the first Verify of a row.
pub(crate) fn with_other_verify(file: &TaskFile, task: &Task) -> String {
    let mut lines = lines(file.text());
    let block = block(file, task, lines.len());
    for line in lines.get_mut(block).into_iter().flatten() {
        *line = line.replace("**Verify**: `true`", "**Verify**: `exit 0`");
    }
    lines.concat()
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn block(file: &TaskFile, task: &Task, lines: usize) -> Range<usize> {
    let start = (task.line - 1).min(lines);
    let row = file.row_on_line(task.line);
    let block = row.and_then(|row| file.block(row)).unwrap_or_default();
    start..(start + block.lines().count().max(1)).min(lines)
}
