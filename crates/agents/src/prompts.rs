//! The prompts that agents get.

pub(crate) mod brief;
mod sections;
pub(crate) mod template;

use std::collections::BTreeMap;

use regreen_model::{
    Experience, Failure, FailureRecord, PlainLine, TaskFailure, TemplateOwner, TemplatePrompt,
};
use thiserror::Error;

use self::sections::{
    evidence, failed, found, more_details, remembered, suggestions, surroundings,
};
use crate::prompts::template::Template;
use crate::quoting::{fenced, untrusted};
use crate::{ProjectContext, PromptFile, PromptReason, RootContext, TaskBrief, TemplateError};

/// How much of a failed attempt a prompt quotes, in bytes.
const ERROR_BUDGET: usize = 4 * 1024;
const DETAILS_BUDGET: usize = 12 * 1024;

/// How much of a person's message a prompt quotes.
const CONTEXT_BUDGET: usize = 8 * 1024;

const TITLE_CHARS: usize = 300;

/// The prompts of one run. They are read once; a folder of prompts may replace any of them.
#[derive(Clone, Debug)]
pub struct Prompts {
    templates: BTreeMap<PromptFile, Template>,
}

impl Default for Prompts {
    fn default() -> Self {
        // A test parses the built-in texts, so none is missing here.
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
    /// Replaces a built-in text.
    ///
    /// # Errors
    /// Returns an error if it uses a placeholder that is unknown there.
    pub fn replace(&mut self, file: PromptFile, text: &str) -> Result<(), TemplateError> {
        let template = Template::parse(text, file.slots())?;
        self.templates.insert(file, template);
        Ok(())
    }

    /// Returns the whole prompt, for an agent that knows nothing yet.
    #[must_use]
    pub fn full(&self, brief: &TaskBrief<'_>, occasion: &PromptReason<'_>) -> String {
        let executor = self.executor(brief);
        match self.continuation(brief, occasion) {
            Some(section) => format!("{}\n\n{section}", executor.trim_end()),
            None => executor,
        }
    }

    /// Returns only what is new, for an agent that resumes its session; `None` if everything is.
    #[must_use]
    pub fn continuation(
        &self,
        brief: &TaskBrief<'_>,
        occasion: &PromptReason<'_>,
    ) -> Option<String> {
        let id = ("task_id", brief.id.to_string());
        let (file, values) = match occasion {
            PromptReason::First => return None,
            PromptReason::Retry { failure, since } => {
                (PromptFile::Retry, self.retry_values(brief, failure, since))
            }
            PromptReason::Reminder => (PromptFile::Reminder, vec![id]),
            PromptReason::Interrupted { known, diagnosis } => {
                let attempt = ("attempt", brief.attempt.to_string());
                let known = ("known", evidence(known));
                let completed = ("completed", self.completed(*diagnosis));
                (PromptFile::Interrupted, vec![id, attempt, known, completed])
            }
            PromptReason::Enriched(failure, project) => {
                let numbers = [
                    id,
                    ("attempt", brief.attempt.to_string()),
                    ("max_attempts", brief.max_attempts.to_string()),
                ];
                let error = &reported(first_line(&failure.error), failure);
                let looked_up = self.enriched_values(error, failure, project);
                (
                    PromptFile::Enriched,
                    numbers.into_iter().chain(looked_up).collect(),
                )
            }
            PromptReason::NoOp => (PromptFile::NoOp, vec![id]),
            PromptReason::Split(failure) => {
                let error = failure.map(|failure| reported(first_line(&failure.error), failure));
                let known = self.split_values(&error.unwrap_or_default(), *failure);
                (PromptFile::Split, [id].into_iter().chain(known).collect())
            }
        };
        Some(self.fill(file, &values))
    }

    /// Returns the section with what people said about the task, oldest first; `None` if empty.
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

    /// Returns the section about what helped against earlier failures; `None` if nothing did.
    #[must_use]
    pub fn recall(&self, task: &str, experience: &Experience) -> Option<String> {
        let values = [
            ("task_id", task.to_owned()),
            (
                "experience",
                untrusted(&remembered(experience), ERROR_BUDGET),
            ),
        ];
        (!experience.advice.is_empty()).then(|| self.fill(PromptFile::Recall, &values))
    }

    /// Returns the section with what a recovery template says about the failure. A user's text is the
    /// user's; a repository's is quoted as what it is.
    #[must_use]
    pub fn recovery(&self, brief: &TaskBrief<'_>, guidance: &TemplatePrompt) -> String {
        let owner = match guidance.owner {
            TemplateOwner::User => "the user who runs regreen",
            TemplateOwner::Workspace => "a file of this repository",
        };
        let values = [
            ("task_id", brief.id.to_string()),
            ("owner", owner.to_owned()),
            ("text", untrusted(&guidance.text, CONTEXT_BUDGET)),
        ];
        self.fill(PromptFile::Recovery, &values)
    }

    /// Returns the question for the cause of a failure, with the end of its output.
    #[must_use]
    pub fn diagnose(&self, output: &str) -> String {
        let values = [("output", untrusted(output, DETAILS_BUDGET))];
        self.fill(PromptFile::Diagnose, &values)
    }

    /// Returns the section about running services, one line each; `None` if there are none.
    #[must_use]
    pub fn services(&self, brief: &TaskBrief<'_>, services: &[String]) -> Option<String> {
        let values = [
            ("task_id", brief.id.to_string()),
            ("services", untrusted(&services.join("\n"), DETAILS_BUDGET)),
        ];
        (!services.is_empty()).then(|| self.fill(PromptFile::Services, &values))
    }

    /// Returns the section about processes that the previous attempt left running; `None` if there
    /// are none.
    #[must_use]
    pub fn left_running(&self, brief: &TaskBrief<'_>, processes: &[String]) -> Option<String> {
        let values = [
            ("task_id", brief.id.to_string()),
            ("processes", untrusted(&processes.join("\n"), ERROR_BUDGET)),
        ];
        (!processes.is_empty()).then(|| self.fill(PromptFile::LeftRunning, &values))
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
            ("failure", brief.repairs.map(failed).unwrap_or_default()),
            (
                "suggestions",
                brief.repairs.map(suggestions).unwrap_or_default(),
            ),
        ];
        self.fill(PromptFile::Fix, &values)
    }

    fn retry_values(
        &self,
        brief: &TaskBrief<'_>,
        failure: &FailureRecord,
        since: &str,
    ) -> Vec<(&'static str, String)> {
        let (error, rest) = failure
            .error
            .split_once('\n')
            .unwrap_or((&failure.error, ""));
        let error = error.strip_suffix('\r').unwrap_or(error);
        let attempted_fix = match failure.attempted_fix.as_str() {
            "" => TaskFailure::NO_ATTEMPTED_FIX,
            fix => fix,
        };
        let words = failure.unquoted_words();
        let words = words.map(|words| format!("\n\nThe agent said last:\n{words}"));
        let details = format!("{since}{rest}{}", words.unwrap_or_default());
        vec![
            ("task_id", brief.id.to_string()),
            (
                "previous_attempt",
                brief.attempt.saturating_sub(1).to_string(),
            ),
            ("attempt", brief.attempt.to_string()),
            ("max_attempts", brief.max_attempts.to_string()),
            ("error", untrusted(error, ERROR_BUDGET)),
            ("attempted_fix", untrusted(attempted_fix, ERROR_BUDGET)),
            ("details", more_details(details.trim_start_matches('\n'))),
            ("completed", self.completed(failure.diagnosis.as_deref())),
            ("suggestions", suggestions(failure)),
        ]
    }

    fn split_values(
        &self,
        error: &str,
        failure: Option<&FailureRecord>,
    ) -> [(&'static str, String); 2] {
        let diagnosis = failure.and_then(|failure| failure.diagnosis.as_deref());
        [
            ("error", untrusted(error, ERROR_BUDGET)),
            ("completed", self.completed(diagnosis)),
        ]
    }

    fn enriched_values(
        &self,
        error: &str,
        failure: &FailureRecord,
        project: &ProjectContext<'_>,
    ) -> [(&'static str, String); 5] {
        let ProjectContext { root, survey } = project;
        [
            ("error", untrusted(error, ERROR_BUDGET)),
            ("completed", self.completed(failure.diagnosis.as_deref())),
            ("root", one_line(root)),
            ("surroundings", surroundings(survey)),
            ("found", found(survey)),
        ]
    }

    /// Returns what has been done and what is left; empty if nothing is known.
    fn completed(&self, diagnosis: Option<&Failure>) -> String {
        match diagnosis.and_then(sections::completed) {
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

/// Returns an error with the agent's last words, unless they are the error.
fn reported(error: &str, failure: &FailureRecord) -> String {
    match failure.unquoted_words() {
        Some(words) => format!("{error}\n\n{words}"),
        None => error.to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn title(text: &str) -> String {
    PlainLine::flatten(text, TITLE_CHARS).to_string()
}

/// Removes characters that would end the line or the code span around a path or name.
fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && *c != '`')
        .collect()
}

/// The error for a prompt that is identical to the one of the failed attempt: it would fail the
/// same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the prompt is identical to that of the failed attempt")]
pub struct IdenticalPrompt;

/// Refuses to send the prompt of a failed attempt again.
///
/// # Errors
/// Returns an error if the two prompts are identical.
pub fn refuse_identical(prompt: &str, failed: &str) -> Result<(), IdenticalPrompt> {
    if prompt == failed {
        Err(IdenticalPrompt)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
