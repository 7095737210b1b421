use regreen_model::{AttemptClass, AttemptReport, FailureRecord, Inspection, PromptKind};
use regreen_model::{RepairAction, RepairResult};

use super::step::Order;

/// Something that came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The agent worked, and what it did was checked; or all parts were done.
    Attempted(Box<Attempted>),
    Waited {
        ms: u64,
        /// Before the same is done again, and not for the agent's service.
        repeats: bool,
    },
    Inspected(Inspection),
    Repaired {
        action: RepairAction,
        result: RepairResult,
    },
}

/// One attempt, and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    pub order: Order,
    pub report: AttemptReport,
    /// Why it failed; `None` if it did not.
    pub failure: Option<FailureRecord>,
    /// The parts it names, if it was asked to divide the work.
    pub parts: Vec<String>,
}

impl Attempted {
    /// Whether it is one of the attempts that somebody allowed: trouble of the agent's own is
    /// none, and to be asked to divide the work is no attempt at it.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        self.report.class == AttemptClass::Ordinary && self.order.prompt != PromptKind::Split
    }

    fn is_lost_session(&self) -> bool {
        matches!(self.report.class, AttemptClass::Session { .. })
    }
}

/// The questions that deciding asks of the past.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past<'a>(pub(super) &'a [Happened]);

impl<'a> Past<'a> {
    pub(super) fn attempts(self) -> impl DoubleEndedIterator<Item = &'a Attempted> {
        self.0.iter().filter_map(|happened| match happened {
            Happened::Attempted(attempted) => Some(attempted.as_ref()),
            _ => None,
        })
    }

    pub(super) fn last_attempt(self) -> Option<&'a Attempted> {
        self.attempts().next_back()
    }

    /// Attempts that are charged. Whoever was cut off too often is charged as well.
    pub(super) fn charged(self) -> u32 {
        const FREE_INTERRUPTIONS: usize = 2;
        let is_cut_off = |attempt: &&Attempted| attempt.report.class == AttemptClass::Interrupted;
        let cut_off = self.attempts().filter(is_cut_off).count();
        let charged = self.attempts().filter(|attempt| attempt.is_charged());
        count(charged.count() + cut_off.saturating_sub(FREE_INTERRUPTIONS))
    }

    pub(super) fn lost_sessions(self) -> u32 {
        let lost = self.attempts().filter(|attempt| attempt.is_lost_session());
        count(lost.count())
    }

    pub(super) fn repeats(self) -> u32 {
        let repeats = self
            .0
            .iter()
            .filter(|happened| matches!(happened, Happened::Waited { repeats: true, .. }));
        count(repeats.count())
    }

    pub(super) fn was_enriched(self) -> bool {
        self.attempts()
            .any(|attempt| attempt.order.prompt == PromptKind::Enriched)
    }

    /// What was repaired, with or without success.
    pub(super) fn repaired(self) -> Vec<RepairAction> {
        let repaired = self.0.iter().filter_map(|happened| match happened {
            Happened::Repaired { action, .. } => Some(action.clone()),
            _ => None,
        });
        repaired.collect()
    }

    /// How long the agent's service was waited for, and how often in a row.
    pub(super) fn waited(self) -> (u64, u32) {
        let waits = self.0.iter().filter_map(|happened| match happened {
            Happened::Waited { ms, repeats: false } => Some(*ms),
            _ => None,
        });
        let is_transient =
            |attempt: &&Attempted| matches!(attempt.report.class, AttemptClass::Transient { .. });
        let in_a_row = self.attempts().rev().take_while(is_transient).count();
        (waits.sum(), count(in_a_row.saturating_sub(1)))
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
