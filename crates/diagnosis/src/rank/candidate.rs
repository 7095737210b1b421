use regreen_model::{FailureKind, Finding};

use crate::role::Role;
use crate::rule::Rule;
use crate::rule_book::RuleBook;
use crate::score::score;

/// A line that may be blamed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) rule: &'static Rule,
    pub(crate) finding: &'a Finding,
    pub(crate) kind: FailureKind,
    pub(crate) score: i32,
}

/// Below this a line is a decoy as likely as not.
pub(crate) const WEAK: i32 = 25;

/// The findings that may be blamed, in the order of their lines. Of a rule whose last line
/// counts, only that one.
pub(crate) fn candidates(findings: &[Finding]) -> Vec<Candidate<'_>> {
    let all = findings
        .iter()
        .filter_map(candidate)
        .filter(|c| c.score > 0);
    let all: Vec<Candidate<'_>> = all.collect();
    let is_outdone = |one: &Candidate<'_>| {
        let is_later = |other: &Candidate<'_>| {
            other.rule.name == one.rule.name
                && other.finding.line > one.finding.line
                && other.score >= one.score
        };
        one.rule.last && all.iter().any(is_later)
    };
    all.iter().copied().filter(|one| !is_outdone(one)).collect()
}

fn candidate(finding: &Finding) -> Option<Candidate<'_>> {
    let rule = RuleBook::ours().rule(&finding.rule)?;
    if !(rule.role.is_blame() || rule.role == Role::Frame) {
        return None;
    }
    Some(Candidate {
        rule,
        finding,
        kind: rule.kind?,
        score: score(rule, finding),
    })
}
