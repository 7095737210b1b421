//! What happened after a failure: the response, whether it helped, and what was said.

use regreen_model::{
    Event, FailureRecord, NOTE_CHARS, PersonAnswer, PlainLine, RepairResult, TaskId, TaskKey,
};

use super::{FailureDigest, kind_and_line};
use crate::{Response, template};

/// Completes a failure of a task with the events after it.
pub(super) fn complete(
    digest: FailureDigest,
    task: &TaskKey,
    timeout_ms: u64,
    reads_prompts: bool,
    after: &[&Event],
) -> FailureDigest {
    let response = response(task, timeout_ms, after);
    let helped = after
        .iter()
        .enumerate()
        .find_map(|(at, event)| Some((at, helped(event, task, &digest)?)));
    let until = helped.map_or(after.len(), |(at, _)| at);
    let between = after.get(..until).unwrap_or_default();
    let helped = helped.and_then(|(_, helped)| helped);
    let helped = helped.filter(|_| response.is_some());
    let known = known(task, between);
    let is_prompted = reads_prompts && response.as_ref().is_some_and(Response::is_prompted);
    FailureDigest {
        helped,
        note: note(task, between).filter(|_| helped == Some(true)),
        known: known.as_ref().map(Option::is_some),
        advice: known.flatten().filter(|_| is_prompted).unwrap_or_default(),
        response: response.map(|response| response.as_str().to_owned()),
        ..digest
    }
}

/// Returns the response. A repair that regreen couldn't make is left to the agent, as a fix task.
fn response(task: &TaskKey, timeout_ms: u64, after: &[&Event]) -> Option<Response> {
    let first = |event: &&Event| Response::of(event, task, timeout_ms);
    let response = after.iter().find_map(first)?;
    let fix = planned_fix(task, after);
    let failed = |event: &&Event| match event {
        Event::RepairEnded {
            task,
            result: RepairResult::Failed { .. },
        } => Some(&task.id) == fix,
        _ => false,
    };
    if after.iter().any(failed) {
        return Some(Response::fix_task());
    }
    Some(response)
}

fn planned_fix<'e>(task: &TaskKey, after: &[&'e Event]) -> Option<&'e TaskId> {
    after.iter().find_map(|event| match event {
        Event::FixPlanned { task: of, fix, .. } if of == task => Some(fix),
        _ => None,
    })
}

/// Returns whether the response helped, as far as the task's next result shows: another failure
/// shows neither.
fn helped(event: &Event, failed: &TaskKey, before: &FailureDigest) -> Option<Option<bool>> {
    match event {
        Event::TaskDone { task, .. } if task == failed => Some(Some(true)),
        Event::TaskFailed { task, failure, .. } if task == failed => {
            Some(is_same(failure, before).then_some(false))
        }
        _ => None,
    }
}

fn is_same(failure: &FailureRecord, before: &FailureDigest) -> bool {
    let (kind, line) = kind_and_line(failure);
    kind == before.kind && template(kind, &line) == template(kind, &before.line)
}

/// Returns what the history said about the failure; `None` if it wasn't asked.
fn known(task: &TaskKey, between: &[&Event]) -> Option<Option<Vec<String>>> {
    between.iter().find_map(|event| match event {
        Event::Recalled {
            task: of,
            experience,
        } if of == task => Some(experience.as_ref().map(|known| {
            let advice = known.advice.iter();
            advice.map(|advice| advice.response.clone()).collect()
        })),
        _ => None,
    })
}

/// Returns what the person said last about the task, or else the agent that worked last on it or on
/// its fix.
fn note(task: &TaskKey, between: &[&Event]) -> Option<String> {
    let fix = planned_fix(task, between);
    let said = |event: &&Event| match event {
        Event::PersonAnswered {
            task: of,
            answer: PersonAnswer::Context { text },
        } if of == task => Some(text.clone()),
        _ => None,
    };
    let reported = |event: &&Event| match event {
        Event::AttemptEnded {
            task: of, report, ..
        } if of == task || Some(&of.id) == fix => Some(report.failure.last_words.clone()),
        _ => None,
    };
    let latest = || between.iter().rev();
    let words = latest()
        .find_map(said)
        .or_else(|| latest().find_map(reported))?;
    let line = PlainLine::flatten(&words, NOTE_CHARS);
    (!line.is_empty()).then(|| line.to_string())
}
