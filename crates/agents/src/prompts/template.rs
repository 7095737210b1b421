use thiserror::Error;

/// A text with named places, `{{like_this}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("line {line}: nothing is known that could stand at {{{{{slot}}}}}; known are {known}")]
    UnknownSlot {
        slot: String,
        /// 1-based.
        line: usize,
        known: String,
    },
}

impl Template {
    /// Reads a template that may use the slots `known`. Braces that name no slot are text.
    ///
    /// # Errors
    /// If it uses another one.
    pub fn parse(text: &str, known: &[&str]) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some((open, name)) = next_slot(text, from) {
            if !known.contains(&name) {
                return Err(TemplateError::UnknownSlot {
                    slot: name.to_owned(),
                    line: text[..open].lines().count().max(1),
                    known: known.join(", "),
                });
            }
            pieces.push(Piece::Text(text[from..open].to_owned()));
            pieces.push(Piece::Slot(name.to_owned()));
            from = open + name.len() + 4;
        }
        pieces.push(Piece::Text(text[from..].to_owned()));
        Ok(Self { pieces })
    }

    /// The text with its places filled. What is filled in is not looked at again, so nobody
    /// can smuggle a slot in.
    #[must_use]
    pub fn fill(&self, values: &[(&str, String)]) -> String {
        let value = |name: &str| values.iter().find(|(slot, _)| *slot == name);
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Slot(name) => value(name).map_or("", |(_, value)| value.as_str()),
            })
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> Vec<&str> {
        self.pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Slot(name) => Some(name.as_str()),
                Piece::Text(_) => None,
            })
            .collect()
    }
}

/// Where the next slot opens, and its name.
fn next_slot(text: &str, from: usize) -> Option<(usize, &str)> {
    let mut at = from;
    loop {
        let open = at + text.get(at..)?.find("{{")?;
        let inside = &text[open + 2..];
        let end = inside.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
        if end > 0 && inside[end..].starts_with("}}") {
            return Some((open, &inside[..end]));
        }
        at = open + 1;
    }
}

/// The texts that prompts are made of, one file each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PromptFile {
    /// What every agent is told about a task.
    Executor,
    /// Part of it, for rows that only verify.
    VerifyRow,
    /// Part of it, for tasks that repair another one.
    Fix,
    /// The attempt before this one failed.
    Retry,
    /// The agent gave no signal.
    Reminder,
    /// The attempt before this one was cut off.
    Interrupted,
    /// The attempt before this one changed nothing.
    NoOp,
    /// The task gets nowhere in its time.
    Split,
    /// A person has something to say about the task.
    Context,
    /// Part of it, for what an attempt had done when it ended.
    Completed,
    /// The attempt before this one lacked something.
    Enriched,
    /// A delegation that is tried again.
    DelegateRetry,
    /// A delegation that lacked something.
    DelegateEnriched,
    /// A delegation that gets nowhere in its time.
    DelegateSplit,
    /// One part of a delegation that was divided.
    DelegatePart,
}

impl PromptFile {
    pub const ALL: [Self; 15] = [
        Self::Executor,
        Self::VerifyRow,
        Self::Fix,
        Self::Retry,
        Self::Reminder,
        Self::Interrupted,
        Self::NoOp,
        Self::Split,
        Self::Context,
        Self::Completed,
        Self::Enriched,
        Self::DelegateRetry,
        Self::DelegateEnriched,
        Self::DelegateSplit,
        Self::DelegatePart,
    ];

    /// Its name in a folder of prompts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Executor => "executor.md",
            Self::VerifyRow => "verify_row.md",
            Self::Fix => "fix.md",
            Self::Retry => "retry.md",
            Self::Reminder => "reminder.md",
            Self::Interrupted => "interrupted.md",
            Self::NoOp => "noop.md",
            Self::Split => "split.md",
            Self::Context => "context.md",
            Self::Completed => "completed.md",
            Self::Enriched => "enriched.md",
            Self::DelegateRetry => "delegate_retry.md",
            Self::DelegateEnriched => "delegate_enriched.md",
            Self::DelegateSplit => "delegate_split.md",
            Self::DelegatePart => "delegate_part.md",
        }
    }

    /// What may stand in it.
    #[must_use]
    pub fn slots(self) -> &'static [&'static str] {
        match self {
            Self::Executor => &[
                "task_id",
                "title",
                "block",
                "spec_name",
                "spec_dir",
                "tasks_file",
                "progress_file",
                "attempt",
                "max_attempts",
                "fix",
                "verify_row",
            ],
            Self::Fix => &[
                "task_id",
                "root_id",
                "root_title",
                "root_block",
                "suggestions",
            ],
            Self::VerifyRow | Self::Reminder | Self::NoOp => &["task_id"],
            Self::Split => &["task_id", "error", "completed"],
            Self::Retry => &[
                "task_id",
                "previous_attempt",
                "attempt",
                "max_attempts",
                "error",
                "attempted_fix",
                "details",
                "completed",
                "suggestions",
            ],
            Self::Interrupted => &["task_id", "attempt", "known", "completed"],
            Self::Context => &["task_id", "context"],
            Self::Completed => &["completed", "files", "blocker"],
            Self::Enriched => &[
                "task_id",
                "attempt",
                "max_attempts",
                "error",
                "completed",
                "root",
                "surroundings",
                "found",
            ],
            Self::DelegateRetry => &[
                "attempt",
                "max_attempts",
                "error",
                "details",
                "completed",
                "suggestions",
            ],
            Self::DelegateEnriched => &[
                "attempt",
                "max_attempts",
                "error",
                "completed",
                "root",
                "surroundings",
                "found",
            ],
            Self::DelegateSplit => &["attempt", "max_attempts", "error", "completed"],
            Self::DelegatePart => &["number", "total", "part", "whole", "done"],
        }
    }

    pub(crate) fn builtin(self) -> &'static str {
        match self {
            Self::Executor => include_str!("../../prompts/executor.md"),
            Self::VerifyRow => include_str!("../../prompts/verify_row.md"),
            Self::Fix => include_str!("../../prompts/fix.md"),
            Self::Retry => include_str!("../../prompts/retry.md"),
            Self::Reminder => include_str!("../../prompts/reminder.md"),
            Self::Interrupted => include_str!("../../prompts/interrupted.md"),
            Self::NoOp => include_str!("../../prompts/noop.md"),
            Self::Split => include_str!("../../prompts/split.md"),
            Self::Context => include_str!("../../prompts/context.md"),
            Self::Completed => include_str!("../../prompts/completed.md"),
            Self::Enriched => include_str!("../../prompts/enriched.md"),
            Self::DelegateRetry => include_str!("../../prompts/delegate_retry.md"),
            Self::DelegateEnriched => include_str!("../../prompts/delegate_enriched.md"),
            Self::DelegateSplit => include_str!("../../prompts/delegate_split.md"),
            Self::DelegatePart => include_str!("../../prompts/delegate_part.md"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_in_order() {
        let template = Template::parse("{{a}} and {{b}}, {{a}}{{{b}}}", &["a", "b"]).unwrap();
        let values = [("a", "{{b}}".to_owned()), ("b", "2".to_owned())];
        assert_eq!(template.fill(&values), "{{b}} and 2, {{b}}{2}");
        assert_eq!(template.slots(), ["a", "b", "a", "b"]);
    }

    #[test]
    fn braces_that_name_nothing_are_text() {
        for text in ["", "{{", "{{}}", "{{ a }}", "{{A}}", "{a}", "{{a", "{{a}"] {
            let template = Template::parse(text, &["a"]).unwrap();
            assert_eq!(template.fill(&[("a", "x".to_owned())]), text);
        }
    }

    #[test]
    fn an_unknown_place_is_an_error_that_says_where() {
        let error = Template::parse("one\n{{a}}\n {{nope}}", &["a", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: nothing is known that could stand at {{nope}}; known are a, b"
        );
    }
}
