//! What would be run, without running anything.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use regreen_agents::Agent;
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_model::{PlainLine, Task, TaskId, TaskKind, VerifyCommand};
use regreen_workspace::{RealDisk, read_text};

use super::PreparedRun;
use crate::output::{printable, printable_line};
use crate::problem::Problem;

const TITLE_CHARS: usize = 120;

pub fn page(ready: &PreparedRun) -> Result<String, Problem> {
    let spec = &ready.context.places.spec;
    let file = TaskFile::read(read_text(&RealDisk, &spec.tasks)?.text);
    let rows: Vec<RowId> = file
        .rows()
        .filter(|row| is_next(ready, &file, *row))
        .collect();
    let mut page = String::new();
    let _ = writeln!(
        page,
        "spec {}, agent {}: {} of {} tasks would be run",
        printable_line(&spec.name),
        printable_line(&ready.config.agent.to_string()),
        rows.len(),
        file.runnable(ready.config.include_optional)
    );
    for row in rows {
        if let Some(task) = file.task(row) {
            tell(&mut page, ready, &task, file.verify_commands(row));
        }
    }
    Ok(page)
}

fn is_next(ready: &PreparedRun, file: &TaskFile, row: RowId) -> bool {
    let config = &ready.config;
    let is_wanted = config.include_optional || !file.is_optional(row);
    let is_named = |only: &TaskId| file.key(row).is_some_and(|key| key.id == *only);
    let is_asked_for = match &config.only {
        Some(only) => file.belongs_to(row, only) && (is_wanted || is_named(only)),
        None => is_wanted,
    };
    let runs = matches!(file.kind(row), Some(TaskKind::Task | TaskKind::Optional));
    runs && is_asked_for && !file.is_done(row)
}

fn tell(page: &mut String, ready: &PreparedRun, task: &Task, mut verify: Vec<VerifyCommand>) {
    let Some(id) = &task.id else { return };
    let title = PlainLine::flatten(&task.title, TITLE_CHARS);
    let _ = writeln!(page, "\n{id} {title}");
    if let Agent::Shell(_) = ready.agent {
        let action = task.fields.action.as_deref();
        let steps = action.map(shell_steps).unwrap_or_default();
        match steps.as_slice() {
            [] => page.push_str("    steps:  none that could be run, so it would fail\n"),
            steps => tell_lines(page, "steps:  ", steps.iter().map(String::as_str)),
        }
    }
    ready
        .programs
        .settle(&RealDisk, &mut verify, &BTreeSet::new());
    let (verify, others): (Vec<VerifyCommand>, Vec<VerifyCommand>) = verify
        .into_iter()
        .partition(|command| ready.programs.can_run(&RealDisk, command));
    match (verify.as_slice(), &ready.config.gate) {
        ([], None) => page.push_str("    verify: nothing to run, so it would pass as unverified\n"),
        ([], Some(gate)) => tell_lines(page, "gate:   ", [gate.as_str()].into_iter()),
        (commands, _) => {
            for command in commands {
                tell_lines(page, "verify: ", [command.command.as_str()].into_iter());
                if command.expects.is_some() || command.unchecked.is_some() {
                    let judged = command.judged_by();
                    tell_lines(page, "judged: ", [judged.as_str()].into_iter());
                }
            }
        }
    }
    for command in others.iter().filter(|command| command.is_left_out()) {
        tell_lines(page, "left out: ", [command.command.as_str()].into_iter());
    }
}

/// Adds all of each command, line by line: a reader may distrust it.
fn tell_lines<'c>(page: &mut String, what: &str, commands: impl Iterator<Item = &'c str>) {
    let mut what = what;
    for line in commands.flat_map(str::lines) {
        let line = printable(line);
        let _ = writeln!(page, "    {what}{line}");
        what = "        ";
    }
}
