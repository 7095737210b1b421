//! Where it happened. A missing module while tests are collected is a collection error; an
//! exception inside a test is a failed test.

use regreen_model::RepairAction;

use super::candidate::{Candidate, WEAK};
use super::compose::Diagnosis;
use crate::role::Role;

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
