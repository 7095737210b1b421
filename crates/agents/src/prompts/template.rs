use thiserror::Error;

/// A text with named slots, `{{like_this}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// It uses a slot that isn't known there.
    #[error("line {line}: unknown placeholder {{{{{slot}}}}}; known placeholders: {known}")]
    UnknownSlot {
        /// The name of the slot.
        slot: String,
        /// The line of the slot, counted from 1.
        line: usize,
        /// The known slots.
        known: String,
    },
}

impl Template {
    /// Parses a template that may use the slots in `known`. Other braces are text.
    ///
    /// # Errors
    /// Returns an error if it uses any other slot.
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

    /// Returns the text with its slots filled. Values aren't searched for slots, so none can be
    /// smuggled in.
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

/// Returns the position and the name of the next slot.
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

/// Declares the files with their slots, so that each prompt is named in only one place.
macro_rules! prompt_files {
    ($($(#[$doc:meta])* $variant:ident = $name:literal: $($slot:ident)+;)+) => {
        /// The files that prompts are made of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum PromptFile {
            $($(#[$doc])* $variant,)+
        }

        impl PromptFile {
            /// Every file.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns its name in a folder of prompts.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the names of the slots it may use.
            #[must_use]
            pub fn slots(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$(stringify!($slot)),+],)+
                }
            }

            pub(crate) fn builtin(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../../prompts/", $name)),)+
                }
            }
        }
    };
}

prompt_files! {
    /// The main prompt, for every agent and task.
    Executor = "executor.md": task_id title block spec_name spec_dir tasks_file progress_file
        attempt max_attempts fix verify_row;
    /// Part of it, for rows that only verify.
    VerifyRow = "verify_row.md": task_id;
    /// Part of it, for tasks that fix another one.
    Fix = "fix.md": task_id root_id root_title root_block failure suggestions;
    /// The previous attempt failed.
    Retry = "retry.md": task_id previous_attempt attempt max_attempts error attempted_fix details
        completed suggestions;
    /// The agent gave no signal.
    Reminder = "reminder.md": task_id;
    /// The previous attempt was interrupted.
    Interrupted = "interrupted.md": task_id attempt known completed;
    /// The previous attempt changed nothing.
    NoOp = "noop.md": task_id;
    /// The task makes no progress within its time limit.
    Split = "split.md": task_id error completed;
    /// A person says something about the task.
    Context = "context.md": task_id context;
    /// What is known about the project, before the first attempt.
    Project = "project.md": root items;
    /// Services run while the agent works.
    Services = "services.md": task_id services;
    /// Earlier failures with the same cause were healed.
    Recall = "recall.md": task_id experience;
    /// A recovery template says how to handle the failure.
    Recovery = "recovery.md": task_id owner text;
    /// The previous attempt left processes running.
    LeftRunning = "left_running.md": task_id processes;
    /// Part of it, for the work that an attempt had completed when it ended.
    Completed = "completed.md": completed files blocker;
    /// The previous attempt lacked information.
    Enriched = "enriched.md": task_id attempt max_attempts error completed root surroundings found;
    /// A question about the output of something that failed.
    Diagnose = "diagnose.md": output;
    /// A delegation that is tried again.
    DelegateRetry = "delegate_retry.md": attempt max_attempts error details completed suggestions;
    /// A delegation that lacked information.
    DelegateEnriched = "delegate_enriched.md": attempt max_attempts error completed root
        surroundings found;
    /// A delegation that makes no progress within its time limit.
    DelegateSplit = "delegate_split.md": attempt max_attempts error completed;
    /// One part of a delegation that was split.
    DelegatePart = "delegate_part.md": number total part whole done;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_once_and_in_order() {
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
    fn an_unknown_slot_is_an_error_that_says_where() {
        let error = Template::parse("one\n{{a}}\n {{nope}}", &["a", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: unknown placeholder {{nope}}; known placeholders: a, b"
        );
    }
}
