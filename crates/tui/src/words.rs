//! How things are called on the screen.

use regreen_model::{Dollars, Span, Spending, TaskKey, Timestamp};
use regreen_overview::{RunState, TaskState};
use regreen_reporters::Tone;

pub(crate) fn name(key: &TaskKey) -> String {
    format!("{} {}", key.id, key.title)
}

pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    format!("{} ago", Span::whole_seconds(now.since(then)))
}

pub(crate) fn moment(at: Timestamp) -> String {
    format!("{} {} UTC", at.utc_date(), at.utc_time())
}

/// Returns the time and the cost; nothing if nothing was used.
pub(crate) fn spent(spending: &Spending) -> String {
    if spending.time_ms == 0 && spending.cost_micro_usd.is_none() {
        return String::new();
    }
    let time = Span::from_millis(spending.time_ms).to_string();
    let cost = spending.cost_micro_usd;
    let cost = cost.map(|micro| format!(" · {}", Dollars::from_micro(micro)));
    format!("{time}{}", cost.unwrap_or_default())
}

/// Returns a state in one or two words.
pub(crate) fn state(state: RunState) -> &'static str {
    let words = state.words();
    words.split(';').next().unwrap_or(words)
}

pub(crate) fn run_tone(state: RunState) -> Tone {
    match state {
        RunState::Running => Tone::Action,
        RunState::Waiting | RunState::Stopped | RunState::TryLater => Tone::Warning,
        RunState::NeedsPerson => Tone::Question,
        RunState::Killed | RunState::SetUp | RunState::Failed => Tone::Bad,
        RunState::Done => Tone::Good,
    }
}

/// Returns the tone of a task's state; `None` for the default color.
pub(crate) fn task_tone(state: TaskState) -> Option<Tone> {
    match state {
        TaskState::Current => Some(Tone::Action),
        TaskState::NeedsPerson => Some(Tone::Question),
        TaskState::Healed | TaskState::Done => Some(Tone::Good),
        TaskState::Skipped => Some(Tone::Warning),
        TaskState::Failed => Some(Tone::Bad),
        TaskState::NotNeeded | TaskState::Optional => Some(Tone::Dim),
        TaskState::Open => None,
    }
}

/// Joins what is not empty with dots.
pub(crate) fn joined(facts: &[String]) -> String {
    let filled = facts.iter().filter(|fact| !fact.is_empty());
    let filled: Vec<&str> = filled.map(String::as_str).collect();
    filled.join(" · ")
}

pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        0 => String::new(),
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}
