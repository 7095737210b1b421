//! `--dry-run`: shows what would run, without running it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use regreen_agents::Agent;
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_model::{Dollars, PlainLine, Service, Span, Task, TaskId, TaskKind, VerifyCommand};
use regreen_runtime::Preflight;
use regreen_workspace::{RealDisk, read_text};

use super::PreparedRun;
use crate::outlook::{advice, likelihood, reasons};
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
            let service = file.declared_service(row);
            tell(
                &mut page,
                ready,
                &task,
                service.as_ref(),
                file.verify_commands(row),
            );
            tell_outlook(&mut page, ready, &file, row);
        }
    }
    page.push_str(&limits(ready));
    Ok(page)
}

/// Describes how far the run would go.
fn limits(ready: &PreparedRun) -> String {
    let config = &ready.config;
    let span = |ms: u64| Span::from_millis(ms).to_string();
    let mut parts = vec![
        format!("{} attempts per task", config.limits.task_iterations),
        if config.auto_timeout {
            format!(
                "as suggested, or else {} per attempt",
                span(config.attempt_timeout_ms)
            )
        } else {
            format!("{} per attempt", span(config.attempt_timeout_ms))
        },
        format!("{} per Verify", span(config.verify_timeout_ms)),
    ];
    if config.recovery {
        parts.push(format!("{} fixes per task", config.limits.fixes_per_task));
    }
    let budget = &config.budgets.run;
    parts.extend(budget.time_ms.map(|ms| format!("{} in all", span(ms))));
    let cost = budget.cost_micro_usd.map(Dollars::from_micro);
    parts.extend(cost.map(|cost| format!("{cost} in all")));
    parts.extend(
        budget
            .tokens
            .map(|tokens| format!("{tokens} tokens in all")),
    );
    format!("\nlimits: {}\n", parts.join(", "))
}

/// Lists what would be in the way of the run.
pub fn findings(found: &Preflight) -> String {
    let mut page = String::new();
    for finding in &found.findings {
        let severity = if finding.is_error { "error" } else { "warning" };
        let _ = writeln!(page, "{severity}: {}", printable_line(&finding.to_string()));
    }
    page
}

pub(super) fn is_next(ready: &PreparedRun, file: &TaskFile, row: RowId) -> bool {
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

fn tell(
    page: &mut String,
    ready: &PreparedRun,
    task: &Task,
    service: Option<&Service>,
    mut verify: Vec<VerifyCommand>,
) {
    let Some(id) = &task.id else { return };
    let title = PlainLine::flatten(&task.title, TITLE_CHARS);
    let _ = writeln!(page, "\n{id} {title}");
    let asks_no_agent = service.is_some_and(|service| service.is_whole_task);
    if let (Agent::Shell(_), false) = (&ready.agent, asks_no_agent) {
        let action = task.fields.action.as_deref();
        let steps = action.map(shell_steps).unwrap_or_default();
        match steps.as_slice() {
            [] => page.push_str("    steps:  none that could be run, so it would fail\n"),
            steps => tell_lines(page, "steps:  ", steps.iter().map(String::as_str)),
        }
    }
    // A service that smart-ralph's rows declare is ready when their Verify passes.
    let has_ready = task.fields.ready.is_some();
    if let Some(service) = service {
        tell_lines(page, "service: ", [service.command.as_str()].into_iter());
        let ready = service.ready.iter().filter(|_| has_ready);
        for command in ready {
            tell_lines(page, "ready:   ", [command.command.as_str()].into_iter());
        }
    }
    ready
        .programs
        .settle(&RealDisk, &mut verify, &BTreeSet::new());
    let (verify, others): (Vec<VerifyCommand>, Vec<VerifyCommand>) = verify
        .into_iter()
        .partition(|command| ready.programs.can_run(&RealDisk, command));
    match (verify.as_slice(), &ready.config.gate) {
        ([], None) if asks_no_agent && has_ready => {}
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

/// Adds how long the task should take, and how likely it fails at first, if enough is known to say.
fn tell_outlook(page: &mut String, ready: &PreparedRun, file: &TaskFile, row: RowId) {
    let times = ready.config.times.as_ref();
    let times = times.and_then(|times| times.of(&file.features(row))?.told());
    if let Some(times) = times {
        let _ = writeln!(page, "    time:   {}", printable_line(&times));
    }
    let outlook = ready.outlook.as_ref();
    let Some(risk) = outlook.and_then(|outlook| outlook.risk(file, row)) else {
        return;
    };
    let _ = writeln!(page, "    risk:   {}", likelihood(&risk));
    for reason in reasons(&risk) {
        let _ = writeln!(page, "            {}", printable_line(&reason));
    }
    let id = file.id(row).map(ToString::to_string).unwrap_or_default();
    match advice(&risk, &id).as_str() {
        "" => {}
        advice => {
            let _ = writeln!(page, "            to lower it: {advice}");
        }
    }
}

/// Adds each command in full, line by line, because a reader may distrust it.
fn tell_lines<'c>(page: &mut String, what: &str, commands: impl Iterator<Item = &'c str>) {
    let mut what = what;
    for line in commands.flat_map(str::lines) {
        let line = printable(line);
        let _ = writeln!(page, "    {what}{line}");
        what = "        ";
    }
}
