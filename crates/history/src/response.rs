//! What was done about a failure.

use regreen_model::{Event, Experience, PromptKind, TaskKey};

const FIX_TASK: &str = "fix task";
/// Responses whose prompts may say what helped before.
const PROMPTED: [&str; 5] = [
    FIX_TASK,
    "another attempt",
    "more context",
    "more time",
    "a new session",
];

/// How the steps of delegations begin, and what runs call them.
const DELEGATED: [(&str, &str); 6] = [
    ("tried again with the failure explained", "another attempt"),
    ("tried again with the missing context", "more context"),
    ("tried again in the same session", "more time"),
    ("tried again in a new session", "a new session"),
    ("waited and repeated it", "repeat"),
    ("divided into", "a split"),
];

/// What was done about a failure, in words that say nothing about the project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Response(String);

impl Response {
    /// Returns the response that an event shows for a task; `None` if it shows none.
    #[must_use]
    pub fn of(event: &Event, task: &TaskKey, timeout_ms: u64) -> Option<Self> {
        let words = match event {
            Event::RepeatPlanned { task: of } if of == task => "repeat".to_owned(),
            Event::FixPlanned {
                task: of, repair, ..
            } if of == task => match repair {
                Some(repair) => repair.action.response(),
                None => FIX_TASK.to_owned(),
            },
            Event::PersonAsked { task: of, .. } if of == task => "a person".to_owned(),
            Event::AttemptStarted {
                task: of,
                prompt,
                timeout_ms: limit,
                ..
            } if of == task => attempt_words(*prompt, *limit > timeout_ms).to_owned(),
            _ => return None,
        };
        Some(Self(words))
    }

    /// A fix task for the agent.
    #[must_use]
    pub fn fix_task() -> Self {
        Self(FIX_TASK.to_owned())
    }

    /// Whether an agent read a prompt that could say what helped before.
    #[must_use]
    pub fn is_prompted(&self) -> bool {
        PROMPTED.contains(&self.as_str())
    }

    /// Returns the response that the words of a delegation describe, of which only the first step
    /// counts, in the words of runs; `None` if they describe none.
    #[must_use]
    pub fn from_words(words: &str) -> Option<Self> {
        let mut steps = words.split(';').map(str::trim);
        let first = steps.find(|step| Experience::advised_in(step).is_none())?;
        let plain = first.split([':', ',']).next().unwrap_or(first).trim();
        let known = DELEGATED.iter().find(|(start, _)| plain.starts_with(start));
        let response = known.map_or(plain, |(_, response)| response);
        (!response.is_empty()).then(|| Self(response.to_owned()))
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn attempt_words(prompt: PromptKind, has_more_time: bool) -> &'static str {
    match prompt {
        _ if has_more_time => "more time",
        PromptKind::First | PromptKind::Retry | PromptKind::NoOp | PromptKind::Reminder => {
            "another attempt"
        }
        PromptKind::Interrupted | PromptKind::NewSession => "a new session",
        PromptKind::Enriched => "more context",
        PromptKind::Split => "a split",
    }
}
