//! The line that explains the others.

use super::candidate::Candidate;
use crate::role::Role;

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
