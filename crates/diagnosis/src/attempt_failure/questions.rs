//! Diagnoses an attempt that ended with a question.

use regreen_model::{
    AgentQuestion, AttemptClass, AttemptReport, Confidence, ERROR_CHARS, Failure, FailureCategory,
    FailureKind, OutputKind, PlainLine, Transcript,
};

use super::unexplained::unexplained_failure;
use super::words::is_convincing;
use crate::cause_origin::{CauseOrigin, QUESTION, QUESTION_TOOL};
use crate::last_words::asking_sentence;
use crate::question::question;
use crate::rank::fingerprint;
use crate::rank::message::claims_success;
use crate::suggestions::suggestions_for;

/// Suggestions for an agent that asks for permission.
const NOT_PERMITTED: [&str; 2] = [
    "Allow it in the agent's own settings",
    "Run with --agent-permissions skip",
];

/// Diagnoses an attempt that ended because the agent asked something: with a tool, for permission,
/// or in its last words. A task that can't be done as written keeps that diagnosis, and a question
/// after finished work is about something else.
pub(super) fn asked(
    report: &AttemptReport,
    transcript: &Transcript,
    explained: Option<&Failure>,
) -> Option<Failure> {
    if report.class != AttemptClass::Ordinary || report.ending.timed_out || report.reports_failure {
        return None;
    }
    if let Some(question) = &transcript.question {
        return Some(by_tool(question, transcript));
    }
    let is_invalid = |failure: &Failure| {
        failure.category == FailureCategory::InvalidTask && is_convincing(failure)
    };
    let is_out = transcript.output_kind == OutputKind::Commands
        || explained.is_some_and(is_invalid)
        || claims_success(&transcript.own_words);
    let sentence = question(&transcript.own_words).filter(|_| !is_out)?;
    let of_context =
        explained.filter(|failure| failure.category == FailureCategory::MissingContext);
    Some(Failure {
        suggested_actions: of_context.map_or_else(
            || suggestions_for(FailureKind::AskedQuestion, None),
            |failure| failure.suggested_actions.clone(),
        ),
        completed_steps: explained.map_or_else(Vec::new, |failure| failure.completed_steps.clone()),
        ..question_failure(&sentence, QUESTION, transcript)
    })
}

fn by_tool(question: &AgentQuestion, transcript: &Transcript) -> Failure {
    let failure = question_failure(&question.text, QUESTION_TOOL, transcript);
    let suggested_actions = if question.permission {
        NOT_PERMITTED.map(str::to_owned).to_vec()
    } else {
        suggestions_for(FailureKind::AskedQuestion, None)
    };
    Failure {
        suggested_actions,
        ..failure
    }
}

fn question_failure(asked: &str, rule: &str, transcript: &Transcript) -> Failure {
    let kind = FailureKind::AskedQuestion;
    let asked = PlainLine::flatten(asked, ERROR_CHARS).to_string();
    Failure {
        rule: rule.to_owned(),
        confidence: Confidence::percent(90),
        fingerprint: fingerprint(kind, &asked),
        tool_usage: transcript.tools.counts.clone(),
        last_successful_tool: transcript.tools.last_successful.clone(),
        ..unexplained_failure(kind, asked)
    }
}

/// Quotes the sentence with which an agent asks, rather than the whole line.
pub(super) fn quoting_question(failure: Failure, transcript: &Transcript) -> Failure {
    let asks = failure.category == FailureCategory::MissingContext
        && CauseOrigin::of(&failure) == CauseOrigin::AgentMessage
        && failure.rule != QUESTION_TOOL;
    let words = transcript.own_words.as_str();
    let Some(question) = asks.then(|| asking_sentence(words)).flatten() else {
        return failure;
    };
    let line = words.lines().position(|line| line.contains(&question));
    Failure {
        line: line.map(|line| line + 1).or(failure.line),
        fingerprint: fingerprint(failure.kind, &question),
        message: question.clone(),
        blocked_on: Some(question),
        ..failure
    }
}
