use std::collections::BTreeMap;

use regreen_model::{FailureKind, Finding, RepairAction};

use super::diagnosis::Diagnosis;
use super::signs::is_code;
use crate::line::LastKind;
use crate::rules::RuleBook;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;
use crate::shortlist::score;

/// A line that may be the cause of a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) rule: &'static Rule,
    pub(crate) finding: &'a Finding,
    pub(crate) kind: FailureKind,
    pub(crate) score: i32,
}

/// Below this score, a line is as likely a decoy as the cause.
pub(crate) const WEAK: i32 = 25;

/// Returns the findings that may be the cause, in line order. A rule whose last match counts
/// contributes only that one.
pub(crate) fn candidates(findings: &[Finding]) -> Vec<Candidate<'_>> {
    let kinds = LastKind::default();
    let all = findings
        .iter()
        .filter_map(|finding| candidate(finding, &kinds))
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
    let mut kept: Vec<Candidate<'_>> = all.iter().copied().filter(|one| !is_outdone(one)).collect();
    discount_survived(&mut kept, &beginnings(findings));
    kept
}

/// A program that continues for this many lines after an error survived it.
const SURVIVED_LINES: u64 = 40;
/// How much less an error proves if the program survived it.
const SURVIVED: i32 = 40;
/// The minimum score of a line that shows what ended the program instead.
const ENDS_IT: i32 = 50;

/// Returns the lines in which tools begin to test or build, the first of each sort: one that a
/// tool repeats may stand behind an error of its own.
fn beginnings(findings: &[Finding]) -> Vec<u64> {
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in findings {
        let rule = RuleBook::ours().rule(&finding.rule);
        if rule.is_some_and(|rule| rule.role == Role::Began) {
            let line = first.entry(&finding.rule).or_insert(finding.line);
            *line = finding.line.min(*line);
        }
    }
    first.into_values().collect()
}

/// Discounts environment errors and exceptions above a failed test, a compile error or a linter
/// complaint, if they are far above it or the tool that reports it began after them: the program
/// survived them.
fn discount_survived(candidates: &mut [Candidate<'_>], beginnings: &[u64]) {
    let is_verdict =
        |c: &&Candidate<'_>| c.rule.role == Role::Cause && is_code(c.kind) && c.score >= ENDS_IT;
    let last = candidates.iter().filter(is_verdict).map(|c| c.finding.line);
    let Some(last) = last.max() else {
        return;
    };
    for candidate in candidates {
        let line = candidate.finding.line;
        let is_far = line + SURVIVED_LINES < last;
        let is_before = || {
            beginnings
                .iter()
                .any(|began| line < *began && *began < last)
        };
        let is_survivable = candidate.rule.role == Role::Cause && !is_code(candidate.kind);
        if is_survivable && (is_far || is_before()) {
            candidate.score -= SURVIVED;
        }
    }
}

fn candidate<'a>(finding: &'a Finding, kinds: &LastKind) -> Option<Candidate<'a>> {
    let rule = RuleBook::ours().rule(&finding.rule)?;
    if !(rule.role.is_blame() || rule.role == Role::Frame) {
        return None;
    }
    Some(Candidate {
        rule,
        finding,
        kind: rule.kind?,
        score: score(rule, finding, kinds),
    })
}

/// Lines with a score this close to the highest compete with it. The first of them is the cause,
/// because the later ones follow from it.
const RIVALS: i32 = 12;

/// How many lines below an announcing line the announced one may be.
const ANNOUNCED: u64 = 2;

pub(crate) fn choose<'a>(
    candidates: &[Candidate<'a>],
    last_command_at: Option<u64>,
) -> Option<Candidate<'a>> {
    let last = of_last_command(candidates, last_command_at);
    let candidates = last.as_deref().unwrap_or(candidates);
    let is_cause = |c: &&Candidate<'a>| !matches!(c.rule.role, Role::Frame | Role::Wrapper);
    let is_told = candidates.iter().any(|c| is_cause(&c));
    let is_eligible =
        |c: &&Candidate<'a>| is_cause(c) || (!is_told && c.rule.role == Role::Wrapper);
    let causes = || candidates.iter().filter(is_eligible);
    let best = causes().map(|c| c.score).max()?;
    let is_rival = |c: &&Candidate<'a>| c.score + RIVALS >= best;
    let first = causes().filter(is_rival).min_by_key(|c| c.finding.line)?;
    let first = introduced(first, causes().filter(is_rival));
    // If several rules match this line, the strongest counts.
    let same_line = |c: &&Candidate<'a>| {
        c.finding.line == first.finding.line && c.finding.text == first.finding.text
    };
    let strongest = causes().filter(same_line).max_by_key(|c| c.score)?;
    Some(last_word(strongest, candidates))
}

/// Chooses only from what the last command printed: the CI system stops at the first command that
/// fails. A failed test, a compile error or a lint above it still counts if nothing below it does:
/// then the last command only cleaned up.
pub(crate) fn choose_after_command<'a>(
    candidates: &[Candidate<'a>],
    last_command_at: Option<u64>,
) -> Option<Candidate<'a>> {
    let at = last_command_at.unwrap_or_default();
    let is_later = |c: &&Candidate<'a>| c.finding.line > at;
    let later: Vec<Candidate<'a>> = candidates.iter().filter(is_later).copied().collect();
    let explains = |c: &Candidate<'a>| c.rule.role == Role::Cause && c.score >= WEAK;
    let is_verdict = |c: &Candidate<'a>| explains(c) && is_code(c.kind) && c.score >= ENDS_IT;
    if !later.iter().any(explains) && candidates.iter().any(is_verdict) {
        return choose(candidates, last_command_at);
    }
    choose(&later, None)
}

/// Returns the candidates printed by the last command that a shell echoed, if they explain
/// something: a script that continued survived the output of its earlier commands.
fn of_last_command<'a>(
    candidates: &[Candidate<'a>],
    last_command_at: Option<u64>,
) -> Option<Vec<Candidate<'a>>> {
    let at = last_command_at?;
    let is_later = |c: &&Candidate<'a>| c.finding.line > at;
    let last: Vec<Candidate<'a>> = candidates.iter().filter(is_later).copied().collect();
    let explains = |c: &Candidate<'a>| c.rule.role == Role::Cause && c.score >= ENDS_IT;
    last.iter().any(explains).then_some(last)
}

/// Returns the candidate announced by a line that ends with a colon, if it is of another kind;
/// otherwise the announcing line is just as good to quote.
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

/// Returns a later, more detailed line about the same problem: a client names the host where its
/// library only reports a refused connection.
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
        // A line that only says "error" may belong to anything, so it isn't quoted for another
        // kind.
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

/// Returns the repair of another line about the same problem, which may name what the quoted line
/// doesn't.
fn borrowed_repair(diagnosis: &Diagnosis, candidates: &[Candidate<'_>]) -> Option<RepairAction> {
    let same = candidates
        .iter()
        .filter(|c| c.kind == diagnosis.kind && c.score >= WEAK);
    same.filter_map(|c| c.rule.repair.as_ref()?.fill(&c.finding.captures))
        .next()
}
