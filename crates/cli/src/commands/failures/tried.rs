//! Finds a run's response to a failure, from the events after it.

use regreen_model::{Event, PromptKind, TaskKey};

/// The response to a failure, and whether the task passed afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) what: Option<String>,
    pub(super) helped: Option<bool>,
}

pub(super) fn tried(events: &[Event], task: &TaskKey, attempt: u32) -> Tried {
    let is_it = |event: &Event| matches!(event, Event::TaskFailed { task: of, attempt: n, .. } if of == task && *n == attempt);
    let Some(at) = events.iter().rposition(is_it) else {
        return Tried::default();
    };
    let after = events.get(at + 1..).unwrap_or_default();
    Tried {
        what: after.iter().find_map(|event| what(event, task)),
        helped: after.iter().find_map(|event| verdict(event, task)),
    }
}

/// Returns the task whose failure, response or verdict an event shows.
pub(super) fn answered_task(event: &Event) -> Option<&TaskKey> {
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
        } if of == task => Some(format!("attempt {attempt}, {}", describe(*prompt))),
        _ => None,
    }
}

fn describe(prompt: PromptKind) -> &'static str {
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
