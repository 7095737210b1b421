//! Parts of prompts that are there only where something is known. What comes from outside is
//! fenced in each of them.

use std::fmt::Write as _;

use regreen_model::{Failure, FailureRecord, PlainLine, Survey, visible_line};

use super::{DETAILS_BUDGET, ERROR_BUDGET, Prompts, TITLE_CHARS};
use crate::quoting::{fenced, untrusted};
use crate::{DelegateBrief, PartBrief, PromptFile, PromptReason};

/// More steps or files nobody reads.
const MOST: usize = 50;

/// What may help against a failure; nothing where nothing is known.
pub(super) fn suggestions(failure: &FailureRecord) -> String {
    failure
        .told()
        .map(|diagnosis| suggested(&diagnosis.suggested_actions))
        .unwrap_or_default()
}

/// What may help, in which words from outside may stand; nothing where nothing is known.
pub(super) fn suggested(actions: &[String]) -> String {
    listed("What may help:", actions)
}

/// A heading with a list, each item of it one harmless line; nothing without items.
pub(super) fn listed(heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let lines = items.iter().take(MOST).map(|item| {
        let line = PlainLine::flatten(item, TITLE_CHARS);
        format!("- {line}\n")
    });
    quoted(heading, &lines.collect::<String>(), ERROR_BUDGET)
}

/// A heading with a quotation.
fn quoted(heading: &str, text: &str, budget: usize) -> String {
    format!("{heading}\n\n{}\n\n", untrusted(text, budget))
}

/// What a text about finished work is filled with; `None` if none is known of.
pub(super) fn completed(diagnosis: &Failure) -> Option<[(&'static str, String); 3]> {
    let (steps, files) = (&diagnosis.completed_steps, &diagnosis.files_modified);
    if steps.is_empty() && files.is_empty() {
        return None;
    }
    let blocker = diagnosis.blocked_on.as_deref();
    let blocker = blocker.map(|line| quoted("What blocked it:", line, ERROR_BUDGET));
    Some([
        ("completed", listed("What it had completed:", steps)),
        ("files", listed("Files that it changed:", files)),
        ("blocker", blocker.unwrap_or_default()),
    ])
}

/// What there is in the workspace, as one quotation.
pub(super) fn surroundings(survey: &Survey) -> String {
    let line = |name: &str, paths: &[String]| match paths {
        [] => format!("{name}: none found\n"),
        paths => format!("{name}: {}\n", visible_line(&paths.join(", "), 2000)),
    };
    let text = [
        line("Main files", &survey.main_files),
        line("Configuration", &survey.configuration),
        line("Tests", &survey.test_folders),
    ];
    untrusted(&text.concat(), ERROR_BUDGET)
}

/// Where the things are that the failure names, as one quotation; nothing if it names none.
pub(super) fn found(survey: &Survey) -> String {
    let mut text = String::new();
    for one in &survey.looked_up {
        let name = visible_line(&one.name, TITLE_CHARS);
        if one.files.is_empty() && one.lines.is_empty() {
            let _ = writeln!(text, "{name}: nothing found");
            continue;
        }
        let _ = writeln!(text, "{name}:");
        for place in one.files.iter().chain(&one.lines) {
            let _ = writeln!(text, "  {}", visible_line(place, TITLE_CHARS));
        }
    }
    match text.is_empty() {
        true => text,
        false => quoted(
            "What it names, looked up in the project:",
            &text,
            DETAILS_BUDGET,
        ),
    }
}

impl Prompts {
    /// What a delegate is told: the prompt as it is, and what happened before. Whoever goes on
    /// with a session knows the prompt already.
    #[must_use]
    pub fn delegated(
        &self,
        brief: &DelegateBrief<'_>,
        occasion: &PromptReason<'_>,
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
        occasion: &PromptReason<'_>,
    ) -> Option<String> {
        let numbers = [
            ("attempt", brief.attempt.to_string()),
            ("max_attempts", brief.max_attempts.to_string()),
        ];
        let (file, values) = match occasion {
            PromptReason::Split(failure) => {
                let error = failure.map_or("", |failure| &failure.error);
                let values = self.split_values(error, *failure);
                (PromptFile::DelegateSplit, values.into())
            }
            PromptReason::Enriched(failure, project) => {
                let values = self.enriched_values(&failure.error, failure, project);
                (PromptFile::DelegateEnriched, values.into())
            }
            PromptReason::Retry { failure, since } => (
                PromptFile::DelegateRetry,
                self.delegate_retry(failure, since),
            ),
            PromptReason::First
            | PromptReason::Reminder
            | PromptReason::NoOp
            | PromptReason::Interrupted { .. } => return None,
        };
        let values: Vec<_> = numbers.into_iter().chain(values).collect();
        Some(self.fill(file, &values))
    }

    fn delegate_retry(&self, failure: &FailureRecord, since: &str) -> Vec<(&'static str, String)> {
        let details = match since {
            "" => String::new(),
            since => quoted("What was done about it since:", since, DETAILS_BUDGET),
        };
        vec![
            ("error", untrusted(&failure.error, ERROR_BUDGET)),
            ("details", details),
            ("completed", self.completed(failure.diagnosis.as_deref())),
            ("suggestions", suggestions(failure)),
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
