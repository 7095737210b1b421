use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use regreen_agents::{
    Assignment, IdenticalPrompt, PreviousAttempt, PromptReason, RootContext, TaskBrief,
    refuse_identical,
};
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_engine::AttemptOrder;
use regreen_model::{
    AttemptClass, AttemptReport, CommandSeq, Ending, FailureNote, PersonChoice, PromptKind,
    TaskFailure, TaskKey, Usage,
};
use regreen_supervisor::Ended;
use regreen_workspace::AttemptName;

use super::agent_run::AgentRun;
use super::around::{Around, completed};
use super::modify::state;
use super::plan_changes::{PlanBefore, settle_plan};
use super::replaced_plan::{Author, ReplacedPlan};
use crate::chronicle::Chronicle;
use crate::clock;
use crate::end_of_file::end_of_file;
use crate::heard::{Heard, InRun, Told};
use crate::past::Past;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::report;
use crate::whole_file::write_whole;

/// How much of an interrupted attempt's output the next one is told.
const KNOWN_BYTES: u64 = 4 * 1024;

/// What is kept of an attempt, each in a file called after its number and this.
const PROMPT: &str = "prompt.md";
const USAGE: &str = "usage";

/// What came of an attempt.
pub(crate) enum Attempted {
    Ended(Box<AttemptReport>),
    /// Somebody removed or ticked the task since it was picked.
    Gone,
}

/// Runs the agent once on a task, and looks at what it left behind.
pub(crate) fn attempt(
    performer: &mut Performer,
    seq: CommandSeq,
    order: &AttemptOrder,
    chronicle: &mut Chronicle<'_>,
) -> Result<Attempted, PerformError> {
    let key = &order.task.task;
    let file = performer.plan.read()?;
    let Some(row) = file.open_row(key) else {
        return Ok(Attempted::Gone);
    };
    let before = with_wholes(performer, PlanBefore::of(&file, key, Author::Agent), key);
    let session = performer.agent.session(order.session.as_deref());
    let past = performer.past(&chronicle.journal.store);
    let suggestions = suggestions(&past, &file, row)?;
    let resumes = session.is_some();
    let prompt = written_prompt(performer, order, &file, row, resumes, &suggestions);
    if let Err(refused) = keep_prompt(performer, order, &prompt, resumes)? {
        return Ok(Attempted::Ended(Box::new(fatal(&refused))));
    }
    let name = AttemptName::new(&performer.run, key, order.attempt);
    keep_plan(performer, &name, &file)?;
    performer.tree.before(&name, clock::now())?;
    let mut told = InRun { chronicle, seq };
    let (ended, heard) = run_agent(performer, order, &file, row, &prompt, &mut told)?;
    let timeout = Duration::from_millis(order.timeout_ms);
    let ending = report::ending(&ended, timeout);
    // Who speaks a protocol greets before anything is done.
    let is_at_work = heard.is_at_work;
    let used_tools = performer
        .agent
        .reports_tools()
        .then_some(!heard.tools.counts.is_empty());
    let now = clock::now();
    let report = report::report(order, &performer.agent, &ended, ending, &heard, now);
    let report = AttemptReport {
        used_tools,
        progressed: (report.progressed && !performer.agent.has_sessions()) || is_at_work,
        ..report
    };
    let (report, files) = look_around(performer, &name, key, &before, &order.put_back, report)?;
    let diagnosis = report::diagnosed(&report, &heard, files);
    Ok(Attempted::Ended(Box::new(AttemptReport {
        diagnosis: diagnosis.map(Box::new),
        ..report
    })))
}

/// What an attempt left behind that nobody saw the end of.
pub(crate) fn interrupted(
    performer: &mut Performer,
    key: &TaskKey,
    attempt: u32,
    put_back: &BTreeSet<TaskKey>,
    new_choices: &[&PersonChoice],
) -> Result<AttemptReport, PerformError> {
    let report = AttemptReport {
        class: AttemptClass::Interrupted,
        error: "regreen or the machine ended while the agent was at work".to_owned(),
        usage: kept_usage(performer, key, attempt),
        ending: Ending {
            duration_ms: seen_at_work(performer, key, attempt).unwrap_or(0),
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    let name = AttemptName::new(&performer.run, key, attempt);
    let before = match kept_plan(performer, &name) {
        Some(text) => Rc::new(TaskFile::read(text).as_chosen(new_choices)),
        // The attempt had not begun.
        None => return Ok(report),
    };
    let before = PlanBefore::of(&before, key, Author::AgentOrPerson);
    let before = with_wholes(performer, before, key);
    let (report, files) = look_around(performer, &name, key, &before, put_back, report)?;
    warn_of_unseen(performer, &name, &files);
    Ok(report)
}

/// Nobody can tell who changed what while nobody looked.
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

/// Whoever works on a part of a task works on that task, too: what it says stays as it is.
fn with_wholes(performer: &Performer, mut before: PlanBefore, task: &TaskKey) -> PlanBefore {
    let wholes = state(performer).wholes(&task.id);
    let rows = wholes.iter().flat_map(|id| before.file.rows_with_id(id));
    let keys: Vec<TaskKey> = rows.filter_map(|row| before.file.key(row)).collect();
    before.running.extend(keys);
    before
}

/// The report with what is to be seen in the working tree, and which files have changed.
fn look_around(
    performer: &mut Performer,
    name: &AttemptName,
    key: &TaskKey,
    before: &PlanBefore,
    put_back: &BTreeSet<TaskKey>,
    report: AttemptReport,
) -> Result<(AttemptReport, Vec<String>), PerformError> {
    let folder = performer.places.task_folder(&performer.run, key);
    let mut replaced = ReplacedPlan::new(folder, name.attempt, before.author);
    let mut plan = settle_plan(performer, before, put_back, &mut replaced)?;
    plan.warnings.extend(report.plan.warnings.iter().cloned());
    let left = performer.tree.after(name, clock::now())?;
    performer.notices.add_all(left.warnings);
    // What is written there about the work is not the work.
    let spec_files = performer.places.spec_files();
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

/// Keeps what the agent is told beside the log, so that people can see it; unless it is what
/// an attempt was told that failed.
fn keep_prompt(
    performer: &Performer,
    order: &AttemptOrder,
    prompt: &str,
    resumes: bool,
) -> Result<Result<(), IdenticalPrompt>, PerformError> {
    let task = &order.task.task;
    let folder = performer.places.task_folder(&performer.run, task);
    let path = |attempt: u32| kept_file(performer, task, attempt, PROMPT);
    let kept = performer.processes.masks.mask(prompt);
    // Whoever has a task tried as if for the first time may get the same again.
    let counted = order.iteration.saturating_sub(1);
    let since = order.attempt.saturating_sub(counted);
    // In a session that goes on the same words are not the same prompt.
    let failed_attempts = since..=order.failed_attempt.filter(|_| !resumes).unwrap_or(0);
    for failed in failed_attempts {
        let earlier = fs::read_to_string(path(failed)).unwrap_or_default();
        if let Err(refused) = refuse_identical(&kept, &earlier) {
            return Ok(Err(refused));
        }
    }
    fs::create_dir_all(&folder)?;
    fs::write(path(order.attempt), kept)?;
    Ok(Ok(()))
}

/// An attempt that was not made, because it would fail as the one before.
fn fatal(refused: &IdenticalPrompt) -> AttemptReport {
    let why = format!("{refused}; let retry.md in the prompts folder say {{{{error}}}}");
    AttemptReport {
        class: AttemptClass::Fatal { why },
        ..AttemptReport::default()
    }
}

/// What the agent is told.
fn written_prompt(
    performer: &Performer,
    order: &AttemptOrder,
    file: &TaskFile,
    row: RowId,
    resumes: bool,
    suggestions: &[String],
) -> String {
    let places = &performer.places;
    let (task, root) = (&order.task.task, file.root(row));
    let root_key = file.key(root);
    let brief = TaskBrief {
        id: &task.id,
        title: &task.title,
        block: file.block(row).unwrap_or_default(),
        is_verify_row: order.task.is_verify,
        root: root_key
            .as_ref()
            .filter(|_| root != row)
            .map(|key| RootContext {
                id: &key.id,
                title: &key.title,
                block: file.block(root).unwrap_or_default(),
            }),
        suggestions,
        spec_name: &places.spec.name,
        spec_dir: &places.shown(&places.spec_folder()),
        tasks_file: &places.shown(&places.spec.tasks),
        progress_file: &places.shown(&places.progress),
        attempt: order.iteration,
        max_attempts: order.max_iterations,
    };
    let known = known(performer, order);
    let around = Around::of(performer, order);
    let details = details(order, &repaired(file, row));
    let previous = order
        .previous
        .as_ref()
        .map(|failure| previous(order, failure, &details));
    let prompts = &performer.prompts;
    let prompt = match (order.prompt, previous) {
        // Whoever goes on with a session knows the task already.
        (kind, previous) if resumes => {
            let occasion = occasion(kind, previous, &known, order, &around);
            let asked = prompts.continuation(&brief, &occasion);
            asked.unwrap_or_else(|| prompts.full(&brief, &occasion))
        }
        // Part of what is being tried again, so that is told as well.
        (PromptKind::Reminder | PromptKind::NoOp, Some(previous)) => {
            let full = prompts.full(&brief, &PromptReason::Retry(previous));
            let asked = prompts.continuation(
                &brief,
                &occasion(order.prompt, None, &known, order, &around),
            );
            format!("{}\n\n{}", full.trim_end(), asked.unwrap_or_default())
        }
        (kind, previous) => prompts.full(&brief, &occasion(kind, previous, &known, order, &around)),
    };
    match prompts.context(&brief, &order.context) {
        Some(said) => format!("{}\n\n{said}", prompt.trim_end()),
        None => prompt,
    }
}

/// How the task failed before, and the end of what the attempt printed that was cut off.
fn known(performer: &Performer, order: &AttemptOrder) -> String {
    let failure = order.previous.as_ref();
    let failed = failure.map(|failure| format!("An earlier attempt failed: {}\n", failure.error));
    let last = order.attempt.saturating_sub(1);
    let path = performer.places.log(&performer.run, &order.task.task, last);
    let printed = end_of_file(&path, KNOWN_BYTES).unwrap_or_default();
    failed.unwrap_or_default() + &printed
}

/// An attempt that comes after a failure always carries it.
fn occasion<'a>(
    kind: PromptKind,
    previous: Option<PreviousAttempt<'a>>,
    known: &'a str,
    order: &'a AttemptOrder,
    around: &'a Around,
) -> PromptReason<'a> {
    match (kind, previous) {
        (PromptKind::Reminder, _) => PromptReason::Reminder,
        (PromptKind::NoOp, _) => PromptReason::NoOp,
        (PromptKind::Split, previous) => PromptReason::Split(previous.unwrap_or_default()),
        (PromptKind::Interrupted | PromptKind::NewSession, _) => PromptReason::Interrupted {
            known,
            completed: completed(order.cut_off.as_deref()),
        },
        (PromptKind::Enriched, Some(previous)) => {
            PromptReason::Enriched(previous, around.surroundings())
        }
        (PromptKind::First | PromptKind::Retry, Some(previous)) => PromptReason::Retry(previous),
        (PromptKind::First | PromptKind::Retry | PromptKind::Enriched, None) => PromptReason::First,
    }
}

fn previous<'a>(
    order: &AttemptOrder,
    failure: &'a FailureNote,
    details: &'a str,
) -> PreviousAttempt<'a> {
    PreviousAttempt {
        number: order.iteration.saturating_sub(1),
        error: failure.error.lines().next().unwrap_or_default(),
        attempted_fix: match failure.attempted_fix.as_str() {
            "" => TaskFailure::NO_ATTEMPTED_FIX,
            fix => fix,
        },
        details,
        suggestions: match failure.told() {
            Some(found) => &found.suggested_actions,
            None => &[],
        },
        completed: completed(failure.diagnosis.as_deref()),
    }
}

/// What may help a fix: what the diagnosis of the task says that it repairs.
fn suggestions(past: &Past<'_>, file: &TaskFile, row: RowId) -> Result<Vec<String>, PerformError> {
    let repaired = file.fixed_by(row).and_then(|task| file.key(task));
    let failure = match repaired {
        Some(task) => past.last_failure(&task)?,
        None => None,
    };
    let found = failure.as_ref().and_then(FailureNote::told);
    Ok(found.map_or_else(Vec::new, |found| found.suggested_actions.clone()))
}

/// What was done about the failure since, and all that was known of it.
fn details(order: &AttemptOrder, repaired: &str) -> String {
    let failure = order.previous.as_ref();
    let rest = failure.and_then(|failure| failure.error.split_once('\n'));
    format!("{repaired}{}", rest.map_or("", |(_, rest)| rest))
}

/// The fixes of a task that are done.
fn repaired(file: &TaskFile, row: RowId) -> String {
    let done = file.fixes(row).filter(|fix| file.is_done(*fix));
    let keys = done.filter_map(|fix| file.key(fix));
    keys.map(|key| format!("Done since then: {} {}\n", key.id, key.title))
        .collect()
}

fn run_agent(
    performer: &Performer,
    order: &AttemptOrder,
    file: &TaskFile,
    row: RowId,
    prompt: &str,
    told: &mut dyn Told,
) -> Result<(Ended, Heard), PerformError> {
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
        spec_dir: &performer.places.shown(&performer.places.spec_folder()),
        root: &performer.places.root.to_string_lossy(),
        session: performer.agent.session(order.session.as_deref()),
        prompt,
        kind: order.prompt,
        steps: &steps,
    };
    let run = AgentRun {
        assignment,
        folder: &performer.places.task_folder(&performer.run, task),
        stem: order.attempt.to_string(),
        timeout_ms: order.timeout_ms,
        idle_timeout_ms: order.idle_timeout_ms,
        environment: &order.environment,
        purpose: format!("{}:{}", task.id, order.attempt),
        usage_file: kept_file(performer, task, order.attempt, USAGE),
    };
    run.run(performer, told)
}

/// Where something of an attempt is kept from when it is first seen.
fn kept_file(performer: &Performer, task: &TaskKey, attempt: u32, what: &str) -> PathBuf {
    let folder = performer.places.task_folder(&performer.run, task);
    folder.join(format!("{attempt}.{what}"))
}

/// What an attempt that nobody saw the end of had used up, as far as it had said so.
fn kept_usage(performer: &Performer, task: &TaskKey, attempt: u32) -> Option<Usage> {
    let kept = fs::read(kept_file(performer, task, attempt, USAGE)).ok()?;
    serde_json::from_slice(&kept).ok()
}

/// How long an attempt that nobody saw the end of was seen at work: from its prompt to the last
/// that it printed. The machine may have been off since.
fn seen_at_work(performer: &Performer, task: &TaskKey, attempt: u32) -> Option<u64> {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let begun = changed(&kept_file(performer, task, attempt, PROMPT))?;
    let last = changed(&performer.places.log(&performer.run, task, attempt))?;
    last.duration_since(begun).ok().map(report::millis)
}

/// Keeps the plan for whoever comes after a crash or a power cut; only the last one is of use.
/// Where there is none of an attempt, its agent has not begun.
fn keep_plan(
    performer: &Performer,
    name: &AttemptName,
    file: &TaskFile,
) -> Result<(), PerformError> {
    let kept = heading(name, file.text()) + file.text();
    write_whole(&plan_path(performer), kept.as_bytes())?;
    Ok(())
}

fn kept_plan(performer: &Performer, name: &AttemptName) -> Option<String> {
    let kept = fs::read_to_string(plan_path(performer)).ok()?;
    let (_, text) = kept.split_once('\n')?;
    let is_whole = kept.strip_suffix(text) == Some(&heading(name, text));
    is_whole.then(|| text.to_owned())
}

fn heading(name: &AttemptName, text: &str) -> String {
    let AttemptName {
        run,
        task,
        occurrence,
        attempt,
    } = name;
    let bytes = text.len();
    format!("{run} {task}+{occurrence} {attempt} {bytes}\n")
}

fn plan_path(performer: &Performer) -> PathBuf {
    performer.places.scratch().join("plan-before")
}
