//! The prompts that tell an agent about a task.

use std::path::Path;

use regreen_agents::{ProjectContext, PromptReason, RootContext, TaskBrief, missing_names};
use regreen_documents::{RowId, TaskFile};
use regreen_engine::AttemptOrder;
use regreen_model::{FailureRecord, PromptKind, Survey};
use regreen_workspace::survey;

use super::project_context::items_for_task;
use crate::history::EarlierRuns;
use crate::log_file::read_tail;
use crate::performer::{PerformError, Performer};

/// How much of an interrupted attempt's output the next prompt quotes.
const KNOWN_BYTES: u64 = 4 * 1024;

/// Writes the prompt of an attempt.
pub(super) fn written_prompt(
    performer: &Performer,
    order: &AttemptOrder,
    file: &TaskFile,
    row: RowId,
    resumes: bool,
    repairs: Option<&FailureRecord>,
) -> String {
    let paths = &performer.paths;
    let (task, root) = (&order.task.task, file.root(row));
    let root_key = file.key(root);
    // The number in the log's name. Attempts that don't count raise the limit by as many. A
    // reminder is part of the attempt before it.
    let number = match order.prompt {
        PromptKind::Reminder => order.attempt.saturating_sub(1),
        _ => order.attempt,
    };
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
        repairs,
        spec_name: &paths.spec.name,
        spec_dir: &paths.shown(&paths.spec_folder()),
        tasks_file: &paths.shown(&paths.spec.tasks),
        progress_file: &paths.shown(&paths.progress),
        attempt: number,
        max_attempts: number + order.max_iterations.saturating_sub(order.iteration),
    };
    let known = known(performer, order);
    let project = LookedUpProject::of(performer, order);
    let since = repaired(file, row);
    let reason = |kind, failure| reason(kind, failure, &since, &known, order, &project);
    let prompts = &performer.context.prompts;
    let prompt = match (order.prompt, order.previous.as_ref()) {
        // The resumed session already knows the task.
        (kind, failure) if resumes => {
            let reason = reason(kind, failure);
            let news = prompts.continuation(&brief, &reason);
            news.unwrap_or_else(|| prompts.full(&brief, &reason))
        }
        // It is part of a retry, so the prompt includes the failure.
        (PromptKind::Reminder | PromptKind::NoOp, failure @ Some(_)) => {
            let full = prompts.full(&brief, &reason(PromptKind::Retry, failure));
            let news = prompts.continuation(&brief, &reason(order.prompt, failure));
            format!("{}\n\n{}", full.trim_end(), news.unwrap_or_default())
        }
        (kind, failure) => prompts.full(&brief, &reason(kind, failure)),
    };
    // A reminder outside of the session is the first prompt once more.
    let is_first = matches!(order.prompt, PromptKind::First | PromptKind::Reminder);
    let project = (is_first && order.previous.is_none() && !resumes).then(|| {
        let items = || items_for_task(performer, file, row);
        performer.context.project_section(items)
    });
    let experience = order.experience.as_deref();
    let remembered = experience.map(|experience| prompts.recall(task.id.as_str(), experience));
    let guidance = order.guidance.as_ref();
    let sections = [
        project.flatten(),
        prompts.left_running(&brief, &order.left_running),
        remembered.flatten(),
        guidance.map(|guidance| prompts.recovery(&brief, guidance)),
        prompts.services(&brief, &service_lines(performer)),
        prompts.context(&brief, &order.context),
    ];
    sections.into_iter().flatten().fold(prompt, |prompt, more| {
        format!("{}\n\n{more}", prompt.trim_end())
    })
}

/// Describes the running services, and why the others are down.
fn service_lines(performer: &Performer) -> Vec<String> {
    let needed = performer.services.needed().iter();
    needed
        .map(|one| {
            let command = &one.service.command;
            let log = performer.paths.shown(&one.log);
            match &one.trouble {
                None => format!("{command} (running and ready; log: {log})"),
                Some(why) => {
                    format!("{command} (not running yet: {why}; regreen starts it again before the check; log: {log})")
                }
            }
        })
        .collect()
}

/// Describes how the task failed before, with the end of the interrupted attempt's output.
fn known(performer: &Performer, order: &AttemptOrder) -> String {
    let failure = order.previous.as_ref();
    let failed = failure.map(|failure| format!("An earlier attempt failed: {}\n", failure.error));
    let last = order.attempt.saturating_sub(1);
    let path = performer.paths.log(&performer.run, &order.task.task, last);
    let printed = read_tail(&path, KNOWN_BYTES).unwrap_or_default();
    failed.unwrap_or_default() + &printed
}

/// Returns why the agent is prompted. An attempt after a failure always includes the failure.
fn reason<'a>(
    kind: PromptKind,
    failure: Option<&'a FailureRecord>,
    since: &'a str,
    known: &'a str,
    order: &'a AttemptOrder,
    project: &'a LookedUpProject,
) -> PromptReason<'a> {
    match (kind, failure) {
        (PromptKind::Reminder, _) => PromptReason::Reminder,
        (PromptKind::NoOp, _) => PromptReason::NoOp,
        (PromptKind::Split, failure) => PromptReason::Split(failure),
        (PromptKind::Interrupted | PromptKind::NewSession, _) => PromptReason::Interrupted {
            known,
            diagnosis: order.interrupted.as_deref(),
        },
        (PromptKind::Enriched, Some(failure)) => PromptReason::Enriched(failure, project.context()),
        (PromptKind::First | PromptKind::Retry, Some(failure)) => {
            PromptReason::Retry { failure, since }
        }
        (PromptKind::First | PromptKind::Retry | PromptKind::Enriched, None) => PromptReason::First,
    }
}

/// Returns how the task that a fix repairs last failed.
pub(super) fn repaired_failure(
    earlier: &EarlierRuns<'_>,
    file: &TaskFile,
    row: RowId,
) -> Result<Option<FailureRecord>, PerformError> {
    let repaired = file.fixed_by(row).and_then(|task| file.key(task));
    Ok(match repaired {
        Some(task) => earlier.last_failure(&task)?,
        None => None,
    })
}

/// Lists the completed fixes of a task.
fn repaired(file: &TaskFile, row: RowId) -> String {
    let done = file.fixes(row).filter(|fix| file.is_done(*fix));
    let keys = done.filter_map(|fix| file.key(fix));
    keys.map(|key| format!("Done since then: {} {}\n", key.id, key.title))
        .collect()
}

/// Facts about the project, for an agent that lacked something.
#[derive(Debug, Default)]
pub(crate) struct LookedUpProject {
    root: String,
    survey: Survey,
}

impl LookedUpProject {
    /// Looks up nothing for an attempt that lacks nothing.
    pub(crate) fn of(performer: &Performer, order: &AttemptOrder) -> Self {
        match (&order.previous, order.prompt) {
            (Some(failure), PromptKind::Enriched) => {
                Self::looked_up(&performer.paths.root, failure)
            }
            _ => Self::default(),
        }
    }

    /// Looks up the things that a failure names.
    pub(crate) fn looked_up(root: &Path, failure: &FailureRecord) -> Self {
        let found = failure.diagnosis.as_deref();
        let blocker = found.and_then(|found| found.blocked_on.as_deref());
        let names = missing_names(&format!("{}\n{}", blocker.unwrap_or(""), failure.error));
        Self {
            root: root.to_string_lossy().into_owned(),
            survey: survey(root, &names),
        }
    }

    pub(crate) fn context(&self) -> ProjectContext<'_> {
        ProjectContext {
            root: &self.root,
            survey: &self.survey,
        }
    }
}
