//! `regreen tasks list`: lists the rows of a task file.

use std::fmt::Write as _;
use std::path::Path;

use regreen_documents::TaskFile;
use regreen_model::{Dialect, Fields, Marker, Task, TaskId, TaskKind, VerifyCommand, Warning};
use regreen_workspace::{RealDisk, read_text};
use serde::Serialize;

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(file: &Path, json: bool) -> Result<Exit, Problem> {
    let tasks = TaskFile::read(read_text(&RealDisk, file)?.text);
    let text = if json {
        as_json(&tasks)
    } else {
        as_table(&tasks)
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

/// The rows as JSON. Scripts rely on the keys.
#[derive(Serialize)]
struct Listing<'t> {
    dialect: Dialect,
    tasks: Vec<Row>,
    warnings: &'t [Warning],
}

#[derive(Serialize)]
struct Row {
    id: Option<TaskId>,
    line: usize,
    title: String,
    done: bool,
    kind: TaskKind,
    markers: Vec<Marker>,
    fix_of: Option<TaskId>,
    depth: u32,
    fields: Fields,
    verify_candidates: Vec<String>,
    /// The expected result of each candidate; `null` for exit code 0.
    verify_expects: Vec<Option<String>>,
    /// The parts of each candidate's expectation that can't be checked.
    verify_unchecked: Vec<Option<String>>,
}

impl Row {
    fn new(task: Task, verify: Vec<VerifyCommand>) -> Self {
        let expects = |command: &VerifyCommand| command.expects.as_ref().map(ToString::to_string);
        Self {
            id: task.id,
            line: task.line,
            title: task.title,
            done: task.done,
            kind: task.kind,
            markers: task.markers,
            fix_of: task.fix_of.map(|key| key.id),
            depth: task.depth,
            fields: task.fields,
            verify_expects: verify.iter().map(expects).collect(),
            verify_unchecked: verify.iter().map(|c| c.unchecked.clone()).collect(),
            verify_candidates: verify.into_iter().map(|command| command.command).collect(),
        }
    }
}

fn as_json(file: &TaskFile) -> String {
    let listing = Listing {
        dialect: file.dialect(),
        tasks: file
            .rows()
            .filter_map(|row| Some(Row::new(file.task(row)?, file.verify_commands(row))))
            .collect(),
        warnings: file.warnings(),
    };
    // Strings, numbers and lists always serialize.
    let mut text = serde_json::to_string_pretty(&listing).unwrap_or_default();
    text.push('\n');
    text
}

fn as_table(file: &TaskFile) -> String {
    let tasks = file.tasks();
    let ids = tasks
        .iter()
        .filter_map(|task| task.id.as_ref())
        .map(|id| id.as_str().len());
    let width = ids.max().unwrap_or(0).max(2);
    let mut text = String::new();
    let _ = writeln!(text, "dialect: {}", file.dialect());
    for task in &tasks {
        let id = task.id.as_ref().map_or("", TaskId::as_str);
        let mark = if task.done { 'x' } else { ' ' };
        let indent = "  ".repeat(usize::try_from(task.depth).unwrap_or(0));
        let _ = write!(
            text,
            "{:>5}  [{mark}] {id:<width$}  {:<9}  {indent}",
            task.line, task.kind
        );
        for marker in &task.markers {
            let _ = write!(text, "[{marker}] ");
        }
        let _ = writeln!(text, "{}", output::printable(&task.title));
    }
    for warning in file.warnings() {
        let _ = writeln!(text, "warning: line {}: {}", warning.line, warning.message);
    }
    text
}
