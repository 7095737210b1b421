//! What hands do to a text: nothing here asks whether it is a good idea.

use std::ops::Range;

use regreen_documents::TaskFile;
use regreen_model::Task;

/// The text with a row's box set.
pub(super) fn with_box(file: &TaskFile, task: &Task, done: bool) -> String {
    let mut lines = lines(file.text());
    if let Some(line) = lines.get_mut(task.line - 1) {
        *line = match done {
            true => line.replacen("[ ]", "[x]", 1).replacen("[-]", "[x]", 1),
            false => line.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1),
        };
    }
    lines.concat()
}

pub(super) fn without(file: &TaskFile, task: &Task) -> String {
    let mut lines = lines(file.text());
    lines.drain(block(file, task, lines.len()));
    lines.concat()
}

/// The text with a line after a row and all that belongs to it.
pub(super) fn with_line_after(file: &TaskFile, task: &Task, line: &str) -> String {
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

pub(super) fn with_words(file: &TaskFile, task: &Task, words: &str) -> String {
    let mut lines = lines(file.text());
    if let Some(line) = lines.get_mut(task.line - 1) {
        let end = line.trim_end().len();
        line.insert_str(end, words);
    }
    lines.concat()
}

/// The text with a row moved to its end.
pub(super) fn moved_to_end(file: &TaskFile, task: &Task) -> String {
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

/// The text with another command in the first Verify of a row.
pub(super) fn with_other_verify(file: &TaskFile, task: &Task) -> String {
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
