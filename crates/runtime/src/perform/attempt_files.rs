//! The files that are kept for each attempt, for people and for resuming after a crash.

use std::fs;
use std::path::{Path, PathBuf};

use regreen_agents::{IdenticalPrompt, refuse_identical};
use regreen_engine::AttemptOrder;
use regreen_model::{TaskKey, Usage};
use regreen_workspace::{MAX_FILE, read_file, read_text_file};

use crate::clock::millis;
use crate::performer::{PerformError, Performer};

/// File name extensions; the attempt's number is the stem.
const PROMPT: &str = "prompt.md";
const USAGE: &str = "usage";

/// Saves the prompt beside the log, where people can read it; refuses a prompt that an attempt has
/// already failed with.
pub(super) fn save_prompt(
    performer: &Performer,
    order: &AttemptOrder,
    prompt: &str,
    resumes: bool,
) -> Result<Result<(), IdenticalPrompt>, PerformError> {
    let task = &order.task.task;
    let folder = performer.paths.task_folder(&performer.run, task);
    let path = |attempt: u32| attempt_file(performer, task, attempt, PROMPT);
    let kept = performer.context.processes.masks.mask(prompt);
    // A task that starts over may get the same prompt again.
    let counted = order.iteration.saturating_sub(1);
    let since = order.attempt.saturating_sub(counted);
    // In a resumed session, the same words are not the same prompt.
    let failed_attempts = since..=order.failed_attempt.filter(|_| !resumes).unwrap_or(0);
    for failed in failed_attempts {
        let earlier = read_text_file(&path(failed), MAX_FILE).unwrap_or_default();
        if let Err(refused) = refuse_identical(&kept, &earlier) {
            return Ok(Err(refused));
        }
    }
    fs::create_dir_all(&folder)?;
    fs::write(path(order.attempt), kept)?;
    Ok(Ok(()))
}

/// Returns the file in which an attempt's usage is saved while it works.
pub(super) fn usage_file(performer: &Performer, task: &TaskKey, attempt: u32) -> PathBuf {
    attempt_file(performer, task, attempt, USAGE)
}

fn attempt_file(performer: &Performer, task: &TaskKey, attempt: u32, what: &str) -> PathBuf {
    let folder = performer.paths.task_folder(&performer.run, task);
    folder.join(format!("{attempt}.{what}"))
}

/// Returns the usage of an attempt whose end was not seen, as far as the agent had reported it.
pub(super) fn saved_usage(performer: &Performer, task: &TaskKey, attempt: u32) -> Option<Usage> {
    let kept = read_file(&usage_file(performer, task, attempt), MAX_FILE).ok()?;
    serde_json::from_slice(&kept).ok()
}

/// Returns how long an attempt whose end was not seen was at work, from its prompt to its last
/// output. The machine may have been off since.
pub(super) fn active_ms(performer: &Performer, task: &TaskKey, attempt: u32) -> Option<u64> {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let begun = changed(&attempt_file(performer, task, attempt, PROMPT))?;
    let last = changed(&performer.paths.log(&performer.run, task, attempt))?;
    last.duration_since(begun).ok().map(millis)
}
