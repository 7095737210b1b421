//! Task lists in all the ways in which people write them.

use std::ops::Range;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskId};

/// A list to run, and the form of further rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) text: &'static str,
    /// The prefix of the number of an added row; `None` if rows have no ids.
    pub(crate) id: Option<&'static str>,
}

/// The byte order mark that some editors write.
const MARK: &str = "\u{feff}";

/// The first word of every title names its row, however the rest changes.
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

    /// Returns whether rows have ids. If not, tasks are named by position, which other rows can
    /// take.
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

/// Ticks or unticks a row.
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
    let eol = eol(file);
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

/// Gives a row another title, which starts with its name.
pub(crate) fn with_title(file: &TaskFile, task: &Task, title: &str) -> String {
    with_row_line(file, task, |line| line.replacen(&task.title, title, 1))
}

/// Moves a row to the end of the text.
pub(crate) fn moved_to_end(file: &TaskFile, task: &Task) -> String {
    // The byte order mark stays where it is.
    let mark = if file.text().starts_with(MARK) {
        MARK
    } else {
        ""
    };
    let mut lines = lines(file.text());
    let block = block(file, task, lines.len());
    let mut moved: Vec<String> = lines.drain(block).collect();
    let eol = eol(file);
    for line in lines.iter_mut().chain(&mut moved) {
        if !line.ends_with('\n') {
            line.push_str(eol);
        }
    }
    lines.extend(moved);
    format!("{mark}{}", lines.concat().replace(MARK, ""))
}

/// A Verify that passes, whatever was done.
pub(crate) const FORGED_VERIFY: &str = "exit 0";

/// Replaces the command in the Verify of a row; adds one if it has none.
pub(crate) fn with_forged_verify(file: &TaskFile, task: &Task) -> String {
    let forged = format!("**Verify**: `{FORGED_VERIFY}`");
    if task.fields.verify.is_none() {
        return with_field(file, task, &forged);
    }
    with_block_lines(file, task, |line| {
        Some(line.replace("**Verify**: `true`", &forged))
    })
}

pub(crate) fn without_verify(file: &TaskFile, task: &Task) -> String {
    with_block_lines(file, task, |line| {
        (!line.contains("**Verify**")).then(|| line.to_owned())
    })
}

pub(crate) fn with_other_commit(file: &TaskFile, task: &Task) -> String {
    if task.fields.commit.is_none() {
        return with_field(file, task, "**Commit**: `chore: more`");
    }
    with_block_lines(file, task, |line| {
        Some(line.replace("**Commit**: `", "**Commit**: `chore: more, "))
    })
}

/// Makes a row optional.
pub(crate) fn with_star(file: &TaskFile, task: &Task) -> String {
    with_row_line(file, task, |line| {
        let boxes = ["[ ] ", "[x] ", "[-] "];
        let found = boxes.iter().find(|mark| line.contains(**mark));
        found.map_or(line.to_owned(), |mark| {
            line.replacen(mark, &format!("{}* ", mark.trim_end()), 1)
        })
    })
}

/// Gives a row another id, or the first one.
pub(crate) fn with_id(file: &TaskFile, task: &Task, id: &str) -> String {
    let own = task.id.as_ref().map(|own| format!("] {own}"));
    with_row_line(file, task, |line| match &own {
        Some(own) if line.contains(own) => line.replacen(own, &format!("] {id}"), 1),
        _ => line.replacen("] ", &format!("] {id} "), 1),
    })
}

/// Moves a row and its block to the right.
pub(crate) fn indented(file: &TaskFile, task: &Task, by: usize) -> String {
    with_block_lines(file, task, |line| {
        let spaces = " ".repeat(by);
        Some(match line.strip_prefix(MARK) {
            Some(line) => format!("{MARK}{spaces}{line}"),
            None => spaces + line,
        })
    })
}

/// Encloses a row and everything below it in two lines.
pub(crate) fn hidden_between(file: &TaskFile, task: &Task, [open, close]: [&str; 2]) -> String {
    let eol = eol(file);
    let mut text = with_row_line(file, task, |line| match line.strip_prefix(MARK) {
        Some(line) => format!("{MARK}{open}{eol}{line}"),
        None => format!("{open}{eol}{line}"),
    });
    if !text.ends_with('\n') {
        text.push_str(eol);
    }
    text + close + eol
}

/// Turns the box of a row into a marker.
pub(crate) fn without_box(file: &TaskFile, task: &Task) -> String {
    with_row_line(file, task, |line| {
        let boxes = ["[ ]", "[x]", "[X]", "[-]"];
        let found = boxes.iter().find(|mark| line.contains(**mark));
        found.map_or(line.to_owned(), |mark| line.replacen(mark, "[P]", 1))
    })
}

/// Adds a field directly below a row.
fn with_field(file: &TaskFile, task: &Task, field: &str) -> String {
    let eol = eol(file);
    with_row_line(file, task, |line| {
        let indent = line.len() - line.trim_start().len();
        let end = if line.ends_with('\n') { "" } else { eol };
        format!("{line}{end}{}  - {field}{eol}", " ".repeat(indent))
    })
}

fn with_row_line(file: &TaskFile, task: &Task, change: impl Fn(&str) -> String) -> String {
    let mut lines = lines(file.text());
    if let Some(line) = lines.get_mut(task.line - 1) {
        *line = change(line);
    }
    lines.concat()
}

/// Changes or removes every line of a row's block.
fn with_block_lines(
    file: &TaskFile,
    task: &Task,
    change: impl Fn(&str) -> Option<String>,
) -> String {
    let lines = lines(file.text());
    let block = block(file, task, lines.len());
    let changed = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| match block.contains(&at) {
            true => change(line),
            false => Some(line.clone()),
        });
    changed.collect()
}

fn eol(file: &TaskFile) -> &'static str {
    if file.text().contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    }
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
