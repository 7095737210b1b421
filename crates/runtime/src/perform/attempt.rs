//! One attempt of the agent at a task.

use std::collections::BTreeSet;
use std::rc::Rc;

use regreen_agents::{Assignment, IdenticalPrompt};
use regreen_diagnosis::{ObservedAttempt, task_failure};
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_engine::AttemptOrder;
use regreen_model::{
    AttemptClass, AttemptReport, CommandSeq, Ending, FailureRecord, PersonChoice, TaskKey,
};
use regreen_workspace::AttemptName;

use super::attempt_files::{
    active_ms, save_plan, save_prompt, saved_plan, saved_usage, usage_file,
};
use super::plan_review::{Author, PlanBefore, ReplacedPlan, review_plan};
use super::prompt::{suggestions, written_prompt};
use super::state_file::read_state;
use crate::clock;
use crate::driver::StepRecorder;
use crate::execution::AgentRun;
use crate::listener::{AttemptObserver, TranscriptObserver};
use crate::performer::{PerformError, Performer};

/// How an attempt ended.
pub(crate) enum Attempted {
    Ended(Box<AttemptReport>),
    /// Someone removed or ticked the task since it was picked.
    Gone,
}

/// Runs the agent once on a task, and reviews what it did.
pub(crate) fn attempt(
    performer: &mut Performer,
    seq: CommandSeq,
    order: &AttemptOrder,
    recorder: &mut StepRecorder<'_>,
) -> Result<Attempted, PerformError> {
    let key = &order.task.task;
    let file = performer.plan.read()?;
    let Some(row) = file.open_row(key) else {
        return Ok(Attempted::Gone);
    };
    let before = with_wholes(performer, PlanBefore::of(&file, key, Author::Agent), key);
    let earlier = performer.earlier_runs(&recorder.journal.store);
    let suggestions = suggestions(&earlier, &file, row)?;
    let session = order.session.as_deref();
    let resumes = performer.context.agent.session(session).is_some();
    let prompt = written_prompt(performer, order, &file, row, resumes, &suggestions);
    if let Err(refused) = save_prompt(performer, order, &prompt, resumes)? {
        return Ok(Attempted::Ended(Box::new(fatal(&refused))));
    }
    let name = AttemptName::new(&performer.run, key, order.attempt);
    save_plan(performer, &name, &file)?;
    performer.tree.before(&name, clock::now())?;
    let mut observer = AttemptObserver { recorder, seq };
    let seen = run_agent(performer, order, &file, row, &prompt, &mut observer)?;
    let report = seen.task_report(&key.id, order.task.is_verify);
    let (mut report, files) =
        review_changes(performer, &name, key, &before, &order.put_back, report)?;
    let diagnosis = task_failure(&report, &seen.transcript, files);
    report.failure.diagnosis = diagnosis.map(Box::new);
    Ok(Attempted::Ended(Box::new(report)))
}

/// Reports an attempt whose end was not seen, by what it left behind.
pub(crate) fn interrupted(
    performer: &mut Performer,
    key: &TaskKey,
    attempt: u32,
    put_back: &BTreeSet<TaskKey>,
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
    let before = match saved_plan(performer, &name) {
        Some(text) => Rc::new(TaskFile::read(text).as_chosen(new_choices)),
        // The attempt had not begun.
        None => return Ok(report),
    };
    let before = PlanBefore::of(&before, key, Author::AgentOrPerson);
    let before = with_wholes(performer, before, key);
    let (report, files) = review_changes(performer, &name, key, &before, put_back, report)?;
    warn_of_unseen(performer, &name, &files);
    Ok(report)
}

/// Warns that the agent's changes cannot be told from those of people meanwhile.
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
        "nobody saw how attempt {attempt} of task {task} ended: what has changed since it began counts as its work ({named}); if some of it is yours, regreen diff {task} {attempt} shows it"
    )]);
}

/// Counts the tasks that this one is a part of as being worked on, too: they stay as they are.
fn with_wholes(performer: &Performer, mut before: PlanBefore, task: &TaskKey) -> PlanBefore {
    let wholes = read_state(performer).wholes(&task.id);
    let rows = wholes.iter().flat_map(|id| before.file.rows_with_id(id));
    let keys: Vec<TaskKey> = rows.filter_map(|row| before.file.key(row)).collect();
    before.running.extend(keys);
    before
}

/// Adds to the report what the attempt did to the plan and to the working tree. Returns the
/// files that have changed as well.
fn review_changes(
    performer: &mut Performer,
    name: &AttemptName,
    key: &TaskKey,
    before: &PlanBefore,
    put_back: &BTreeSet<TaskKey>,
    report: AttemptReport,
) -> Result<(AttemptReport, Vec<String>), PerformError> {
    let folder = performer.paths.task_folder(&performer.run, key);
    let mut replaced = ReplacedPlan::new(folder, name.attempt, before.author);
    let mut plan = review_plan(performer, before, put_back, &mut replaced)?;
    plan.warnings.extend(report.plan.warnings.iter().cloned());
    let left = performer.tree.after(name, clock::now())?;
    performer.notices.add_all(left.warnings);
    // These are written about the work; they are not part of it.
    let spec_files = performer.paths.spec_files();
    let is_work = |path| !spec_files.contains(&Some(path));
    let changed = left.changed.into_iter();
    let changed = changed.filter(|path| is_work(path.clone()));
    let changed: Vec<String> = changed.map(|path| path.to_string()).collect();
    let report = AttemptReport {
        plan,
        progressed: report.progressed || !changed.is_empty(),
        files_changed: u32::try_from(changed.len()).unwrap_or(u32::MAX),
        head: left.head,
        ..report
    };
    Ok((report, changed))
}

/// Reports an attempt that was not made, because it would fail like the one before.
fn fatal(refused: &IdenticalPrompt) -> AttemptReport {
    let why = format!("{refused}; let retry.md in the prompts folder say {{{{error}}}}");
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
