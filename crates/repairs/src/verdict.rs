use regreen_model::{Inspection, PlannedRepair, RepairAction, visible_line};

use crate::plan::Plan;

/// How much is said at most.
const MAX_LINE: usize = 300;

/// What a look says, with everything that carrying it out takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed(Plan),
    Ask(Plan, String),
    Refused(String),
    /// No look has anything to say.
    Nothing,
}

impl Verdict {
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }

    pub(crate) fn ask(plan: Plan, why: impl Into<String>) -> Self {
        Self::Ask(plan, why.into())
    }

    /// Something only a person can give or do.
    pub(crate) fn persons(what: &str, why: impl Into<String>) -> Self {
        let action = RepairAction::Ask {
            what: what.to_owned(),
        };
        Self::Ask(Plan::persons(action, what), why.into())
    }

    /// The same, but only if a person says so.
    pub(crate) fn only_asked(self, why: &str) -> Self {
        match self {
            Self::Allowed(plan) => Self::Ask(plan, why.to_owned()),
            other => other,
        }
    }

    pub(crate) fn into_inspection(self) -> Inspection {
        match self {
            Self::Allowed(plan) => Inspection::Allowed(plan.planned()),
            Self::Ask(plan, why) => Inspection::Ask {
                repair: plan.planned(),
                why: visible_line(&why, MAX_LINE),
            },
            Self::Refused(why) => Inspection::Refused {
                why: visible_line(&why, MAX_LINE),
            },
            Self::Nothing => Inspection::Nothing,
        }
    }
}

impl Plan {
    pub(crate) fn planned(&self) -> PlannedRepair {
        PlannedRepair {
            action: self.action.clone(),
            does: visible_line(&self.does, MAX_LINE),
        }
    }
}
