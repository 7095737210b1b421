//! Did it fail at all? Exit codes and the words "error" and "failed" prove nothing alone.

use regreen_model::Evidence;

use super::candidate::{Candidate, WEAK};
use super::signs::Signs;
use crate::role::Role;

/// What a line must prove at least if the exit code says nothing or all is well.
const SURE: i32 = 50;

pub(crate) fn failed(evidence: &Evidence, candidates: &[Candidate<'_>], signs: &Signs) -> bool {
    let ending = evidence.ending;
    match (ending.exit_code, ending.signal) {
        (_, Some(_)) => true,
        (Some(0), None) => !ends_well(evidence) && candidates.iter().any(|c| is_proof(c, signs)),
        (Some(code), None) => !is_answer(code, evidence, candidates),
        (None, None) => candidates.iter().any(|c| is_sign(c, signs)),
    }
}

/// Whether the last word is that all is well.
fn ends_well(evidence: &Evidence) -> bool {
    let last = evidence
        .output
        .end()
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty());
    last.is_some_and(|last| {
        matches!(
            last.to_ascii_lowercase().as_str(),
            "ok" | "pass" | "passed" | "success"
        )
    })
}

/// A line that proves a failure which the exit code hides, unless it went well afterwards.
fn is_proof(candidate: &Candidate<'_>, signs: &Signs) -> bool {
    candidate.rule.proves && is_sign(candidate, signs)
}

fn is_sign(candidate: &Candidate<'_>, signs: &Signs) -> bool {
    let went_well_later = signs
        .success
        .is_some_and(|line| line > candidate.finding.line);
    candidate.rule.role != Role::Frame && candidate.score >= SURE && !went_well_later
}

/// Exit code 1 is how `grep -c` and its like say "none": a number is an answer.
fn is_answer(code: i32, evidence: &Evidence, candidates: &[Candidate<'_>]) -> bool {
    let text = evidence.output.head.trim();
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    code == 1 && is_number && candidates.iter().all(|c| c.score < WEAK)
}
