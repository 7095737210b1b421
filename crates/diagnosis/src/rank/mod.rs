//! The half of the diagnosis that chooses the cause, in small steps:
//!
//! 1. [`timeout`]: did a time limit end it?
//! 2. [`cause::candidates`]: which lines may be the cause, and how much each proves;
//! 3. [`service`]: which of them only contain words that services use;
//! 4. [`Signs`]: what else the output shows (tests passed, steps done, success);
//! 5. [`signs::has_failed`]: did it fail at all?
//! 6. [`cause::choose`]: the line that explains the others;
//! 7. [`cause::framed`]: where that happened, if this says more than the line;
//! 8. [`exit`]: exit code or signal, if no line explains it;
//! 9. [`plain_words`]: what a script says in plain English, if no rule is sure;
//! 10. [`exit::with_script_of_command`]: which script it was, if only the command says so;
//! 11. [`signs::with_finished_work`]: is part of the work done?
//!
//! [`message`] reads an agent's message, which is prose.

mod cause;
pub(crate) mod diagnosis;
mod exit;
pub(crate) mod message;
mod plain_words;
mod service;
mod signs;
mod timeout;

use regreen_model::{Evidence, Failure, FailureCategory, FailureKind, Source};

use crate::rules::rule::Role;
use crate::scan::scan;
use crate::tally;
use diagnosis::Diagnosis;
pub(crate) use diagnosis::{fingerprint, shortened};
pub use exit::{signal_name, signal_number};
use signs::Signs;
pub(crate) use signs::is_code;

/// Determines why an attempt or a command failed; `None` if it didn't.
#[must_use]
pub fn rank(evidence: &Evidence) -> Option<Failure> {
    if let Some(diagnosis) = timeout::by_limit(evidence) {
        return Some(diagnosis.into_failure(evidence));
    }
    let own = match evidence.source {
        Source::Agent => message::diagnose(evidence),
        Source::Command => of_command(evidence),
    };
    match own {
        Some(diagnosis) => Some(diagnosis.into_failure(evidence)),
        None => of_verify(evidence),
    }
}

/// Returns the kind of failure that a single line is evidence of, in a tool's words or in plain ones.
pub(crate) fn kind_of_line(line: &str, source: Source) -> Option<FailureKind> {
    let output = scan(line.as_bytes(), source);
    let candidates = cause::candidates(&output.findings);
    let strong = candidates
        .iter()
        .filter(|found| found.rule.role == Role::Cause && found.score >= cause::WEAK);
    let best = strong.max_by_key(|found| found.score);
    best.map(|found| found.kind)
        .or_else(|| plain_words::meaning(line))
}

/// A line that may be the cause, as ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedLine {
    /// The rule that matched.
    pub rule: String,
    /// The kind of failure it is evidence of.
    pub kind: FailureKind,
    /// The number of the line.
    pub line: u64,
    /// How much it proves.
    pub score: i32,
    /// The line.
    pub text: String,
}

/// Returns the lines that may be the cause, strongest first, from which [`rank`] chooses.
#[must_use]
pub fn ranked_lines(evidence: &Evidence) -> Vec<RankedLine> {
    let candidates = cause::candidates(&evidence.output.findings);
    let mut lines: Vec<RankedLine> = candidates
        .iter()
        .map(|candidate| RankedLine {
            rule: candidate.rule.name.to_owned(),
            kind: candidate.kind,
            line: candidate.finding.line,
            score: candidate.score,
            text: candidate.finding.text.clone(),
        })
        .collect();
    lines.sort_by_key(|line| (-line.score, line.line));
    lines
}

fn of_command(evidence: &Evidence) -> Option<Diagnosis> {
    let mut candidates = cause::candidates(&evidence.output.findings);
    service::without_words_of_code(&mut candidates);
    let signs = Signs::of(&evidence.output.findings);
    if !signs::has_failed(evidence, &candidates, &signs) {
        return None;
    }
    let last_command_at = evidence.output.last_command_at;
    let chosen = if exit::last_command_speaks(evidence, &candidates) {
        cause::choose_after_command(&candidates, last_command_at)
    } else {
        cause::choose(&candidates, last_command_at)
    };
    let diagnosis = match exit::over(evidence, chosen.as_ref()) {
        Some(by_exit) => by_exit,
        None => match chosen.filter(|chosen| !only_reports(chosen, evidence)) {
            Some(chosen) => cause::framed(chosen, &candidates),
            None => exit::unexplained(evidence),
        },
    };
    let diagnosis = plain_words::reread(diagnosis, evidence);
    let diagnosis = timeout::by_words(diagnosis, evidence, &signs);
    let diagnosis = exit::with_script_of_command(diagnosis, evidence);
    Some(signs::with_finished_work(diagnosis, &signs))
}

/// Returns whether a line only says that something failed, below the complaints of a checker that no
/// rule knows.
fn only_reports(chosen: &cause::Candidate<'_>, evidence: &Evidence) -> bool {
    let is_vague = matches!(chosen.rule.role, Role::Wrapper | Role::Symptom)
        && chosen.kind == FailureKind::RuntimeException;
    let tells = || !tally::is_tally(&chosen.finding.text) && chosen.rule.role == Role::Symptom;
    is_vague && !tells() && exit::complaint(evidence).is_some()
}

/// Diagnoses an attempt that reports no failure but whose independent check failed.
fn of_verify(evidence: &Evidence) -> Option<Failure> {
    let verify = evidence.verify.as_deref().filter(|verify| !verify.passed)?;
    let mut failure = rank(&verify.evidence).unwrap_or_else(|| {
        let silent = exit::unexplained(&verify.evidence);
        silent.into_failure(&verify.evidence)
    });
    failure.files_modified.clone_from(&evidence.files_changed);
    failure.tool_usage.clone_from(&evidence.tools.counts);
    failure
        .last_successful_tool
        .clone_from(&evidence.tools.last_successful);
    if is_code(failure.kind) && !evidence.files_changed.is_empty() {
        failure.category = FailureCategory::Partial;
    }
    Some(failure)
}
