use regreen_model::{Failure, Inspection, RepairAction, visible_line};

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspections::INSPECTIONS;
use crate::plan::{Action, MAX_LINE, RepairPlan};

/// Returns what may be done about a failure in the current workspace. Changes nothing, and runs
/// only git, to ask which files are tracked and ignored.
#[must_use]
pub fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Inspection {
    propose(context, failure).into_inspection()
}

pub(crate) const NOT_EXPLAINED: &str = "the line does not explain the failure";

/// Whether the line of a failure explains it. Nothing is repaired because of a remark.
pub(crate) fn explains(failure: &Failure) -> bool {
    !is_remark(failure_text::blocker(failure))
}

/// Returns the proposal of the first inspection that has one.
pub(crate) fn propose(context: &RepairContext<'_>, failure: &Failure) -> Proposal {
    if !explains(failure) {
        return Proposal::refused(NOT_EXPLAINED);
    }
    let proposal = INSPECTIONS
        .iter()
        .find_map(|(_, run)| run(context, failure));
    proposal.unwrap_or(Proposal::Nothing)
}

/// The proposal of an inspection, with everything needed to apply it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proposal {
    Allowed(RepairPlan),
    Ask(RepairPlan, String),
    Refused(String),
    /// No inspection has a proposal.
    Nothing,
}

impl Proposal {
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }

    /// Refuses to use a file that the run has changed.
    pub(crate) fn changed(file: impl std::fmt::Display) -> Self {
        Self::Refused(changed_during_run(file))
    }

    /// Refuses a text that isn't the name of a `thing`.
    pub(crate) fn not_a_name(text: &str, thing: &str) -> Self {
        Self::Refused(format!(
            "`{}` is not the name of a {thing}",
            text.escape_debug()
        ))
    }

    pub(crate) fn outside_workspace(path: &str) -> Self {
        Self::Refused(format!("{} is not in the workspace", path.escape_debug()))
    }

    pub(crate) fn not_installed(program: &str) -> Self {
        Self::Refused(format!("{program} is not installed"))
    }

    pub(crate) fn ask(plan: RepairPlan, why: impl Into<String>) -> Self {
        Self::Ask(plan, why.into())
    }

    /// Allows a plan, or asks if there is a doubt.
    pub(crate) fn allowed_unless(doubt: Option<String>, plan: RepairPlan) -> Self {
        match doubt {
            Some(why) => Self::Ask(plan, why),
            None => Self::Allowed(plan),
        }
    }

    /// Allows a plan, or asks if there is a doubt about a program; consent then applies to that
    /// program.
    pub(crate) fn allowed_unless_doubtful(
        doubt: Option<String>,
        (folder, program): (&str, &str),
        plan: RepairPlan,
    ) -> Self {
        match doubt {
            Some(why) => Self::Ask(plan.questioning(folder, program), why),
            None => Self::Allowed(plan),
        }
    }

    /// Asks for something that only a person can provide or do.
    pub(crate) fn for_person(what: &str, why: impl Into<String>) -> Self {
        let recorded = RepairAction::Ask {
            what: what.to_owned(),
        };
        Self::Ask(
            RepairPlan::new(recorded, what, Action::PersonOnly),
            why.into(),
        )
    }

    /// Asks for consent instead of allowing the plan.
    pub(crate) fn requiring_consent(self, why: &str) -> Self {
        match self {
            Self::Allowed(plan) => Self::Ask(plan, why.to_owned()),
            other => other,
        }
    }

    fn into_inspection(self) -> Inspection {
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

pub(crate) fn changed_during_run(file: impl std::fmt::Display) -> String {
    format!("{file} was changed during the run")
}

/// Parts of lines about problems that the program itself handled.
const REMARKS: [&str; 9] = [
    " handled",
    "... ok",
    "skipped",
    "skipping",
    "falling back",
    "(ignored)",
    "xfail",
    "expected failure",
    "continuing without",
];

/// Prefixes of lines that only report.
const REPORTS: [&str; 6] = ["warning", "[warn", "warn:", "debug", "info:", "[info"];

fn is_remark(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    let is_report = REPORTS.iter().any(|start| line.starts_with(start));
    is_report || REMARKS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_handled_problems_are_remarks() {
        for line in [
            "test_optional ... ok  (ModuleNotFoundError: No module named 'ujson' handled)",
            "WARNING: No module named 'ujson', using json",
            "ujson missing, falling back to json",
            "make: [Makefile:2: all] Error 1 (ignored)",
        ] {
            assert!(is_remark(line), "{line}");
        }
        assert!(!is_remark("ModuleNotFoundError: No module named 'ujson'"));
        assert!(!is_remark(
            "ImportError: Missing optional dependency 'openpyxl'."
        ));
    }
}
