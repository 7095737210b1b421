//! One attempt at a task.

use regreen_agents::{Assignment, IdenticalPrompt};
use regreen_diagnosis::{ObservedAttempt, diagnosed};
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_engine::AttemptOrder;
use regreen_model::{
    AttemptClass, AttemptReport, CommandSeq, Ending, FailureRecord, PersonChoice, PlanChanges,
    TaskKey,
};
use regreen_workspace::{AttemptName, RelPath};

use super::attempt_files::{active_ms, save_prompt, saved_usage, usage_file};
use super::ignored_files::remember_ignored_scripts;
use super::own_modules::without_own_modules;
use super::plan_guard::{GuardedCommand, PlanGuard, had_begun};
use super::prompt::{repaired_failure, written_prompt};
use super::settings_rows::may_change_settings;
use super::tampering::{remember_surroundings, review_surroundings};
use super::weakened_checks::review_checks;
use crate::clock;
use crate::driver::StepRecorder;
use crate::execution::AgentRun;
use crate::listener::{AttemptObserver, TranscriptObserver};
use crate::performer::{PerformError, Performer};

/// How an attempt ended.
pub(crate) enum Attempted {
    Ended(Box<AttemptReport>),
    /// Someone has removed or ticked the task since it was picked.
    Gone,
}

/// Runs the agent once on a task, and reviews its changes.
pub(crate) fn attempt(
    performer: &mut Performer,
    seq: CommandSeq,
    order: &AttemptOrder,
    guard: &mut PlanGuard,
    recorder: &mut StepRecorder<'_>,
) -> Result<Attempted, PerformError> {
    let key = &order.task.task;
    // The guard has just read it.
    let file = performer.plan.latest()?;
    let Some(row) = file.open_row(key) else {
        return Ok(Attempted::Gone);
    };
    let earlier = performer.earlier_runs(&recorder.journal.store);
    let repairs = repaired_failure(&earlier, &file, row)?;
    let session = order.session.as_deref();
    let resumes = performer.context.agent.session(session).is_some();
    let prompt = written_prompt(performer, order, &file, row, resumes, repairs.as_ref());
    if let Err(refused) = save_prompt(performer, order, &prompt, resumes)? {
        return Ok(Attempted::Ended(Box::new(fatal(&refused))));
    }
    let name = AttemptName::new(&performer.run, key, order.attempt);
    let left_out = performer.tree.before(&name, clock::now())?;
    performer.notices.add_all(left_out);
    remember_surroundings(performer)?;
    remember_ignored_scripts(performer)?;
    let mut observer = AttemptObserver { recorder, seq };
    if may_change_settings(performer, &file, row) {
        performer.settings.allow_changes();
    }
    let seen = run_agent(performer, order, &file, row, &prompt, &mut observer)?;
    // Before the snapshot: reverted changes are not part of the work.
    performer.end_settings_guard()?;
    let report = seen.task_report(&key.id, order.task.is_verify);
    let (report, files) = review_changes(performer, &name, key, Some(guard), report)?;
    let mut report = diagnosed(report, &seen.transcript, files);
    let diagnosis = report.failure.diagnosis.take();
    report.failure.diagnosis = without_own_modules(performer, key, diagnosis)?;
    Ok(Attempted::Ended(Box::new(report)))
}

/// Reports an attempt whose end was not seen, from what it left behind.
pub(crate) fn interrupted(
    performer: &mut Performer,
    key: &TaskKey,
    attempt: u32,
    command: GuardedCommand,
    new_choices: &[&PersonChoice],
) -> Result<AttemptReport, PerformError> {
    let report = AttemptReport {
        class: AttemptClass::Interrupted,
        failure: FailureRecord::new("regreen or the machine stopped during the attempt"),
        usage: saved_usage(performer, key, attempt),
        ending: Ending {
            duration_ms: active_ms(performer, key, attempt).unwrap_or(0),
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    let name = AttemptName::new(&performer.run, key, attempt);
    let had_begun = had_begun(performer, &command);
    let mut guard = PlanGuard::interrupted(performer, command, new_choices);
    if !had_begun {
        let changes = guard.map(|mut guard| guard.end(performer)).transpose()?;
        let plan = changes.unwrap_or_default();
        return Ok(AttemptReport { plan, ..report });
    }
    let (report, files) = review_changes(performer, &name, key, guard.as_mut(), report)?;
    warn_of_unseen(performer, &name, &files);
    Ok(report)
}

/// Warns that the agent's changes can't be told apart from those that people made meanwhile.
fn warn_of_unseen(performer: &mut Performer, name: &AttemptName, files: &[String]) {
    const NAMED: usize = 5;
    if files.is_empty() {
        return;
    }
    let mut named = files
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if files.len() > NAMED {
        named.push_str(", …");
    }
    let AttemptName { task, attempt, .. } = name;
    performer.notices.add_all([format!(
        "attempt {attempt} of task {task} was interrupted, so everything that has changed since it began counts as its work ({named}); if some of it is yours, see `regreen diff {task} {attempt}`"
    )]);
}

/// Adds to the report what the attempt did to the plan and the working tree. Also returns the
/// changed files.
fn review_changes(
    performer: &mut Performer,
    name: &AttemptName,
    task: &TaskKey,
    guard: Option<&mut PlanGuard>,
    report: AttemptReport,
) -> Result<(AttemptReport, Vec<String>), PerformError> {
    // The guard ends last, because git writes files here and may run the user's filters.
    let left = performer.tree.after(name, clock::now());
    let left = left.map_err(|error| without_repository(name, error.into()))?;
    // Without a guard, the plan was already reviewed when the attempt was stopped.
    let mut plan = match guard {
        Some(guard) => guard.end(performer)?,
        None => PlanChanges::default(),
    };
    plan.warnings.extend(report.plan.warnings.iter().cloned());
    performer.notices.add_all(left.warnings);
    // The spec's files are about the work, not part of it.
    let spec_files = performer.paths.spec_files();
    let is_work = |path| !spec_files.contains(&Some(path));
    let changed = left.changed.into_iter();
    let changed: Vec<RelPath> = changed.filter(|path| is_work(path.clone())).collect();
    let report = review_checks(performer, name, task, &changed, report)?;
    let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
    let moved = left.moved;
    let report = AttemptReport {
        plan,
        progressed: report.progressed || !changed.is_empty(),
        files_changed: u32::try_from(changed.len()).unwrap_or(u32::MAX),
        head: left.head,
        ..report
    };
    let report = review_surroundings(performer, report)?;
    Ok((with_moved_head(report, moved), changed))
}

/// Adds the likely cause if git worked before an attempt but not after it.
fn without_repository(name: &AttemptName, error: PerformError) -> PerformError {
    let AttemptName { task, attempt, .. } = name;
    match error {
        PerformError::Broken(why) => PerformError::Broken(format!(
            "git fails since attempt {attempt} of task {task}: {why}. If the attempt removed or replaced the repository, restore .git before you continue"
        )),
        other => other,
    }
}

/// Fails an attempt that took work off the branch, whatever it reported.
fn with_moved_head(report: AttemptReport, moved: Option<String>) -> AttemptReport {
    let Some(moved) = moved else {
        return report;
    };
    AttemptReport {
        signalled: false,
        reports_failure: true,
        failure: FailureRecord {
            last_words: report.failure.last_words.clone(),
            ..FailureRecord::new(moved)
        },
        ..report
    }
}

/// The report of an attempt that was not made because it would fail like the one before.
fn fatal(refused: &IdenticalPrompt) -> AttemptReport {
    let why = format!("{refused}; add {{{{error}}}} to retry.md in the prompts folder");
    AttemptReport {
        class: AttemptClass::Fatal { why },
        ..AttemptReport::default()
    }
}

fn run_agent(
    performer: &Performer,
    order: &AttemptOrder,
    file: &TaskFile,
    row: RowId,
    prompt: &str,
    observer: &mut dyn TranscriptObserver,
) -> Result<ObservedAttempt, PerformError> {
    let task = &order.task.task;
    let fields = file.task(row).map(|task| task.fields).unwrap_or_default();
    let steps = fields
        .action
        .as_deref()
        .map(shell_steps)
        .unwrap_or_default();
    let assignment = Assignment {
        task_id: task.id.as_str(),
        title: &task.title,
        attempt: order.attempt,
        spec_dir: &performer.paths.shown(&performer.paths.spec_folder()),
        root: &performer.paths.root.to_string_lossy(),
        session: performer.context.agent.session(order.session.as_deref()),
        prompt,
        kind: order.prompt,
        steps: &steps,
    };
    let run = AgentRun {
        assignment,
        folder: &performer.paths.task_folder(&performer.run, task),
        stem: order.attempt.to_string(),
        timeout_ms: order.timeout_ms,
        idle_timeout_ms: order.idle_timeout_ms,
        environment: &order.environment,
        purpose: format!("{}:{}", task.id, order.attempt),
        usage_file: usage_file(performer, task, order.attempt),
    };
    performer.context.attempt_once(run, observer)
}
