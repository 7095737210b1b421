use regreen_model::{FailureKind, Finding, RepairAction};

use super::diagnosis::Diagnosis;
use crate::rules::RuleBook;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;
use crate::shortlist::score;

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

/// Lines that prove nearly as much as the strongest compete with it, and then the first one
/// is the cause: what comes later follows from it.
const RIVALS: i32 = 12;

/// What a line announces stands so many lines below it at most.
const ANNOUNCED: u64 = 2;

pub(crate) fn choose<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let causes = || candidates.iter().filter(|c| c.rule.role != Role::Frame);
    let best = causes().map(|c| c.score).max()?;
    let is_rival = |c: &&Candidate<'a>| c.score + RIVALS >= best;
    let first = causes().filter(is_rival).min_by_key(|c| c.finding.line)?;
    let first = introduced(first, causes().filter(is_rival));
    // Of all that was said about this line the strongest word counts.
    let same_line = |c: &&Candidate<'a>| {
        c.finding.line == first.finding.line && c.finding.text == first.finding.text
    };
    let strongest = causes().filter(same_line).max_by_key(|c| c.score)?;
    Some(last_word(strongest, candidates))
}

/// A line that ends in a colon only announces what the next ones say, if that is of another
/// kind; else it is as good a line to quote.
fn introduced<'c, 'a>(
    first: &'c Candidate<'a>,
    rivals: impl Iterator<Item = &'c Candidate<'a>>,
) -> &'c Candidate<'a> {
    if !first.finding.text.trim_end().ends_with(':') {
        return first;
    }
    let follows = |c: &&Candidate<'a>| {
        let distance = c.finding.line.saturating_sub(first.finding.line);
        (1..=ANNOUNCED).contains(&distance) && c.score >= first.score && c.kind != first.kind
    };
    rivals
        .filter(follows)
        .min_by_key(|c| c.finding.line)
        .unwrap_or(first)
}

/// The same trouble may be said again with more detail by the one who was called last: a
/// client names the host that its library only calls refused.
fn last_word<'a>(cause: &Candidate<'a>, candidates: &[Candidate<'a>]) -> Candidate<'a> {
    let says_more =
        |c: &&Candidate<'a>| c.rule.last && c.kind == cause.kind && c.score >= cause.score;
    let last = candidates
        .iter()
        .filter(says_more)
        .max_by_key(|c| c.finding.line);
    let later = last.filter(|c| c.finding.line > cause.finding.line);
    later.copied().unwrap_or(*cause)
}

pub(crate) fn framed(cause: Candidate<'_>, candidates: &[Candidate<'_>]) -> Diagnosis {
    let mut diagnosis = Diagnosis::of(&cause);
    let frame = candidates.iter().find(|frame| {
        frame.rule.role == Role::Frame
            && frame.score >= WEAK
            && frame.rule.absorbs.contains(&cause.kind)
    });
    if let Some(frame) = frame {
        // A line that only says "error" may be anybody's: it is not quoted for another kind.
        if cause.rule.role == Role::Symptom {
            return Diagnosis::of(frame);
        }
        diagnosis.kind = frame.kind;
        frame.rule.name.clone_into(&mut diagnosis.rule);
        diagnosis.retry_mode = frame.rule.retry;
        if let Some(repair) = frame.rule.repair.as_ref() {
            diagnosis.repair = repair.fill(&frame.finding.captures).or(diagnosis.repair);
        }
    }
    if diagnosis.repair.is_none() {
        diagnosis.repair = borrowed_repair(&diagnosis, candidates);
    }
    diagnosis
}

/// Another line about the same trouble may name what the quoted one does not.
fn borrowed_repair(diagnosis: &Diagnosis, candidates: &[Candidate<'_>]) -> Option<RepairAction> {
    let same = candidates
        .iter()
        .filter(|c| c.kind == diagnosis.kind && c.score >= WEAK);
    same.filter_map(|c| c.rule.repair.as_ref()?.fill(&c.finding.captures))
        .next()
}
