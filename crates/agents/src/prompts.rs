//! What agents are told.

pub(crate) mod brief;
mod sections;
pub(crate) mod template;

use std::collections::BTreeMap;

use regreen_model::PlainLine;
use thiserror::Error;

use self::sections::{found, suggestions, surroundings};
use crate::prompts::template::Template;
use crate::quoting::{fenced, untrusted};
use crate::{
    Completed, PreviousAttempt, ProjectContext, PromptFile, PromptReason, RootContext, TaskBrief,
    TemplateError,
};

/// How much of a failed attempt a prompt quotes, in bytes.
const ERROR_BUDGET: usize = 4 * 1024;
const DETAILS_BUDGET: usize = 12 * 1024;

/// How much of what a person said.
const CONTEXT_BUDGET: usize = 8 * 1024;

const TITLE_CHARS: usize = 300;

/// The texts of one run. Read once; a folder of prompts may replace any of them.
#[derive(Clone, Debug)]
pub struct Prompts {
    templates: BTreeMap<PromptFile, Template>,
}

impl Default for Prompts {
    fn default() -> Self {
        // The built-in texts are read by a test, so none is left out here.
        let builtin = |file: PromptFile| {
            let template = Template::parse(file.builtin(), file.slots()).ok()?;
            Some((file, template))
        };
        Self {
            templates: PromptFile::ALL.into_iter().filter_map(builtin).collect(),
        }
    }
}

impl Prompts {
    /// Puts a text in the place of a built-in one.
    ///
    /// # Errors
    /// If it asks for something that is not known there.
    pub fn replace(&mut self, file: PromptFile, text: &str) -> Result<(), TemplateError> {
        let template = Template::parse(text, file.slots())?;
        self.templates.insert(file, template);
        Ok(())
    }

    /// All that an agent has to know which knows nothing yet.
    #[must_use]
    pub fn full(&self, brief: &TaskBrief<'_>, occasion: &PromptReason<'_>) -> String {
        let executor = self.executor(brief);
        match self.continuation(brief, occasion) {
            Some(section) => format!("{}\n\n{section}", executor.trim_end()),
            None => executor,
        }
    }

    /// What is new, for an agent that goes on with its session; `None` if that is all of it.
    #[must_use]
    pub fn continuation(
        &self,
        brief: &TaskBrief<'_>,
        occasion: &PromptReason<'_>,
    ) -> Option<String> {
        let id = ("task_id", brief.id.to_string());
        let (file, values) = match occasion {
            PromptReason::First => return None,
            PromptReason::Retry(previous) => {
                (PromptFile::Retry, self.retry_values(brief, previous))
            }
            PromptReason::Reminder => (PromptFile::Reminder, vec![id]),
            PromptReason::Interrupted { known, completed } => {
                let attempt = ("attempt", brief.attempt.to_string());
                let known = ("known", untrusted(known, DETAILS_BUDGET));
                let completed = ("completed", self.completed(completed));
                (PromptFile::Interrupted, vec![id, attempt, known, completed])
            }
            PromptReason::Enriched(previous, around) => {
                let numbers = [
                    id,
                    ("attempt", brief.attempt.to_string()),
                    ("max_attempts", brief.max_attempts.to_string()),
                ];
                let looked_up = self.enriched_values(previous, around);
                (
                    PromptFile::Enriched,
                    numbers.into_iter().chain(looked_up).collect(),
                )
            }
            PromptReason::NoOp => (PromptFile::NoOp, vec![id]),
            PromptReason::Split(previous) => {
                let known = self.split_values(previous);
                (PromptFile::Split, [id].into_iter().chain(known).collect())
            }
        };
        Some(self.fill(file, &values))
    }

    /// What a person had to say about the task, oldest first; `None` if nothing.
    #[must_use]
    pub fn context(&self, brief: &TaskBrief<'_>, said: &[String]) -> Option<String> {
        let said: Vec<String> = said
            .iter()
            .map(|text| untrusted(text, CONTEXT_BUDGET))
            .collect();
        let values = [
            ("task_id", brief.id.to_string()),
            ("context", said.join("\n\n")),
        ];
        (!said.is_empty()).then(|| self.fill(PromptFile::Context, &values))
    }

    fn executor(&self, brief: &TaskBrief<'_>) -> String {
        let fix = brief.root.map(|root| self.fix(brief, &root));
        let verify_row = brief.is_verify_row.then(|| {
            let id = ("task_id", brief.id.to_string());
            self.fill(PromptFile::VerifyRow, &[id])
        });
        let values = [
            ("task_id", brief.id.to_string()),
            ("title", title(brief.title)),
            ("block", fenced(brief.block, "markdown")),
            ("spec_name", one_line(brief.spec_name)),
            ("spec_dir", one_line(brief.spec_dir)),
            ("tasks_file", one_line(brief.tasks_file)),
            ("progress_file", one_line(brief.progress_file)),
            ("attempt", brief.attempt.to_string()),
            ("max_attempts", brief.max_attempts.to_string()),
            ("fix", fix.unwrap_or_default()),
            ("verify_row", verify_row.unwrap_or_default()),
        ];
        self.fill(PromptFile::Executor, &values)
    }

    fn fix(&self, brief: &TaskBrief<'_>, root: &RootContext<'_>) -> String {
        let values = [
            ("task_id", brief.id.to_string()),
            ("root_id", root.id.to_string()),
            ("root_title", title(root.title)),
            ("root_block", fenced(root.block, "markdown")),
            ("suggestions", suggestions(brief.suggestions)),
        ];
        self.fill(PromptFile::Fix, &values)
    }

    fn retry_values(
        &self,
        brief: &TaskBrief<'_>,
        previous: &PreviousAttempt<'_>,
    ) -> Vec<(&'static str, String)> {
        vec![
            ("task_id", brief.id.to_string()),
            ("previous_attempt", previous.number.to_string()),
            ("attempt", brief.attempt.to_string()),
            ("max_attempts", brief.max_attempts.to_string()),
            ("error", untrusted(previous.error, ERROR_BUDGET)),
            (
                "attempted_fix",
                untrusted(previous.attempted_fix, ERROR_BUDGET),
            ),
            ("details", untrusted(previous.details, DETAILS_BUDGET)),
            ("completed", self.completed(&previous.completed)),
            ("suggestions", suggestions(previous.suggestions)),
        ]
    }

    fn split_values(&self, previous: &PreviousAttempt<'_>) -> [(&'static str, String); 2] {
        [
            ("error", untrusted(previous.error, ERROR_BUDGET)),
            ("completed", self.completed(&previous.completed)),
        ]
    }

    fn enriched_values(
        &self,
        previous: &PreviousAttempt<'_>,
        around: &ProjectContext<'_>,
    ) -> [(&'static str, String); 5] {
        let ProjectContext { root, survey } = around;
        [
            ("error", untrusted(previous.error, ERROR_BUDGET)),
            ("completed", self.completed(&previous.completed)),
            ("root", one_line(root)),
            ("surroundings", surroundings(survey)),
            ("found", found(survey)),
        ]
    }

    /// What was done so far and what is left of it; nothing where nothing is known.
    fn completed(&self, completed: &Completed<'_>) -> String {
        match sections::completed(completed) {
            Some(values) => self.fill(PromptFile::Completed, &values),
            None => String::new(),
        }
    }

    fn fill(&self, file: PromptFile, values: &[(&str, String)]) -> String {
        let template = self.templates.get(&file);
        template
            .map(|template| template.fill(values))
            .unwrap_or_default()
    }
}

fn title(text: &str) -> String {
    PlainLine::flatten(text, TITLE_CHARS).to_string()
}

/// A path or name as it is, but for what would end its line or its code span.
fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && *c != '`')
        .collect()
}

/// The same prompt after a failure would give the same failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the prompt is the same, byte for byte, as that of the attempt that failed")]
pub struct IdenticalPrompt;

/// # Errors
/// If the prompt after a failure is the one that failed.
pub fn refuse_identical(prompt: &str, failed: &str) -> Result<(), IdenticalPrompt> {
    if prompt == failed {
        Err(IdenticalPrompt)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
