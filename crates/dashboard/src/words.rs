//! How things are called on the pages.

use regreen_model::{Dollars, PromptKind, Span, Spending, TaskKey, Timestamp};
use regreen_overview::{RunState, TaskState};

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
pub(crate) fn task_state(state: TaskState) -> (&'static str, &'static str) {
    let class = match state {
        TaskState::Current => "badge action",
        TaskState::NeedsPerson => "badge question",
        TaskState::Healed | TaskState::Done => "badge good",
        TaskState::Skipped => "badge warning",
        TaskState::Failed => "badge bad",
        TaskState::NotNeeded | TaskState::Optional | TaskState::Open => "badge plain",
    };
    (state.words(), class)
}

pub(crate) fn prompt(kind: PromptKind) -> &'static str {
    regreen_overview::prompt_words(kind)
}
