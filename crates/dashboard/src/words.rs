//! How things are called on the pages.

use regreen_model::{Dollars, PromptKind, Span, Spending, TaskKey, Timestamp};
use regreen_overview::{Activity, RunState, RunSummary, TaskView};

pub(crate) fn name(key: &TaskKey) -> String {
    format!("{} {}", key.id, key.title)
}

pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    format!("{} ago", Span::whole_seconds(now.since(then)))
}

pub(crate) fn moment(at: Timestamp) -> String {
    format!("{} {} UTC", at.utc_date(), at.utc_time())
}

pub(crate) fn spent(spending: &Spending) -> String {
    let time = Span::from_millis(spending.time_ms).to_string();
    let cost = spending.cost_micro_usd;
    let cost = cost.map(|micro| format!(" · {}", Dollars::from_micro(micro)));
    format!("{time}{}", cost.unwrap_or_default())
}

/// Returns what a run is doing, if a process is at work on it.
pub(crate) fn doing(run: &RunSummary, now: Timestamp) -> Option<String> {
    if !run.is_active() {
        return None;
    }
    let task = run.current.as_ref().map(name);
    let what = match &run.activity {
        Activity::Attempt { attempt, .. } => format!("attempt {attempt}"),
        Activity::Waiting { why, .. } => format!("waiting: {why}"),
        other => other.name().to_owned(),
    };
    let since = run.activity.since().map(|since| now.since(since));
    let since = since.map(|millis| format!(" for {}", Span::whole_seconds(millis)));
    let what = format!("{what}{}", since.unwrap_or_default());
    let parts: Vec<String> = task.into_iter().chain([what]).collect();
    Some(parts.join(" · "))
}

/// Returns the class of a state, which has its colour.
pub(crate) fn tone(state: RunState) -> &'static str {
    match state {
        RunState::Running => "badge action",
        RunState::Waiting | RunState::Stopped | RunState::TryLater => "badge warning",
        RunState::NeedsPerson => "badge question",
        RunState::Killed | RunState::SetUp | RunState::Failed => "badge bad",
        RunState::Done => "badge good",
    }
}

/// Returns a state in one or two words.
pub(crate) fn state(state: RunState) -> &'static str {
    let words = state.words();
    words.split(';').next().unwrap_or(words)
}

/// Returns the state of a task, with its class.
pub(crate) fn task_state(task: &TaskView) -> (&'static str, &'static str) {
    if task.question.is_some() {
        ("needs you", "badge question")
    } else if task.superseded {
        ("not needed", "badge plain")
    } else if task.done && !task.fixes.is_empty() {
        ("healed", "badge good")
    } else if task.done {
        ("done", "badge good")
    } else if task.skipped {
        ("skipped", "badge warning")
    } else if task.failure.is_some() {
        ("failed", "badge bad")
    } else {
        ("open", "badge plain")
    }
}

pub(crate) fn prompt(kind: PromptKind) -> &'static str {
    regreen_overview::prompt_words(kind)
}
