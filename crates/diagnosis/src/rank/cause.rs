//! The line that explains the others.

use super::candidate::Candidate;
use crate::role::Role;

/// Lines that prove nearly as much as the strongest compete with it, and then the first one
/// is the cause: what comes later follows from it.
const RIVALS: i32 = 12;

pub(crate) fn choose<'a>(candidates: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let causes = || candidates.iter().filter(|c| c.rule.role() != Role::Frame);
    let best = causes().map(|c| c.score).max()?;
    let is_rival = |c: &&Candidate<'a>| c.score + RIVALS >= best;
    let first = causes().filter(is_rival).min_by_key(|c| c.finding.line)?;
    // Of all that was said about this line the strongest word counts.
    causes()
        .filter(|c| c.finding.line == first.finding.line && c.finding.text == first.finding.text)
        .max_by_key(|c| c.score)
        .copied()
}
