//! What agents are told that are delegated to.

use regreen_model::PlainLine;

use super::sections::{listed, suggestions};
use super::{DETAILS_BUDGET, ERROR_BUDGET, Prompts, TITLE_CHARS};
use crate::fence::{fenced, untrusted};
use crate::{DelegateBrief, Occasion, PartBrief, PreviousAttempt, PromptFile};

impl Prompts {
    /// What a delegate is told: the prompt as it is, and what happened before. Whoever goes on
    /// with a session knows the prompt already.
    #[must_use]
    pub fn delegated(
        &self,
        brief: &DelegateBrief<'_>,
        occasion: &Occasion<'_>,
        resumes: bool,
    ) -> String {
        match self.delegate_section(brief, occasion) {
            Some(section) if resumes => section,
            Some(section) => format!("{}\n\n{section}", brief.prompt.trim_end()),
            None => brief.prompt.to_owned(),
        }
    }

    fn delegate_section(
        &self,
        brief: &DelegateBrief<'_>,
        occasion: &Occasion<'_>,
    ) -> Option<String> {
        let numbers = [
            ("attempt", brief.attempt.to_string()),
            ("max_attempts", brief.max_attempts.to_string()),
        ];
        let (file, values) = match occasion {
            Occasion::Split(previous) => (
                PromptFile::DelegateSplit,
                self.split_values(previous).into(),
            ),
            Occasion::Enriched(previous, around) => (
                PromptFile::DelegateEnriched,
                self.enriched_values(previous, around).into(),
            ),
            Occasion::Retry(previous) => (PromptFile::DelegateRetry, self.delegate_retry(previous)),
            Occasion::First
            | Occasion::Reminder
            | Occasion::NoOp
            | Occasion::Interrupted { .. } => return None,
        };
        let values: Vec<_> = numbers.into_iter().chain(values).collect();
        Some(self.fill(file, &values))
    }

    fn delegate_retry(&self, previous: &PreviousAttempt<'_>) -> Vec<(&'static str, String)> {
        let details = match previous.details {
            "" => String::new(),
            details => format!(
                "What was done about it since:\n\n{}\n\n",
                untrusted(details, DETAILS_BUDGET)
            ),
        };
        vec![
            ("error", untrusted(previous.error, ERROR_BUDGET)),
            ("details", details),
            ("completed", self.completed(&previous.completed)),
            ("suggestions", suggestions(previous.suggestions)),
        ]
    }

    /// What somebody is told who does one part of a delegation.
    #[must_use]
    pub fn delegated_part(&self, brief: &PartBrief<'_>) -> String {
        let part = PlainLine::flatten(brief.part, TITLE_CHARS * 10);
        let values = [
            ("number", brief.number.to_string()),
            ("total", brief.total.to_string()),
            ("part", fenced(part.as_str(), "text")),
            ("whole", untrusted(brief.whole, DETAILS_BUDGET)),
            ("done", listed("Parts that are done:", brief.done)),
        ];
        self.fill(PromptFile::DelegatePart, &values)
    }
}
