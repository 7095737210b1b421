//! A run's response to a failure, and whether it helped.

use regreen_model::{Event, PromptKind, TaskKey};

/// The response to a failure, and whether the task passed afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// What was done.
    pub what: Option<String>,
    /// Whether the task passed next; `None` if that is not known.
    pub helped: Option<bool>,
}

impl Response {
    /// Applies an event after the failure of a task.
    pub(crate) fn apply(&mut self, event: &Event, task: &TaskKey) {
        if self.what.is_none() {
            self.what = what(event, task);
        }
        if self.helped.is_none() {
            self.helped = verdict(event, task);
        }
    }
}

/// Finds the response to a failure in the events of its run.
#[must_use]
pub fn response_to(events: &[Event], task: &TaskKey, attempt: u32) -> Response {
    let is_it = |event: &Event| matches!(event, Event::TaskFailed { task: of, attempt: n, .. } if of == task && *n == attempt);
    let mut response = Response::default();
    if let Some(at) = events.iter().rposition(is_it) {
        let after = events.iter().skip(at + 1);
        after.for_each(|event| response.apply(event, task));
    }
    response
}

/// Returns the task whose failure, response or verdict an event shows.
#[must_use]
pub fn answered_task(event: &Event) -> Option<&TaskKey> {
    match event {
        Event::RepeatPlanned { task }
        | Event::FixPlanned { task, .. }
        | Event::PersonAsked { task, .. }
        | Event::AttemptStarted { task, .. }
        | Event::TaskDone { task, .. }
        | Event::TaskFailed { task, .. } => Some(task),
        _ => None,
    }
}

/// Returns the response that an event shows for a task.
fn what(event: &Event, task: &TaskKey) -> Option<String> {
    match event {
        Event::RepeatPlanned { task: of } if of == task => Some("waiting and repeating".to_owned()),
        Event::FixPlanned {
            task: of,
            fix,
            repair,
            ..
        } if of == task => Some(match repair {
            Some(repair) => format!("fix {fix}: {}", repair.does),
            None => format!("fix {fix}"),
        }),
        Event::PersonAsked { task: of, .. } if of == task => Some("asking a person".to_owned()),
        Event::AttemptStarted {
            task: of,
            prompt,
            attempt,
            ..
        } if of == task => Some(format!("attempt {attempt}, {}", prompt_words(*prompt))),
        _ => None,
    }
}

/// Returns how an attempt began, for people.
#[must_use]
pub fn prompt_words(prompt: PromptKind) -> &'static str {
    match prompt {
        PromptKind::First => "from the start",
        PromptKind::Retry => "with the failure",
        PromptKind::Reminder => "a reminder of the signal",
        PromptKind::NoOp => "after nothing had changed",
        PromptKind::Interrupted => "after an interruption",
        PromptKind::NewSession => "in a new session",
        PromptKind::Enriched => "with missing context",
        PromptKind::Split => "asked to split the task",
    }
}

/// Returns whether the task passed or failed again, if an event shows it.
fn verdict(event: &Event, task: &TaskKey) -> Option<bool> {
    match event {
        Event::TaskDone { task: of, .. } if of == task => Some(true),
        Event::TaskFailed { task: of, .. } if of == task => Some(false),
        _ => None,
    }
}
