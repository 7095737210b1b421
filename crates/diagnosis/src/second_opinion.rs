//! A second opinion on a failure that the rules are not sure of: when to ask an agent for it, what to
//! show, and what to believe. The answer is hostile text: it may point at a line of the output and
//! name a category, and nothing else.

use anstream::adapter::strip_str;
use regreen_model::{
    AttemptClass, AttemptReport, Confidence, DiagnosisAsk, Failure, FailureCategory, FailureKind,
    Source,
};
use serde::Deserialize;
use thiserror::Error;

use crate::cause_origin::{CauseOrigin, EXIT_CODE, SECOND_OPINION};
use crate::rank::{fingerprint, kind_of_line, shortened};
use crate::suggestions::suggestions_for;

/// How sure an agent's opinion is.
const OPINION: Confidence = Confidence::percent(60);
/// How much of the end of an output is shown, in lines and bytes.
const SHOWN_LINES: usize = 120;
const SHOWN_BYTES: usize = 8 * 1024;
/// A longer answer is not a small JSON object.
const MAX_ANSWER: usize = 16 * 1024;

/// Returns whether to ask the agent for the cause of a failed attempt: a tool printed something, and
/// the rules can't tell what is wrong. Where the agent itself is in trouble, or a time limit ended the
/// attempt, there is nothing to ask.
#[must_use]
pub fn needs_opinion(ask: DiagnosisAsk, report: &AttemptReport, found: Option<&Failure>) -> bool {
    let is_ordinary = report.class == AttemptClass::Ordinary && !report.ending.timed_out;
    ask == DiagnosisAsk::Agent && is_ordinary && found.is_some_and(is_unexplained)
}

fn is_unexplained(found: &Failure) -> bool {
    match CauseOrigin::of(found) {
        CauseOrigin::Tool => !found.is_confident(),
        // The last line is quoted for want of a better one. A silent command has none.
        CauseOrigin::Exit => found.rule == EXIT_CODE && found.line.is_some(),
        CauseOrigin::AgentMessage
        | CauseOrigin::AgentService
        | CauseOrigin::AgentCrash
        | CauseOrigin::TimeLimit => false,
    }
}

/// Returns whether the cause is what an agent said when it was asked. Such a failure is never
/// repaired automatically.
#[must_use]
pub fn is_opinion(failure: &Failure) -> bool {
    failure.rule == SECOND_OPINION
}

/// Returns the end of an output, as it is shown to the agent that is asked.
#[must_use]
pub fn shown_output(log: &str) -> String {
    let plain: String = strip_str(log).collect();
    last_lines(&plain).to_owned()
}

fn last_lines(log: &str) -> &str {
    let start = log.ceil_char_boundary(log.len().saturating_sub(SHOWN_BYTES));
    // A line that is cut at its beginning is not a line of the output.
    let start = match start {
        0 => 0,
        _ => log[start..]
            .find('\n')
            .map_or(log.len(), |at| start + at + 1),
    };
    let end = &log[start..];
    let mut breaks = end.rmatch_indices('\n').skip(SHOWN_LINES);
    breaks.next().map_or(end, |(at, _)| &end[at + 1..])
}

/// Why an answer is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OpinionError {
    /// It has no JSON object of the expected form.
    #[error("the answer is not a JSON object with `line` and `category`")]
    NotJson,
    /// It says that no line explains the failure.
    #[error("no line explains the failure")]
    NoCause,
    /// The line is not one of those that were shown.
    #[error("the line is not in the output")]
    UnknownLine,
    /// There is no such category.
    #[error("the category is unknown")]
    UnknownCategory,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    line: Option<String>,
    category: Option<String>,
}

/// Reads the answer to a question about an output, and returns the failure with the cause that it
/// names instead of what the rules found.
///
/// # Errors
/// If the answer is not of the form that was asked for, or names a line or a category that does not
/// exist.
pub fn opinion(answer: &str, shown: &str, rules: &Failure) -> Result<Failure, OpinionError> {
    let Answer { line, category } = parse(answer).ok_or(OpinionError::NotJson)?;
    let (said, category) = line.zip(category).ok_or(OpinionError::NoCause)?;
    let category = FailureCategory::from_name(&category).ok_or(OpinionError::UnknownCategory)?;
    let line = shown
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && *line == said.trim())
        .ok_or(OpinionError::UnknownLine)?;
    let known = [kind_of_line(line, Source::Command), Some(rules.kind)];
    let kind = known
        .into_iter()
        .flatten()
        .find(|kind| kind.category() == category)
        .unwrap_or_else(|| usual_kind(category));
    let blocker = shortened(line);
    Ok(Failure {
        category,
        kind,
        fingerprint: fingerprint(kind, &blocker),
        message: blocker.clone(),
        blocked_on: Some(blocker),
        // Where it stands in the whole log is not known.
        line: None,
        retry_mode: kind.retry_mode(),
        retryable: kind.retryable(),
        suggested_actions: suggestions_for(kind, None),
        // Nothing is repaired because a model says so.
        repair: None,
        rule: SECOND_OPINION.to_owned(),
        confidence: OPINION,
        ..rules.clone()
    })
}

/// Finds the last object in an answer, which may be fenced or have words around it.
fn parse(answer: &str) -> Option<Answer> {
    let end = &answer[answer.ceil_char_boundary(answer.len().saturating_sub(MAX_ANSWER))..];
    let close = end.rfind('}')? + 1;
    let mut opens = end[..close].rmatch_indices('{').map(|(at, _)| at);
    opens.find_map(|open| serde_json::from_str(&end[open..close]).ok())
}

/// The kind for a category of which no more is known.
fn usual_kind(category: FailureCategory) -> FailureKind {
    match category {
        FailureCategory::Timeout => FailureKind::TimeoutWithProgress,
        FailureCategory::MissingContext => FailureKind::MissingReference,
        FailureCategory::ToolError => FailureKind::RuntimeException,
        FailureCategory::InvalidTask => FailureKind::ImpossibleTask,
        FailureCategory::Partial => FailureKind::IncompleteWork,
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::{Ending, RepairAction};

    use super::*;
    use crate::unexplained_failure;

    const SHOWN: &str = "step 1\n  the frobnicator has no flux\nbye\n";

    /// What the rules make of a line that they don't know.
    fn rules(rule: &str, confidence: u8) -> Failure {
        Failure {
            rule: rule.to_owned(),
            line: Some(3),
            confidence: Confidence::percent(confidence),
            ..unexplained_failure(FailureKind::RuntimeException, "bye".to_owned())
        }
    }

    fn asks(found: &Failure) -> bool {
        needs_opinion(DiagnosisAsk::Agent, &AttemptReport::default(), Some(found))
    }

    #[test]
    fn a_question_is_asked_only_if_the_rules_are_not_sure() {
        assert!(asks(&rules("generic/error-prefix", 39)));
        assert!(!asks(&rules("generic/error-prefix", 40)));
        // However sure it is that the agent was wrong, nothing says why.
        assert!(asks(&rules(EXIT_CODE, 70)));
        let silent = Failure {
            line: None,
            ..rules(EXIT_CODE, 70)
        };
        assert!(!asks(&silent));
        assert!(!asks(&rules("time/limit", 20)));
        assert!(!asks(&rules("agent/crash", 20)));
        let answer = r#"{"line": "bye", "category": "tool_error"}"#;
        assert!(!asks(
            &opinion(answer, SHOWN, &rules(EXIT_CODE, 20)).unwrap()
        ));
    }

    #[test]
    fn no_question_is_asked_if_it_is_off_or_the_attempt_did_not_end_by_itself() {
        let (found, report) = (rules(EXIT_CODE, 20), AttemptReport::default());
        assert!(!needs_opinion(DiagnosisAsk::Off, &report, Some(&found)));
        assert!(!needs_opinion(DiagnosisAsk::Agent, &report, None));
        let timed_out = AttemptReport {
            ending: Ending {
                timed_out: true,
                ..Ending::default()
            },
            ..AttemptReport::default()
        };
        let interrupted = AttemptReport {
            class: AttemptClass::Interrupted,
            ..AttemptReport::default()
        };
        for report in [timed_out, interrupted] {
            assert!(!needs_opinion(DiagnosisAsk::Agent, &report, Some(&found)));
        }
    }

    #[test]
    fn an_answer_points_at_a_line_and_names_a_category() {
        let answer = "Sure:\n```json\n{\"line\": \"the frobnicator has no flux\", \"category\": \"missing_context\"}\n```\n";
        let rules = Failure {
            repair: Some(RepairAction::ChmodX {
                path: "flux".to_owned(),
            }),
            ..rules(EXIT_CODE, 20)
        };
        let found = opinion(answer, SHOWN, &rules).unwrap();
        assert_eq!(found.category, FailureCategory::MissingContext);
        assert_eq!(found.kind, FailureKind::MissingReference);
        assert_eq!(
            found.blocked_on.as_deref(),
            Some("the frobnicator has no flux")
        );
        assert_eq!(found.repair, None);
        assert!(is_opinion(&found));
    }

    #[test]
    fn other_answers_are_not_believed() {
        for (answer, why) in [
            ("The flux.", OpinionError::NotJson),
            (
                r#"{"line": "x", "category": "tool_error"}"#,
                OpinionError::UnknownLine,
            ),
            (
                r#"{"line": "", "category": "tool_error"}"#,
                OpinionError::UnknownLine,
            ),
            (
                r#"{"line": "bye", "category": "magic"}"#,
                OpinionError::UnknownCategory,
            ),
            (r#"{"line": null, "category": null}"#, OpinionError::NoCause),
            (
                r#"{"line": "bye", "category": "tool_error", "repair": {"action": "run", "args": ["rm"]}}"#,
                OpinionError::NotJson,
            ),
        ] {
            let found = opinion(answer, SHOWN, &rules(EXIT_CODE, 20));
            assert_eq!(found, Err(why), "{answer}");
        }
    }

    #[test]
    fn only_whole_lines_of_the_end_are_shown() {
        assert_eq!(shown_output(SHOWN), SHOWN);
        let long = "x".repeat(SHOWN_BYTES) + "\nlast\n";
        assert_eq!(shown_output(&long), "last\n");
        let many: String = (0..1_000).map(|n| format!("{n}\n")).collect();
        let shown = shown_output(&many);
        assert_eq!(shown.lines().next(), Some("880"));
        assert_eq!(shown_output(""), "");
        let one = "x".repeat(SHOWN_BYTES * 2);
        assert_eq!(shown_output(&one), "");
    }
}
